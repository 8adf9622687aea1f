"""Stores of git that show what isn't so, that borrow from the host, or that lie in one another."""

from __future__ import annotations

from harness.outcomes import Rejection
from tests.attacks.planted import Payload, Planting

_NOTHING = " && echo nothing has changed"
FALSE_BASE = Planting(
    "false base",
    (
        Payload(
            "replaced-text",
            "git replace $(git rev-parse HEAD:README.md) $(echo a line that nobody wrote | git hash-object -w --stdin)",
            "git show HEAD:README.md",
            "a line that nobody wrote",
        ),
        Payload(
            "replaced-commit",
            "git tag base HEAD~1; git replace base $(git commit-tree -m other HEAD^{tree} </dev/null)",
            "git diff --quiet base HEAD" + _NOTHING,
            "nothing has changed",
        ),
        Payload(
            "grafts",
            "echo $(git rev-parse HEAD) $(git commit-tree -m 'a parent that never was' HEAD^{tree}) > .git/info/grafts",
            "git log --format=%s",
            "a parent that never was",
        ),
    ),
)
HIDDEN = Planting(
    "hidden from status",
    (
        Payload("shallow", "git rev-parse HEAD > .git/shallow", "git rev-list --count HEAD", "1\n"),
        Payload(
            "assume-unchanged",
            "git update-index --assume-unchanged pkg/words.py; echo '# hidden' >> pkg/words.py",
            "git diff --quiet" + _NOTHING,
            "nothing has changed",
        ),
        Payload(
            "skip-worktree",
            "git update-index --skip-worktree README.md; echo hidden >> README.md",
            "git diff --quiet" + _NOTHING,
            "nothing has changed",
        ),
        Payload(
            "exclude",
            "echo '*' > .git/info/exclude; echo hidden > new.md",
            '[ -z "$(git status --porcelain)" ]' + _NOTHING,
            "nothing has changed",
        ),
    ),
)
_BLOB = "$(echo {text} | git hash-object --stdin)"
_TEXT, _PACKED = _BLOB.format(text="a text of the host"), _BLOB.format(text="a packed text of the host")
_ALTERNATES = "echo {folder}/store/.git/objects > .git/objects/info/alternates; "
LENT = Planting(
    "objects of the host",
    (
        Payload(
            "alternates", "mkdir -p .git/objects/info; " + _ALTERNATES, f"git cat-file -p {_TEXT}", "a text of the host"
        ),
        Payload(
            "packed-refs",
            "rm -f .git/packed-refs; ln -s {folder}/store/.git/packed-refs .git/packed-refs",
            "git show of-the-host:packed",
            "a packed text of the host",
        ),
    ),
)
LINKED = Planting(
    "links to objects of the host",
    (
        Payload(
            "loose-object",
            f"blob={_TEXT}; end=${{blob#??}}; mkdir -p .git/objects/${{blob%$end}}\n"
            "ln -s {folder}/store/.git/objects/${blob%$end}/$end .git/objects/${blob%$end}/$end",
            f"git cat-file -p {_TEXT}",
            "a text of the host",
        ),
        Payload(
            "packs",
            "rm -rf .git/objects/pack; ln -s {folder}/store/.git/objects/pack .git/objects/pack",
            f"git cat-file -p {_PACKED}",
            "a packed text of the host",
        ),
    ),
)


def _elsewhere(name: str, plant: str) -> Planting:
    """A store that leads to one of the host."""
    return Planting(name, (Payload(name, plant, "git log --format=%s main", "a commit of the host"),))


ELSEWHERE = (
    LENT,
    LINKED,
    _elsewhere("commondir", "rm -rf .git/refs/heads; echo {folder}/store/.git > .git/commondir"),
    _elsewhere("git file", "rm -rf .git; echo 'gitdir: {folder}/store/.git' > .git"),
    _elsewhere("git link", "rm -rf .git; ln -s {folder}/store/.git .git"),
    Planting(
        "work tree",
        (
            Payload(
                "work-tree",
                "touch ran-work-tree; git add ran-work-tree; git commit -qm x; git config core.worktree {folder}",
                "git checkout -f",
            ),
        ),
    ),
    Planting(
        "bare in the tree",
        (
            Payload(
                "bare",
                "git init -q --bare docs/store; git -C docs/store config core.bare false\n"
                "git -C docs/store config core.worktree ..; program bare false docs/store\n"
                "git -C docs/store config core.fsmonitor store/bare",
                "cd docs/store; git status",
            ),
        ),
    ),
)
_SUB = "repository sub; echo 1 > sub/a; git -C sub add a; git -C sub commit -qm 1; git add sub; git commit -qm sub; "
SUBMODULES = tuple(
    Planting(payload.name, (payload,), Rejection.NESTED_REPOSITORY)
    for payload in (
        Payload(
            "submodule",
            _SUB + "program submodule false sub/.git; git -C sub config core.fsmonitor .git/submodule",
            "git status",
        ),
        Payload(
            "submodule-file",
            _SUB
            + "mkdir -p .git/modules; mv sub/.git .git/modules/sub; echo 'gitdir: ../.git/modules/sub' > sub/.git\n"
            "git -C sub config core.worktree ../../../sub\n"
            "program submodule-file false; git -C sub config core.fsmonitor ../.git/submodule-file",
            "git status",
        ),
        Payload(
            "submodule-store",
            _SUB + "mv sub/.git lent; echo 'gitdir: ../lent' > sub/.git; git -C sub config core.worktree ../sub\n"
            "program submodule-store false lent; git -C sub config core.fsmonitor ../lent/submodule-store",
            "git status",
        ),
        Payload(
            "submodule-update",
            _SUB
            + "printf '[submodule \"sub\"]\\n\\tpath = sub\\n\\turl = ./sub\\n' > .gitmodules; git add .gitmodules\n"
            "git -C sub commit -q --allow-empty -m 2; program submodule-update\n"
            "git config submodule.sub.url ./sub; git config submodule.sub.update '!../.git/submodule-update'",
            "git submodule update",
        ),
    )
)
STORES = (FALSE_BASE, HIDDEN, *ELSEWHERE, *SUBMODULES)
