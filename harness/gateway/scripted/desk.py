"""What is kept for one key: its script, how often each turn's fault has come, and what was served."""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Callable

from harness.gateway.records import Api
from harness.gateway.scripted.answer import Answer
from harness.gateway.scripted.asked import Asked
from harness.gateway.scripted.plan import Step
from harness.gateway.scripted.script import FaultSpec, Script, Tokens
from harness.gateway.scripted.served import Served

_CREATED = 1_750_000_000
"""When all answers claim to be from, plus a second for each: nothing here depends on the clock."""


class Desk:
    """One key's. Called from the server's thread and from those that read the truth."""

    def __init__(self, script: Script, key: str, log: Callable[[str], None] | None = None) -> None:
        self.script = script
        self._log = log
        self._name = hashlib.sha256(key.encode()).hexdigest()[:12]
        self._lock = threading.Condition()
        self._next = 0
        self._open = 0
        self._faults: dict[int, int] = {}
        self._served: list[Served] = []

    def begin(self) -> int:
        """The number of a new request."""
        with self._lock:
            self._next += 1
            self._open += 1
            return self._next - 1

    def end(self, served: Served) -> None:
        """A request is over."""
        with self._lock:
            self._open -= 1
            self._served.append(served)
            self._lock.notify_all()
        if self._log is not None:
            self._log(str(served))

    @property
    def requests(self) -> int:
        """How many requests came."""
        with self._lock:
            return self._next

    def truth(self, wait_s: float) -> tuple[Served, ...]:
        """What was served, in the order of the requests, once none is under way or the wait is over."""
        deadline = time.monotonic() + wait_s
        with self._lock:
            while self._open and (left := deadline - time.monotonic()) > 0:
                self._lock.wait(left)
            return tuple(sorted(self._served, key=lambda one: one.seq))

    def id(self, api: Api, seq: int) -> str:
        """The id of an answer, as its body has it after the format's own prefix."""
        return f"{self._name}{api.value[0]}{seq:06d}"

    def answer(self, api: Api, seq: int, asked: Asked, step: Step) -> Answer:
        """The answer to a request."""
        return Answer(
            id=self.id(api, seq),
            model=self.script.model or asked.model or "scripted",
            step=step,
            tokens=self.tokens(step),
            created=_CREATED + seq,
            thinks=asked.thinks,
        )

    def tokens(self, step: Step) -> Tokens:
        """What a step uses."""
        if step.turn < 0:
            return self.script.aside.usage
        turns = self.script.turns
        own = turns[step.turn].usage if step.turn < len(turns) else None
        return own or self.script.usage

    def fault(self, step: Step) -> FaultSpec | None:
        """The fault of a turn's next request; each call is one such request."""
        if not 0 <= step.turn < len(self.script.turns) or step.part:
            return None
        fault = self.script.turns[step.turn].fault
        if fault is None:
            return None
        with self._lock:
            had = self._faults.get(step.turn, 0)
            if fault.most is not None and had >= fault.most:
                return None
            self._faults[step.turn] = had + 1
        return fault
