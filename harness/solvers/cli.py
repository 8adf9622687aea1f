"""An agent's program as a solver: command line, environment and files come from its manifest, answers from a model."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping

from harness.solvers import AgentAccess, Driver, SolveContext, Solved
from harness.solvers.agent import Stdin
from harness.solvers.builtin import run_program
from harness.solvers.manifest import BUNDLE, Manifest
from harness.suites.tree import REGULAR, Entry, Tree
from harness.workspace import HOME

LAUNCH = ("python3", "-I", "/opt/trialbox/launch.py", "--")
"""Put before a command line: starts the way to the gateway beside it (harness/gateway/inside)."""

_PLACE = re.compile(r"\{(prompt|prompt_file|model|effort|base_url|home|workspace|bundle)\}")
_PROMPT = "prompt"


def cli(manifest: Manifest) -> Driver:
    """A driver for the manifest's agent. The files that it needs below HOME are there already (:func:`home_files`)."""

    def drive(context: SolveContext) -> Solved:
        access = needed(context)
        values = _values(access, context.sandbox.spec.workdir, context.prompt_file)
        words = (*manifest.argv, *(manifest.effort_argv if access.effort else ()))
        shown = (*LAUNCH, *(fill(word, values) for word in words))
        argv = (*LAUNCH, *(fill(word, {**values, _PROMPT: context.task.prompt}) for word in words))
        env = {
            **context.env,
            **{name: fill(text, values) for name, text in manifest.env.items()},
            **dict.fromkeys(manifest.key_env, access.token),
        }
        stdin = context.task.prompt.encode() if manifest.stdin is Stdin.PROMPT else b""
        solved = run_program(dataclasses.replace(context, env=env), argv, stdin)
        return dataclasses.replace(solved, argv=shown)

    return drive


def home_files(manifest: Manifest, access: AgentAccess, workspace: str, prompt_file: str) -> Tree:
    """The files that a manifest wants below HOME, by path there; they are put in place with the workspace's seed."""
    values = _values(access, workspace, prompt_file)
    files = {**manifest.files, **(manifest.effort_files if access.effort else {})}
    return Tree(Entry(path, REGULAR, fill(text, values).encode()) for path, text in files.items())


def fill(text: str, values: Mapping[str, str]) -> str:
    """Replace placeholders, once: what a value holds is not looked at again. One without a value stays."""
    return _PLACE.sub(lambda found: values.get(found[1], found[0]), text)


def needed(context: SolveContext) -> AgentAccess:
    """The way to the model.

    Raises:
        ValueError: there is none; a run gives one to every solver that asks a model.
    """
    if context.access is None:
        raise ValueError("a solver that asks a model was given no access to one")
    return context.access


def _values(access: AgentAccess, workspace: str, prompt_file: str) -> dict[str, str]:
    return {
        "prompt_file": prompt_file,
        "model": access.model,
        "effort": access.effort or "",
        "base_url": access.base_url,
        "home": HOME,
        "workspace": workspace,
        "bundle": BUNDLE,
    }
