"""An entry of the truth while its request is under way."""

from __future__ import annotations

from dataclasses import dataclass

from harness.gateway.records import Api, Endpoint
from harness.gateway.scripted.answer import Answer
from harness.gateway.scripted.asked import Asked
from harness.gateway.scripted.plan import Step
from harness.gateway.scripted.script import FaultKind
from harness.gateway.scripted.served import MAX_USER, Served
from harness.gateway.scripted.tokens import truth

_PREFIX = {Api.ANTHROPIC: "msg_", Api.RESPONSES: "resp_", Api.CHAT: "chatcmpl-", Api.GEMINI: ""}


@dataclass
class Entry:
    """What is known so far. ``name`` is what all ids of this exchange are made of."""

    seq: int
    endpoint: Endpoint
    path: str
    name: str
    status: int | None = None
    asked: Asked | None = None
    step: Step | None = None
    answer: Answer | None = None
    fault: FaultKind | None = None
    stated: bool = False
    cut: bool = False
    problem: str = ""

    def served(self) -> Served:
        """The record of it."""
        api, asked, answer, step = self.endpoint.api, self.asked, self.answer, self.step
        aside = step is not None and step.turn < 0
        return Served(
            seq=self.seq,
            api=api,
            path=self.path,
            billed=self.endpoint.billed,
            model=asked.model if asked else None,
            served_model=answer.model if answer else None,
            effort=asked.effort if asked else None,
            streamed=asked.stream if asked else False,
            status=self.status,
            turn=step.turn if step and not aside else None,
            aside=aside,
            fault=self.fault,
            usage=truth(api, answer.tokens) if answer else None,
            stated=self.stated and not self.cut,
            cut=self.cut,
            request_id=f"{_PREFIX[api]}{self.name}" if answer else f"req_{self.name}",
            tools=tuple(map(str, asked.tools)) if asked else (),
            called=tuple(call.name for call in answer.step.calls) if answer else (),
            past=len(asked.past) if asked else 0,
            user=_plain(asked.users[-1][:MAX_USER]) if asked and asked.users else "",
            problem=_plain(self.problem),
        )


def _plain(text: str) -> str:
    """Without lone surrogates, which JSON can carry and UTF-8 cannot."""
    return text.encode("utf-8", "replace").decode()
