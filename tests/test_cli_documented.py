"""Each command line that README and docs show is one that trialbox takes."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from trialbox.arguments import Command, Group
from trialbox.cli import TRIALBOX

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
_BENCH = "nox -s bench -- "
_INLINE = re.compile(r"`([^`\n]+)`")
_SCHEMATIC = re.compile(r"[|\[\]{}…]|\.\.\.")
"""What stands for several lines, or for a part left out."""


def shown(page: Path) -> set[str]:
    """The command lines of a page, fenced and in sentences, as words after ``trialbox``."""
    found = set()
    fenced = False
    for line in page.read_text().splitlines():
        if line.lstrip().startswith("```"):
            fenced = not fenced
        for code in [line] if fenced else _INLINE.findall(line):
            text = re.split(r"\s{2,}|\s#", code.strip().removeprefix("$ ").removeprefix(".venv/bin/"))[0]
            if text.startswith(_BENCH):
                found.add("run smoke " + text.removeprefix(_BENCH))
            elif text.startswith("trialbox ") and not _SCHEMATIC.search(text):
                found.add(text.removeprefix("trialbox "))
    return found


LINES = sorted({(page.name, line) for page in PAGES for line in shown(page)})


def command_of(words: list[str]) -> tuple[Command | Group, list[str]]:
    found: Command | Group = TRIALBOX
    while isinstance(found, Group) and words and not words[0].startswith("-") and words[0] != "COMMAND":
        found, words = found.members[words[0]], words[1:]
    return found, words


@pytest.mark.parametrize(("page", "line"), LINES, ids=[f"{page}: {line[:60]}" for page, line in LINES])
def test_a_line_that_a_page_shows_is_taken(page: str, line: str) -> None:
    command, words = command_of(["3" if word == "N" else word for word in shlex.split(line)])
    if isinstance(command, Command) and words and "--help" not in words:
        command.read(line, words)


def test_lines_are_found_in_fences_and_in_sentences() -> None:
    lines = {line for _, line in LINES}
    assert len(lines) > 40
    assert "run smoke --solver reference,noop --solver \"command:sh -c 'cat \\$PROMPT_FILE'\"" in lines
    assert "suite check --all --json" in lines
