"""One control client as a process: what is said to it, what it says, and how it leaves without harm.

tmux before 3.7 dies, with all sessions, when a control client is lost before it was let in, and when it looks after
the subscriptions of one that is saying good-bye. So one that has not said a word yet is never killed: its input is
closed, and it leaves by itself once the server has let it in. All others are killed, which is no harm to anybody.
"""

from __future__ import annotations

import asyncio
import contextlib
import subprocess
from collections.abc import Mapping, Sequence

READ_SIZE = 1 << 16
LAST_CALL = 0.5  # seconds one that has just started gets for its first word before it is left to itself
GONE_PAUSE = 0.001  # seconds between looks whether a process has ended

_left: set[subprocess.Popen[bytes]] = set()  # to themselves: they end with the server or when it lets them in


class Client:
    """A running ``tmux -C …``, which never outlives us for longer than its server is stopped."""

    def __init__(self, argv: Sequence[str], env: Mapping[str, str]) -> None:
        """Start it. Raises ``OSError`` where no process can be had."""
        _left.difference_update([each for each in _left if each.poll() is not None])
        self._process = subprocess.Popen(  # asyncio's own kills what still runs when we end
            argv,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=env,
            cwd="/",
            start_new_session=True,
        )
        _left.add(self._process)
        self._reader = asyncio.StreamReader()
        self._input: asyncio.WriteTransport | None = None
        self._output: asyncio.ReadTransport | None = None
        self._heard = asyncio.Event()  # it said something, or left: the server has let it in, or never will
        self.pid = self._process.pid

    async def open(self) -> None:
        """Take its input and output in hand."""
        loop, process = asyncio.get_running_loop(), self._process
        assert process.stdin is not None
        assert process.stdout is not None
        self._input, _ = await loop.connect_write_pipe(asyncio.Protocol, process.stdin)
        ear = _Ear(self._reader, self._heard)
        self._output, _ = await loop.connect_read_pipe(lambda: ear, process.stdout)

    def tell(self, command: str) -> None:
        """One line for it, if it still listens."""
        if self._input and not self._input.is_closing():
            self._input.write(f"{command}\n".encode())

    async def read(self) -> bytes:
        """What it says next; nothing when it has left."""
        return await self._reader.read(READ_SIZE)

    def drop(self) -> None:
        """End it, unless the server has not let it in: then only its input is closed."""
        if self._heard.is_set() and self._process.poll() is None:
            self._process.kill()
        if self._input and not self._input.is_closing():
            self._input.abort()

    async def leave(self) -> None:
        """As ``drop``; one that may be about to be let in is given a moment, and one that is ended is gone after it."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(LAST_CALL):
                await self._heard.wait()
        self.drop()
        if self._heard.is_set():
            await self._gone()
        if self._output:
            self._output.close()
        await asyncio.sleep(0)  # the loop closes what it has in hand
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe:
                pipe.close()

    async def _gone(self) -> None:
        while self._process.poll() is None:  # noqa: ASYNC110  # a killed child, in a moment
            await asyncio.sleep(GONE_PAUSE)
        _left.discard(self._process)


class _Ear(asyncio.StreamReaderProtocol):
    """Feeds the reader, and notices the first word or the end of it."""

    def __init__(self, reader: asyncio.StreamReader, heard: asyncio.Event) -> None:
        super().__init__(reader)
        self._heard = heard

    def data_received(self, data: bytes) -> None:
        self._heard.set()
        super().data_received(data)

    def connection_lost(self, exc: Exception | None) -> None:
        self._heard.set()
        super().connection_lost(exc)
