"""Turns as text, for clients that offer no tools."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from harness.gateway.scripted import shell
from harness.gateway.scripted.script import Dialect, ToolSpec, Turn, WriteSpec

DONE = "Done."
AGAIN = "I added these files to the chat"
"""How aider asks for an answer once more: it applied none of its edits, since they name files that it had not seen."""


class Mark(NamedTuple):
    """What a prompt says that tells of a dialect."""

    text: str
    dialect: Dialect


MARKS = (
    Mark("SEARCH/REPLACE", Dialect.AIDER),
    Mark("*file listing*", Dialect.AIDER),
    Mark("mswea_bash_command", Dialect.MINI),
    Mark("COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT", Dialect.MINI),
)
ENDS = {"COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT": "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"}
"""Prompts that name a command by which the work is to end."""
_FENCES = ("mswea_bash_command",)
"""Words that a prompt may ask for behind the fence of a command."""


def told(prompt: str) -> Dialect | None:
    """The dialect that a prompt asks for."""
    return next((mark.dialect for mark in MARKS if mark.text in prompt), None)


def end_command(prompt: str) -> str | None:
    """The command by which a prompt wants the work to end."""
    return next((command for text, command in ENDS.items() if text in prompt), None)


def commands(doings: Iterable[ToolSpec]) -> list[str]:
    """What is to be done, as shell commands in as few as may be."""
    found: list[str] = []
    for one in doings:
        if one.shell is not None:
            found.append(one.shell)
        elif one.write is not None:
            found += shell.write(one.write)
        elif one.delete is not None:
            found.append(shell.delete(one.delete))
    return shell.packed(found)


def mini(turn: Turn, prompt: str) -> list[str]:
    """Answers with one fenced command each; more than one where the commands are long."""
    fence = next((word for word in _FENCES if word in prompt), "bash")
    todo = commands(turn.doings)
    if turn.done or not todo:
        todo = [end_command(prompt) or "true"] if turn.done or not turn.say else [":"]
    say = turn.say or "Going on."
    return [f"THOUGHT: {say}\n\n```{fence}\n{command}\n```" for command in todo]


def aider(turn: Turn, prompt: str) -> list[str]:
    """One answer with an edit block, or a whole file, for each write; it can't run commands or delete files."""
    whole = "SEARCH/REPLACE" not in prompt and "*file listing*" in prompt
    blocks = [_listing(one) if whole else _edit(one) for one in _writes(turn)]
    return ["\n\n".join([turn.say or DONE, *blocks])]


def _edit(one: WriteSpec) -> str:
    old, new = _lines(one.old or ""), _lines(one.text or "")
    return f"{one.path}\n```\n<<<<<<< SEARCH\n{old}=======\n{new}>>>>>>> REPLACE\n```"


def _listing(one: WriteSpec) -> str:
    return f"{one.path}\n```\n{_lines(one.text or '')}```"


def _lines(text: str) -> str:
    return text if text.endswith("\n") or not text else text + "\n"


def reply(turn: Turn) -> list[str]:
    """One answer with a fenced block for each write."""
    blocks = []
    for one in _writes(turn):
        text = _lines(one.text or "")
        fence = "```"
        while fence in text:
            fence += "`"
        word = "python" if one.path.endswith(".py") else "diff" if one.path.endswith((".diff", ".patch")) else "text"
        blocks.append(f"{fence}{word}\n{text}{fence}")
    return ["\n\n".join([turn.say or DONE, *blocks])]


def _writes(turn: Turn) -> list[WriteSpec]:
    return [one.write for one in turn.doings if one.write is not None and one.write.text is not None]
