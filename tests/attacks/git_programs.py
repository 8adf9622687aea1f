"""Programs that git runs because a repository says so: hooks, filters, and those that show, write or fetch."""

from __future__ import annotations

from tests.attacks.planted import Payload, Planting


def _setting(name: str, key: str, then: str, command: str) -> Payload:
    """A setting that names a program. *then* is what the program goes on with."""
    return Payload(name, f"program {name} '{then}'; git config {key} .git/{name}", command)


def _driver(name: str, key: str, then: str, command: str) -> Payload:
    """A program that .gitattributes asks for, for files with the driver's name as their ending."""
    attribute = f"*.{name} {key.partition('.')[0]}={name}"
    return Payload(
        name,
        f"changed a.{name}; program {name} '{then}'; git config {key} .git/{name}\n"
        f"echo '{attribute}' >> .gitattributes",
        command,
    )


def _hook(name: str, command: str, plant: str = "") -> Payload:
    return Payload(name, f"{plant}program {name} '' .git/hooks", command)


_PUSH = "git push . HEAD:refs/heads/other"
_PATCH = (
    "echo x > new; git add new; git commit -qm new; git format-patch -1 --stdout > ../patch\n"
    "git reset -q --hard HEAD~1; git am ../patch"
)
MONITOR_AND_HOOKS = Planting(
    "monitor and hooks",
    (
        _setting("fsmonitor", "core.fsmonitor", "false", "git status"),
        _hook("post-index-change", "git update-index --refresh; git status"),
        _hook("pre-commit", "git commit --allow-empty -m x"),
        _hook("prepare-commit-msg", "git commit --allow-empty -m x"),
        _hook("commit-msg", "git commit --allow-empty -m x"),
        _hook("post-commit", "git commit --allow-empty -m x"),
        _hook("reference-transaction", "git branch other"),
        _hook("post-checkout", "git checkout -b other"),
        _hook(
            "pre-merge-commit",
            "git merge --no-ff side",
            "git branch side $(git commit-tree -p HEAD -m s HEAD^{tree}); ",
        ),
        _hook("post-merge", "git merge --no-ff side"),
        _hook("pre-rebase", "git rebase --autostash --root"),
        _hook("post-rewrite", "git commit --allow-empty --amend -m x"),
        _hook("pre-push", _PUSH),
        _hook("pre-receive", _PUSH),
        _hook("update", _PUSH),
        _hook("post-receive", _PUSH),
        _hook("post-update", _PUSH),
        _hook(
            "push-to-checkout",
            "git push . $(git commit-tree -p HEAD -m x HEAD^{tree}):main",
            "git config receive.denyCurrentBranch updateInstead; ",
        ),
        _hook("proc-receive", "git push . HEAD:refs/for/x", "git config receive.procReceiveRefs refs/for; "),
        _hook(
            "pre-auto-gc",
            "git gc --auto",
            "git repack -q; git commit -q --allow-empty -m x; git repack -q; git config gc.autoPackLimit 1; ",
        ),
        _hook("applypatch-msg", _PATCH),
        _hook("pre-applypatch", _PATCH),
        _hook("post-applypatch", _PATCH),
    ),
)
HOOKS_PATH = Planting(
    "hooks elsewhere",
    (
        Payload(
            "elsewhere",
            "mkdir tools; program elsewhere '' tools; mv tools/elsewhere tools/pre-commit\n"
            "git config core.hooksPath tools",
            "git commit --allow-empty -m x",
        ),
        Payload(
            "refresh",
            "program refresh false; git config core.fsmonitor '.git/refresh; false'",
            "git update-index --refresh",
        ),
    ),
)
FILTERS = Planting(
    "filters",
    (
        _driver("clean", "filter.clean.clean", "cat", "git add -A"),
        _driver("smudge", "filter.smudge.smudge", "cat", "git checkout -f -- x/a.smudge"),
        _driver("process", "filter.process.process", "false", "git add -A"),
    ),
)
SHOWN = Planting(
    "programs that show",
    (
        _driver("textconv", "diff.textconv.textconv", "", "git log -p"),
        _driver("command", "diff.command.command", "", "git diff"),
        _setting("external", "diff.external", "", "git diff"),
        _setting("pager", "core.pager", "cat", "{terminal} git log"),
        _setting("pager-of-diff", "pager.diff", "cat", "{terminal} git diff HEAD"),
        _setting("difftool", "difftool.planted.cmd", "", "git difftool -y -t planted HEAD"),
        _setting("diff-filter", "interactive.diffFilter", "cat", "echo q | {terminal} git add -p"),
        Payload(
            "attributes-file",
            "changed a.listed; program attributes-file; git config diff.listed.textconv .git/attributes-file\n"
            "echo '*.listed diff=listed' > .git/listed; git config core.attributesFile .git/listed",
            "git log -p",
        ),
        Payload(
            "include",
            "program include cat; git config -f .git/more pager.branch .git/include; git config include.path more",
            "{terminal} git branch",
        ),
        Payload(
            "include-if",
            "program include-if cat; git config -f .git/even pager.shortlog .git/include-if\n"
            "git config includeIf.gitdir:**.path even",
            "{terminal} git shortlog HEAD",
        ),
    ),
)
WRITTEN = Planting(
    "programs that write",
    (
        Payload(
            "merge",
            "changed a.merge; git checkout -qfb theirs; echo three > x/a.merge; git commit -qam theirs\n"
            "git checkout -q main; echo four > x/a.merge; git commit -qam ours\n"
            "program merge; git config merge.merge.driver .git/merge; echo '*.merge merge=merge' >> .gitattributes",
            "git merge theirs",
        ),
        _setting("editor", "core.editor", "", "git commit --allow-empty"),
        _setting("sequence-editor", "sequence.editor", "", "git rebase -i --root --autostash"),
        _setting("gpg", "gpg.program", "false", "git commit -S --allow-empty -m x"),
        _setting("gpg-ssh", "gpg.ssh.defaultKeyCommand", "false", "git -c gpg.format=ssh commit -S --allow-empty -m x"),
        _setting("trailer", "trailer.by.command", "", "git commit --allow-empty -m x --trailer by=x"),
        Payload("alias", "program alias; git config alias.st '!.git/alias'", "git st"),
    ),
)
_EXT = "'ext::touch {folder}/ran-"
_ASK = "printf 'protocol=https\\nhost=nowhere.invalid\\n\\n' | git credential fill"
TRANSPORT = Planting(
    "programs that fetch",
    (
        _setting("ssh", "core.sshCommand", "false", "git fetch ssh://nowhere.invalid/x"),
        _setting("proxy", "core.gitProxy", "false", "git fetch git://nowhere.invalid/x"),
        _setting("askpass", "core.askPass", "echo x", _ASK),
        Payload("credential", "program credential; git config credential.helper '!.git/credential'", _ASK),
        Payload("ext", f"git config protocol.ext.allow always; git remote add ext {_EXT}ext'", "git fetch ext"),
        Payload(
            "instead-of",
            f"git config url.{_EXT}instead-of'.insteadOf https://nowhere.invalid/; "
            "git remote add origin https://nowhere.invalid/",
            "git fetch",
        ),
        _setting("upload-pack", "remote.a.url .; git config remote.a.uploadpack", "false", "git fetch a"),
        _setting("receive-pack", "remote.b.url .; git config remote.b.receivepack", "false", "git push b HEAD:x"),
        Payload(
            "alternate-refs",
            "git init -q --bare .git/lent; echo ../lent/objects > .git/objects/info/alternates\n"
            "program alternate-refs; git config core.alternateRefsCommand .git/alternate-refs",
            "git fetch . HEAD",
        ),
    ),
)
TAKEN_OVER = Planting(
    "settings that count only once the user takes them over",
    (
        Payload(
            "pack-objects",
            "program pack-objects 'exec \"$@\"'; git config uploadpack.packObjectsHook ./pack-objects",
            'git config --global include.path "$PWD/.git/config"; git clone --no-local . ../clone',
        ),
    ),
)

PROGRAMS = (MONITOR_AND_HOOKS, HOOKS_PATH, FILTERS, SHOWN, WRITTEN, TRANSPORT, TAKEN_OVER)
