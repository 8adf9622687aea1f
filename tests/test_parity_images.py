"""A program's image: the same twice, with nothing of the source in it, and made to be taken apart while sealed."""

from __future__ import annotations

import io
import re
import tarfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from harness.engine.client import Engine
from harness.engine.images import BuiltImage, build, ensure, list_images, recipe, relock
from harness.engine.sandbox import Sandbox
from harness.engine.spec import Role, SandboxSpec
from harness.errors import UserError
from harness.evidence import AttemptRecord
from harness.grade import GradingRoom
from harness.outcomes import Outcome, Rejection
from harness.program import COMPILE_FOLDER
from harness.suites.load import load_task
from harness.suites.parity_sweep import images_for, measure
from harness.suites.task import Task
from tests.attempt_rig import make_rig
from tests.conftest import ROOT, image_cache
from tests.parity_rig import BASE, NAME, NOTE, RULES, WORD, write_parity_task
from tests.suites_rig import edit

pytestmark = pytest.mark.engine
IMAGES_DIR = ROOT / "images"
PATH = f"/opt/{NAME}/{NAME}"


@dataclass(frozen=True)
class Parity:
    """A task, its images, and where its image's archive is."""

    task: Task
    images: Mapping[str, BuiltImage]

    @property
    def built(self) -> BuiltImage:
        """The solver's image."""
        return self.images[self.task.solver_image]


@pytest.fixture(scope="module")
def parity(engine: Engine, images: Mapping[str, BuiltImage], tmp_path_factory: pytest.TempPathFactory) -> Parity:
    task = load_task(write_parity_task(tmp_path_factory.mktemp("tasks") / "orchard"))
    own = {
        name: ensure(engine.api, wanted, cache=image_cache(), images_dir=IMAGES_DIR, report=print)
        for name, wanted in images_for(task).items()
    }
    return Parity(task, {**images, **own})


@pytest.fixture
def solver(engine: Engine, parity: Parity, owner: str) -> Iterator[Sandbox]:
    """A sealed container as a solver's is."""
    limits = parity.task.limits
    spec = SandboxSpec(
        role=Role.SOLVER,
        image=parity.built.handle,
        tmp_mb=limits.tmp_mb,
        memory_mb=limits.memory_mb,
        pids=limits.pids,
        cpuset="0",
    )
    with Sandbox(engine, spec, owner) as sandbox:
        yield sandbox


def _layers(parity: Parity) -> Iterator[tuple[str, bytes]]:
    with tarfile.open(parity.built.archive) as tar:
        for member in tar:
            handle = tar.extractfile(member)
            assert handle is not None
            yield member.name, handle.read()


def test_two_builds_give_one_id_and_the_layer_holds_the_program_alone(engine: Engine, parity: Parity) -> None:
    program = parity.task.program
    assert program is not None
    again = build(engine.api, program, cache=image_cache(), images_dir=IMAGES_DIR, report=print)
    assert again.ref == parity.built.ref
    data = dict(_layers(parity))
    workbench = recipe.load(IMAGES_DIR, "workbench").published
    assert workbench is not None
    own = [
        name for name in data if name.endswith("layer.tar") and f"sha256:{name.split('/')[0]}" not in workbench.layers
    ]
    assert len(own) == 1
    with tarfile.open(fileobj=io.BytesIO(data[own[0]])) as tar:
        members = {member.name: (member.mode, member.uid, member.type) for member in tar}
    assert members == {
        "opt": (0o755, 0, tarfile.DIRTYPE),
        f"opt/{NAME}": (0o755, 0, tarfile.DIRTYPE),
        f"opt/{NAME}/{NAME}": (0o755, 0, tarfile.REGTYPE),
    }
    assert len(data[own[0]]) < 2 << 20


def test_no_layer_holds_source_symbols_or_the_path_of_a_build(parity: Parity, solver: Sandbox) -> None:
    telling = [WORD, NOTE, "AS_SPEC", COMPILE_FOLDER, f"{NAME}.c", str(parity.task.folder), *parity.task.canaries]
    searched = 0
    for name, data in _layers(parity):
        if name.endswith("layer.tar"):
            assert [text for text in telling if text.encode() in data] == [], name
            searched += 1
    assert searched == 3
    symbols = solver.run(["nm", PATH], timeout_s=60, max_output=1 << 20)
    assert symbols.stdout == b""
    assert b"no symbols" in symbols.stderr
    sections = solver.run(["objdump", "-h", PATH], timeout_s=60, max_output=1 << 20).stdout.decode()
    assert not re.search(r"\.(debug|symtab|note\.gnu\.build-id)", sections)
    words = solver.run(["strings", "-a", "-n", "3", PATH], timeout_s=60, max_output=16 << 20).stdout.decode()
    assert "%15s %ld" in words, "what the program reads by is there"
    assert not [text for text in (*telling, "program.c", "orchard", "parity") if text in words]


def test_an_ordinary_user_takes_the_program_apart_under_the_seal(solver: Sandbox) -> None:
    def run(*argv: str, stdin: bytes = b"") -> str:
        done = solver.run(argv, stdin=stdin, timeout_s=120, max_output=32 << 20, workdir="/tmp")
        assert done.exit_status == 0, done.stderr[-500:]
        return (done.stdout + done.stderr).decode("utf-8", "replace")

    assert run("id", "-u").strip() == "10001"
    assert run(PATH, stdin=b"plum 3\npear 4\ndamson 77\n") == "plum 4\npear -4\ndamson 78\n"
    assert len(re.findall(r"^\s+[0-9a-f]+:\t", run("objdump", "-d", PATH), re.MULTILINE)) > 10_000
    steps = ["starti", "stepi", "stepi", "info registers rip", "x/2i $pc"]
    said = run("gdb", "-q", "-nx", "-batch", *(word for step in steps for word in ("-ex", step)), PATH)
    assert "Program stopped" in said
    counters = [int(one, 16) for one in re.findall(r"^rip\s+(0x[0-9a-f]+)", said, re.MULTILINE)]
    assert len(counters) == 1, said
    assert "=> " in said
    (stopped,) = re.findall(r"Program stopped\.\n(0x[0-9a-f]+)", said)
    assert counters[0] != int(stopped, 16), "it went on by single steps"
    assert 'write(1, "plum 4\\n", 7' in run("strace", "-e", "trace=write", PATH, stdin=b"plum 3\n")


def test_the_program_is_absent_from_the_grader(engine: Engine, parity: Parity, owner: str) -> None:
    find = ["find", "/", "-xdev", "(", "-path", "/opt/*", "-o", "-name", f"*{NAME}*", ")"]
    with GradingRoom(engine, parity.images[parity.task.image].handle, parity.task, "0", owner) as room:
        assert room.sandbox.run(find, timeout_s=120, max_output=1 << 20).stdout == b""


def test_an_attempt_solves_beside_the_program_and_is_graded_without_it(
    engine: Engine, parity: Parity, owner: str, tmp_path: Path
) -> None:
    rig = make_rig(engine, parity.images, tmp_path, owner)

    def attempt(script: str) -> AttemptRecord:
        return rig.attempt(script, task=parity.task)

    # A replacement that asks the program itself is right only where the program is.
    asks = f"import subprocess, sys\nsys.stdout.write(subprocess.check_output(['{PATH}'], text=True))\n"
    record = attempt(f"cat > replacement.py <<'END'\n{asks}END\necho plum 3 | python3 replacement.py\n")
    assert record.outcome is Outcome.FAILED, record.reason
    assert record.solve is not None and rig.text(record.solve.stdout) == "plum 4\n"
    assert record.grade is not None and not any(one.passed for one in record.grade.verdicts)
    record = attempt(f"cat > replacement.py <<'END'\n{asks.replace(PATH, './asked')}END\ncp {PATH} asked\n")
    assert (record.outcome, record.kind) == (Outcome.REJECTED, Rejection.TREE_TOO_LARGE.value), record.reason
    head = f"head -c 4096 {PATH} > asked; chmod +x asked"
    record = attempt(f"cat > replacement.py <<'END'\n{asks.replace(PATH, './asked')}END\n{head}\n")
    assert record.outcome is Outcome.FAILED, record.reason
    assert record.grade is not None and record.grade.flags == ("program_taken_out: asked",)


def test_a_sweep_measures_what_was_announced(engine: Engine, parity: Parity, owner: str) -> None:
    found = measure(engine, parity.task, parity.images, owner, sweeps=60, sessions=2000)
    assert found.faults == ()
    assert (found.reference.differing, found.base.differing) == (0, 0)
    counts = {one.group: one.sessions for one in found.departures}
    # Sessions of 1 to 4 lines, each one of eight words: 1 - E[(7/8)^n] = 27 %; one number in a hundred: 0.31 %.
    assert all(440 < counts[rule] < 640 for rule, deep in RULES.items() if not deep), counts
    assert all(0 < counts[rule] < 25 for rule, deep in RULES.items() if deep), counts
    assert measure(engine, parity.task, parity.images, owner, sweeps=60, sessions=2000) == found


def test_a_sweep_shows_where_a_replacement_differs(engine: Engine, parity: Parity, owner: str, tmp_path: Path) -> None:
    folder = write_parity_task(tmp_path / "orchard")
    edit(folder / "reference" / "replacement.py", "'plum': lambda number: number + 1", "'plum': lambda number: number")
    edit(folder / "before" / "replacement.py", BASE, BASE.replace("-number", "number"))
    found = measure(engine, load_task(folder), parity.images, owner, sweeps=60, sessions=60)
    assert found.reference.differing > 0
    first = found.reference.examples[0]
    assert "plum" in first.text
    assert first.program != first.replacement
    assert [fault.split(" differs")[0] for fault in found.faults[:2]] == ["the reference", "before/"]


def test_what_does_not_compile_or_draw_is_the_authors(
    engine: Engine, parity: Parity, owner: str, tmp_path: Path
) -> None:
    folder = write_parity_task(tmp_path / "orchard")
    edit(folder / "binary" / "sweep.py", "return ", "raise ValueError(rng) or ")
    with pytest.raises(UserError, match=r"sweep\.py: draws no sessions: ValueError"):
        measure(engine, load_task(folder), parity.images, owner, sweeps=1, sessions=1)
    edit(folder / "binary" / f"{NAME}.c", "return -number;", "return -numbers;")
    program = load_task(folder).program
    assert program is not None
    with pytest.raises(UserError, match=rf"{NAME}\.c: does not compile: .*numbers"):
        ensure(engine.api, program, cache=image_cache(), images_dir=IMAGES_DIR, report=print)


def test_the_identity_of_a_programs_image_is_noted_beside_its_source(
    engine: Engine, parity: Parity, tmp_path: Path
) -> None:
    program = load_task(write_parity_task(tmp_path / "orchard")).program
    assert program is not None
    (listed,) = [one for one in list_images(None, images_dir=IMAGES_DIR, programs=[program]) if "parity" in one.name]
    assert listed.id is None
    made = relock(engine.api, program, cache=image_cache(), images_dir=IMAGES_DIR, report=print)
    assert made.ref == parity.built.ref
    source = recipe.load(IMAGES_DIR, program)
    assert source.published is not None and source.published.id == made.ref.id
    program.source.write_text(program.source.read_text() + "\n")
    changed = recipe.load(IMAGES_DIR, program)
    assert changed.published is None and changed.lock_digest != source.lock_digest
