"""From a script and a request to the next answer.

Which turn is next is read off the request: how far into the script the model's own earlier answers reach. Nothing is
kept between requests, so a client may ask twice, in parallel, or leave its history out and begin again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import assert_never

from harness.gateway.scripted import dialects, tools
from harness.gateway.scripted.asked import Asked, Call, Said
from harness.gateway.scripted.dialects import DONE
from harness.gateway.scripted.schema import smallest
from harness.gateway.scripted.script import Dialect, Script, ToolSpec, Turn

_MARK = re.compile(r"s(\d+)p(\d+)n\d+k\d+$")


@dataclass(frozen=True)
class Step:
    """One answer. A turn takes more than one where its commands are too long for one."""

    turn: int
    """From 0; the number of turns for the end that follows the last. -1 for an aside."""
    part: int
    say: str = ""
    think: str = ""
    calls: tuple[Call, ...] = ()
    refuse: bool = False


def next_step(script: Script, asked: Asked) -> Step:
    """What to answer a request."""
    dialect = _dialect(script, asked)
    if dialect is None:
        say = json.dumps(smallest(asked.schema)) if asked.schema is not None else script.aside.say
        return Step(-1, 0, say)
    steps = list(_steps(script, asked, dialect))
    at = position(steps, asked.past)
    again = dialect is Dialect.AIDER and asked.users and asked.users[-1].startswith(dialects.AGAIN)
    step = steps[max(0, at - 1) if again else at]
    return replace(step, calls=tuple(_marked(call, step, at, asked) for at, call in enumerate(step.calls)))


def position(steps: list[Step], past: tuple[Said, ...]) -> int:
    """The index of the step that follows what was said; the last, once all were.

    A call is known by its id, else by what it says; an answer without calls by its text. What the model never said,
    such as a prompt's worked example, counts for nothing.
    """
    at = 0
    for said in past:
        marks = [(int(mark[1]), int(mark[2])) for call in said.calls if (mark := _MARK.search(call.id))]
        if marks:
            found = next((n for n, step in enumerate(steps) if (step.turn, step.part) > max(marks)), len(steps))
            at = max(at, found)
        else:
            at = next((n + 1 for n in range(at, len(steps)) if _is(steps[n], said)), at)
    return min(at, len(steps) - 1)


def _is(step: Step, said: Said) -> bool:
    if step.calls or said.calls:
        ours, theirs = ([(one.name, one.arguments) for one in calls] for calls in (step.calls, said.calls))
        return ours == theirs
    return step.say.split() == said.text.split()


def _marked(call: Call, step: Step, at: int, asked: Asked) -> Call:
    """With an id that tells which step it is of, and is new in this conversation."""
    return replace(call, id=f"s{step.turn}p{step.part}n{at}k{len(asked.past)}")


def _dialect(script: Script, asked: Asked) -> Dialect | None:
    """How to answer; None for an aside."""
    names = [one.call.name for turn in script.turns for one in turn.doings if one.call is not None]
    serves = tools.can_serve(asked.tools, names)
    if (asked.schema is not None and not serves) or (asked.limit is not None and asked.limit <= 1):
        return None
    match script.dialect:
        case Dialect.TOOLS:
            return Dialect.TOOLS if serves or not script.does else None
        case Dialect.AUTO if serves:
            return Dialect.TOOLS
        case Dialect.AUTO if asked.tools and script.does:
            return None
        case Dialect.AUTO:
            found = dialects.told(asked.prompt)
            plain = Dialect.REPLY if script.reply is not None or not script.does else None
            return found or plain
        case Dialect.AIDER | Dialect.MINI | Dialect.REPLY:
            return script.dialect
        case never:
            assert_never(never)


def _steps(script: Script, asked: Asked, dialect: Dialect) -> Iterator[Step]:
    if dialect is Dialect.REPLY and script.reply is not None:
        yield Step(0, 0, script.reply)
        return
    ending = Turn(say=DONE, done=True)
    for number, turn in enumerate((*script.turns, ending)):
        if turn.refuse:
            yield Step(number, 0, turn.say or "I can't help with that.", turn.think, refuse=True)
            continue
        match dialect:
            case Dialect.TOOLS | Dialect.AUTO:
                yield from _by_tools(script, asked, number, turn)
                continue
            case Dialect.AIDER:
                texts = dialects.aider(turn, asked.prompt)
            case Dialect.MINI:
                texts = dialects.mini(turn, asked.prompt)
            case Dialect.REPLY:
                texts = dialects.reply(turn)
            case never:
                assert_never(never)
        yield from (Step(number, part, text, turn.think if part == 0 else "") for part, text in enumerate(texts))


def _by_tools(script: Script, asked: Asked, number: int, turn: Turn) -> Iterator[Step]:
    """Writes by a write tool and each command by a call of its own, at once; what has no tool goes to the shell."""
    calls: list[Call] = []
    left: list[ToolSpec] = []
    for one in turn.doings:
        call = _call(script, asked, one)
        if call is not None:
            calls.append(call)
        else:
            left.append(one)
    rest = dialects.commands(left)
    by_shell = [tools.shell(asked.tools, command) for command in rest]
    if turn.done or not (turn.say or calls or rest):
        by_shell = [_end(asked, turn)]
    missing = [command for command, call in zip(rest, by_shell, strict=False) if call is None]
    say = "\n\n".join(filter(None, (turn.say, *(f"```sh\n{command}\n```" for command in missing))))
    groups = [[call] for call in by_shell if call is not None]
    if asked.parallel:
        groups = [calls + (groups[0] if groups else []), *groups[1:]]
    else:
        groups = [[call] for call in calls] + groups or [[]]
    for part, group in enumerate(groups):
        text = say if part == 0 else ""
        yield Step(number, part, text or ("" if group else DONE), turn.think if part == 0 else "", tuple(group))


def _call(script: Script, asked: Asked, one: ToolSpec) -> Call | None:
    if one.call is not None:
        return tools.named(asked.tools, one.call)
    if one.shell is not None:
        return tools.shell(asked.tools, one.shell)
    return tools.write(asked.tools, one.write, script.workspace) if one.write is not None else None


def _end(asked: Asked, turn: Turn) -> Call | None:
    command = dialects.end_command(asked.prompt)
    if command is not None:
        return tools.shell(asked.tools, command)
    return tools.end(asked.tools, turn.say or DONE)
