"""Diffs of a worker's, honest and hostile, applied by git in a sealed container that holds the task's tree alone."""

from __future__ import annotations

import base64
import zlib

import pytest

from harness.engine.client import Engine
from harness.outcomes import Rejection
from harness.patching import PatchRefused, apply_patch
from harness.suites.tree import EXECUTABLE, LINK, REGULAR, Entry, Tree
from harness.untrusted import Refused
from tests.attempt_rig import LIMITS
from tests.oracle_rig import tree

pytestmark = pytest.mark.engine

BASE = tree({"a.txt": "one\ntwo\nthree\n", "pkg/b.txt": "x\n", "end.txt": "no newline"}).overlay(
    Tree([Entry("crlf.txt", REGULAR, b"one\r\ntwo\r\n"), Entry("link", LINK, b"pkg")])
)


@pytest.fixture
def apply(engine: Engine, images, owner):
    """Applies a diff to BASE."""
    return lambda diff, base=BASE: apply_patch(
        engine, images["base"].handle, base, diff if isinstance(diff, bytes) else diff.encode(), LIMITS, owner
    )


def _edit(path: str = "a.txt", *, old: str | None = None, new: str | None = None) -> str:
    return f"--- {old or 'a/' + path}\n+++ {new or 'b/' + path}\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n"


EDITED = b"one\n2\nthree\n"


def test_honest_diffs(apply):
    both = _edit() + "--- a/pkg/b.txt\n+++ b/pkg/b.txt\n@@ -1 +1,2 @@\n x\n+y\n"
    done = apply(both)
    assert (done["a.txt"].data, done["pkg/b.txt"].data) == (EDITED, b"x\ny\n")
    assert apply(_edit(old="a.txt", new="a.txt"))["a.txt"].data == EDITED  # without a leading folder
    assert apply(both + "-- \n2.39\n")["a.txt"].data == EDITED  # a mail's signature behind it
    new = apply("diff --git a/n/c.sh b/n/c.sh\nnew file mode 100755\n--- /dev/null\n+++ b/n/c.sh\n@@ -0,0 +1 @@\n+hi\n")
    assert new["n/c.sh"] == Entry("n/c.sh", EXECUTABLE, b"hi\n")
    assert "a.txt" not in apply("--- a/a.txt\n+++ /dev/null\n@@ -1,3 +0,0 @@\n-one\n-two\n-three\n")
    moved = apply("diff --git a/a.txt b/z/a.txt\nsimilarity index 100%\nrename from a.txt\nrename to z/a.txt\n")
    assert ("a.txt" in moved, moved["z/a.txt"].data) == (False, b"one\ntwo\nthree\n")
    mode = apply("diff --git a/a.txt b/a.txt\nold mode 100644\nnew mode 100755\n")
    assert mode["a.txt"].mode == EXECUTABLE


def test_the_end_of_a_file_without_a_newline(apply):
    end = "--- a/end.txt\n+++ b/end.txt\n@@ -1 +1 @@\n-no newline\n\\ No newline at end of file\n+still none\n"
    assert apply(end + "\\ No newline at end of file\n")["end.txt"].data == b"still none"
    assert apply(end + "\\ No newline at end of file")["end.txt"].data == b"still none"
    assert apply(end)["end.txt"].data == b"still none\n"


def test_line_ends_and_trailing_blanks_are_content(apply):
    crlf = b"--- a/crlf.txt\n+++ b/crlf.txt\n@@ -1,2 +1,2 @@\n one\r\n-two\r\n+2 \t\r\n"
    assert apply(crlf)["crlf.txt"].data == b"one\r\n2 \t\r\n"
    with pytest.raises(PatchRefused):
        apply(crlf.replace(b"\r", b""))
    with pytest.raises(PatchRefused):
        apply(_edit().replace("\n", "\r\n"))


def test_context_is_strict(apply):
    with pytest.raises(PatchRefused, match=r"a\.txt"):
        apply(_edit().replace(" three", " four"))
    with pytest.raises(PatchRefused):
        apply(_edit().replace(" one", "  one"))
    with pytest.raises(PatchRefused):
        apply(_edit() + _edit("missing.txt"))  # all of it or nothing
    shifted = Tree([Entry("a.txt", REGULAR, b"zero\none\ntwo\nthree\nfour\n")])
    further = _edit().replace("-1,3 +1,3", "-3,3 +3,3")
    assert apply(further, shifted)["a.txt"].data == b"zero\none\n2\nthree\nfour\n"  # the same lines, elsewhere


@pytest.mark.parametrize("text", ["", "hello\n", "@@ -1 +1 @@\n", "diff --git a/a.txt b/a.txt\n", "\0\xff" * 50])
def test_what_is_no_diff_is_refused(apply, text):
    with pytest.raises(PatchRefused):
        apply(text)


NEW = "--- /dev/null\n+++ {path}\n@@ -0,0 +1 @@\n+owned\n"
GIT_NEW = "diff --git a/{path} b/{path}\nnew file mode 100644\n" + NEW.replace("{path}", "b/{path}")


@pytest.mark.parametrize(
    "path",
    [
        "../out.txt",
        "pkg/../../out.txt",
        "/tmp/out.txt",
        ".git/config",
        ".git/hooks/post-checkout",
        "pkg/.git/config",
        ".GIT/config",
        "link/in.txt",
    ],
)
def test_no_path_leads_out_of_the_tree_or_into_a_store(apply, path):
    for form in (NEW.replace("{path}", "b/{path}"), GIT_NEW):
        with pytest.raises((PatchRefused, Refused)):
            apply(form.format(path=path))
    try:
        made = apply(NEW.format(path=path))
    except (PatchRefused, Refused):
        return
    # without a leading folder, one of the path's own may be taken for it: what is left is a path in the tree
    assert set(made) - set(BASE) == {path.split("/", 1)[1]}
    assert ".git" not in path.lower().split("/")[1:]


def test_a_link_cannot_be_written_through(apply):
    out = GIT_NEW.format(path="l").replace("100644", "120000").replace("owned", "{}") + "\\ No newline at end of file\n"
    through = GIT_NEW.format(path="l/owned")
    for target in ("/tmp", "pkg", "../.."):
        with pytest.raises((PatchRefused, Refused)):
            apply(out.format(target) + through)
    with pytest.raises(Refused) as refused:
        apply(
            "diff --git a/s b/s\nnew file mode 160000\n--- /dev/null\n+++ b/s\n@@ -0,0 +1 @@\n"
            f"+Subproject commit {'1' * 40}\n" + GIT_NEW.format(path="pkg/.gitmodules")
        )
    assert refused.value.reason is Rejection.NESTED_REPOSITORY


def test_special_modes_give_no_special_files(apply):
    for mode in ("104755", "100777", "060644", "020644", "999999"):
        try:
            made = apply(GIT_NEW.format(path="m").replace("100644", mode))
        except PatchRefused:
            continue
        assert "m" not in made or made["m"].mode in {REGULAR, EXECUTABLE}


def _binary(data: bytes, size: int | None = None) -> str:
    """A literal binary hunk that makes a file of *data*, and claims *size* bytes."""
    packed, lines = zlib.compress(data), []
    for at in range(0, len(packed), 52):
        piece = packed[at : at + 52]
        length = chr(ord("A") + len(piece) - 1) if len(piece) <= 26 else chr(ord("a") + len(piece) - 27)
        lines.append(length + base64.b85encode(piece, pad=True).decode())
    return (
        "diff --git a/bin b/bin\nnew file mode 100644\nindex 0000000..1111111\nGIT binary patch\n"
        f"literal {size if size is not None else len(data)}\n" + "\n".join(lines) + "\n\nliteral 0\nHcmV?d00001\n\n"
    )


def test_binary_hunks(apply):
    whole = _binary(b"\0\1binary\xff" * 20).replace("0000000..1111111", f"{'0' * 40}..{'1' * 40}")
    try:
        assert apply(whole)["bin"].data == b"\0\1binary\xff" * 20
    except PatchRefused as refused:
        assert "bin" in refused.detail
    with pytest.raises(PatchRefused):
        apply(_binary(b"x" * 100, size=50).replace("0000000..1111111", f"{'0' * 40}..{'1' * 40}"))
    with pytest.raises(PatchRefused):  # a small text that unpacks to more than the container's memory
        apply(_binary(bytes(300 << 20)).replace("0000000..1111111", f"{'0' * 40}..{'1' * 40}"))


def test_a_patch_that_fills_the_workspace_is_refused(apply):
    lines = 60 << 10
    big = f"--- /dev/null\n+++ b/big\n@@ -0,0 +1,{lines} @@\n" + ("+" + "x" * 1023 + "\n") * lines
    with pytest.raises(PatchRefused):
        apply(big)


def test_what_git_says_is_safe_to_show(apply):
    with pytest.raises(PatchRefused) as refused:
        apply(_edit("\x1b[31mred\u202e.txt"))
    assert refused.value.detail.isprintable()
    assert "\n" not in refused.value.detail
