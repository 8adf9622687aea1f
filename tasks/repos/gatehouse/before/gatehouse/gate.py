"""The decision."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from gatehouse.paths import normal
from gatehouse.policy import EVERYBODY, Rule, read_policy

ALLOW, DENY = "allow", "deny"


class Gate:
    """A gate with a policy."""

    def __init__(self, policy: str) -> None:
        self._policy = read_policy(policy)

    def check(self, roles: Sequence[str], method: str, path: str, facts: Mapping[str, Any] | None = None) -> str:
        """Whether somebody with these roles may do it."""
        plain = normal(path)
        if plain is None:
            return DENY
        for role in self._roles(roles):
            applying = [
                rule
                for rule in self._policy.rules
                if rule.role == role and rule.names(method, plain) and _holds(rule, facts or {})
            ]
            if applying:
                return ALLOW if all(rule.allows for rule in applying) else DENY
        return DENY

    def _roles(self, roles: Sequence[str]) -> Iterator[str]:
        for role in roles:
            yield from self._policy.lineage(role)
        yield EVERYBODY


def _holds(rule: Rule, facts: Mapping[str, Any]) -> bool:
    return rule.condition is None or bool(rule.condition(facts))
