"""aider: the Markdown of its chat history. What was asked begins with ``####``, what it reports with ``>``."""

from __future__ import annotations

from harness.trajectories.draft import Draft

_ASKED, _TOLD = "#### ", "> "


def read(data: bytes, draft: Draft) -> None:
    """Add what the text holds. Its token counts are rounded, so they are left out of the figures."""
    draft.lack("its history has no calls, and token counts are rounded")
    kind = ""
    block: list[str] = []
    for line in (*data.decode("utf-8", "replace").splitlines(), "#### "):
        now = _ASKED if line.startswith("####") else _TOLD if line.startswith("> ") else ""
        if now != kind or line.startswith("# aider chat started"):
            _add(kind, "\n".join(block).strip(), draft)
            kind, block = now, []
        if not line.startswith("# aider chat started"):
            block.append(line.removeprefix("####").removeprefix(" ") if now == _ASKED else line.removeprefix(now))


def _add(kind: str, block: str, draft: Draft) -> None:
    if not block:
        return
    if kind == _ASKED:
        draft.say("user", block)
    elif kind == _TOLD and any(turn.source == "agent" for turn in draft.turns):
        draft.observe(None, block)
    elif kind == _TOLD:
        draft.say("system", block)
    else:
        draft.agent().texts.append(block)
