"""The scanner service: runs inside the scanner container, reads files on stdin, writes what the tools say on stdout.

The host sends this text as ``python3 -I -c <text>``, so it imports nothing of ours: the standard library, radon and
bandit (imported once), and the ``ruff`` program. Each file gets one forked process of its own under limits, in its own
process group, killed when it is done. No scanned code is ever executed.

In, one JSON object a line: first the settings (``SETTINGS`` of rules.py), then per file ``{"n", "name", "data"}``
(name: ``module.py`` or ``__init__.py``; data: base64). Out, one a line: ``{"tools": {...}}``, then per file
``{"n", ...}`` as records.Side has it, and last ``{"done": count}``.
"""

from __future__ import annotations

import ast
import base64
import contextlib
import hashlib
import io
import json
import logging
import os
import platform
import resource
import select
import signal
import subprocess
import tempfile
import time
import tokenize
import warnings
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

from bandit.core.config import BanditConfig  # type: ignore[import-untyped]
from bandit.core.manager import BanditManager  # type: ignore[import-untyped]
from radon.visitors import ComplexityVisitor, HalsteadVisitor  # type: ignore[import-untyped]

ENCODINGS = {
    "utf-8",
    "utf-8-sig",
    "ascii",
    "us-ascii",
    "iso-8859-1",
    "iso-8859-15",
    "latin-1",
    "cp1252",
    "windows-1252",
}
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
RESULT_BYTES = 16 << 20
RUFF_ENVIRONMENT = {"PATH": os.environ.get("PATH", os.defpath), "RAYON_NUM_THREADS": "1"}
BANDIT_CONFIG = BanditConfig()

Settings = dict[str, Any]
Answer = dict[str, Any]
LineOf = Callable[[int], str]


class Unavailable(Exception):
    """A tool has no figure for this file; the argument is one of records.Trouble."""


# ---------------------------------------------------------------------------------------------------- one form for all


def read_tree(data: bytes) -> ast.Module:
    """The syntax tree of a file without its docstrings; comments are no part of a tree."""
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
    except (SyntaxError, UnicodeError):
        raise Unavailable("encoding") from None
    if encoding.lower() not in ENCODINGS:
        raise Unavailable("encoding")
    try:
        tree = ast.parse(data)
    except UnicodeError:
        raise Unavailable("encoding") from None
    except (SyntaxError, ValueError):
        raise Unavailable("syntax") from None
    for node in ast.walk(tree):
        if (
            isinstance(node, (ast.Module, ast.ClassDef, *FUNCTIONS))
            and ast.get_docstring(node, clean=False) is not None
        ):
            node.body = node.body[1:] or ([] if isinstance(node, ast.Module) else [ast.Pass()])
    return ast.fix_missing_locations(tree)


def lay_out(tree: ast.Module, settings: Settings) -> str:
    """The one text that stands for a tree: written back by this interpreter, laid out by ruff."""
    try:
        text = ast.unparse(tree) + "\n"
        text.encode()
    except (ValueError, UnicodeError):
        raise Unavailable("syntax") from None
    return ruff(settings, ["format", *settings["format"], "--stdin-filename", "module.py", "-"], text.encode()).decode()


def ruff(settings: Settings, arguments: list[str], text: bytes) -> bytes:
    """Run the ruff program on *text*; its output goes to a file whose size the process limits bound."""
    with tempfile.TemporaryFile() as source, tempfile.TemporaryFile() as out:
        source.write(text)
        source.seek(0)
        status = subprocess.run(
            [settings["ruff"], *arguments],
            stdin=source,
            stdout=out,
            stderr=subprocess.DEVNULL,
            env=RUFF_ENVIRONMENT,
            check=False,
        ).returncode
        if status < 0 or status > 128:
            raise Unavailable("output" if -status == signal.SIGXFSZ else "died")
        if status != 0:
            raise Unavailable("tool")
        out.seek(0)
        return out.read()


# ----------------------------------------------------------------------------------------------------- the three tools


def lint(text: str, name: str, settings: Settings, line_of: LineOf) -> list[Answer]:
    """Violations as ruff reports them; a code that is no rule means that ruff could not read the file."""
    out = ruff(settings, ["check", *settings["check"], "--stdin-filename", name, "-"], text.encode())
    found = []
    for item in json.loads(out):
        code = item["code"]
        if code is None or not code[-1:].isdigit() or code.startswith("E9"):
            raise Unavailable("syntax")
        row = item["location"]["row"]
        found.append({"rule": code, "line": line_of(row), "row": row})
    return sorted(found, key=lambda v: (v["row"], v["rule"]))


class TakeOutFunctions(ast.NodeTransformer):
    """Cuts every function out of a body and queues it with its qualified name."""

    def __init__(self, prefix: str) -> None:
        self.prefix = prefix
        self.queue: list[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]] = []

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self.queue.append((f"{self.prefix}{node.name}", node))

    visit_AsyncFunctionDef = visit_FunctionDef  # noqa: N815

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.ClassDef:
        outer, self.prefix = self.prefix, f"{self.prefix}{node.name}."
        self.generic_visit(node)
        self.prefix = outer
        return node


class SpellOut(ast.NodeTransformer):
    """Rewrites what radon 6.0.1 does not count (except*, case guards, the inside of assert) as what it does."""

    def visit_TryStar(self, node: ast.TryStar) -> ast.Try:
        self.generic_visit(node)
        return ast.copy_location(ast.Try(**{name: getattr(node, name) for name in node._fields}), node)

    def visit_Assert(self, node: ast.Assert) -> ast.If:
        self.generic_visit(node)
        body: list[ast.stmt] = [ast.Expr(node.msg)] if node.msg else [ast.Pass()]
        return ast.copy_location(ast.If(node.test, body, []), node)

    def visit_match_case(self, node: ast.match_case) -> ast.match_case:
        self.generic_visit(node)
        if node.guard is not None:
            node.body = [ast.If(node.guard, [ast.Pass()], []), *node.body]
            node.guard = None
        return node


def measure(text: str) -> Answer:
    """Complexity of each function and of the code outside them, and the integers of the maintainability index."""
    tree = ast.parse(text)
    halstead = HalsteadVisitor.from_ast(tree)
    statements = sum(isinstance(node, ast.stmt) for node in ast.walk(tree))
    units = []
    queue: list[tuple[str, ast.Module | ast.FunctionDef | ast.AsyncFunctionDef]] = [("<module>", tree)]
    while queue:
        name, node = queue.pop(0)
        cut = TakeOutFunctions("" if name == "<module>" else f"{name}.")
        cut.generic_visit(node)
        queue.extend(cut.queue)
        code = short(ast.dump(node))
        plain = ast.Module([SpellOut().visit(item) for item in node.body], [])
        visitor = ComplexityVisitor.from_ast(ast.fix_missing_locations(plain))
        units.append({"name": name, "complexity": visitor.total_complexity, "code": code})
    return {
        "units": units,
        "halstead_length": halstead.operators + halstead.operands,
        "halstead_vocabulary": halstead.distinct_operators + halstead.distinct_operands,
        "statements": statements,
    }


class ErrorTrap(logging.Handler):
    """Bandit only logs that one of its tests crashed; a crashed test means an incomplete list."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.seen = False

    def emit(self, record: logging.LogRecord) -> None:  # noqa: ARG002
        self.seen = True


def inspect(text: str, line_of: LineOf) -> list[Answer]:
    """Findings of all bandit tests; no configuration file is read and ``# nosec`` has no effect."""
    trap = ErrorTrap()
    logging.getLogger("bandit").addHandler(trap)
    manager = BanditManager(BANDIT_CONFIG, "file", ignore_nosec=True)
    with tempfile.NamedTemporaryFile("w", suffix=".py", encoding="utf-8") as handle:
        handle.write(text)
        handle.flush()
        manager.files_list = [handle.name]
        manager.run_tests()
    if manager.skipped or trap.seen:
        raise Unavailable("tool")
    found = []
    for issue in manager.get_issue_list():
        where = {"line": line_of(issue.lineno), "row": issue.lineno}
        found.append({"test": issue.test_id, "severity": issue.severity, "confidence": issue.confidence, **where})
    return sorted(found, key=lambda f: (f["row"], f["test"]))


def short(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def guarded(result: Answer, key: str, tool: Callable[..., Any], *arguments: Any) -> None:
    """Put a tool's answer, or why there is none, into *result*."""
    try:
        result[key] = tool(*arguments)
        trouble = None
    except Unavailable as error:
        trouble = str(error)
    except RecursionError:
        trouble = "depth"
    except MemoryError:
        trouble = "memory"
    except (AttributeError, LookupError, OSError, TypeError, ValueError):
        trouble = "tool"
    if trouble is not None:
        result[key] = None
        result[f"{key}_trouble"] = trouble


def scan(data: bytes, name: str, settings: Settings) -> Answer:
    """Everything about one file, as records.Side."""
    if len(data) > settings["file_bytes"]:
        return {"trouble": "size"}
    result: Answer = {}
    guarded(result, "tree", read_tree, data)
    if result["tree"] is not None:
        tree = result["tree"]
        guarded(result, "code", lambda: short(ast.dump(tree)))
        guarded(result, "text", lay_out, tree, settings)
    for key in ("tree", "code", "text"):
        if f"{key}_trouble" in result:
            return {"trouble": result[f"{key}_trouble"]}
    text = result["text"]
    lines = text.split("\n")

    def line_of(row: int) -> str:
        return short(lines[row - 1].strip()) if 0 < row <= len(lines) else short("")

    side = {"code": result["code"], "lines": [short(line.strip()) for line in lines if line.strip()]}
    guarded(side, "violations", lint, text, name, settings, line_of)
    guarded(side, "metrics", measure, text)
    guarded(side, "findings", inspect, text, line_of)
    return side


# ----------------------------------------------------------------------------------------------------- the fork server


def child(write_end: int, request: Answer, settings: Settings) -> None:
    """The forked process of one file: limits first, then the scan, then its answer on a pipe of its own."""
    os.setpgid(0, 0)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (settings["cpu_s"], settings["cpu_s"] + 1))
    resource.setrlimit(resource.RLIMIT_AS, (settings["memory_bytes"], settings["memory_bytes"]))
    resource.setrlimit(resource.RLIMIT_FSIZE, (settings["output_bytes"], settings["output_bytes"]))
    try:
        answer = scan(base64.b64decode(request["data"]), request["name"], settings)
    except MemoryError:
        answer = {"trouble": "memory"}
    with os.fdopen(write_end, "wb") as out:
        out.write(json.dumps(answer).encode())


def one_file(request: Answer, settings: Settings) -> Answer:
    """Fork, wait at most the wall limit, kill the whole group, and say what came of it."""
    read_end, write_end = os.pipe()
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            os.close(read_end)
            child(write_end, request, settings)
            status = 0
        finally:
            os._exit(status)
    os.close(write_end)
    answer = bytearray()
    late = False
    deadline = time.monotonic() + settings["wall_s"]
    while True:
        ready, _, _ = select.select([read_end], [], [], max(0.0, deadline - time.monotonic()))
        if not ready:
            late = True
            break
        block = os.read(read_end, 1 << 16)
        if not block or len(answer) > RESULT_BYTES:
            break
        answer += block
    os.close(read_end)
    for kill in (os.killpg, os.kill):  # the group may not exist yet, or no more
        with contextlib.suppress(ProcessLookupError):
            kill(pid, signal.SIGKILL)
    _, status = os.waitpid(pid, 0)
    if late or (os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGXCPU):
        return {"trouble": "time"}
    if len(answer) > RESULT_BYTES:
        return {"trouble": "output"}
    try:
        found: Answer = json.loads(answer)
    except ValueError:
        return {"trouble": "died"}
    return found


def main() -> None:
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    requests = os.fdopen(os.dup(0), "rb")
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nothing, descriptor)
    warnings.simplefilter("ignore")
    logging.getLogger("bandit").propagate = False
    settings = json.loads(requests.readline())
    BanditManager(BANDIT_CONFIG, "file")  # loads the plug-ins once, before the first fork
    ruff_version = subprocess.run([settings["ruff"], "--version"], capture_output=True, text=True, check=True).stdout
    tools = {
        "python": platform.python_version(),
        "ruff": ruff_version.split()[-1],
        "radon": version("radon"),
        "bandit": version("bandit"),
    }
    print(json.dumps({"tools": tools}), file=out, flush=True)
    done = 0
    stop = time.monotonic() + settings["batch_s"]
    for line in requests:
        request = json.loads(line)
        answer = {"trouble": "time"} if time.monotonic() > stop else one_file(request, settings)
        print(json.dumps({"n": request["n"], **answer}), file=out, flush=True)
        done += 1
    print(json.dumps({"done": done}), file=out, flush=True)


if __name__ == "__main__":
    main()
