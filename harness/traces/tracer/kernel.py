"""The C library and raw system calls, with errors as :class:`OSError`. Linux only."""

from __future__ import annotations

import ctypes
import os

LIBC = ctypes.CDLL(None, use_errno=True)


def call(name: str, *arguments: object) -> int:
    """A function of the C library that answers below 0 and sets errno when it fails.

    Raises:
        OSError: it failed, or this library has no such function.
    """
    try:
        function = getattr(LIBC, name)
    except AttributeError as error:
        raise OSError(38, f"{name}: this system has none") from error
    answer: int = function(*arguments)
    if answer < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{name}: {os.strerror(code)}")
    return answer


def words(path: str, size: int = 1 << 20) -> bytes:
    """What the kernel says in a file of its own.

    Raises:
        OSError: it says nothing.
    """
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        text = b""
        while len(text) < size and (more := os.read(fd, size - len(text))):
            text += more
        return text
    finally:
        os.close(fd)
