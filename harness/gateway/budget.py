"""What one attempt may still use: held under concurrent requests, and without trust in what a solver says.

The request that crosses a limit is let through, the one after it is refused. While requests are under way, what they
may use is set aside, and one that might not fit beside them waits for them: it is then let through or refused by what
they did use.
"""

from __future__ import annotations

import asyncio
from collections import deque
from typing import NamedTuple

from harness.gateway.access import Budget
from harness.gateway.records import Bucket, Completeness, Usage

OUTPUT = 32_000
"""Tokens of an answer that is set no limit."""
BYTES_A_TOKEN = 3


class Spent(Exception):
    """The budget is used up; the text says which part of it."""


class Hold(NamedTuple):
    """What one request may use, at a guess: prompt and answer tokens."""

    prompt: int
    answer: int


def guess(body_bytes: int, answer_limit: int | None, answers: int = 1) -> Hold:
    """What a request may use, by its size, the limit that it sets to its answer, and how many of these it asks for."""
    return Hold(body_bytes // BYTES_A_TOKEN, (OUTPUT if answer_limit is None else answer_limit) * answers)


class Purse:
    """One attempt's budget. All calls come from one event loop."""

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self.requests = 0
        self.tokens = 0
        self.cost_pusd = 0
        self._held: list[Hold] = []
        self._waiting: deque[asyncio.Future[None]] = deque()

    async def admit(self, hold: Hold) -> None:
        """Take one request, waiting for others under way if it may not fit beside them.

        Raises:
            Spent: a limit is reached.
        """
        while True:
            self._check()
            if not self._held or self._fits(hold):
                break
            turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting.append(turn)
            await turn
        self.requests += 1
        self._held.append(hold)

    def settle(self, hold: Hold, usage: Usage | None) -> None:
        """Book what an admitted request used; None is nothing, for one that was turned away.

        An answer that is not complete is booked with what was set aside for it, if that is more: leaving early would
        otherwise be free.
        """
        self._held.remove(hold)
        if usage is not None:
            tokens, cost = usage.stated, self._cost(usage)
            if usage.completeness is not Completeness.COMPLETE:
                tokens, cost = max(tokens, sum(hold)), max(cost, self._cost_of(hold))
            self.tokens += tokens
            self.cost_pusd += cost
        self._wake()

    def give_back(self, hold: Hold) -> None:
        """Take an admission back: the request did not go out."""
        self._held.remove(hold)
        self.requests -= 1
        self._wake()

    def _check(self) -> None:
        budget = self._budget
        if budget.requests is not None and self.requests >= budget.requests:
            raise Spent(f"all {budget.requests} requests are used")
        if budget.tokens is not None and self.tokens >= budget.tokens:
            raise Spent(f"{self.tokens} of {budget.tokens} tokens are used")
        if budget.cost is not None and self.cost_pusd >= budget.cost.cap_pusd:
            raise Spent(f"{_usd(self.cost_pusd)} of {_usd(budget.cost.cap_pusd)} US dollars are used")

    def _fits(self, hold: Hold) -> bool:
        all_of = [*self._held, hold]
        tokens, cost = self._budget.tokens, self._budget.cost
        if tokens is not None and self.tokens + sum(map(sum, all_of)) > tokens:
            return False
        return cost is None or self.cost_pusd + sum(map(self._cost_of, all_of)) <= cost.cap_pusd

    def _cost(self, usage: Usage) -> int:
        return 0 if self._budget.cost is None else self._budget.cost.cost_pusd(usage)

    def _cost_of(self, hold: Hold) -> int:
        cap = self._budget.cost
        return 0 if cap is None else hold.prompt * cap.rate(Bucket.INPUT) + hold.answer * cap.rate(Bucket.OUTPUT)

    def _wake(self) -> None:
        while self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(None)


def _usd(picodollars: int) -> str:
    whole, rest = divmod(picodollars, 10**12)
    return f"{whole}.{rest // 10**8:04d}"
