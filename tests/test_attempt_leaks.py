"""Nothing hidden is ever where a solver could see it; expected values are not even where its code is graded."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest

from harness.engine.owned import ROLE_LABEL, STATE_LABEL
from harness.engine.sandbox import Sandbox
from harness.engine.spec import BindMount, Role
from harness.evidence import TraceRecord
from harness.oracles.needles import expected_needles, hidden_needles
from harness.outcomes import Outcome
from harness.records import Coverage
from harness.solvers.manifest import DriverKind, Manifest
from harness.suites.load import load_suite
from tests.attempt_rig import LIMITS, SECRET, make_rig, small_task
from tests.leak_search import search, search_processes

pytestmark = pytest.mark.engine
SMOKE = Path(__file__).parent.parent / "tasks" / "smoke"
GRADER_NONCE = "ab" * 16


class Searcher:
    """A hook that searches the solver's container once it is ready for the solver."""

    channel = "search"
    binds = ()
    volumes = ()

    def __init__(self, needles, plant=None):
        self.env: dict[str, str] = {}
        self._needles = needles
        self._plant = plant
        self.hits: set[str] = set()

    def before_solve(self, sandbox: Sandbox) -> None:
        if self._plant:
            sandbox.run(("sh", "-c", self._plant), timeout_s=10, max_output=1000)
        self.hits = search(sandbox, self._needles) | search_processes(sandbox, self._needles)

    def after_solve(self) -> TraceRecord:
        return TraceRecord(channel=self.channel, coverage=Coverage.FULL, reason="")


def _watched(engine, images, tmp_path, owner, searcher):
    return make_rig(engine, images, tmp_path, owner, hooks=lambda _: (searcher,))


@pytest.mark.parametrize("task", load_suite(SMOKE).tasks, ids=lambda task: task.id)
def test_nothing_hidden_is_in_a_solvers_container(engine, images, tmp_path, owner, task):
    before = make_rig(engine, images, tmp_path / "first", owner).run(
        Manifest(name="noop", driver=DriverKind.NOOP), task=task
    )
    nonces = [record.nonce.encode() for record in (before.baseline, before.grade) if record]
    metadata = [task.id.encode(), task.spec.title.encode()]
    searcher = Searcher([*hidden_needles(task), *nonces, *metadata])
    rig = _watched(engine, images, tmp_path / "second", owner, searcher)
    record = rig.run(Manifest(name="noop", driver=DriverKind.NOOP), task=task)
    assert record.outcome is Outcome.FAILED
    assert searcher.hits == set()


@pytest.mark.parametrize(
    ("plant", "place"),
    [
        ("printf %s '{}' > /workspace/.hidden", "file:workspace/.hidden"),
        ("printf %s '{}' > /home/agent/note && chmod 0 /home/agent/note", "file:home/agent/note"),
        ("printf %s '{}' | rev > /tmp/r", "file:tmp/r"),
        ("ln -s '{}' /tmp/link", "file:tmp/link"),
        ("touch '/tmp/{}'", f"file:{SECRET}"),
        ("X='{}' setsid sleep 30 >/dev/null 2>&1 &", "process:environ"),
        ("setsid sh -c 'sleep 30' '{}' >/dev/null 2>&1 &", "process:cmdline"),
        ("printf %s '{}' > /dev/shm/x", "file:dev/shm/x"),
    ],
)
def test_the_same_search_finds_what_is_planted(engine, images, tmp_path, owner, plant, place):
    searcher = Searcher([SECRET.encode()], plant.replace("{}", SECRET))
    _watched(engine, images, tmp_path, owner, searcher).attempt("true")
    assert place in searcher.hits


def test_the_same_search_finds_memory(engine, images, tmp_path, owner):
    program = f'x = "{SECRET[:20]}" + "{SECRET[20:]}"; import time; time.sleep(30)'
    script = f"setsid python3 -c '{program}' >/dev/null 2>&1 &\nsleep 1"
    searcher = Searcher([SECRET.encode()], script)
    _watched(engine, images, tmp_path, owner, searcher).attempt("true")
    assert any(hit.startswith("memory:") for hit in searcher.hits)


def test_the_search_covers_folders_that_are_mounted(engine, images, tmp_path, owner):
    (tmp_path / "bundle").mkdir()
    (tmp_path / "bundle" / "agent.txt").write_text(SECRET)
    searcher = Searcher([SECRET.encode()])
    searcher.binds = (BindMount(source=str(tmp_path / "bundle"), target="/opt/extra"),)
    _watched(engine, images, tmp_path, owner, searcher).attempt("true")
    assert searcher.hits == {"file:opt/extra/agent.txt"}


def test_no_expected_value_is_in_a_grader(engine, images, tmp_path, owner):
    """While the candidate's code runs there, the grader is searched, memory too: inputs are there, answers are not."""
    task = small_task(LIMITS.model_copy(update={"grade_wall_s": 40}))  # the search takes a while
    needles = expected_needles(task)
    assert SECRET.encode() in needles
    rig = make_rig(engine, images, tmp_path, owner)
    rig.attempt("true", task=task)
    answers: list[set[str]] = []
    inputs: list[set[str]] = []

    def watch() -> None:
        query = {"label": [f"{STATE_LABEL}={owner}", f"{ROLE_LABEL}={Role.GRADER.value}"]}
        while not (found := engine.api.containers(filters=query)):
            time.sleep(0.05)
        box = Sandbox.__new__(Sandbox)
        box.engine, box.id = engine, found[0]["Id"]
        while not (seen := search_processes(box, [b"ann lee"])):  # until the job has arrived
            time.sleep(0.1)
        inputs.append(seen)
        answers.append(search(box, needles) | search_processes(box, needles))

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    record = rig.attempt("printf 'import time\\ntime.sleep(60)\\n' > pkg/words.py", task=task)
    watcher.join(60)
    assert record.outcome is Outcome.FAILED
    assert answers == [set()]
    assert inputs[0], "the search sees the driver's memory"


def test_the_git_store_holds_one_commit_and_nothing_beside_it(engine, images, tmp_path, owner):
    rig = make_rig(engine, images, tmp_path, owner)
    record = rig.attempt(
        """
        git rev-list --all --count; git for-each-ref --format='%(refname)'; git log -1 --format='%an %ae %s %ct'
        git cat-file --batch-all-objects --batch-check='%(objectname)' | sort > /tmp/all
        git rev-list --all --objects | cut -d' ' -f1 | sort > /tmp/reached; cmp /tmp/all /tmp/reached && echo same
        ls .git; find . -newermt 2000-01-02 -not -path . -printf '%p\\n'
        """
    )
    assert rig.text(record.solve.stdout).split("\n") == [
        "1",
        "refs/heads/main",
        "origin origin@localhost Initial state 946684800",
        "same",
        *("HEAD", "config", "index", "objects", "refs"),
        "",
    ]
