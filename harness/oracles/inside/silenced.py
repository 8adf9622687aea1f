"""What in a file would switch the type checker off, in one line on standard output; empty if nothing would.

The image's own Python looks for it, as it runs the checker: another one may see a text where this sees a comment.
"""

from __future__ import annotations

import io
import re
import sys
import tokenize

_OBEYED = re.compile(r"#\s*(?:mypy:|type:\s*ignore)")
_DECORATOR = "no_type_check"


def found(data: bytes) -> str:
    """The first thing that the checker would obey, or why there might be one that can't be seen."""
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        if encoding not in {"utf-8", "utf-8-sig"}:  # the checker takes no notice, and would read another text
            return f"the encoding {encoding}"
        text = data.decode(encoding).replace("\r\n", "\n").replace("\r", "\n")  # each ends a line for the checker
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT and _OBEYED.search(token.string):
                return f"the comment {token.string}"
            if token.type == tokenize.NAME and token.string == _DECORATOR:
                return f"the name {_DECORATOR}"
    except (SyntaxError, UnicodeError, tokenize.TokenError) as error:
        return f"no Python ({error})"
    return ""


def main() -> None:
    """Read the file named by the last argument."""
    with open(sys.argv[-1], "rb") as file:  # noqa: PTH123
        sys.stdout.write(found(file.read()))
