"""Payloads in a repository's own git store, each of which leaves a mark on whatever machine runs git there."""

from __future__ import annotations

import secrets
import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path

from tests.attacks.pair import Engine
from tests.attacks.workshop import Workshop

PLANTS: Mapping[str, str] = {
    "fsmonitor": "git config core.fsmonitor '{mark} fsmonitor; false'",
    "hooks": """
        for hook in post-index-change pre-commit post-commit post-checkout reference-transaction pre-auto-gc; do
            printf '#!/bin/sh\\n{mark} hooks\\n' > .git/hooks/$hook; chmod 755 .git/hooks/$hook
        done
        git config core.hooksPath .git/hooks
    """,
    "clean": "git config filter.c.clean '{mark} clean; cat'; echo '*.py filter=c' >> .gitattributes",
    "smudge": "git config filter.s.smudge '{mark} smudge; cat'; echo '*.md filter=s' >> .gitattributes",
    "process": "git config filter.p.process '{mark} process; false'; echo '*.txt filter=p' >> .gitattributes",
    "textconv": "git config diff.t.textconv '{mark} textconv; cat'; echo '*.md diff=t' >> .gitattributes",
    "external": "git config diff.external '{mark} external; true'",
    "command": "git config diff.d.command '{mark} command; true'; echo '*.cfg diff=d' >> .gitattributes",
    "pager": "git config core.pager '{mark} pager; cat'; git config pager.diff '{mark} pager; cat'",
    "editor": "git config core.editor '{mark} editor; true'; git config core.sshCommand '{mark} editor; false'",
    "alias": "git config alias.st '!{mark} alias'; git config include.path '{folder}/absent'",
    "alternates": "mkdir -p .git/objects/info; echo '{folder}/objects' > .git/objects/info/alternates",
    "replace": """
        printf '# replaced\\n' >> README.md; git add -A
        made=$(git write-tree); new=$(git commit-tree $made -m other </dev/null); git replace HEAD $new
    """,
}
"""Shell by name; ``{mark}`` is a program that leaves a mark of the name behind it, in ``{folder}``."""


def script(folder: Path, *names: str) -> str:
    """Plant these in the repository here; marks would lie in *folder*, as ``ran-NAME``."""
    mark = f"f() {{ touch {folder}/ran-$1; }}; f"
    setup = "git config user.email a@example.test; git config user.name a; echo x > new.txt; echo '[a]' > new.cfg\n"
    planted = "\n".join(textwrap.dedent(PLANTS[name]) for name in names)
    return setup + planted.replace("{mark}", mark).replace("{folder}", str(folder))


def planted(*names: str) -> Engine:
    """An attempt that plants these, whose payload would leave its mark on the host."""

    def work(workshop: Workshop) -> Iterator[str]:
        folder = workshop.folder / f"marks-{secrets.token_hex(8)}"
        folder.mkdir()
        folder.chmod(0o777)
        yield from workshop.facts(workshop.solve(f"fix\n{script(folder, *names)}\ntrue"))
        ran = sorted(one.name for one in folder.iterdir())
        yield f"host: {', '.join(ran)}" if ran else "host: no trace"

    return Engine(work)
