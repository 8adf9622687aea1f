"""Which of the tools that a client offers can do a thing, and the call that does it.

The tables name the tools of clients that are known; any other tool is taken by its schema.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from harness.gateway.scripted.asked import Call, Offered, table
from harness.gateway.scripted.schema import filled, kinds
from harness.gateway.scripted.script import By, CallSpec, WriteSpec

_SHELLS = (
    "Bash", "bash", "exec_command", "shell_command", "shell", "local_shell", "run_shell_command", "execute_command",
    "run_command", "terminal", "exec",
)  # fmt: skip
_WRITERS = ("Write", "write", "write_file", "create_file", "str_replace_based_edit_tool", "apply_patch")
_ENDERS = ("submit", "finish", "attempt_completion", "task_complete")

_COMMANDS = ("command", "cmd", "commands", "script")
_PATHS = ("file_path", "filePath", "path", "absolute_path", "filename", "target_file")
_CONTENTS = ("content", "contents", "file_text", "text")
_PATCHES = ("input", "patch", "patchText")
_EDITS = {"old_string", "oldString", "old_str", "pattern"}
"""A tool with one of these changes a part of a file."""

_JAVASCRIPT = """\
const run = (command) => tools.exec_command ? tools.exec_command({cmd: command}) : tools.shell_command({command});
text(await run(%s));
"""
"""Codex's code mode: one tool, which runs a program that calls the others."""


def can_serve(tools: Iterable[Offered], named: Iterable[str] = ()) -> bool:
    """Whether any tool runs commands or writes files, or has one of these names."""
    offered = list(tools)
    probe = WriteSpec(path="a", content="a\n")
    names = {one.name for one in offered}
    return shell(offered, ":") is not None or write(offered, probe, "/") is not None or bool(names & set(named))


def shell(tools: Iterable[Offered], command: str) -> Call | None:
    """The call that runs a shell command; None if no tool does."""
    return next((call for tool in _ranked(tools, _SHELLS) if (call := _shell(tool, command))), None)


def write(tools: Iterable[Offered], one: WriteSpec, workspace: str) -> Call | None:
    """The call that writes a file; None if no tool does it with these bytes, or it is to be done by the shell."""
    text = one.text
    if text is None or one.by is By.SHELL:
        return None
    place = f"{workspace.rstrip('/')}/{one.path}"
    return next((call for tool in _ranked(tools, _WRITERS) if (call := _write(tool, one.path, place, text))), None)


def end(tools: Iterable[Offered], say: str) -> Call | None:
    """The call by which a client's work ends, if it has a tool for that."""
    tool = next((one for one in tools if one.name in _ENDERS and one.kind == "function"), None)
    if tool is None:
        return None
    texts = [name for name, one in table(tool.schema.get("properties")).items() if kinds(table(one)) == {"string"}]
    return _call(tool, {texts[0]: say} if texts else {})


def named(tools: Iterable[Offered], one: CallSpec) -> Call:
    """The call that a script spells out."""
    tool = next((tool for tool in tools if tool.name == one.name), Offered(one.name))
    if tool.kind == "custom":
        return Call(one.name, str(one.arguments.get("input", "")), "custom", namespace=tool.namespace)
    return Call(one.name, one.arguments, namespace=tool.namespace)


def _ranked(tools: Iterable[Offered], names: tuple[str, ...]) -> Iterator[Offered]:
    """Known tools first, in the order of the table; then the others, as they come."""
    offered = list(tools)
    for name in names:
        yield from (tool for tool in offered if tool.name == name)
    yield from (tool for tool in offered if tool.name not in names)


def _call(tool: Offered, given: dict[str, object]) -> Call:
    return Call(tool.name, filled(tool.schema, given), namespace=tool.namespace)


def _shell(tool: Offered, command: str) -> Call | None:
    match tool.kind:
        case "local_shell":
            return Call(tool.name, {"command": ["bash", "-lc", command]}, tool.kind)
        case "shell":
            return Call(tool.name, {"commands": [command]}, tool.kind)
        case "custom" if tool.name == "exec":
            return Call(tool.name, _JAVASCRIPT % json.dumps(command), tool.kind, namespace=tool.namespace)
        case kind if kind.startswith("bash_"):
            return Call(tool.name, {"command": command})
        case "function":
            known = table(tool.schema.get("properties"))
            for name in _COMMANDS:
                shape = table(known.get(name))
                if not shape or "enum" in shape:
                    continue
                if "array" in kinds(shape):
                    return _call(tool, {name: [command] if name == "commands" else ["bash", "-lc", command]})
                if "string" in kinds(shape):
                    return _call(tool, {name: command})
            return None
        case _:
            return None


def _write(tool: Offered, path: str, place: str, text: str) -> Call | None:
    if tool.name == "apply_patch":
        return _patch(tool, path, text)
    if tool.kind.startswith("text_editor_"):
        return Call(tool.name, {"command": "create", "path": place, "file_text": text})
    known = table(tool.schema.get("properties"))
    texts = {name for name, one in known.items() if "string" in kinds(table(one)) and "enum" not in table(one)}
    where = next((name for name in _PATHS if name in texts), None)
    what = next((name for name in _CONTENTS if name in texts), None)
    if tool.kind != "function" or where is None or what is None or _EDITS & set(known):
        return None
    return _call(tool, {where: place, what: text})


def _patch(tool: Offered, path: str, text: str) -> Call | None:
    """A patch that adds the file; its format knows whole lines alone."""
    if not text.endswith("\n") or "\r" in text:
        return None
    added = "".join(f"+{line}\n" for line in text.removesuffix("\n").split("\n"))
    patch = f"*** Begin Patch\n*** Add File: {path}\n{added}*** End Patch\n"
    match tool.kind:
        case "apply_patch":
            return Call(tool.name, {"type": "create_file", "path": path, "diff": added}, tool.kind)
        case "custom":
            return Call(tool.name, patch, tool.kind, namespace=tool.namespace)
        case "function":
            known = table(tool.schema.get("properties"))
            name = next((name for name in _PATCHES if name in known), None)
            return _call(tool, {name: patch}) if name else None
        case _:
            return None
