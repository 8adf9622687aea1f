"""A container of the harness's own whose one program talks to its host over its standard streams.

It is created with everything mounted that it will ever see, attached before it starts so that no word is lost, and
told that it may end by the end of its standard input: also when its host dies, since the engine then closes that.
"""

from __future__ import annotations

import selectors
import ssl
import threading
import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from docker.types import LogConfig, Mount

from harness.engine.client import LABEL, Engine, EngineKind, engine_errors
from harness.engine.exec import Frames, Stream
from harness.engine.owned import ROLE_LABEL, STATE_LABEL, opaque_name, remove
from harness.engine.spec import AGENT_USER, BindMount, VolumeMount
from harness.errors import EngineGone

_READ = 1 << 18
_POLL_S = 1.0
_STUCK_S = 60.0
_MAX_ERR = 4_000
_TMP = "/tmp"  # noqa: S108 - inside the container
_WAITS = (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError)


class Attached:
    """A running container, attached. Written to from any thread, read from one.

    Args:
        engine: where to run it.
        image: the engine's handle of its image.
        argv: its program.
        owner: the state folder's digest, for the label by which leftovers are found.
        role: for its label.
        network: the engine's network it is on; ``none`` for none.
        volumes: engine volumes by the folder where they are.
        capped: tmpfs volumes, at their targets.
        binds: host folders.
        env: its environment. Secrets go over its standard input.
        memory_mb: its memory.
        pids: its processes and threads.

    Raises:
        InfraError: it could not be created or started.
    """

    def __init__(
        self,
        engine: Engine,
        image: str,
        argv: Sequence[str],
        owner: str,
        *,
        role: str,
        network: str,
        volumes: Mapping[str, str],
        capped: Sequence[VolumeMount],
        binds: Sequence[BindMount],
        env: Mapping[str, str],
        memory_mb: int,
        pids: int,
    ) -> None:
        self.engine = engine
        api = engine.api
        mounts = [
            *(Mount(folder, name, type="volume") for folder, name in volumes.items()),
            *(Mount(one.target, one.volume, type="volume", read_only=one.read_only) for one in capped),
            *(Mount(one.target, one.source, type="bind", read_only=one.read_only) for one in binds),
        ]
        with engine_errors("container"):
            made: dict[str, Any] = api.create_container(
                image,
                command=list(argv[1:]),
                entrypoint=[argv[0]],
                user=AGENT_USER,
                working_dir="/",
                environment=dict(env),
                name=opaque_name(),
                labels={LABEL: "1", STATE_LABEL: owner, ROLE_LABEL: role},
                stdin_open=True,
                network_disabled=network == "none",
                use_config_proxy=False,
                host_config=api.create_host_config(
                    network_mode=network,
                    extra_hosts=_host_by_name(engine) if network != "none" else None,
                    read_only=True,
                    cap_drop=["ALL"],
                    security_opt=["no-new-privileges"],
                    mem_limit=memory_mb << 20,
                    memswap_limit=memory_mb << 20,
                    pids_limit=pids,
                    tmpfs={_TMP: "rw,noexec,nosuid,nodev,mode=1777,size=256m"},
                    mounts=mounts,
                    log_config=LogConfig(type="none", config={}),
                    ipc_mode="private",
                ),
            )
        self.id = str(made["Id"])
        self.last_words = b""
        """The end of what it said on its standard error."""
        self._lock = threading.Lock()
        self._stream: Stream | None = None
        try:
            with engine_errors("container"):
                wanted = {"stdin": 1, "stdout": 1, "stderr": 1, "stream": 1}
                self._stream = Stream(api.attach_socket(self.id, params=wanted))
                api.start(self.id)
        except BaseException:
            self.remove()
            raise

    def send(self, data: bytes) -> None:
        """Write all of *data* to its standard input.

        Raises:
            OSError: it ended, or takes nothing for a minute.
        """
        stream = self._stream
        if stream is None:
            raise BrokenPipeError("it was ended")
        rest = memoryview(data)
        until = time.monotonic() + _STUCK_S
        with selectors.DefaultSelector() as selector:
            selector.register(stream.socket, selectors.EVENT_WRITE)
            while rest:
                with suppress(*_WAITS), self._lock:
                    rest = rest[stream.socket.send(rest) :]
                    continue
                if time.monotonic() > until:
                    raise TimeoutError("it takes nothing")
                selector.select(_POLL_S)

    def lines(self) -> Iterator[bytes]:
        """What it says on its standard output, line by line, until it or the connection ends."""
        stream = self._stream
        if stream is None:
            return
        whole: deque[bytes] = deque()
        held = bytearray()

        def out(chunk: bytes) -> None:
            held.extend(chunk)
            *complete, rest = held.split(b"\n")
            whole.extend(bytes(one) for one in complete)
            held[:] = rest

        frames = Frames(out, self._err)
        frames.feed(stream.early)
        for chunk in self._chunks(stream):
            frames.feed(chunk)
            while whole:
                yield whole.popleft()

    def running(self) -> bool:
        """Whether its program still runs.

        Raises:
            EngineGone: the engine does not answer.
        """
        with engine_errors("container"):
            state: dict[str, Any] = self.engine.api.inspect_container(self.id)["State"]
        return bool(state["Running"])

    def archive(self, path: str) -> Iterator[bytes]:
        """A folder or file of it, which may lie on a volume, as a tar in pieces.

        Raises:
            InfraError: there is none, or the engine failed.
        """
        with engine_errors(f"reading {path}"):
            stream, _ = self.engine.api.get_archive(self.id, path)
            yield from stream

    def end(self, patience_s: float) -> None:
        """Close its standard input, wait until it has ended by itself, and remove it whatever it does."""
        stream = self._stream
        if stream is not None:
            stream.end_input()
            until = time.monotonic() + patience_s
            with suppress(EngineGone):
                while self.running() and time.monotonic() < until:
                    time.sleep(0.05)
        self.remove()

    def remove(self) -> None:
        """Kill and remove it. Calling it again does nothing."""
        remove(self.engine, self.id)
        stream, self._stream = self._stream, None
        if stream is not None:
            stream.close()

    def _err(self, chunk: bytes) -> None:
        self.last_words = (self.last_words + chunk)[-_MAX_ERR:]

    def _chunks(self, stream: Stream) -> Iterator[bytes]:
        with selectors.DefaultSelector() as selector:
            selector.register(stream.socket, selectors.EVENT_READ)
            while self._stream is not None:
                try:
                    with self._lock:
                        data = stream.socket.recv(_READ)
                except _WAITS:
                    with suppress(OSError, ValueError):  # it is closed while we wait
                        selector.select(_POLL_S)
                    continue
                except (OSError, ValueError):
                    return
                if not data:
                    return
                yield data


def _host_by_name(engine: Engine) -> dict[str, str]:
    """Docker's name for the host, by which a local model server is reached from a container."""
    return {"host.docker.internal": "host-gateway"} if engine.info.kind is EngineKind.DOCKER else {}


def plain_volume(engine: Engine, owner: str) -> str:
    """A volume on the engine's disk; its name.

    Raises:
        InfraError: the engine refused.
    """
    name = opaque_name()
    with engine_errors("volume"):
        engine.api.create_volume(name, driver="local", labels={LABEL: "1", STATE_LABEL: owner})
    return name
