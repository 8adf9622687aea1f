"""The project's jobs. `nox -s bench` runs the smoke suite; `nox -s tests` tests everything."""

from __future__ import annotations

import hashlib
from pathlib import Path

import nox

nox.options.default_venv_backend = "venv"
nox.options.reuse_existing_virtualenvs = True
nox.options.sessions = ["lint", "tests"]

ROOT = Path(__file__).parent
CODE = ("harness", "audits", "scoring", "trialbox")


def _install(session: nox.Session, lock: str) -> None:
    """Install the project from a lock, unless this very lock is installed already: a warm start costs nothing."""
    wanted = hashlib.sha256(
        (ROOT / "requirements" / f"{lock}.txt").read_bytes() + (ROOT / "pyproject.toml").read_bytes()
    )
    mark = Path(session.virtualenv.location) / "trialbox-lock"
    if mark.is_file() and mark.read_text() == wanted.hexdigest():
        return
    session.install("--quiet", "--require-hashes", "--requirement", f"requirements/{lock}.txt")
    session.install("--quiet", "--no-deps", "--no-build-isolation", "--editable", ".")
    mark.write_text(wanted.hexdigest())


@nox.session
def bench(session: nox.Session) -> None:
    """Run the smoke suite with the scripted solvers; arguments after `--` reach `trialbox run smoke`."""
    _install(session, "run")
    session.run("trialbox", "run", "smoke", *(session.posargs or ["--solver", "reference,noop,wrong"]))


@nox.session
def images(session: nox.Session) -> None:
    """Build or verify the images: `nox -s images -- verify`."""
    _install(session, "run")
    session.run("trialbox", "images", *(session.posargs or ["build"]))


@nox.session
def tests(session: nox.Session) -> None:
    """Run the tests, real containers included; arguments after `--` reach pytest."""
    _install(session, "dev")
    session.run("pytest", *session.posargs)


@nox.session
def agents(session: nox.Session) -> None:
    """Run all seven real agents on tasks, bundles built if need be; the tests run the two quickest of them."""
    _install(session, "dev")
    session.run("pytest", "-m", "agents or not agents", "tests/test_agents_real.py", *session.posargs)


@nox.session
def chaos(session: nox.Session) -> None:
    """Run real agents against a provider with every fault: a quarter of an hour, so apart from the tests."""
    _install(session, "dev")
    session.run("pytest", "-m", "chaos", *session.posargs)


@nox.session
def attacks(session: nox.Session) -> None:
    """Try every known attack beside its honest control: some minutes, so apart from the tests."""
    _install(session, "dev")
    session.run("python", "-m", "tests.attacks", *session.posargs)


@nox.session
def admission(session: nox.Session) -> None:
    """Prove every task of every suite fit to stand in it: a quarter of an hour; arguments reach `suite check`."""
    _install(session, "run")
    session.run("trialbox", "suite", "check", *(session.posargs or ["--all"]))


@nox.session
def reproduce(session: nox.Session) -> None:
    """Reproduce bundles of all suites where there is no image and no network: an hour, as root on Linux."""
    _install(session, "dev")
    session.run("python", "-m", "tests.stranger", *session.posargs)


@nox.session
def lint(session: nox.Session) -> None:
    """ruff, mypy --strict and bandit on our own code."""
    _install(session, "dev")
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")
    session.run("mypy")
    session.run("bandit", "--quiet", "--recursive", "--configfile", "pyproject.toml", *CODE)


@nox.session
def perf(session: nox.Session) -> None:
    """Measure what a sealed attempt costs over the bare containers it needs."""
    _install(session, "dev")
    session.run("python", "-m", "tests.perf", *session.posargs)
