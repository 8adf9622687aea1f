"""Small changes of a Python file that change what it does: the operators behind mutants.

An operator looks at one node of the syntax tree and offers edits of the text, so that every other line stays as it is.
What an operator should not touch is never handed to it (``changeable.py``).
"""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from harness.suites.admission.changeable import Text, live


class Operator(StrEnum):
    """What an edit does."""

    COMPARE = "compare"
    """A comparison with another edge or the opposite sense."""
    ARITHMETIC = "arithmetic"
    """Another operation of two operands."""
    BOOLEAN = "boolean"
    """``and`` for ``or``, a condition turned round, a ``not`` left out, ``True`` for ``False``."""
    CONSTANT = "constant"
    """A number, one more or one less."""
    STRING = "string"
    """A string without its text."""
    REMOVED = "removed"
    """A statement left out."""
    RETURNED = "returned"
    """None given back."""
    SLICE = "slice"
    """A slice or range, one off at an end."""
    DEFAULT = "default"
    """Another default of a parameter."""
    SWALLOWED = "swallowed"
    """An exception caught and forgotten."""


@dataclass(frozen=True)
class Edit:
    """Bytes *start* to *end* of a file replaced by *text*."""

    operator: Operator
    start: int
    end: int
    text: bytes

    def apply(self, source: bytes) -> bytes:
        """The changed file."""
        return source[: self.start] + self.text + source[self.end :]


def edits_of(source: bytes) -> Iterator[Edit]:
    """Every edit of a Python file, in order of the nodes; each still parses and none is the same program.

    A file that is not Python has none.
    """
    try:
        module = ast.parse(source)
    except (SyntaxError, ValueError):
        return
    text = Text(source)
    original = ast.dump(module)
    seen = {original}
    for node in live(module):
        for operate in _OPERATORS:
            for edit in operate(node, text):
                changed = _dumped(edit.apply(source))
                if changed is not None and changed not in seen:
                    seen.add(changed)
                    yield edit


def _dumped(source: bytes) -> str | None:
    try:
        return ast.dump(ast.parse(source))
    except (SyntaxError, ValueError):
        return None


_COMPARISONS: dict[type[ast.cmpop], tuple[bytes, tuple[bytes, ...]]] = {
    ast.Lt: (rb"<", (b"<=", b">")),
    ast.LtE: (rb"<=", (b"<", b">=")),
    ast.Gt: (rb">", (b">=", b"<")),
    ast.GtE: (rb">=", (b">", b"<=")),
    ast.Eq: (rb"==", (b"!=",)),
    ast.NotEq: (rb"!=", (b"==",)),
    ast.Is: (rb"\bis\b", (b"is not",)),
    ast.IsNot: (rb"\bis\s+not\b", (b"is",)),
    ast.In: (rb"\bin\b", (b"not in",)),
    ast.NotIn: (rb"\bnot\s+in\b", (b"in",)),
}

_ARITHMETIC: dict[type[ast.operator], tuple[bytes, bytes]] = {
    ast.Add: (rb"\+", b"-"),
    ast.Sub: (rb"-", b"+"),
    ast.Mult: (rb"\*", b"//"),
    ast.Div: (rb"/", b"*"),
    ast.FloorDiv: (rb"//", b"*"),
    ast.Mod: (rb"%", b"//"),
    ast.Pow: (rb"\*\*", b"*"),
    ast.BitAnd: (rb"&", b"|"),
    ast.BitOr: (rb"\|", b"&"),
    ast.BitXor: (rb"\^", b"&"),
    ast.LShift: (rb"<<", b">>"),
    ast.RShift: (rb">>", b"<<"),
}


def _compare(node: ast.AST, text: Text) -> Iterator[Edit]:
    if not isinstance(node, ast.Compare):
        return
    operands = [node.left, *node.comparators]
    for left, operator, right in zip(operands, node.ops, operands[1:], strict=False):
        token, others = _COMPARISONS[type(operator)]
        yield from _between(Operator.COMPARE, text, left, right, token, others)


def _arithmetic(node: ast.AST, text: Text) -> Iterator[Edit]:
    match node:
        case ast.BinOp(left=left, op=operator, right=right):
            after = b""
        case ast.AugAssign(target=left, op=operator, value=right):
            after = b"="
        case _:
            return
    if any(isinstance(one, ast.JoinedStr) or _is_string(one) for one in (left, right)):
        return
    token, other = _ARITHMETIC.get(type(operator), (b"", b""))
    if token:
        yield from _between(Operator.ARITHMETIC, text, left, right, token + after, (other + after,))


def _between(
    operator: Operator, text: Text, left: ast.expr, right: ast.expr, token: bytes, others: tuple[bytes, ...]
) -> Iterator[Edit]:
    """Another token between two operands, where nothing but brackets and space stands beside it."""
    start, end = text.span(left)[1], text.span(right)[0]
    gap = text.source[start:end]
    found = re.search(token, gap)
    if found and b"#" not in gap:
        for other in others:
            yield Edit(operator, start + found.start(), start + found.end(), other)


def _boolean(node: ast.AST, text: Text) -> Iterator[Edit]:
    match node:
        case ast.BoolOp(op=operator, values=values):
            token, other = (rb"\band\b", b"or") if isinstance(operator, ast.And) else (rb"\bor\b", b"and")
            for left, right in itertools.pairwise(values):
                yield from _between(Operator.BOOLEAN, text, left, right, token, (other,))
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            start, end = text.span(node)
            yield Edit(Operator.BOOLEAN, start, end, b"bool(" + text.of(operand) + b")")
        case ast.Constant(value=bool(value)):
            start, end = text.span(node)
            yield Edit(Operator.BOOLEAN, start, end, repr(not value).encode())
        case _:
            for test in _conditions(node):
                if not isinstance(test, ast.UnaryOp | ast.Constant):
                    start, end = text.span(test)
                    yield Edit(Operator.BOOLEAN, start, end, b"(not (" + text.of(test) + b"))")


def _conditions(node: ast.AST) -> list[ast.expr]:
    match node:
        case ast.If(test=test) | ast.IfExp(test=test):
            return [test]
        case ast.comprehension(ifs=tests):
            return tests
        case _:
            return []


def _constant(node: ast.AST, text: Text) -> Iterator[Edit]:
    match node:
        case ast.Constant(value=int(value)) if not isinstance(value, bool):
            start, end = text.span(node)
            for other in (value + 1, value - 1):
                yield Edit(Operator.CONSTANT, start, end, str(other).encode() if other >= 0 else b"(%d)" % other)
        case ast.Constant(value=float(number)):
            start, end = text.span(node)
            yield Edit(Operator.CONSTANT, start, end, repr(number + 1.0).encode())
        case _:
            return


def _string(node: ast.AST, text: Text) -> Iterator[Edit]:
    match node:
        case ast.Constant(value=str(value)) | ast.Constant(value=bytes(value)):
            start, end = text.span(node)
            if text.source[end - 1 : end] in {b"'", b'"'}:  # a piece of an f-string has no quotes of its own
                mark = b"b" if isinstance(value, bytes) else b""
                yield Edit(Operator.STRING, start, end, mark + (b'""' if value else b'"~"'))
        case _:
            return


def _removed(node: ast.AST, text: Text) -> Iterator[Edit]:
    match node:
        case (
            ast.Raise()
            | ast.Break()
            | ast.Continue()
            | ast.Delete()
            | ast.AugAssign()
            | ast.Expr(value=ast.Call())
            | ast.Assign(targets=[ast.Attribute() | ast.Subscript()])
        ):
            start, end = text.span(node)
            yield Edit(Operator.REMOVED, start, end, b"pass")
        case ast.If(body=[*_, ast.Return() as last]):
            start, end = text.span(last)
            yield Edit(Operator.REMOVED, start, end, b"pass")
        case _:
            return


def _returned(node: ast.AST, text: Text) -> Iterator[Edit]:
    match node:
        case ast.Return(value=ast.expr() as value):
            start, end = text.span(value)
            yield Edit(Operator.RETURNED, start, end, b"None")
        case _:
            return


def _slice(node: ast.AST, text: Text) -> Iterator[Edit]:
    match node:
        case ast.Slice():
            yield from _ends(node, text)
        case ast.Call(func=ast.Name(id="range"), args=[stop]) | ast.Call(func=ast.Name(id="range"), args=[_, stop, *_]):
            start, end = text.span(stop)
            yield Edit(Operator.SLICE, start, end, b"(" + text.of(stop) + b") - 1")
        case _:
            return


def _ends(node: ast.Slice, text: Text) -> Iterator[Edit]:
    if node.lower is not None:
        start, end = text.span(node.lower)
        yield Edit(Operator.SLICE, start, end, b"(" + text.of(node.lower) + b") + 1")
    else:
        start, _ = text.span(node)
        yield Edit(Operator.SLICE, start, start, b"1")
    if node.upper is not None:
        start, end = text.span(node.upper)
        yield Edit(Operator.SLICE, start, end, b"(" + text.of(node.upper) + b") - 1")


def _default(node: ast.AST, text: Text) -> Iterator[Edit]:
    if not isinstance(node, ast.arguments):
        return
    for default in (*node.defaults, *node.kw_defaults):
        match default:
            case ast.Constant(value=bool(value)):
                other = repr(not value)
            case ast.Constant(value=int(value)):
                other = str(value + 2)
            case ast.Constant(value=str(value)):
                other = '"~"' if value != "~" else '""'
            case ast.Constant(value=None):
                other = "0"
            case _:
                continue
        start, end = text.span(default)
        yield Edit(Operator.DEFAULT, start, end, other.encode())


def _swallowed(node: ast.AST, text: Text) -> Iterator[Edit]:
    match node:
        case ast.ExceptHandler(body=body) if not isinstance(body[0], ast.Pass):
            start, end = text.span(body[0])[0], text.span(body[-1])[1]
            yield Edit(Operator.SWALLOWED, start, end, b"pass")
        case _:
            return


def _is_string(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str | bytes)


_OPERATORS: tuple[Callable[[ast.AST, Text], Iterator[Edit]], ...] = (
    _compare,
    _arithmetic,
    _boolean,
    _constant,
    _string,
    _removed,
    _returned,
    _slice,
    _default,
    _swallowed,
)
