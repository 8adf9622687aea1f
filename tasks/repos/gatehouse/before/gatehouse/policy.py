"""Policies as they are written."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from gatehouse.conditions import Condition, read_condition
from gatehouse.errors import PolicyError
from gatehouse.patterns import Pattern

EVERYBODY = "*"


@dataclass(frozen=True)
class Rule:
    """One line of allow or deny."""

    line: int
    allows: bool
    role: str
    methods: frozenset[str]
    pattern: Pattern
    condition: Condition | None

    def names(self, method: str, path: str) -> bool:
        """Whether it is about this method and path."""
        return (method in self.methods or "*" in self.methods) and self.pattern.fits(path)


@dataclass
class Policy:
    """A policy that was read."""

    rules: list[Rule] = field(default_factory=list)
    parents: dict[str, list[str]] = field(default_factory=dict)

    def lineage(self, role: str) -> list[str]:
        """A role and everything that it inherits from, nearest first."""
        found = [role]
        for one in found:
            found += [parent for parent in self.parents.get(one, ()) if parent not in found]
        return found


def read_policy(text: str) -> Policy:
    """Read a policy.

    Raises:
        PolicyError: the first line that can't be read.
    """
    lines = [(number, line.strip()) for number, line in enumerate(text.splitlines(), start=1)]
    lines = [(number, line) for number, line in lines if line and not line.startswith("#")]
    fold = False
    policy = Policy()
    for number, line in lines:
        word, _, rest = line.partition(" ")
        if word == "option":
            if rest.strip() != "fold-case":
                raise PolicyError(f"line {number}: unknown option")
            fold = True
    for number, line in lines:
        word, _, rest = line.partition(" ")
        if word == "role":
            name, colon, parents = rest.partition(":")
            if not colon or not name.strip() or name.strip() in policy.parents:
                raise PolicyError(f"line {number}: role NAME: PARENTS, once for each name")
            policy.parents[name.strip()] = [one.strip() for one in parents.split(",") if one.strip()]
        elif word in {"allow", "deny"}:
            policy.rules.append(_rule(number, word == "allow", rest, fold=fold))
        elif word != "option":
            raise PolicyError(f"line {number}: unknown word {word!r}")
    _refuse_circles(policy.parents)
    return policy


def _rule(number: int, allows: bool, rest: str, *, fold: bool) -> Rule:
    words = rest.split(None, 4)
    if len(words) not in {3, 5} or not words[2].startswith("/") or (len(words) == 5 and words[3] != "when"):
        raise PolicyError(f"line {number}: allow or deny ROLE METHODS /PATTERN [when CONDITION]")
    condition = read_condition(words[4]) if len(words) == 5 else None
    return Rule(number, allows, words[0], frozenset(words[1].split(",")), Pattern(words[2], fold=fold), condition)


def _refuse_circles(parents: Mapping[str, list[str]]) -> None:
    def visit(role: str, below: tuple[str, ...]) -> None:
        if role in below:
            raise PolicyError(f"role {role!r} inherits from itself")
        for parent in parents.get(role, ()):
            visit(parent, (*below, role))

    for role in parents:
        visit(role, ())
