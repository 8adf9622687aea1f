"""Another attempt that runs beside it, reached over the loopback, an abstract socket, shared memory or a process"""

from collections.abc import Iterator
from contextlib import ExitStack

from tests.attacks.pair import Engine, Pair, Stage
from tests.attacks.workshop import Workshop
from tests.traces_rig import container

_SERVE = (
    "import socket, time; a = socket.create_server(('0.0.0.0', 5555)); b = socket.socket(socket.AF_UNIX); "
    "b.bind(chr(0) + 'meet'); b.listen(); open('/dev/shm/meet', 'w').close(); time.sleep(600)"
)
_LOOK = """
import glob, os, socket
found = [one for one in glob.glob("/dev/shm/meet")]
for family, address in ((socket.AF_INET, ("127.0.0.1", 5555)), (socket.AF_UNIX, chr(0) + "meet")):
    try:
        socket.socket(family).connect(address)
    except OSError:
        continue
    found.append(str(address))
others = [one for one in glob.glob("/proc/[0-9]*/cmdline") if one != f"/proc/{os.getpid()}/cmdline"]
found += [one for one in others if b"5555" in open(one, "rb").read()]
print(len(found))
"""


def _meets(*, apart: bool) -> Engine:
    """A server in one container, and somebody who looks for it: in another, or in the same."""

    def work(workshop: Workshop) -> Iterator[str]:
        with ExitStack() as stack:
            folder = workshop.folder / "nothing"
            folder.mkdir(exist_ok=True)
            one, other = (
                stack.enter_context(container(workshop.engine, workshop.images, workshop.owner, folder))
                for _ in range(2)
            )
            serve = f'setsid python3 -c "{_SERVE}" >/dev/null 2>&1 </dev/null & while [ ! -e /dev/shm/meet ]; do sleep 0.1; done'
            one.run(("sh", "-c", serve), timeout_s=30, max_output=4096)
            looked = (other if apart else one).run(("python3", "-c", _LOOK), timeout_s=30, max_output=4096)
        found = int(looked.stdout)
        yield f"LOOT: {found} ways" if apart and found else "found nothing" if not found else f"clean: {found} ways"

    return Engine(work)


PAIR = Pair(
    stage=Stage.ATTEMPT,
    attack=_meets(apart=True),
    verdict=("found nothing",),
    honest="a server and its client within one attempt",
    control=_meets(apart=False),
    control_ends="clean: 4 ways",
)
