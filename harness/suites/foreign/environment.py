"""The image that an imported task runs in: one of our recipes, or one of the user's engine, pinned by its id there."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from docker.errors import APIError, ImageNotFound

from harness.engine.client import LABEL, Engine, engine_errors
from harness.engine.images import BuiltImage, ensure
from harness.engine.images.recipe import names
from harness.engine.sandbox import Sandbox
from harness.engine.spec import Role, SandboxSpec
from harness.errors import InfraError, UserError
from harness.records import ImageRef
from harness.suites.formats.foreign import ForeignTask, PinnedImage
from harness.suites.hashing import pin_digest
from harness.suites.task import Suite

DEFAULT = "python"
WORKSPACES = ("/testbed", "/app", "/workspace")
_CONDA = "/opt/miniconda3/envs/testbed/bin/python"
_PROBE = f'for d in "$@"; do [ -d "$d" ] && echo "d $d"; done; [ -x {_CONDA} ] && echo "p {_CONDA}"; exit 0'


@dataclass(frozen=True)
class Environment:
    """An image as a task file names it, and the engine's handle.

    ``folders`` are the usual places of a tree that the image has; ``python`` the interpreter that has its packages.
    """

    name: str
    handle: str
    pinned: PinnedImage | None
    folders: tuple[str, ...] = ()
    python: str = "python3"


@dataclass(frozen=True)
class Images:
    """Where images come from."""

    engine: Engine
    cache: Path
    recipes: Path
    owner: str
    report: Callable[[str], None]

    def ours(self, name: str) -> BuiltImage:
        """One of our recipes, built if need be."""
        return ensure(self.engine.api, name, cache=self.cache, images_dir=self.recipes, report=self.report)

    def named(self, name: str) -> Environment:
        """A recipe's name, or a name or id that the user's engine knows.

        Raises:
            UserError: neither has it.
        """
        if name in names(self.recipes):
            return Environment(name, self.ours(name).handle, None)
        found = self.local(name)
        if found is None:
            known = ", ".join(names(self.recipes))
            raise UserError(
                f"image {name}", "is neither a recipe of ours nor in this engine", f"load it, or use one of: {known}"
            )
        return found

    def local(self, name: str) -> Environment | None:
        """An image of the user's engine, pinned; None if it isn't there."""
        seen = inspect(self.engine, name)
        if seen is None:
            return None
        engine_id = _id(seen)
        pin = PinnedImage(id=engine_id, name=name, repository_digests=tuple(sorted(seen.get("RepoDigests") or ())))
        folders, python = self._look_inside(engine_id)
        return Environment(_slug(name, engine_id), engine_id, pin, folders, python)

    def build(self, folder: Path, dockerfile: Path) -> Environment:
        """Build a Dockerfile with the engine's own builder, without network, from what the engine has.

        Raises:
            UserError: the build fails; its last words are in the message.
        """
        if not dockerfile.is_file():
            raise UserError(str(dockerfile), "is missing", "leave --build out, or name an image with --image")
        built, said = None, ""
        slug = "-".join(re.findall(r"[a-z0-9]+", folder.resolve().parent.name.lower())) or "task"
        with engine_errors(f"build of {dockerfile}"):
            for message in self.engine.api.build(
                path=str(folder), dockerfile=str(dockerfile), network_mode="none", rm=True, forcerm=True, pull=False,
                labels={LABEL: "1"}, tag=f"trialbox-import/{slug}", decode=True,
            ):  # fmt: skip
                said = str(message.get("error") or message.get("stream") or "").strip() or said
                built = message.get("aux", {}).get("ID", built)
                if "error" in message:
                    break
        if built is None:
            raise UserError(
                str(dockerfile), f"can't be built here: {' '.join(said.split())[-160:]}", "builds have no network"
            )
        found = self.local(str(built))
        if found is None:
            raise InfraError(str(dockerfile), "was built, and the engine has no such image", "see `trialbox doctor`")
        pin = found.pinned.model_copy(update={"name": f"built from {dockerfile.name}"}) if found.pinned else None
        return Environment(_slug(folder.parent.name, found.handle), found.handle, pin, found.folders, found.python)

    def _look_inside(self, handle: str) -> tuple[tuple[str, ...], str]:
        spec = SandboxSpec(role=Role.PREPARE, image=handle, workdir="/")
        with Sandbox(self.engine, spec, self.owner) as sandbox:
            seen = sandbox.run(("sh", "-c", _PROBE, "sh", *WORKSPACES), timeout_s=30, max_output=4096)
        lines = seen.stdout.decode("utf-8", "replace").splitlines()
        python = next((line[2:] for line in lines if line.startswith("p ")), "python3")
        return tuple(line[2:] for line in lines if line.startswith("d ")), python


def pins_of(suites: Iterable[Suite]) -> dict[str, PinnedImage]:
    """What tasks are pinned to, by the names that they use."""
    specs = (task.spec for suite in suites for task in suite.tasks)
    return {one.image: one.pinned_image for one in specs if isinstance(one, ForeignTask) and one.pinned_image}


def pinned(engine: Engine, name: str, pin: PinnedImage) -> BuiltImage:
    """The image that a task is pinned to, in the engine that runs it.

    Raises:
        UserError: this engine doesn't have it.
    """
    seen = inspect(engine, pin.id)
    if seen is None or _id(seen) != pin.id:
        raise UserError(
            f"image {pin.name}",
            f"{pin.id[:19]} is not in this engine",
            "load the image that the suite was imported with",
        )
    ref = ImageRef(name=name, id=pin.id, lock=pin_digest(pin.id), locked=False)
    return BuiltImage(ref=ref, handle=pin.id, archive=Path("/nonexistent"), size=None)


def inspect(engine: Engine, name: str) -> dict[str, Any] | None:
    """What the engine says of an image; None if it has none of that name."""
    if not name:
        return None
    with engine_errors(f"image {name}"):
        try:
            return dict(engine.api.inspect_image(name))  # type: ignore[no-untyped-call]
        except ImageNotFound:
            return None
        except APIError as error:
            if error.status_code == 400 or "invalid reference" in str(error):  # what is no name names nothing
                return None
            raise


def _id(seen: dict[str, Any]) -> str:
    found = str(seen["Id"])
    return found if found.startswith("sha256:") else f"sha256:{found}"


def _slug(name: str, engine_id: str) -> str:
    """A name for task files; the digits of the id keep two images of one name apart."""
    words = "-".join(re.findall(r"[a-z0-9]+", name.lower().removeprefix("sha256:")))
    words = words if words[:1].isalpha() else f"image-{words}"
    return f"{words[:34].rstrip('-')}-{engine_id.removeprefix('sha256:')[:12]}"
