"""What stands behind ``when``: a small language, read once and decided for each check."""

import operator
import re
from collections.abc import Callable, Mapping
from typing import Any

from gatehouse.errors import PolicyError


class UndecidedError(Exception):
    """A condition can't be decided with these facts."""


Facts = Mapping[str, Any]
Condition = Callable[[Facts], Any]

_TOKEN = re.compile(r"\s*(?:(\d+)|'([^']*)'|([A-Za-z_]\w*)|(==|!=|<=|>=|<|>|\(|\)))")
_COMPARISONS = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_EQUALITIES = {operator.eq, operator.ne}
_KINDS = (bool, int | float, str)
_ORDERED = {int | float, str}
_WORDS = {"true": True, "false": False}
_RESERVED = {"and", "or", "not"}


def read_condition(text: str) -> Condition:
    """Read a condition.

    Raises:
        PolicyError: it isn't one.
    """
    reader = _Reader(text)
    condition = reader.expression()
    if reader.token is not None:
        raise PolicyError(f"what is {reader.token[1]!r} doing in {text!r}?")
    return condition


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text.rstrip()
        self._at = 0
        self.token: tuple[str, Any] | None = None
        self._advance()

    def expression(self) -> Condition:
        left = self._conjunction()
        while self.token == ("word", "or"):
            self._advance()
            left = _both(operator.or_, left, self._conjunction())
        return left

    def _conjunction(self) -> Condition:
        left = self._unary()
        while self.token == ("word", "and"):
            self._advance()
            left = _both(operator.and_, left, self._unary())
        return left

    def _unary(self) -> Condition:
        if self.token == ("word", "not"):
            self._advance()
            inner = self._unary()
            return lambda facts: not inner(facts)
        if self.token == ("sign", "("):
            self._advance()
            inner = self.expression()
            if self.token != ("sign", ")"):
                raise PolicyError(f"a bracket isn't closed: {self._text!r}")
            self._advance()
            return inner
        left = self._operand()
        if self.token is not None and self.token[0] == "sign" and self.token[1] in _COMPARISONS:
            compare = _COMPARISONS[self._advance()]
            return _compared(compare, left, self._operand())
        return lambda facts: _truth(left(facts))

    def _operand(self) -> Condition:
        match self.token:
            case ("number" | "text", value):
                self._advance()
                return lambda facts: value
            case ("word", word) if word not in _RESERVED:
                self._advance()
                if word in _WORDS:
                    return lambda facts: _WORDS[word]
                return lambda facts: _fact(facts, word)
            case _:
                raise PolicyError(f"a fact or a value is missing: {self._text!r}")

    def _advance(self) -> Any:
        """Go on to the next token; the value of the one that was left."""
        left = self.token[1] if self.token else None
        if self._at == len(self._text):
            self.token = None
            return left
        found = _TOKEN.match(self._text, self._at)
        if found is None:
            raise PolicyError(f"can't be read: {self._text!r}")
        self._at = found.end()
        number, text, word, sign = found.groups()
        if number is not None:
            self.token = ("number", int(number))
        elif text is not None:
            self.token = ("text", text)
        else:
            self.token = ("word", word) if word is not None else ("sign", sign)
        return left


def _both(join: Callable[[bool, bool], bool], left: Condition, right: Condition) -> Condition:
    """Both sides are looked at, so that one that is undecided is never passed over."""
    return lambda facts: join(left(facts), right(facts))


def _fact(facts: Facts, name: str) -> Any:
    if name not in facts:
        raise UndecidedError(name)
    return facts[name]


def _truth(value: Any) -> bool:
    if not isinstance(value, bool):
        raise UndecidedError(value)
    return value


def _compared(compare: Callable[[Any, Any], bool], left: Condition, right: Condition) -> Condition:
    def decided(facts: Facts) -> bool:
        one, other = left(facts), right(facts)
        if compare in _EQUALITIES:
            return compare((_kind(one), one), (_kind(other), other))
        if _kind(one) != _kind(other) or _kind(one) not in _ORDERED:
            raise UndecidedError(one, other)
        return compare(one, other)

    return decided


def _kind(value: Any) -> Any:
    return next((kind for kind in _KINDS if isinstance(value, kind)), None)
