"""What of a Python file may be changed to see whether its tests notice: the nodes, and the text of each.

Messages of exceptions, annotations, declarations, docstrings, logging and guards of main programs are left alone.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

_QUIET_CALLS = frozenset({"warn", "debug", "info", "warning", "error", "exception", "critical", "TypeVar", "NewType"})
_QUIET_KEYWORDS = frozenset({"help", "description", "prog", "metavar", "epilog", "file", "stacklevel", "strict"})


class Text:
    """A file's bytes, by node."""

    def __init__(self, source: bytes) -> None:
        self.source = source
        self._starts = [0, *(found.end() for found in re.finditer(rb"\n", source))]

    def at(self, line: int, column: int) -> int:
        """The offset of a line (from 1) and a column in bytes."""
        return self._starts[line - 1] + column

    def span(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        """Where a node begins and ends."""
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return self.at(node.lineno, node.col_offset), self.at(node.end_lineno, node.end_col_offset)

    def of(self, node: ast.expr | ast.stmt) -> bytes:
        """A node's own text."""
        start, end = self.span(node)
        return self.source[start:end]


def live(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes below *node* whose behaviour a prompt can state."""
    for field, value in ast.iter_fields(node):
        if _is_quiet(node, field):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and not _is_declaration(child) and not _is_docstring(node, child):
                yield child
                yield from live(child)


def _is_quiet(node: ast.AST, field: str) -> bool:
    match node:
        case ast.Raise():
            return True
        case ast.Assert():
            return field == "msg"
        case ast.AnnAssign() | ast.arg():
            return field == "annotation"
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            return field in {"decorator_list", "returns", "type_params"}
        case ast.ClassDef():
            return field in {"decorator_list", "bases", "keywords", "type_params"}
        case ast.JoinedStr() | ast.FormattedValue():
            return field == "format_spec"
        case ast.keyword(arg=name):
            return name in _QUIET_KEYWORDS
        case _:
            return False


def _is_declaration(node: ast.AST) -> bool:
    """Imports, type aliases, dunder names, guards of main programs and type checkers, logging."""
    match node:
        case ast.Import() | ast.ImportFrom() | ast.Global() | ast.Nonlocal():
            return True
        case ast.Assign(targets=[ast.Name(id=name)]):
            return name.startswith("__") and name.endswith("__")
        case ast.If(test=ast.Compare(left=ast.Name(id="__name__"))) | ast.If(test=ast.Name(id="TYPE_CHECKING")):
            return True
        case ast.Expr(value=ast.Call(func=ast.Attribute(attr=name))) | ast.Expr(value=ast.Call(func=ast.Name(id=name))):
            return name in _QUIET_CALLS or _goes_to_stderr(node)
        case _:
            return type(node).__name__ == "TypeAlias"


def _goes_to_stderr(node: ast.AST) -> bool:
    return any(isinstance(inner, ast.Attribute) and inner.attr == "stderr" for inner in ast.walk(node))


def _is_docstring(parent: ast.AST, child: ast.AST) -> bool:
    match child:
        case ast.Expr(value=ast.Constant()):
            return isinstance(parent, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        case _:
            return False
