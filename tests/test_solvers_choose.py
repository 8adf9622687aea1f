"""What may be typed after --solver, and what a manifest may say."""

from __future__ import annotations

import pytest

from harness.errors import UserError
from harness.solvers.choose import check, choose
from harness.solvers.manifest import DriverKind, load_manifest
from harness.suites.load import load_task
from tests.agents_rig import smoke_task
from tests.formats_rig import write_function_task


def _names(*texts):
    return [(solver.name, solver.manifest.driver) for solver in choose(texts)]


def test_a_list_of_names():
    assert _names("reference, noop,wrong") == [
        ("reference", DriverKind.REFERENCE),
        ("noop", DriverKind.NOOP),
        ("wrong", DriverKind.WRONG),
    ]


def test_options_stay_with_the_solver_to_their_left():
    first, second, last = choose(["wrong:candidate=off-by-one,name=w1,wrong:name=w2,noop"])
    assert (first.manifest.candidate, first.name, second.name, last.name) == ("off-by-one", "w1", "w2", "noop")


def test_a_command_takes_the_rest_of_its_text():
    (solver,) = choose(["command:sh -c 'echo a,b:c=d'"])
    assert solver.manifest.argv == ("sh", "-c", "echo a,b:c=d")


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        (["ghost"], "no solver 'ghost'"),
        ([""], "names no solver"),
        (["noop,noop"], "named twice"),
        (["noop:speed=9"], "no option 'speed'"),
        (["command:"], "needs a program"),
        (["command:sh -c 'open"], "can't be split"),
        (["nowhere/agent.toml"], "no such manifest"),
        (["command"], "no solver 'command'"),
    ],
)
def test_mistakes_are_one_line(texts, said):
    with pytest.raises(UserError, match=said) as caught:
        choose(texts)
    assert "\n" not in str(caught.value)


def test_candidates_go_by_their_kind(tmp_path):
    task = load_task(write_function_task(tmp_path / "runs"))
    check(choose(["wrong,partial"]), [task])
    check(choose(["wrong:candidate=counts-all,partial:candidate=no-empty"]), [task])
    with pytest.raises(UserError, match="has no breaker candidate; it has: none"):
        check(choose(["breaker"]), [task])
    with pytest.raises(UserError, match="has no wrong candidate 'no-empty'; it has: counts-all"):
        check(choose(["wrong:candidate=no-empty"]), [task])


def test_a_worker_takes_tasks_that_are_answered_by_a_reply(tmp_path):
    asks = choose(["reference,worker:model=m,name=asks"])
    check(asks, [load_task(write_function_task(tmp_path / "runs"))])
    with pytest.raises(
        UserError, match="is answered in its workspace, and solver asks only replies; take function and"
    ):
        check(asks, [smoke_task("bead-string")])


@pytest.mark.parametrize(
    ("driver", "reply", "replies"),
    [
        ("command", None, True),
        ("command", "none", False),
        ("service", None, False),
        ("service", "stdout", True),
        ("reference", None, True),
    ],
)
def test_whose_output_is_a_reply(tmp_path, driver, reply, replies):
    text = f'name = "mine"\ndriver = "{driver}"\nargv = ["x"]\n' + (f'reply = "{reply}"\n' if reply else "")
    assert load_manifest(_manifest(tmp_path, text)).manifest.replies is replies


def _manifest(folder, text):
    path = folder / "agent.toml"
    path.write_text(text)
    return path


def test_a_manifest_and_its_bundle_are_one_identity(tmp_path):
    (tmp_path / "agent").mkdir()
    (tmp_path / "agent" / "run.py").write_text("print(1)\n")
    path = _manifest(
        tmp_path,
        'name = "mine"\ndriver = "command"\nargv = ["python3", "/opt/solver/run.py"]\n'
        'bundle = "agent"\nmodel = "m-1"\n',
    )
    ref = load_manifest(path).ref()
    assert (ref.name, ref.kind, ref.model, ref.harness) == ("mine", "command", "m-1", "unknown")
    (tmp_path / "agent" / "run.py").write_text("print(2)\n")
    assert load_manifest(path).ref().manifest != ref.manifest


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('name = "mine"\ndriver = "command"\n', "argv"),
        ('name = "mine"\ndriver = "rocket"\n', "driver"),
        ('name = "mine"\ndriver = "noop"\nspeed = 1\n', "speed"),
        ('name = "mine"\ndriver = "noop"\nreply = "stderr"\n', "reply: input should be 'stdout' or 'none'"),
        ('name = "Mine!"\ndriver = "noop"\n', "name"),
        ('name = "mine"\ndriver = "command"\nargv = ["x"]\nbundle = "nowhere"\n', "nowhere"),
        ('name = "mine"\ndriver = "command"\nargv = ["x"]\nenv = { "lower case" = "1" }\n', "env"),
        ("name = ", "agent.toml"),
    ],
)
def test_a_bad_manifest_names_file_and_field(tmp_path, text, said):
    path = _manifest(tmp_path, text)
    with pytest.raises(UserError) as caught:
        choose([str(path)])
    assert said in str(caught.value)
    assert str(tmp_path) in str(caught.value)
