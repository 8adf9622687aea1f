"""A run's gateway in a container, for an engine whose kernel is not this host's: there no socket of this host is seen.

It is the one container that has a network. Volumes can't be added to a container that runs, so a pool of them, one
socket each, is mounted from its start; an attempt gets one of them, read-only, and the next attempt gets it anew, after
the gateway has emptied it. Keys go over the container's standard input, into no argument and no environment. What a
door wrote is in a store of its own on a volume, and is read from there, and checked, when the door is closed.
"""

from __future__ import annotations

import os
import queue
import secrets
import tarfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import IO, cast

import harness
from harness.engine.attached import Attached, plain_volume
from harness.engine.client import Engine
from harness.engine.owned import Volumes, opaque_name, remove_volume
from harness.engine.spec import BindMount, VolumeMount
from harness.errors import GO_ON, InfraError, StorageError, VerifyError
from harness.gateway.access import Access, Closed
from harness.gateway.calls import SLACK_S, SOCKET_FOLDER, AnyGateway, Door
from harness.gateway.control import Close, Forget, Open, Play, Start, Truth
from harness.gateway.scripted.script import Script
from harness.gateway.scripted.served import Served
from harness.gateway.settings import Settings
from harness.store import LocalStore
from harness.traffic import read_trace

ROLE = "gateway"
_CODE = "/opt/trialbox-gateway"
_DOORS = "/run/doors"
_WORK = "/workspace"
"""The image's own folder, which is the ordinary user's; a new volume there is his too."""
_ARGV = ("python3", "-P", "-m", "harness.gateway")
_ENV = {"PYTHONPATH": _CODE, "PYTHONDONTWRITEBYTECODE": "1", "LANG": "C.UTF-8", "HOME": "/tmp"}  # noqa: S108
_MEMORY_MB, _PIDS = 1024, 128
_END_S = 15.0
_PIECE = 1 << 18
_MAX_CERTIFICATES = 4 << 20


class ContainerGateway(AnyGateway):
    """The gateway container of a run.

    Args:
        engine: where it runs.
        image: the engine's handle of the image ``gateway``.
        owner: the state folder's digest, for the label by which leftovers are found.
        store_root: the root of the run's local store.
        keys: the real keys, by upstream.
        doors: how many attempts may have one at a time.
        network: the engine's network that leads to the providers; ``none`` where only scripts answer.
        settings: how patient it is.

    Raises:
        InfraError: it did not start.
    """

    def __init__(
        self,
        engine: Engine,
        image: str,
        owner: str,
        store_root: Path,
        keys: Mapping[str, str],
        *,
        doors: int,
        network: str,
        settings: Settings | None = None,
    ) -> None:
        super().__init__(settings or Settings())
        self._store = LocalStore(store_root)
        self._places: dict[str, tuple[str, VolumeMount]] = {}
        self._free: queue.Queue[tuple[str, VolumeMount]] = queue.Queue()
        self._stack = ExitStack()
        try:
            mounts = [_pooled(number) for number in range(doors)]
            volumes = Volumes(engine, owner, mounts)
            self._stack.callback(volumes.remove)
            work = plain_volume(engine, owner)
            self._stack.callback(remove_volume, engine, work)
            self.container = Attached(
                engine,
                image,
                _ARGV,
                owner,
                role=ROLE,
                network=network,
                volumes={_WORK: work},
                capped=mounts,
                binds=(BindMount(source=str(Path(harness.__file__).parent), target=f"{_CODE}/harness"),),
                env=_ENV,
                memory_mb=_MEMORY_MB,
                pids=_PIDS,
            )
            self._stack.callback(self.container.end, _END_S)
            for mount in mounts:
                lent = mount.model_copy(update={"target": SOCKET_FOLDER, "read_only": True})
                self._free.put((mount.target, lent))
            self._begin(
                Start(
                    store=f"{_WORK}/store",
                    folder=_WORK,
                    keys=dict(keys),
                    settings=self.settings,
                    certificates=_certificates(),
                )
            )
        except BaseException:
            self.end()
            raise

    def __repr__(self) -> str:
        return f"ContainerGateway({getattr(getattr(self, 'container', None), 'id', '')[:12]!r})"

    def end(self) -> None:
        """End the container and remove its volumes."""
        self._stack.close()

    @property
    def alive(self) -> bool:
        """Whether the container runs, as far as is known: its end ends the connection to it."""
        return not self._dead

    def open(self, access: Access, *, key: str | None = None) -> Door:
        """Make a way in for one attempt: a volume of the pool, once one is free."""
        try:
            place, mount = self._free.get(timeout=SLACK_S)
        except queue.Empty:
            raise InfraError("the gateway", "all of its doors are in use", GO_ON) from None
        try:
            opened = self._ask(lambda number: Open(number=number, access=access, key=key, place=place), SLACK_S).opened
            if opened is None:
                raise self._gone("it gave no answer")
        except BaseException:
            self._free.put((place, mount))
            raise
        self._places[opened.id] = (place, mount)
        return Door(opened.id, mount, opened.token)

    def close(self, door: Door) -> Closed:
        """Close an attempt's way in, and bring home what it wrote."""
        wait_s = self.settings.drain_s + SLACK_S
        closed = self._ask(lambda number: Close(number=number, door=door.id), wait_s).closed
        if closed is None:
            raise self._gone("it gave no answer")
        try:
            self._bring(door.id, closed)
            self._ask(lambda number: Forget(number=number, door=door.id), SLACK_S)
        finally:
            # The door is closed and its place is empty, whatever became of what it wrote.
            self._free.put(self._places.pop(door.id))
        return closed

    def play(self, script: Script) -> tuple[str, str]:
        """Have the scripted provider, inside the container, answer by a script.

        Returns:
            its base URL, as the gateway sees it, and the key by which requests name the script.
        """
        key = f"sk-scripted-{secrets.token_hex(16)}"
        played = self._ask(lambda number: Play(number=number, script=script, key=key), SLACK_S).played
        if played is None:
            raise self._gone("it gave no answer")
        return played, key

    def truth(self, key: str) -> tuple[Served, ...]:
        """What the scripted provider served to a key."""
        truth = self._ask(lambda number: Truth(number=number, key=key), SLACK_S).truth
        if truth is None:
            raise self._gone("it gave no answer")
        return truth

    def _bring(self, door: str, closed: Closed) -> None:
        """A door's own store into the run's: every blob by the digest that is its name, and none missing.

        Raises:
            InfraError: the engine failed, or a blob is missing or not what its name says.
        """
        pieces = self.container.archive(f"{_WORK}/store/{door}")
        try:
            with tarfile.open(fileobj=cast("IO[bytes]", _Pipe(pieces)), mode="r|") as tar:
                for member in tar:
                    data = tar.extractfile(member) if member.isreg() else None
                    if data is None:
                        continue
                    digest = "sha256:" + "".join(Path(member.name).parts[-2:])
                    blob = self._store.put_stream(iter(partial(data.read, _PIECE), b""), "x/x")
                    if blob.digest != digest:
                        raise InfraError("the gateway", f"blob {digest} came out of its container changed", GO_ON)
        except tarfile.TarError as error:
            raise InfraError("the gateway", f"its store can't be read: {error}", GO_ON) from error
        try:
            lines = read_trace(self._store, closed.trace)
        except VerifyError as error:
            raise InfraError("the gateway", f"its trace did not come out of its container: {error}", GO_ON) from error
        bodies = [ref for line in lines for ref in (line.sent, line.received) if ref is not None]
        if not all(self._store.has(ref.digest) for ref in bodies):
            raise InfraError("the gateway", "some of its bodies did not come out of its container", GO_ON)

    def _send(self, line: bytes) -> None:
        self.container.send(line)

    def _lines(self) -> Iterator[bytes]:
        return self.container.lines()

    def _last_words(self) -> bytes:
        return self.container.last_words if self._dead else b""


class _Pipe:
    """Pieces of bytes as something that tarfile reads from."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces
        self._held = bytearray()

    def read(self, size: int) -> bytes:
        while len(self._held) < size and (piece := next(self._pieces, None)) is not None:
            self._held += piece
        taken = bytes(self._held[:size])
        del self._held[:size]
        return taken


class Rehearsal:
    """The scripted provider of a gateway in a container, as the one of this process is used."""

    def __init__(self, gateway: ContainerGateway) -> None:
        self._gateway = gateway
        self.url = ""
        """Known once a script is there."""

    def add(self, script: Script) -> str:
        """Serve a script; the key by which requests name it."""
        self.url, key = self._gateway.play(script)
        return key


def _pooled(number: int) -> VolumeMount:
    """Room for one socket. It is the gateway's to write and everybody else's to read."""
    return VolumeMount(volume=opaque_name(), target=f"{_DOORS}/{number}", size_mb=1, inodes=16)


def _certificates() -> str | None:
    """What this host is told to trust in place of the system's certificates."""
    named = os.environ.get("SSL_CERT_FILE")
    if not named:
        return None
    try:
        with Path(named).open("rb") as file:
            return file.read(_MAX_CERTIFICATES).decode("ascii", "ignore")
    except OSError as error:
        raise StorageError(named, error.strerror or "can't be read", "correct SSL_CERT_FILE, or unset it") from error
