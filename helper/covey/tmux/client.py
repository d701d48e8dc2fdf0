"""One control client as a process: what is said to it, what it says, and how it leaves without harm.

tmux before 3.7 dies, with all sessions, when a control client is lost before it was let in, and when it looks after
the subscriptions of one that is saying good-bye. So one that has not said a word yet is never killed: its input is
closed, and it leaves by itself once the server has let it in. All others are killed, which is no harm to anybody.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO

READ_SIZE = 1 << 16
LAST_CALL = 0.5  # seconds one that has just started gets for its first word before it is left to itself
GONE_PAUSE = 0.001  # seconds between looks whether a process has ended

_left: set[subprocess.Popen[bytes]] = set()  # to themselves: they end with the server or when it lets them in


class Client:
    """A running ``tmux -C …``, which never outlives us for longer than its server is stopped."""

    def __init__(self, argv: Sequence[str], env: Mapping[str, str]) -> None:
        """Start it. Raises ``OSError`` where no process can be had."""
        _tidy()
        self._process = subprocess.Popen(  # asyncio's own kills what still runs when we end
            argv,
            bufsize=0,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=env,
            cwd="/",
            start_new_session=True,
        )
        _left.add(self._process)
        self.pid = self._process.pid
        self._loop = asyncio.get_running_loop()
        self._said = asyncio.StreamReader()
        self._heard = asyncio.Event()  # it said something, or left: the server has let it in, or never will
        self._unsaid = b""
        self._ears, self._mouth = _pipe(self._process.stdout), _pipe(self._process.stdin)
        self._loop.add_reader(self._ears, self._hear)

    def tell(self, command: str) -> None:
        """One line for it, if it still listens."""
        if self._mouth >= 0:
            self._unsaid += f"{command}\n".encode()
            self._say()

    async def read(self) -> bytes:
        """What it says next; nothing when it has left."""
        return await self._said.read(READ_SIZE)

    async def let_in(self) -> None:
        """Wait until the server knows it. Who is cancelled meanwhile goes on only then, or when it takes too long."""
        try:
            await self._heard.wait()
        except asyncio.CancelledError:
            await self._last_call()
            raise

    def is_it(self, pid: int) -> bool:
        """Whether that process is the client: ours, or one that it started, for tmux may be a script that runs tmux."""
        return _led(pid, self.pid)

    def drop(self) -> None:
        """End it, unless it waits for the server to let it in: then it is only told no more."""
        if not self._heard.is_set() and _knocks(self.pid):
            self._hush()
        elif self._process.poll() is None:
            with contextlib.suppress(OSError):
                os.killpg(self.pid, signal.SIGKILL)

    async def leave(self) -> None:
        """As ``drop``; one that may be about to be let in is given a moment, and one that is ended is gone after it."""
        try:
            await self._last_call()
        finally:
            self.drop()
        while self._heard.is_set() and self._process.poll() is None:  # noqa: ASYNC110  # killed: in a moment
            await asyncio.sleep(GONE_PAUSE)
        self._hush()
        self._deafen()

    async def _last_call(self) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(LAST_CALL):
                await self._heard.wait()

    def _hear(self) -> None:
        try:
            said = os.read(self._ears, READ_SIZE)
        except BlockingIOError:
            return
        except OSError:
            said = b""
        self._heard.set()
        if said:
            self._said.feed_data(said)
        else:
            self._deafen()
            self._hush()

    def _deafen(self) -> None:
        if self._ears >= 0:
            self._loop.remove_reader(self._ears)
            self._said.feed_eof()
            self._ears = _close(self._process.stdout)

    def _say(self) -> None:
        try:
            told = os.write(self._mouth, self._unsaid)
        except BlockingIOError:
            told = 0
        except OSError:  # it has left, which whoever reads will see
            self._hush()
            return
        self._unsaid = self._unsaid[told:]
        if self._unsaid:
            self._loop.add_writer(self._mouth, self._say)
        else:
            self._loop.remove_writer(self._mouth)

    def _hush(self) -> None:
        if self._mouth >= 0:
            self._loop.remove_writer(self._mouth)
            self._mouth = _close(self._process.stdin)


def _tidy() -> None:
    """Forget those that have left and that nobody listens to any more."""
    gone = [each for each in _left if each.poll() is not None and each.stdout and each.stdout.closed]
    _left.difference_update(gone)


def _pipe(end: IO[bytes] | None) -> int:
    assert end is not None
    os.set_blocking(end.fileno(), False)
    return end.fileno()


def _close(end: IO[bytes] | None) -> int:
    assert end is not None
    end.close()
    return -1


def _knocks(leader: int) -> bool:
    """Whether a process, or one that it started, has a socket open; True where that cannot be told."""
    try:
        return any(_has_socket(int(pid)) for pid in os.listdir("/proc") if pid.isdigit() and _led(int(pid), leader))  # noqa: PTH208
    except OSError:
        return True


def _led(pid: int, leader: int) -> bool:
    """Whether a process is of the session that another began."""
    try:
        return os.getsid(pid) == leader
    except OSError:
        return False


def _has_socket(pid: int) -> bool:
    with os.scandir(f"/proc/{pid}/fd") as files:
        return any(Path(each).readlink().name.startswith("socket:") for each in files)
