"""A tiny parity task: a program of eight commands, six of which drifted from the spec, two of these for one number."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from tests.suites_rig import EXPOSURE, PUBLIC, write

NAME = "tallyho"
RULES = {"plum": False, "quince": False, "medlar": False, "sloe": False, "damson": True, "bullace": True}
"""Each command that departs from the spec, and whether it does so for one number in a hundred only."""
WORD = "reckonTheOrchardLedger"
"""A function of the source, and a word of its comments."""
NOTE = "the steward of the orchard wrote this"

TASK_TOML = f"""
schema = 1
format = "parity"
title = "The orchard's tally"
binary = "{NAME}"

[canary]
public = "{PUBLIC}"
exposure = "{EXPOSURE}"

[provenance]
author_kind = "generated"
created = 2026-11-30
licence = "Apache-2.0"
decontaminated = true

[limits]
wall_s = 60
memory_mb = 256
workspace_mb = 16
workspace_inodes = 1000
home_mb = 4
home_inodes = 200
tmp_mb = 16

[[groups]]
name = "plain"
kind = "regression"
oracle = "commands"
file = "hidden/plain.json"
"""


def _branch(rule: str, deep: bool) -> str:
    drifted = "number == 77 ? number + 1 : number" if deep else "number + 1"
    return (
        f'    if (!strcmp(word, "{rule}"))\n#ifdef AS_SPEC_{rule.upper()}\n        return number;\n'
        f"#else\n        return {drifted};\n#endif\n"
    )


SOURCE = f"""/* {NOTE}; {WORD}
 * {EXPOSURE} */
#include <stdio.h>
#include <string.h>

static long {WORD}(const char *word, long number)
{{
{"".join(_branch(rule, deep) for rule, deep in RULES.items())}    return -number;
}}

int main(void)
{{
    char word[16];
    long number;
    while (scanf("%15s %ld", word, &number) == 2)
        printf("%s %ld\\n", word, {WORD}(word, number));
    return 0;
}}
"""

SWEEP = f"""# {EXPOSURE}
WORDS = {[*RULES, "pear", "apple"]!r}

def session(rng):
    return "".join(f"{{rng.choice(WORDS)}} {{rng.randrange(100)}}\\n" for _ in range(rng.randint(1, 4)))
"""


def replacement(answer: Callable[[str], str]) -> str:
    """A replacement whose answer to each command is an expression over ``number``."""
    rows = "".join(f"    {rule!r}: lambda number: {answer(rule)},\n" for rule in RULES)
    return (
        f"import sys\n\nRULES = {{\n{rows}}}\n\n\nfor line in sys.stdin:\n    word, number = line.split()\n"
        "    print(word, RULES.get(word, lambda number: -number)(int(number)))\n"
    )


def _as_program(rule: str) -> str:
    return "number + 1 if number == 77 else number" if RULES[rule] else "number + 1"


BASE, REFERENCE = replacement(lambda _: "number"), replacement(_as_program)


def write_parity_task(folder: Path) -> Path:
    """The task, in a folder."""
    toml = TASK_TOML
    hidden = {}
    for rule, deep in RULES.items():
        toml += f'\n[[groups]]\nname = "{rule}"\nkind = "behaviour"\noracle = "commands"\nfile = "hidden/{rule}.json"\n'
        toml += f'\n[[departure]]\ngroup = "{rule}"\nrule = "A {rule} counts one more."\ndeep = {str(deep).lower()}\n'
        hidden[f"hidden/{rule}.json"] = _session(f"{rule} 77\n", f"{rule} 78\n")
    hidden["hidden/plain.json"] = _session("pear 4\n", "pear -4\n")
    write(
        folder,
        {
            "task.toml": toml,
            "issue.md": f"Make replacement.py answer as /opt/{NAME}/{NAME} does.\n",
            "before/SPEC.md": "A pear is taken off; every other fruit counts as it is.\n",
            "before/replacement.py": BASE,
            "reference/replacement.py": REFERENCE,
            f"binary/{NAME}.c": SOURCE,
            "binary/sweep.py": SWEEP,
            **hidden,
        },
    )
    return folder


def _session(given: str, expected: str) -> str:
    argv = ["python3", "-m", "replacement"]
    one = {"argv": argv, "stdin": given, "expect": {"status": 0, "stdout": expected}}
    return json.dumps({"canary": EXPOSURE, "commands": [one]})
