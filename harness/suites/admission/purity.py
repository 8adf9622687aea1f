"""Whether a function's code could depend on anything but its arguments: a static look at the reference.

What this can't see (a lazy import, a C extension) the gradings under another clock, another hash seed and with closed
files are for. Nothing here judges candidates: it keeps impure tasks out of a suite.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from harness.suites.tree import LINK, Tree

_MODULES = {
    "the clock": ("time", "sched", "zoneinfo", "locale"),
    "randomness": ("random", "secrets", "uuid"),
    "the network": ("socket", "ssl", "urllib", "http", "ftplib", "smtplib", "socketserver", "xmlrpc", "imaplib"),
    "the filesystem": ("os", "shutil", "tempfile", "glob", "fileinput", "mmap", "fcntl", "sqlite3", "dbm", "shelve"),
    "processes or threads": (
        "subprocess",
        "threading",
        "multiprocessing",
        "concurrent",
        "asyncio",
        "signal",
        "_thread",
    ),
    "the interpreter's insides": ("ctypes", "gc", "inspect", "importlib", "builtins", "platform", "resource"),
}
_FORBIDDEN = {module: what for what, modules in _MODULES.items() for module in modules}
_ALLOWED = frozenset({"os.path", "urllib.parse", "http.HTTPStatus", "inspect.cleandoc"})

_CALLS = {
    "open": "the filesystem",
    "input": "standard input",
    "id": "an object's address",
    "hash": "a hash that a seed decides",
    "eval": "code made at run time",
    "exec": "code made at run time",
    "compile": "code made at run time",
    "__import__": "code made at run time",
    "breakpoint": "a debugger",
}
_METHODS = {
    "now": "the clock",
    "utcnow": "the clock",
    "today": "the clock",
    "read_text": "the filesystem",
    "read_bytes": "the filesystem",
    "write_text": "the filesystem",
    "write_bytes": "the filesystem",
    "iterdir": "the filesystem",
}


def impurities(before: Tree, reference: Tree) -> Iterator[str]:
    """One line for each impure thing in the Python files that the reference adds or changes."""
    for path, entry in reference.items():
        if path.endswith(".py") and entry.mode != LINK and before.get(path) != entry:
            yield from (f"{path}:{line}: uses {what}" for line, what in _found(entry.data))


def _found(source: bytes) -> Iterator[tuple[int, str]]:
    try:
        module = ast.parse(source)
    except (SyntaxError, ValueError):
        yield 1, "no Python"
        return
    defined = {node.name for node in ast.walk(module) if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    for node in ast.walk(module):
        match node:
            case ast.Import(names=names):
                yield from ((node.lineno, what) for name in names if (what := _of_module(name.name)))
            case ast.ImportFrom(module=str(source_module), names=names, level=0):
                wanted = [what for name in names if (what := _of_module(f"{source_module}.{name.name}"))]
                yield from ((node.lineno, what) for what in wanted[:1])
            case ast.Call(func=ast.Name(id=name)) if name in _CALLS and name not in defined:
                yield node.lineno, _CALLS[name]
            case ast.Call(func=ast.Attribute(attr=name, value=ast.Name(id="date" | "datetime" | "Path"))):
                yield from ((node.lineno, what) for what in [_METHODS.get(name)] if what)
            case ast.Call(func=ast.Attribute(attr=name, value=ast.Attribute(attr="date" | "datetime"))):
                yield from ((node.lineno, what) for what in [_METHODS.get(name)] if what)
            case ast.FunctionDef(name="__del__"):
                yield node.lineno, "the moment at which an object is freed"
            case ast.AsyncFunctionDef():
                yield node.lineno, "an event loop"
            case _:
                continue


def _of_module(name: str) -> str:
    """What a module gives access to; empty if it is harmless."""
    parts = name.split(".")
    if any(".".join(parts[:length]) in _ALLOWED for length in range(1, len(parts) + 1)):
        return ""
    return _FORBIDDEN.get(parts[0], "")
