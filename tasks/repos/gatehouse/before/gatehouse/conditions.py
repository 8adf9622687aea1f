"""What stands behind ``when``: a small language, read once and decided for each check."""

import operator
import re
from collections.abc import Callable, Mapping
from typing import Any

from gatehouse.errors import PolicyError

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
        left = self._unary()
        while self.token in {("word", "and"), ("word", "or")}:
            word = self._advance()
            left = _joined(word, left, self._unary())
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
        return lambda facts: left(facts) is True

    def _operand(self) -> Condition:
        match self.token:
            case ("number" | "text", value):
                self._advance()
                return lambda facts: value
            case ("word", word) if word not in _RESERVED:
                self._advance()
                if word in _WORDS:
                    return lambda facts: _WORDS[word]
                return lambda facts: facts.get(word)
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


def _joined(word: str, left: Condition, right: Condition) -> Condition:
    if word == "and":
        return lambda facts: left(facts) and right(facts)
    return lambda facts: left(facts) or right(facts)


def _compared(compare: Callable[[Any, Any], bool], left: Condition, right: Condition) -> Condition:
    def decided(facts: Facts) -> bool:
        try:
            return compare(left(facts), right(facts))
        except TypeError:
            return False

    return decided
