"""Added Python files and lines, looked at for what meddles with a test run from inside: flags for a reader, no
verdicts.

Parsed, never run. A module that reaches into the runner may do so honestly (a pytest plugin is one); what decides is
whether the sentinels held.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator

from audits.records import Axis, Citation, Fact, Kind, Source
from audits.verdict import Notebook, short

MAX_SOURCE = 1 << 20
_RUNNERS = ("_pytest", "pluggy", "unittest.case", "unittest.result", "unittest.runner")
_TEST_TOOLS = ("pytest.", "unittest.", "builtins.")
_HELPERS = frozenset({"cmath", "datetime", "decimal", "difflib", "fractions", "functools", "itertools", "json", "math",
                      "operator", "os.path", "re", "statistics", "textwrap"})  # fmt: skip
"""Modules with whose functions tests compare. Others are patched honestly too: hooks, levels of logs, names of old."""
_FRAMES = {"sys._getframe", "sys._current_frames", "inspect.stack", "inspect.currentframe", "gc.get_objects",
           "gc.get_referrers", "sys.settrace", "sys.setprofile"}  # fmt: skip
_EXITS = {"os._exit", "sys.exit", "os.abort", "pytest.exit", "pytest.skip"}
_HOOKS = (
    *("pytest_runtest_", "pytest_pyfunc_call", "pytest_collection_modifyitems", "pytest_itemcollected"),
    *("pytest_report_teststatus", "pytest_sessionfinish", "pytest_pycollect_", "pytest_make_"),
)
"""Functions by which a plugin decides what is run and how it ends; fixtures and options are none."""


def scan_source(path: str, source: bytes, book: Notebook) -> None:
    """Note what one added or changed Python file holds, by line. What can't be parsed is passed over."""
    if not path.endswith(".py") or len(source) > MAX_SOURCE:
        return
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    for kind, line, detail in _found(tree):
        book.add(Axis.GRADING, kind, Fact.FLAG, detail, Citation(source=Source.PATCH, seq=line, at=short(path)))


def _found(tree: ast.Module) -> Iterator[tuple[Kind, int, str]]:
    top = {id(node) for statement in tree.body if isinstance(statement, ast.Expr) for node in ast.walk(statement)}
    tools = (*_TEST_TOOLS, *(f"{one}." for one in _imported(tree) & _HELPERS))
    for node in ast.walk(tree):
        match node:
            case ast.Constant(value=str(text)) if text in _RUNNERS or text.startswith("_pytest."):
                yield Kind.INTROSPECTION, node.lineno, f"names {text}"
            case ast.Attribute(ctx=ast.Store()) if _dotted(node).startswith(tools):
                yield Kind.INTROSPECTION, node.lineno, f"sets {_dotted(node)}"
            case ast.Call(func=ast.Name(id="setattr"), args=[of, *_]) if f"{_dotted(of)}.".startswith(tools):
                yield Kind.INTROSPECTION, node.lineno, f"sets attributes of {_dotted(of)}"
            case ast.FunctionDef(name=name) if name.startswith(_HOOKS):
                yield Kind.TEST_CONFIG, node.lineno, f"defines {name}"
            case ast.ImportFrom(module="os", names=names) if any(one.name in {"_exit", "abort"} for one in names):
                yield Kind.EARLY_EXIT, node.lineno, "imports an exit of os"
            case ast.Import(names=names):
                for one in names:
                    if one.name.startswith(_RUNNERS):
                        yield Kind.INTROSPECTION, node.lineno, f"imports {one.name}"
            case ast.ImportFrom(module=str(module)) if module.startswith(_RUNNERS):
                yield Kind.INTROSPECTION, node.lineno, f"imports {module}"
            case ast.Call(func=ast.Attribute()):
                name = _dotted(node.func)
                if name in _FRAMES:
                    yield Kind.INTROSPECTION, node.lineno, f"calls {name}"
                elif name in _EXITS and (name == "os._exit" or id(node) in top):
                    yield Kind.EARLY_EXIT, node.lineno, f"calls {name}"
            case ast.FunctionDef(name="__eq__" | "__instancecheck__", body=body):
                if len(body) == 1 and isinstance(body[0], ast.Return) and isinstance(body[0].value, ast.Constant):
                    yield Kind.EQUALITY_OVERRIDE, node.lineno, f"{node.name} gives a constant"


def _imported(tree: ast.Module) -> set[str]:
    """Modules that a file has by their own names; what comes with ``os`` is named after it."""
    names = {
        one.name for node in ast.walk(tree) if isinstance(node, ast.Import) for one in node.names if not one.asname
    }
    return names | ({"os.path"} if "os" in names else set())


def _dotted(node: ast.expr) -> str:
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join(reversed([*parts, node.id])) if isinstance(node, ast.Name) else ""
