"""A program that is run, heard out, and gone, however long its pipes are held.

Who else has its output (a child that it left, a server that was handed it) is not waited for once it ended. asyncio's
own subprocesses are not used: one whose start is cancelled is waited for for ever (Python 3.11).
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from subprocess import DEVNULL, PIPE
from typing import IO, Any, NamedTuple

DYING = 1.0  # seconds a program may take to go once it was killed
PARTING = 10.0  # seconds it has for that when it was asked to
LAST_WORDS = 0.5  # seconds that are listened on after its end to who holds its output
READ_SIZE = 1 << 16
FIRST_LOOK, LAST_LOOK, GROWTH = 0.001, 0.02, 1.25  # seconds between looks at what it says and whether it ended


class Heard(NamedTuple):
    """How a program ended, and what it said. ``status``: None where it did not end in time, or said too much."""

    status: int | None
    said: bytes
    complaint: bytes
    late: bool


async def hear(
    *argv: str,
    deadline: float,
    most: int,
    env: Mapping[str, str] | None = None,
    stdin: int = DEVNULL,
    stderr: int = DEVNULL,
    gently: bool = False,
) -> Heard:
    """Run a program, in a session of its own, for ``deadline`` seconds or until it has said more than ``most`` bytes.

    Where it has not ended by itself it is killed, and with it who of those that it started is still in its group;
    what runs on after a program that ended is that one's own business. ``gently``: it is asked first, and has
    ``PARTING`` seconds to leave nothing half done.
    With ``stdin=PIPE`` it hears nothing until we let go of it. Raises ``OSError`` where it cannot be started.
    """
    process = _run(argv, env=env, stdin=stdin, stderr=stderr)
    said, complaint = _Ear(process.stdout), _Ear(process.stderr)
    try:
        late = not await _over(process, (said, complaint), deadline, most)
    finally:
        ended = process.poll()
        for pipe in filter(None, (process.stdin, process.stdout, process.stderr)):
            pipe.close()
        if ended is None and gently:
            await _end(process, signal.SIGTERM, PARTING)
        if process.poll() is None:
            await _end(process, signal.SIGKILL, DYING)
    return Heard(ended, bytes(said.heard), bytes(complaint.heard), late)


def _run(argv: Sequence[str], **more: Any) -> subprocess.Popen[bytes]:
    return subprocess.Popen(argv, bufsize=0, stdout=PIPE, start_new_session=True, **more)


class _Ear:
    """What came out of one pipe so far; ``open`` until its end has come."""

    def __init__(self, pipe: IO[bytes] | None) -> None:
        self.heard = bytearray()
        self.open = pipe is not None
        if pipe is not None:
            self._handle = pipe.fileno()
            os.set_blocking(self._handle, False)

    def listen(self) -> bool:
        """Take what is there; whether that was anything."""
        if not self.open:
            return False
        try:
            data = os.read(self._handle, READ_SIZE)
        except BlockingIOError:
            return False
        self.heard += data
        self.open = bool(data)
        return self.open


async def _over(process: subprocess.Popen[bytes], ears: tuple[_Ear, ...], deadline: float, most: int) -> bool:
    """Whether it ended and said all, or said too much, in time. Who was stopped meanwhile looks before he says no."""
    loop = asyncio.get_running_loop()
    until, pause, ended = loop.time() + deadline, FIRST_LOOK, False
    while True:
        late = loop.time() >= until
        if not ended and process.poll() is not None:
            ended, until = True, min(until, loop.time() + LAST_WORDS)
        came = [ear.listen() for ear in ears]
        silent = not any(ear.open for ear in ears)
        if (ended and (late or silent)) or sum(len(ear.heard) for ear in ears) > most:
            return True
        if late:
            return False
        pause = FIRST_LOOK if any(came) else min(pause * GROWTH, LAST_LOOK)
        await asyncio.sleep(pause)


async def _end(process: subprocess.Popen[bytes], how: signal.Signals, seconds: float) -> None:
    """Reap it once it is dead; one that is in the kernel for long is left to whoever starts the next."""
    with contextlib.suppress(OSError):
        os.killpg(process.pid, how)
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            while process.poll() is None:  # noqa: ASYNC110  # killed: in a moment
                await asyncio.sleep(FIRST_LOOK)
