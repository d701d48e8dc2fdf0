"""Who comes to the server, and who makes it talk: never at the same moment.

tmux before 3.7 dies, with all sessions, when it has something to tell its control clients (a session was made or
closed, a client left, a paste buffer changed, a pane entered or left a mode) while one of them is introducing itself:
that one counts as a control client already and cannot be told anything yet. Two loops that only attach and leave end a
tmux 3.3a within 200 rounds.
"""

from __future__ import annotations

import asyncio
import fcntl
import os
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

from covey import paths

PATIENCE = 1.0  # seconds; whoever keeps the lock for longer was stopped, and its client is through by now
FORGIVEN = 30.0  # seconds in which a lock that was kept for so long is not waited for again
FIRST_LOOK, LAST_LOOK = 0.0005, 0.01  # seconds between looks at a lock that others hold


class Quiet:
    """The lock of one server, among all processes that use its socket; the kernel's (flock), free when they die."""

    def __init__(self, socket: Path) -> None:
        self._lock, self._turn = socket.with_name("quiet.lock"), socket.with_name("turn.lock")
        self._kept = -FORGIVEN  # when it was last kept for too long, in the loop's time

    @asynccontextmanager
    async def attaching(self) -> AsyncIterator[None]:
        """While a control client introduces itself. Any number may at once."""
        async with self._locked(fcntl.LOCK_SH):
            yield

    @asynccontextmanager
    async def telling(self) -> AsyncIterator[None]:
        """While the server is asked for what it tells all its clients of."""
        async with self._locked(fcntl.LOCK_EX):
            yield

    @asynccontextmanager
    async def _locked(self, kind: int) -> AsyncIterator[None]:
        """Who waits has the turn, so that those who come after do not keep him waiting."""
        loop = asyncio.get_running_loop()
        until = loop.time() + (PATIENCE if loop.time() > self._kept + FORGIVEN else 0)
        with _file(self._lock) as lock:
            with _file(self._turn) as turn:
                if not (await _take(turn, fcntl.LOCK_EX, until) and await _take(lock, kind, until)):
                    self._kept = loop.time()
            yield


@contextmanager
def _file(path: Path) -> Iterator[int]:
    """A lock's file, open; -1 where there is no directory for it, and so no server."""
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, paths.PRIVATE_FILE)
    except OSError:
        handle = -1
    try:
        yield handle
    finally:
        if handle >= 0:
            fcntl.flock(handle, fcntl.LOCK_UN)  # a child forked meanwhile would keep it with its copy
            os.close(handle)


async def _take(handle: int, kind: int, until: float) -> bool:
    """Wait for the lock, but not for ever: it makes an accident unlikely, and is not worth hanging for."""
    loop, pause = asyncio.get_running_loop(), FIRST_LOOK
    while handle >= 0 and not paths.try_lock(handle, kind):
        if loop.time() >= until:
            return False
        await asyncio.sleep(pause)
        pause = min(2 * pause, LAST_LOOK)
    return True
