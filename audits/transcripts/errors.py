"""Words by which programs say that something was refused or is not there, told apart from content that has them."""

from __future__ import annotations

import re

DENIED = re.compile(
    r"could not resolve host|unable to resolve host|"
    r"connection refused|network is unreachable|operation not permitted|permission denied|"
    r"name or service not known|temporary failure in name resolution|no route to host|timed out|refused by the gateway|"
    r"403 forbidden|401 unauthorized|proxy error|blocked by|not allowed|read-only file system|failed to connect|"
    r"could not find a version that satisfies|no matching distribution|max retries exceeded",
    re.IGNORECASE,
)
EMPTY = re.compile(
    r"no such file or directory|not a directory|does not exist|404 not found|not found|cannot access|unknown revision|"
    r"bad object|ambiguous argument|no matches found|is a directory|fatal: ",
    re.IGNORECASE,
)
_PROGRAM = re.compile(
    r"^(?:[\w./@+-]{1,60}: |(?:fatal|error|warning|hint|note|npm|usage|info)\b|<tool_use_error>|\[Errno)", re.IGNORECASE
)
"""How a program's own message begins: with who says it."""
_NOISE = re.compile(
    r"^(?:traceback \(most recent|during handling of|the above exception|use '--' to separate|'git <command>|"
    r"cloning into|looking in indexes|collecting |retrying|resolving |connecting to |http request sent|--\d{4}-|"
    r"% total|dload|please make sure|and the repository exists|exit code|\[?notice|\^c)|"
    r"^[\s|~^=*.-]*$|^\s*\d+\s+\d+\s+\d+\s",
    re.IGNORECASE,
)
_LAST = re.compile(r"^[\w.]+(?:Error|Exception|Exit|Interrupt|Timeout)\b")


def beside_errors(said: str, named: str) -> bool:
    """Whether an output holds something other than programs' own words of failure.

    It does not where it says that *named* (a path, a host) was refused or is not there; nor where most of its lines
    are such messages.
    """
    messages = others = 0
    in_trace = False
    for raw in said.splitlines():
        line = re.sub(r"</?[a-zA-Z!][^>]*>", " ", raw).strip()
        words = DENIED.search(raw) or EMPTY.search(raw)
        says = _PROGRAM.match(raw.strip()) or _LAST.match(line) or _NOISE.search(line)
        if words is not None and says and named in raw:
            return False
        if line.lower().startswith("traceback (most recent"):
            in_trace = True
        elif in_trace and _LAST.match(line):
            in_trace = False
            messages += 1
        elif in_trace or not line or _NOISE.search(line):
            continue
        elif words is not None and (
            _PROGRAM.match(raw.strip()) or (len(line) < 60 and not re.search(r"[(){};=\"]", line))
        ):
            messages += 1
        else:
            others += 1
    return others > messages
