"""Who types when: one lock a session, and one for the fleet. Knows no tmux; the order of acts is the outbox's.

The lock is the kernel's (flock): it is free the moment its holder dies, and nobody here ever breaks it.
"""

from __future__ import annotations

import asyncio
import fcntl
import json
import os
from contextlib import suppress
from typing import TYPE_CHECKING, Self
from weakref import WeakKeyDictionary, WeakValueDictionary

from covey import paths
from covey.errors import LaneBusy, Unavailable
from covey.models import Identity

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Gates = WeakValueDictionary[Path, asyncio.Lock]

WAIT_S = 10.0
FIRST_LOOK_S = 0.001  # between two looks at a lock that another process holds
LAST_LOOK_S = 0.020
HOLDER_MAX = 1024  # bytes
FLEET, WORKTREES = "fleet", "worktrees"  # no sessions' ids: those have 8 characters

# Tasks of one process that want the same lane queue here, first come, first served.
_gates: WeakKeyDictionary[asyncio.AbstractEventLoop, Gates] = WeakKeyDictionary()


class Lane:
    """``async with Lane(...)``: nobody else types into that session, on this machine, while the block runs.

    Waits up to ``timeout`` seconds, without stopping the loop, and then raises ``LaneBusy`` with the name of the
    holder where it can be had: ``me`` is what we leave for others to read, ``alive`` says whether what we read still
    runs (None: cannot be compared). May be used again and by several tasks.
    """

    def __init__(
        self,
        directory: Path,
        session_id: str,
        *,
        me: Identity | None = None,
        alive: Callable[[Identity], bool | None] = lambda _: None,
        timeout: float = WAIT_S,
    ) -> None:
        self.path = directory / f"{session_id}.lock"
        self._me = me or Identity(os.getpid(), 0, "")
        self._alive = alive
        self._timeout = timeout
        self._gate: asyncio.Lock | None = None
        self._handle = -1

    async def __aenter__(self) -> Self:
        gate = _gate(self.path)
        until = asyncio.get_running_loop().time() + self._timeout
        try:
            async with asyncio.timeout_at(until):
                await gate.acquire()
        except TimeoutError:
            raise self._busy() from None
        try:
            self._handle = await self._lock(until)
        except BaseException:
            gate.release()
            raise
        self._gate = gate
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._gate is not None
        gate, handle = self._gate, self._handle
        self._gate, self._handle = None, -1
        with suppress(OSError):
            os.ftruncate(handle, 0)
        _close(handle)
        gate.release()

    @property
    def held(self) -> bool:
        """Whether a task of this process holds the lane through this very object."""
        return self._gate is not None

    async def _lock(self, until: float) -> int:
        loop = asyncio.get_running_loop()
        pause = FIRST_LOOK_S
        while (handle := self._try()) is None:
            if loop.time() + pause > until:
                raise self._busy()
            await asyncio.sleep(pause)
            pause = min(2 * pause, LAST_LOOK_S)
        return handle

    def _try(self) -> int | None:
        """Lock the file that bears the name, and leave our own in it; None if somebody holds it."""
        handle = self._open()
        if not paths.try_lock(handle) or not self._is_current(handle):
            os.close(handle)
            return None
        with suppress(OSError):  # the lock holds without a name in it too
            os.ftruncate(handle, 0)
            os.pwrite(handle, json.dumps(self._me.to_json()).encode(), 0)
        return handle

    def _open(self) -> int:
        try:
            return os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, paths.PRIVATE_FILE)
        except OSError as error:
            sentence = f"The lock {self.path} cannot be opened: {error.strerror}"
            raise Unavailable(sentence, f"{self.path.parent} must be a directory of yours.") from error

    def _is_current(self, handle: int) -> bool:
        """Whether the name still means this file: a sweep of old files may have removed it while we looked."""
        with suppress(FileNotFoundError):
            return os.path.samestat(os.fstat(handle), self.path.stat())
        return False

    def _busy(self) -> LaneBusy:
        shared = {FLEET: "The fleet", WORKTREES: "The making of worktrees"}
        what = shared.get(self.path.stem, f"The lane of session {self.path.stem}")
        sentence = f"{what} has been kept busy for {self._timeout:g} s by {self._holder()}"
        return LaneBusy(sentence, "If that process is stopped, continue it (kill -CONT) or end it.")

    def _holder(self) -> str:
        try:
            holder = Identity.from_json(json.loads(self.path.read_bytes()[:HOLDER_MAX]))
        except (OSError, ValueError, KeyError, TypeError):
            holder = None
        if holder is None or self._alive(holder) is False:
            return "a process that has not left its name"
        return "this very process" if holder == self._me else f"process {holder.pid}"


def _gate(path: Path) -> asyncio.Lock:
    gates = _gates.setdefault(asyncio.get_running_loop(), WeakValueDictionary())
    return gates.setdefault(path, asyncio.Lock())


def _close(handle: int) -> None:
    """Unlock before closing: a child that was forked in between would keep the lock with its copy."""
    fcntl.flock(handle, fcntl.LOCK_UN)
    os.close(handle)
