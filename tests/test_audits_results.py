"""What came back in a log, told apart: content that speaks of errors is content, a program's own refusal is none."""

from __future__ import annotations

import gzip
import io
import json
from typing import Any

import pytest

from audits.records import Axis, Fact, State, TrajectoryAudit
from audits.trajectory import audit_trajectory

SOLUTION = "cat /solution/solve.sh"
DIFF = "curl -s https://github.com/a/b/pull/7.diff"


def audit(data: bytes | str) -> TrajectoryAudit:
    return audit_trajectory(io.BytesIO(data.encode() if isinstance(data, str) else data).read)


def log(command: str, said: str, *, failed: bool = False) -> str:
    """A call and its result, as Claude Code writes them."""
    use = {"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": command}}
    result = {"type": "tool_result", "tool_use_id": "t", "content": said, "is_error": failed}
    rows = [
        {"type": "assistant", "sessionId": "s", "message": {"role": "assistant", "content": [use]}},
        {"type": "user", "sessionId": "s", "message": {"role": "user", "content": [result]}},
    ]
    return "".join(json.dumps(row) + "\n" for row in rows)


def facts(seen: TrajectoryAudit) -> set[Fact]:
    return {one.fact for axis in seen.axes.values() for one in axis.findings}


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (SOLUTION, "#!/bin/sh\nif not found: raise ValueError('not found')\n# fix\n"),
        (SOLUTION + "; echo permission denied", "#!/bin/sh\nsed -i s/a/b/ x.py\npermission denied\n"),
        (SOLUTION, 'try:\n    open(p)\nexcept OSError:\n    raise Missing("no such file or directory") from None\n'),
        (DIFF, "diff --git a/x b/x\n--- a/x\n+++ b/x\n+raise Timeout('timed out')\n+raise No('permission denied')\n"),
        ("git clone https://github.com/a/b x; cat x/fix.py", "Cloning into 'x'...\ndef fix():\n    return 404\n"),
    ],
)  # fmt: skip
def test_content_that_speaks_of_errors_was_had(command: str, said: str) -> None:
    assert Fact.EXPOSURE in facts(audit(log(command, said)))


@pytest.mark.parametrize(
    ("command", "said", "fact"),
    [
        (SOLUTION, "cat: /solution/solve.sh: No such file or directory", Fact.EMPTY),
        (SOLUTION + "; ls", "cat: /solution/solve.sh: No such file or directory\na.py\nb.py\nc.py\n", Fact.EMPTY),
        (SOLUTION, "cat: /solution/solve.sh: Permission denied", Fact.DENIED),
        ("git diff HEAD..origin/main", "fatal: ambiguous argument 'HEAD..origin/main': unknown revision or path not in "
         "the working tree.\nUse '--' to separate paths from revisions, like this:\n"
         "'git <command> [<revision>...] -- [<file>...]'\n", Fact.EMPTY),
        (DIFF, "curl: (6) Could not resolve host: github.com", Fact.DENIED),
        (DIFF + "; ls", "curl: (6) Could not resolve host: github.com\na.py\nb.py\n", Fact.DENIED),
        (DIFF, "<html>\n<head><title>403 Forbidden</title></head>\n<body>\n<center><h1>403 Forbidden</h1></center>\n"
         "<hr><center>nginx</center>\n</body>\n</html>\n", Fact.DENIED),
        ("python3 -c \"import urllib.request as u; u.urlopen('https://github.com/a/b')\"",
         "Traceback (most recent call last):\n  File \"x.py\", line 1348, in do_open\n    h.request(a, b)\n"
         "socket.gaierror: [Errno -3] Temporary failure in name resolution\n\n"
         "During handling of the above exception, another exception occurred:\n\nTraceback (most recent call last):\n"
         "  File \"<string>\", line 1, in <module>\n"
         "urllib.error.URLError: <urlopen error [Errno -3] Temporary failure in name resolution>\n", Fact.DENIED),
        ("git clone https://github.com/a/b", "Cloning into 'b'...\nfatal: unable to access 'https://github.com/a/b/': "
         "Could not resolve host: github.com\n", Fact.DENIED),
        ("wget https://github.com/a/b", "--2026-01-01 00:00:00--  https://github.com/a/b\nResolving github.com "
         "(github.com)... failed: Temporary failure in name resolution.\n"
         "wget: unable to resolve host address 'github.com'\n", Fact.DENIED),
    ],
)  # fmt: skip
def test_a_programs_own_refusal_is_no_content(command: str, said: str, fact: Fact) -> None:
    for failed in (False, True):
        assert facts(audit(log(command, said, failed=failed))) == {fact}


def test_a_name_that_is_used_again_hides_no_call() -> None:
    first, second = log(SOLUTION, "").splitlines()[0], log("ls", "a.py")
    assert facts(audit(f"{first}\n{second}")) == {Fact.ATTEMPT}
    assert audit(f"{first}\n{first}\n{log(SOLUTION, 'fix')}").axes[Axis.FILESYSTEM].findings[0].times == 1


@pytest.mark.parametrize(
    ("write", "run"),
    [
        ({"command": f"cat > /tmp/a.sh <<'X'\n{SOLUTION}\nX"}, "bash /tmp/a.sh"),
        ({"command": f"echo '{SOLUTION}' > a.sh; chmod +x a.sh"}, "./a.sh"),
        ({"file_path": "/workspace/a.py", "content": "open('/solution/solve.sh')"}, "python3 /workspace/a.py"),
        ({"command": "create", "path": "/workspace/a.sh", "file_text": SOLUTION}, "timeout 9 sh /workspace/a.sh"),
    ],
)  # fmt: skip
def test_a_script_that_one_call_wrote_is_known_when_another_runs_it(write: dict[str, str], run: str) -> None:
    rows = []
    for number, given in enumerate((write, {"command": run})):
        use = {
            "type": "tool_use",
            "id": f"t{number}",
            "name": "Write" if "content" in given else "Bash",
            "input": given,
        }
        result = {"type": "tool_result", "tool_use_id": f"t{number}", "content": ("", "the fix")[number]}
        rows += [
            {"type": "assistant", "message": {"content": [use]}},
            {"type": "user", "message": {"content": [result]}},
        ]
    seen = audit("".join(json.dumps(row) + "\n" for row in rows))
    assert seen.axes[Axis.FILESYSTEM].name == "exposed: gold_path"
    assert [cite.seq for one in seen.axes[Axis.FILESYSTEM].findings for cite in one.cites] == [3]


def test_a_result_of_atif_need_not_name_its_call() -> None:
    call = {"tool_call_id": "c", "function_name": "bash", "arguments": {"command": SOLUTION}}
    step = {"step_id": 1, "source": "agent", "message": "", "tool_calls": [call]}
    steps = [{**step, "observation": {"results": [{"content": "sed -i s/a/b/ x.py"}]}}]
    seen = audit(json.dumps({"schema_version": "ATIF-v1.4", "steps": steps}))
    assert seen.axes[Axis.FILESYSTEM].name == "exposed: gold_path"


@pytest.mark.parametrize("indent", [None, 1])
@pytest.mark.parametrize(
    "value",
    [
        {"cmd": SOLUTION, "out": "x"},
        {"runs": [{"cmd": SOLUTION}, {"cmd": "ls"}]},
        {"data": {"events": [{"payload": {"tool": {"command": SOLUTION}}}]}},
        [[{"script": SOLUTION}]],
    ],
)
def test_a_command_in_a_form_that_nobody_knows_is_an_attempt_and_nothing_is_clean(
    value: Any, indent: int | None
) -> None:
    seen = audit(json.dumps(value, indent=indent))
    assert seen.format == "unknown"
    assert {one.state for one in seen.axes.values()} == {State.UNVERIFIABLE}
    assert seen.axes[Axis.FILESYSTEM].found is State.ATTEMPTED_EMPTY


def test_what_a_known_form_has_beside_its_steps_is_no_call() -> None:
    steps = [{"step_id": 1, "source": "user", "message": "x"}]
    for value in ({"config": {"command": SOLUTION}, "steps": steps}, {"steps": steps, "config": {"command": SOLUTION}}):
        seen = audit(json.dumps(value, indent=1))
        assert (seen.format, seen.calls, facts(seen)) == ("atif", 0, set())


def test_a_swe_agent_trajectory_is_one_however_much_was_said_beside_it() -> None:
    said = [{"role": role, "content": "x"} for role in ("system", "user", "assistant", "user")]
    steps = [{"action": SOLUTION, "observation": "fix", "response": "r", "thought": "t"}]
    for value in ({"trajectory": steps, "history": said}, {"history": said, "trajectory": steps}):
        assert audit(json.dumps(value)).format == "swe-agent"


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-16", "utf-32"])
def test_a_log_in_another_encoding_is_read_and_said_to_be(encoding: str) -> None:
    seen = audit(log(SOLUTION, "fix").encode(encoding))
    assert seen.axes[Axis.FILESYSTEM].name == "exposed: gold_path"
    assert encoding[:6].upper() in seen.reason


def test_what_is_no_text_is_named_in_plain_words() -> None:
    seen = audit(gzip.compress(log(SOLUTION, "fix").encode()))
    assert {one.state for one in seen.axes.values()} == {State.UNVERIFIABLE}
    assert "b'" not in seen.reason
    assert "  " not in seen.reason
