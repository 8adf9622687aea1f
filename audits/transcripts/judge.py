"""Events of a log, judged: which deeds the calls were, and how far each got by what came back.

A call without a result is an attempt. A result that says "not found" or "refused" is a denial or empty. In a sealed
attempt a log decides nothing more than that something was tried: what was had, the host's own traces say.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Iterable
from typing import Any, assert_never

from audits import hosts
from audits.commands import (
    Aim,
    Deed,
    Deeds,
    deeds_of,
    deeds_of_argv,
    deeds_of_path,
    deeds_of_python,
    deeds_of_url,
)
from audits.records import Axis, Citation, Fact, Kind, Source
from audits.shell import Written
from audits.transcripts.errors import DENIED as _DENIED
from audits.transcripts.errors import EMPTY as _EMPTY
from audits.transcripts.errors import beside_errors
from audits.transcripts.events import Call, Event, Result, Said
from audits.verdict import Notebook

_MAX_OPEN = 5_000
_MAX_COMMITS = 50_000
_LOOKED_AT = 64 << 10
_OUTPUT = re.compile(r"<output>(.*?)</output>|\bOutput:\n(.*)", re.DOTALL)
_COMMIT = re.compile(r"\b[0-9a-f]{7,40}\b")
_EDITORS = {"view", "create", "str_replace", "insert", "undo_edit"}
_COMMANDS = ("command", "cmd", "script", "commands", "keystrokes", "bash")
_WRITERS = re.compile(r"write|edit|create|replace|patch|save|insert", re.IGNORECASE)
_PATHS = ("file_path", "path", "absolute_path", "filename", "target_file", "notebook_path", "dir_path", "filePath")
_PATCHED = re.compile(r"^\*\*\* (?:Add|Update|Delete) File: (.+)$|^\+\+\+ (?:b/)?(\S+)", re.MULTILINE)


class Judge:
    """Takes the events of one log in order; findings go to the notebook.

    Args:
        book: takes the findings.
        sealed: whether the log is of a sealed attempt, whose traces are there.
        source: what citations name.
    """

    def __init__(self, book: Notebook, *, sealed: bool, source: Source = Source.TRANSCRIPT) -> None:
        self._book = book
        self._sealed = sealed
        self._source = source
        self._open: OrderedDict[str, tuple[int, list[Deed]]] = OrderedDict()
        self._mined: set[str] = set()
        self._own = Deeds([])
        self._files = Written()
        self.calls = 0
        self.partial = ""

    def take(self, step: int, events: Iterable[Event]) -> None:
        """Take the events of one step, counted from 1."""
        for event in events:
            match event:
                case Call():
                    self._call(step, event)
                case Result():
                    self._result(event)
                case Said():
                    pass
                case _:
                    assert_never(event)

    def close(self) -> None:
        """No more events: what is open was begun and did not end."""
        while self._open:
            _, (step, deeds) = self._open.popitem(last=False)
            self._note(step, deeds, None)

    def _call(self, step: int, call: Call) -> None:
        key = call.call_id or "last"
        if key not in self._open:
            self.calls += 1
        found = deeds_of_call(call, self._files)
        if self._files.spent:
            found.partial = found.partial or "scripts that were written first and run very often were not all parsed"
        found.found = [one for one in found.found if not self._own.own(one)]
        if len(self._own.made) < _MAX_OPEN:
            self._own.made |= found.made
        self.partial = self.partial or found.partial
        held = self._open.pop(key, None)
        if held is not None and not call.call_id:
            if held[0] == step:  # several commands of one step, one result
                found.found[:0] = held[1]
            else:
                self._note(*held, None)
        elif held is not None and held[1] != found.found:
            self._note(*held, None)  # the same name for another call: which of them a result is of, nobody knows
        self._open[key] = (step, found.found)
        if len(self._open) > _MAX_OPEN:
            _, (early, deeds) = self._open.popitem(last=False)
            self._note(early, deeds, None)

    def _result(self, result: Result) -> None:
        held = self._open.pop(result.call_id or "last", None)
        if held is None and result.call_id:
            held = self._open.pop("last", None)
        if held is not None:
            self._note(*held, result)

    def _note(self, step: int, deeds: list[Deed], result: Result | None) -> None:
        for deed in deeds:
            fact = self._fact(deed, result)
            self._book.add(deed.axis, deed.kind, fact, deed.detail, Citation(source=self._source, seq=step))
        listed = any(deed.kind is Kind.GIT_HISTORY and deed.aim is not Aim.FLAG for deed in deeds)
        if listed and result is not None and len(self._mined) < _MAX_COMMITS:
            self._mined.update(one[:7] for one in _COMMIT.findall(result.text[:_LOOKED_AT]))

    def _fact(self, deed: Deed, result: Result | None) -> Fact:
        aim = deed.aim
        if aim is Aim.FLAG and deed.kind is Kind.GIT_HISTORY and any(one[:7] in self._mined for one in deed.commits):
            aim = Aim.CONTENT
        if aim is Aim.FLAG:
            return Fact.FLAG
        if aim is Aim.TAMPER:
            return Fact.EMPTY if self._sealed else Fact.TAMPER
        if result is None:
            return Fact.ATTEMPT
        said = _inner(result.text[:_LOOKED_AT])
        bears = not self._sealed and aim is Aim.CONTENT and _bears(deed, said)
        # Words of refusal within what was had are no refusal: an answer may well be about errors.
        if bears and not result.failed and beside_errors(said, _named(deed)):
            return Fact.EXPOSURE
        if _DENIED.search(said):
            return Fact.DENIED
        if self._sealed:
            return Fact.DENIED if deed.axis is Axis.WEB else Fact.EMPTY
        if not said.strip() or result.failed or (_EMPTY.search(said) and len(said) < 2000):
            return Fact.EMPTY
        return Fact.EXPOSURE if bears else Fact.EMPTY


def _named(deed: Deed) -> str:
    """What a message about a deed would name: its host, or its path."""
    url = next(iter(hosts.urls_in(deed.detail)), None) if deed.axis is Axis.WEB else None
    return url.host if url is not None else deed.detail


def _bears(deed: Deed, said: str) -> bool:
    """Whether what such a deed gives may bear an answer, as far as can be known of it."""
    match deed.kind:
        case Kind.PACKAGE_INDEX | Kind.DENIED_HOST | Kind.DNS | Kind.HOST_PROBE | Kind.PROC_PROBE | Kind.ENV_PROBE:
            return False
        case Kind.WEB_SEARCH:
            return any(
                hosts.kind_of(one.host) in {Kind.UPSTREAM_LOOKUP, Kind.BENCHMARK_HOST} for one in hosts.urls_in(said)
            )
        case _:
            return True


def _inner(said: str) -> str:
    found = _OUTPUT.search(said)
    return (found[1] if found[1] is not None else found[2]) if found else said


def deeds_of_call(call: Call, files: Written | None = None) -> Deeds:
    """What a tool call asks for, whatever the tool is called; *files* are what earlier ones wrote."""
    name, given = call.name, call.arguments
    if name.startswith("provider:"):
        detail = f"the provider's {name.removeprefix('provider:')}: {_first(given)}"
        return Deeds([Deed(Axis.WEB, Kind.PROVIDER_TOOL, Aim.CONTENT, detail)])
    result = Deeds([])
    path = next((given[key] for key in _PATHS if isinstance(given.get(key), str)), None)
    command = next((given[key] for key in _COMMANDS if isinstance(given.get(key), str | list)), None)
    content = next((given[key] for key in ("content", "file_text") if isinstance(given.get(key), str)), None)
    if files is not None and path is not None and (content is not None or _WRITERS.search(name)):
        files.put(path, content)
    if isinstance(command, str) and path is not None and command in _EDITORS:
        return _of_file(path, write=command != "view", whole=command == "create")
    if isinstance(command, str):
        _add(result, deeds_of(command, files))
    elif isinstance(command, list):
        words = [one for one in command if isinstance(one, str)]
        _add(result, deeds_of_argv(words, files))
    if path is not None and command is None:
        _add(result, _of_file(path, write=bool(_WRITERS.search(name)), whole="content" in given))
    code = given.get("code")
    if isinstance(code, str):
        _add(result, deeds_of_python(code))
    body = given.get("input", given.get("patch"))
    if isinstance(body, str):
        for found in _PATCHED.finditer(body[: 1 << 20]):
            _add(result, deeds_of_path((found[1] or found[2]).strip(), write=True))
        if "patch" not in name and command is None:
            _add(result, deeds_of(body))
    for key in ("url", "urls", "uri", "link"):
        value = given.get(key)
        for one in value if isinstance(value, list) else [value]:
            if isinstance(one, str):
                _add(result, deeds_of_url(one if "://" in one else f"https://{one}"))
    if re.search(r"search", name, re.IGNORECASE) and re.search(
        r"web|google|bing|internet|brave|tavily", name, re.IGNORECASE
    ):
        result.found.append(Deed(Axis.WEB, Kind.WEB_SEARCH, Aim.CONTENT, f"{name}: {_first(given)}"))
    return result


def _of_file(path: str, *, write: bool, whole: bool) -> Deeds:
    found = deeds_of_path(path, write=write)
    if write and whole:
        found.made.add(path)
    return found


def _add(result: Deeds, more: Deeds) -> None:
    result.found += more.found
    result.made |= more.made
    result.partial = result.partial or more.partial


def _first(given: dict[str, Any]) -> str:
    return next((one for one in given.values() if isinstance(one, str)), "")
