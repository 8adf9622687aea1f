"""The doctor's report, and what it says of the container runtime's version."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.doctor import Line, State, survey
from harness.energy.choose import MeterStatus
from harness.engine.addresses import Surroundings
from harness.engine.client import Engine
from harness.engine.daemon import PrivateDaemon
from harness.engine.runtime import advisories, runtime_version
from harness.records import from_json, to_json

LEAK = "CVE-2024-21626"
MOUNTS = ("CVE-2025-31133", "CVE-2025-52565", "CVE-2025-52881")


@pytest.mark.parametrize(
    ("version", "known"),
    [
        ("1.1.5+ds1", (LEAK, *MOUNTS)),
        ("1.1.11", (LEAK, *MOUNTS)),
        ("1.1.12", MOUNTS),
        ("1.1.15+ds1", MOUNTS),
        ("1.2.0-rc.1", MOUNTS),
        ("1.2.7", MOUNTS),
        ("1.2.8", ()),
        ("1.2.9", ()),
        ("1.3.0", MOUNTS),
        ("1.3.2", MOUNTS),
        ("1.3.3+ds1", ()),
        ("1.4.0-rc.2", MOUNTS),
        ("1.4.0-rc.3", ()),
        ("1.4.0", ()),
        ("1.5.1", ()),
        ("2.0.0", ()),
        ("1.0.0-rc93", (LEAK, *MOUNTS)),
        ("unknown", ()),
    ],
)
def test_known_escapes_by_version(version: str, known: tuple[str, ...]) -> None:
    assert tuple(name for one in advisories("runc", version) for name in one.identifiers) == known


def test_another_runtime_is_not_judged_by_runcs_numbers() -> None:
    assert advisories("crun", "1.1.0") == ()


@pytest.mark.parametrize(
    ("components", "expected"),
    [
        ([{"Name": "Engine", "Version": "1"}, {"Name": "runc", "Version": "1.1.5+ds1"}], ("runc", "1.1.5+ds1")),
        ([{"Name": "OCI Runtime (runc)", "Version": "runc version 1.1.5\ncommit: 1"}], ("runc", "1.1.5")),
        ([{"Name": "OCI Runtime (crun)", "Version": "crun version 1.8.1\ncommit: f"}], ("crun", "1.8.1")),
        ([{"Name": "runc", "Version": ""}], ("runc", "unknown")),
        ([], ("unknown", "unknown")),
    ],
)
def test_the_runtime_is_found_in_what_either_engine_says(
    components: list[dict[str, str]], expected: tuple[str, str]
) -> None:
    assert runtime_version(list(components)) == expected


@pytest.mark.engine
def test_a_report_on_this_machine(engine: Engine, tmp_path: Path) -> None:
    meters = (
        MeterStatus("rapl", available=False, detail="unreadable", remedy="make it readable"),
        MeterStatus("estimator", available=True, detail="65 W"),
    )
    here = Surroundings(environ={"DOCKER_HOST": engine.info.address.replace("unix:/", "unix:///", 1)})
    report = survey(tmp_path / "not" / "yet", meters=meters, surroundings=here)
    assert report.usable
    lines = {line.part: line for line in report.lines}
    assert engine.info.version in lines["engine"].detail
    assert lines["limits"].state is State.OK
    assert lines["models"].detail == "no provider has a key: dry runs only"
    assert lines["tracer"].detail.startswith("sees filesystem") or lines["tracer"].remedy
    assert lines["meter rapl"] == Line(
        part="meter rapl", state=State.LIMITED, detail="unreadable", remedy="make it readable"
    )
    assert from_json(type(report), to_json(report)) == report
    assert not (tmp_path / "not").exists(), "looking changes nothing"


@pytest.mark.parametrize(("root", "state"), [(True, State.LIMITED), (False, State.MISSING)])
def test_a_report_without_an_engine(tmp_path: Path, root: bool, state: State) -> None:
    nowhere = tmp_path / "no.sock"
    here = Surroundings(
        environ={},
        home=tmp_path,
        platform="linux",
        root=root,
        confined=False,
        distributions=frozenset({"debian"}),
        docker_socket=nowhere,
        podman_socket=nowhere,
        daemon=PrivateDaemon(tmp_path / "data", tmp_path / "run"),
    )
    report = survey(tmp_path, surroundings=here)
    line = next(line for line in report.lines if line.part == "engine")
    assert (line.state, report.usable) == (state, root)
    assert line.remedy
