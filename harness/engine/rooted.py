"""Run as a program: start the private daemon in network and mount namespaces of its own, at the root of the latter.

Two things would go wrong without. A daemon told to have no bridge removes a ``docker0`` that it finds, which may be
another engine's. And below a ``chroot`` the root of the mount namespace is not this process's root: containers start
well, but a program that is later run inside one joins its mount namespace, and so lands in the *host's* root. Here this
process's root is laid over the namespace's, so that both are one; ``harness/preflight.py`` proves that they are.

It uses nothing but the standard library: ``python -I rooted.py PROGRAM ARGUMENT...`` (needs root).
"""

from __future__ import annotations

import ctypes
import os
import sys

_NEW_MOUNTS = 0x00020000
_NEW_NETWORK = 0x40000000
_BIND, _RECURSIVE, _SLAVE = 4096, 16384, 1 << 19
_LIBC = ctypes.CDLL(None, use_errno=True)


def main(argv: list[str]) -> None:
    """Set the namespaces up and become *argv*; never returns."""
    _call("unshare", _NEW_MOUNTS | _NEW_NETWORK)
    _call("mount", None, b"/", None, _RECURSIVE | _SLAVE, None)  # what is mounted here later stays here
    ours = os.open("/", os.O_PATH | os.O_DIRECTORY)
    mounts = os.open("/proc/self/ns/mnt", os.O_RDONLY)
    _call("setns", mounts, _NEW_MOUNTS)  # to the root of the namespace, whatever ours was
    if not os.path.samestat(os.stat("/"), os.fstat(ours)):  # noqa: PTH116 - beside a descriptor
        os.fchdir(ours)
        _call("mount", b".", b"/", None, _BIND | _RECURSIVE, None)
        _call("setns", mounts, _NEW_MOUNTS)
    os.chdir("/")
    os.execv(argv[0], argv)  # noqa: S606 - the daemon itself, by its full path


def _call(name: str, *arguments: int | bytes | None) -> None:
    if getattr(_LIBC, name)(*arguments) != 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{name}: {os.strerror(code)}")


if __name__ == "__main__":
    main(sys.argv[1:])
