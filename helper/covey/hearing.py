"""A program that is run, heard out, and gone with all that asyncio keeps of it, however long its pipes are held.

Who else has its output (a child that it left, a server that was handed it) is not waited for once it ended, and would
keep asyncio's own end of it open until after the loop is closed.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import Mapping
from typing import NamedTuple

DYING = 1.0  # seconds a program may take to go once it was killed
LAST_WORDS = 0.5  # seconds that are listened on after its end to who holds its output


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
) -> Heard:
    """Run a program, in a session of its own, for ``deadline`` seconds or until it has said more than ``most`` bytes.

    Where it has not ended by itself it is killed, and with it who of those that it started is still in its group;
    what runs on after a program that ended is that one's own business.
    With ``stdin=PIPE`` it hears nothing until we let go of it. Raises ``OSError`` where it cannot be started.
    """
    transport, hearing = await asyncio.get_running_loop().subprocess_exec(
        lambda: _Hearing(most),
        *argv,
        stdin=stdin,
        stdout=PIPE,
        stderr=stderr,
        env=env,
        start_new_session=True,
    )
    late = False
    try:
        async with asyncio.timeout(deadline):
            await hearing.over.wait()
    except TimeoutError:
        late = True
    finally:
        ended = transport.get_returncode()
        if ended is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(transport.get_pid(), signal.SIGKILL)
        transport.close()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(hearing.ended.wait(), DYING)
    return Heard(ended, bytes(hearing.said[1]), bytes(hearing.said[2]), late)


class _Hearing(asyncio.SubprocessProtocol):
    """``over`` once it ended and said all, or has said too much; ``ended`` once it is gone."""

    def __init__(self, most: int) -> None:
        self.said = {1: bytearray(), 2: bytearray()}
        self._most = most
        self.over, self.ended = asyncio.Event(), asyncio.Event()

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        self.said[fd] += data
        if sum(map(len, self.said.values())) > self._most:
            self.over.set()

    def process_exited(self) -> None:
        self.ended.set()
        asyncio.get_running_loop().call_later(LAST_WORDS, self.over.set)

    def connection_lost(self, _error: Exception | None) -> None:
        self.over.set()
