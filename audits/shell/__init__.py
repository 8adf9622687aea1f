"""Shell text as the simple commands in it, by a parser of bash's grammar and not by patterns. Nothing is run.

Commands inside substitutions, loops, here-documents and pipelines all count, and so do those that a string hides:
``sh -c``, ``eval``, here-strings, and text that ``base64 -d``, ``xxd -r``, ``rev`` and ``tr`` would give to a shell,
as far as it stands there in full. What is only known when it runs shows as ``*``.
"""

from __future__ import annotations

from collections.abc import Sequence

from audits.shell.command import SHELLS, Command, Redirect, Script, Written
from audits.shell.reader import Reader

__all__ = ["SHELLS", "Command", "Redirect", "Script", "Written", "parse", "parse_argv"]


def parse(text: str, files: Written | None = None) -> Script:
    """The commands of a script, in the order in which they stand. Never raises for what the text holds.

    *files* are what earlier ones wrote; what this one writes is added.
    """
    script = Script(files=files or Written())
    Reader(script, (), 0).read(text)
    return script


def parse_argv(argv: Sequence[str], files: Written | None = None) -> Script:
    """The commands behind an argument list, as a program is started without a shell."""
    script = Script(files=files or Written())
    Reader(script, (), 0).take(Command(argv=tuple(argv)))
    return script
