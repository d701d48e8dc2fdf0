"""The wire: one tmux control-mode client, its framing and its deadlines.

tmux answers each command with ``%begin T N F`` … ``%end T N F`` (or ``%error``) and speaks of other things in
lines that start with ``%`` between such blocks (tmux(1), CONTROL MODE). Bodies are not escaped, so a block ends
only at the line that repeats its own numbers.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
import secrets
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from covey.errors import NoServer, NotFound, ServerLost, TmuxRefused, TmuxTimeout, Usage
from covey.tmux.client import Client

DEADLINE = 5.0  # seconds one request may take; a healthy round trip is 0.1–0.2 ms
OVERSLEPT = 0.5  # seconds that a deadline is noticed too late where we were stopped, or our machine was
ATTACH_TRIES, ATTACH_PAUSE = 1000, 0.001  # looks, and seconds between them, until a new client is listed

MISSING = re.compile(r"can't find (pane: %|window: @|session: \$|(pane|window|session): =?covey-)")  # one of a session

_PLAIN = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789 _./:,@+=%-")
_QUOTED = [chr(byte) if byte in _PLAIN else f"\\{byte:03o}" for byte in range(256)]

Command: TypeAlias = Sequence[str]
Notify: TypeAlias = Callable[[str, str], None]


def quote(text: str) -> str:
    """One argument as tmux's parser reads it back byte for byte. NUL cannot cross and raises ``Usage``.

    Only octal escapes in double quotes are used: a line feed in a control-mode line would start a new command.
    """
    data = text.encode("utf-8", "surrogateescape")
    if b"\0" in data:
        raise Usage("a NUL byte cannot be given to tmux", "take it out of the text")
    return '"' + "".join(map(_QUOTED.__getitem__, data)) + '"'


def literal(text: str) -> str:
    """Text for an argument that tmux expands as a format: it comes out as written, and nothing runs."""
    return text.replace("#", "##")


def line(*commands: Command) -> str:
    """Commands as one control-mode line; an error in one stops those after it."""
    return " ; ".join(" ".join(map(quote, command)) for command in commands)


@dataclass(frozen=True, slots=True)
class Block:
    """The answer to one command: whether tmux accepted it, and its lines, undecoded.

    ``own`` is False for what a hook ran in our name: nobody waits for it.
    """

    ok: bool
    lines: tuple[bytes, ...]
    own: bool = True

    @property
    def text(self) -> str:
        return b"\n".join(self.lines).decode("utf-8", "replace")


def refusal(block: Block) -> NotFound | TmuxRefused:
    """A failed block as an error in our words: mostly it says that what was meant is there no more."""
    if MISSING.match(block.text):
        return NotFound("the session's pane is gone", "it was closed outside covey")
    return TmuxRefused(f"tmux refused: {block.text or 'without a word'}")


@dataclass(frozen=True, slots=True)
class Notice:
    """Something tmux says by itself: ``%name rest``."""

    name: str
    rest: str


class Framer:
    """Bytes in, blocks and notices out, however the bytes are cut. Pure: it does no I/O."""

    def __init__(self) -> None:
        self._tail = b""
        self._ends: dict[bytes, bool] = {}
        self._body: list[bytes] = []

    def feed(self, data: bytes) -> Iterable[Block | Notice]:
        *lines, self._tail = (self._tail + data).split(b"\n")
        for raw in lines:
            item = self._inside(raw) if self._ends else self._outside(raw)
            if item is not None:
                yield item

    def _inside(self, raw: bytes) -> Block | None:
        ok = self._ends.get(raw.removesuffix(b"\r"))
        if ok is None:
            self._body.append(raw)
            return None
        block = Block(ok, tuple(self._body), raw.rstrip().endswith(b" 1"))
        self._ends, self._body = {}, []
        return block

    def _outside(self, raw: bytes) -> Notice | None:
        raw = raw.removesuffix(b"\r")
        if raw.startswith(b"%begin "):
            numbers = raw.removeprefix(b"%begin")
            self._ends = {b"%end" + numbers: True, b"%error" + numbers: False}
            return None
        name, _, rest = raw.decode("utf-8", "replace").partition(" ")
        return Notice(name[1:], rest) if name.startswith("%") else None


@dataclass(slots=True)
class _Request:
    fence: bytes
    answer: asyncio.Future[list[Block]]
    blocks: list[Block] = field(default_factory=list)


class Control:
    """One attached control client. Requests are pipelined and answered in order.

    Each request is its line and a second line, a *fence* that prints a token nobody else knows: all blocks before
    it are the answer. So the number of blocks, which guards and errors make uncertain, never has to be guessed.
    """

    def __init__(self, client: Client, notify: Notify) -> None:
        self._client = client
        self._notify = notify
        self._framer = Framer()
        self._token = secrets.token_hex(8)
        self._count = 0
        self._waiting: deque[_Request] = deque()
        self._lost: ServerLost | None = None
        self._reader = asyncio.create_task(self._read(), name="tmux-control")

    @classmethod
    async def attach(cls, argv: Sequence[str], env: Mapping[str, str], notify: Notify) -> Control:
        """Start ``argv`` (a ``tmux -C attach …``) and wait until it answers. Raises ``NoServer``."""
        client = Client(argv, env)
        control = cls(client, notify)
        try:
            await control._until_attached()
        except BaseException as error:
            await control.leave()
            if isinstance(error, ServerLost):
                raise NoServer("tmux has no server on covey's socket") from error
            raise
        return control

    async def _until_attached(self) -> None:
        """Only who is listed is attached: one whose session is not there, or not yet, answers too, or is refused."""
        for _ in range(ATTACH_TRIES):
            blocks = await self.send(line(("list-clients", "-F", "#{client_pid}")))
            if any(self._client.is_it(int(raw)) for block in blocks if block.ok for raw in block.lines):
                return
            await asyncio.sleep(ATTACH_PAUSE)
        raise ServerLost("tmux did not attach the client")

    @property
    def alive(self) -> bool:
        return self._lost is None

    async def run(self, *commands: Command, deadline: float = DEADLINE) -> list[Block]:
        """Send commands as one line; the answer is one block a command that ran.

        Raises what ``refusal`` makes of tmux's words when one failed, ``TmuxTimeout`` when no answer came within
        ``deadline`` seconds (the client is then given up: what tmux did is unknown), ``ServerLost`` when the
        client died.
        """
        blocks = await self.send(line(*commands), deadline=deadline)
        for block in blocks:
            if not block.ok:
                raise refusal(block)
        return blocks

    async def send(self, text: str, deadline: float = DEADLINE) -> list[Block]:
        """As ``run``, for a line made by ``line``; failed blocks are returned, not raised."""
        if self._lost:
            raise self._lost
        request = self._enqueue(text)
        if await _comes(request.answer, deadline):
            return request.answer.result()
        self._give_up(ServerLost("tmux stopped answering"))
        self._client.drop()
        raise TmuxTimeout(f"tmux did not answer within {deadline:g} s", "is the tmux server stopped or overloaded?")

    def _enqueue(self, text: str) -> _Request:
        self._count += 1
        fence = f"{self._token}.{self._count}"
        request = _Request(fence.encode(), asyncio.get_running_loop().create_future())
        self._waiting.append(request)
        self._client.tell(f"{text}\ndisplay-message -p {fence}")
        return request

    async def _read(self) -> None:
        with contextlib.suppress(OSError):
            while data := await self._client.read():
                for item in self._framer.feed(data):
                    self._take(item)
        self._give_up(ServerLost("the tmux server went away"))

    def _take(self, item: Block | Notice) -> None:
        if isinstance(item, Notice):
            self._notify(item.name, item.rest)
        elif not item.own:
            return
        elif self._waiting and item.lines == (self._waiting[0].fence,):
            request = self._waiting.popleft()
            if not request.answer.done():
                request.answer.set_result(request.blocks)
        elif self._waiting:
            self._waiting[0].blocks.append(item)

    def _give_up(self, reason: ServerLost) -> None:
        if self._lost is None:
            self._lost = reason
            self._notify("lost", reason.message)
        while self._waiting:
            answer = self._waiting.popleft().answer
            if not answer.done():
                answer.set_exception(reason)
                answer.exception()  # a caller that was cancelled will not fetch it

    def drop(self) -> None:
        """Leave at once: the server and its sessions are untouched."""
        self._lost = self._lost or ServerLost("this client was closed")
        self._client.drop()

    async def leave(self) -> None:
        """As ``drop``; nothing of it is left after it."""
        self._lost = self._lost or ServerLost("this client was closed")
        await self._client.leave()
        await asyncio.wait([self._reader])


async def _comes(answer: asyncio.Future[list[Block]], seconds: float) -> bool:
    """Whether it is there within so many seconds of waiting. While we were stopped ourselves, nobody waited."""
    loop = asyncio.get_running_loop()
    while True:
        due = loop.time() + seconds
        done, _ = await asyncio.wait([answer], timeout=seconds)
        if done or loop.time() < due + OVERSLEPT:
            return bool(done)
