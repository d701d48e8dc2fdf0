"""A terminal as the kernel has it: what somebody runs in it is asked nothing."""

from __future__ import annotations

import os
import sys
import termios
from collections.abc import Callable
from fcntl import ioctl
from typing import TypeVar

T = TypeVar("T")


def canonical(where: int | str) -> bool | None:
    """Whether a terminal (a path, or the one that is stdin of a pid) hands over whole lines; None: cannot be told."""
    return _terminal(where, lambda opened: bool(termios.tcgetattr(opened)[3] & termios.ICANON))


def unread(where: int | str) -> int | None:
    """How many typed bytes wait in such a terminal for who runs there to read them; None: cannot be told."""
    return _terminal(where, lambda opened: int.from_bytes(ioctl(opened, termios.FIONREAD, bytes(4)), sys.byteorder))


def _terminal(where: int | str, ask: Callable[[int], T]) -> T | None:
    path = where if isinstance(where, str) else f"/proc/{where}/fd/0"
    try:
        if not os.path.realpath(path).startswith(("/dev/pts/", "/dev/tty")):  # opening other devices may do things
            return None
        opened = os.open(path, os.O_RDONLY | os.O_NOCTTY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        return ask(opened)
    except (termios.error, OSError):
        return None
    finally:
        os.close(opened)
