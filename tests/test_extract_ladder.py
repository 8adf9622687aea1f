"""The fenced blocks of a reply: which one counts, and that no text is too strange."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.extract import DIFF_WORDS, MAX_REPLY_BYTES, PYTHON_WORDS, fences, last_block

WORDS = st.sampled_from(
    ["python", "py", "Python3", "PYTHON title=x", "", "text", "diff", "Patch", "{.python}", "pythonista"]
)
LINES = st.lists(st.text("ab (){}#=+-\\\"'\t`~>", max_size=12), max_size=6)
"""Lines that may look like fences: a block around them has to have a longer one."""


def _fence_for(body: str) -> str:
    """A fence that nothing in the body can close."""
    return "`" * max(3, body.count("`") + 1)


@st.composite
def replies(draw):
    """Prose and blocks; gives the text and its blocks as (first info word, content)."""
    parts, blocks = [], []
    for _ in range(draw(st.integers(0, 5))):
        info, body = draw(WORDS), "".join(line + "\n" for line in draw(LINES))
        fence = _fence_for(body)
        parts += [f"Some prose, {draw(st.sampled_from(['x', 'a `tick`', '1. a', '> b', '# c']))}\n", "\n"]
        parts.append(f"{fence}{info}\n{body}{fence}\n")
        blocks.append((info.split()[0].lower() if info else "", body))
        parts.append(draw(st.sampled_from(["", "\n", "\n\n", "more\n"])))
    return "".join(parts), blocks


@given(replies(), st.sampled_from([PYTHON_WORDS, DIFF_WORDS]))
def test_the_last_block_of_the_kind_wins(reply, words):
    text, blocks = reply
    wanted = [body for word, body in blocks if word in words and body.strip()]
    assert last_block(text.encode(), words) == (wanted[-1].encode() if wanted else None)


@given(replies())
def test_a_reply_with_the_line_ends_of_windows_says_the_same(reply):
    text, _ = reply
    for words in (PYTHON_WORDS, DIFF_WORDS):
        assert last_block(text.replace("\n", "\r\n").encode(), words) == last_block(text.encode(), words)


@given(st.binary(max_size=400) | st.text(max_size=400).map(str.encode))
def test_no_text_is_too_strange(data):
    for fence in fences(data):
        assert fence.word == fence.word.lower()


@given(
    st.lists(
        st.sampled_from(
            [
                b"```",
                b"~~~",
                b"`````",
                b"> ",
                b"- ",
                b"1. ",
                b"    ",
                b"\n",
                b"\r\n",
                b"\r",
                b"\t",
                b"\0",
                b"\xff",
                b"python",
                b"diff",
                b"<!--",
                b"<pre>",
                b"</pre>",
                "\u2028".encode(),
                b"x",
                b"[a]: b\n",
            ]
        ),
        max_size=60,
    ).map(b"".join)
)
def test_no_mixture_of_marks_is_too_strange(data):
    assert isinstance(list(fences(data)), list)
    assert last_block(data, PYTHON_WORDS) is None or last_block(data, PYTHON_WORDS).strip()


@given(st.binary(max_size=60).filter(lambda body: not {0x60, 0x0A, 0x0D} & set(body) and body.strip()))
def test_bytes_come_through_as_they_are(body):
    # a tab stays a tab and bytes that are not UTF-8 stay what they are
    assert last_block(b"```py\nx" + body + b"\n```\n", PYTHON_WORDS) == b"x" + body + b"\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("```python\na\n", b"a\n"),  # never closed
        ("```python\na", b"a"),
        ("```\na\n```", b"a\n"),
        ("~~~py\na\n~~~\n", b"a\n"),
        ("````python\n```\na\n```\n````\n", b"```\na\n```\n"),  # a fence in a fence
        ("~~~python\n```diff\nb\n```\n~~~\n", b"```diff\nb\n```\n"),
        ("1. Write:\n\n   ```python\n   a\n     b\n   ```\n", b"a\n  b\n"),  # in a list
        ("> ```python\n> a\n> ```\n", b"a\n"),
        ("<answer>\n```python\na\n```\n</answer>\n", b"a\n"),
        ("<!--\n```python\na\n```\n-->", b"a\n"),
        ("text\n```python\na\n```\n", b"a\n"),  # no blank line before it
        ("```python\na\n```\n```python\n\n  \n```\n", b"a\n"),  # an empty one is passed over
        ("```python\na\n```\n```text\nb\n```\n", b"a\n"),
        ("```python\na\n```\n```\nb\n```\n", b"b\n"),
        ("    ```python\n    a\n    ```\n", None),  # an indented block is no fence
        ("`` `python` ``", None),
        ("``` `python` ```", None),
        ("", None),
        ("```pythonista\na\n```\n", None),
    ],
)
def test_fences_as_commonmark_has_them(text, expected):
    assert last_block(text.encode(), PYTHON_WORDS) == expected


def test_a_carriage_return_of_the_content_stays():
    diff = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\r\n+b\r\n"
    assert last_block(f"```diff\n{diff}```\n".encode(), DIFF_WORDS) == diff.encode()
    assert last_block(b"> ```diff\n> -a\r\n> +b\n> ```\r\n", DIFF_WORDS) == b"-a\r\n+b\n"


def test_a_reply_of_ten_megabytes_is_not_read():
    assert last_block(b"```python\na\n```\n" * (10 << 20 >> 4), PYTHON_WORDS) is None
    assert last_block(b"* a\n" * (10 << 20 >> 2) + b"```python\na\n```", PYTHON_WORDS) is None
    long_lines = (b"x" * 1023 + b"\n") * (MAX_REPLY_BYTES // 1024 - 1)
    assert last_block(long_lines + b"```python\na\n```", PYTHON_WORDS) == b"a\n"
