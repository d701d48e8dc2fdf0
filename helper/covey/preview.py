"""Live previews: what a pane shows, sent when it changed and only while somebody looks. Never types, never resizes.

Each preview has a control client of its own on its session, whose output is nothing but a bell: it is drained and
thrown away, for an undrained client makes the server's memory grow and its end impossible. The frame itself is one
capture on the helper's wire.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any

from covey.errors import CoveyError, NotFound
from covey.fleet import Emit, Fleet
from covey.models import Exit, Pane
from covey.tmux import reading
from covey.tmux.client import Client
from covey.tmux.server import COLS, ROWS, Server

FRAME_PAUSE = 0.02  # seconds between two frames of one preview
FLAGS = "ignore-size,read-only,pause-after=1"  # behind by a second (we were stopped): tmux keeps nothing for us


class Preview:
    """One view of one session, until it is closed."""

    def __init__(self, fleet: Fleet, server: Server, emit: Emit, session: str, view: str, *, pause: float) -> None:
        self._fleet, self._server, self._emit, self._pause = fleet, server, emit, pause
        self.session, self.view = session, view
        self._bell = asyncio.Event()
        self._bell.set()
        self._client: Client | None = None
        self._last: tuple[object, ...] = ()
        self._screen: dict[str, Any] = {
            "ansi": "",
            "cols": COLS,
            "rows": ROWS,
            "cursor": {"x": 0, "y": 0, "visible": False},
        }
        self._tasks = [asyncio.create_task(self._listen()), asyncio.create_task(self._show())]

    def ring(self) -> None:
        self._bell.set()

    async def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.wait(self._tasks)

    async def _listen(self) -> None:
        """Ring whenever the pane writes. When the client ends, the last ring shows why."""
        with contextlib.suppress(CoveyError):
            pane = await self._fleet.pane(self.session)
            async with self._server.listener(pane.tmux_session, FLAGS) as self._client:
                await self._drain(self._client, pane.pane)
        self.ring()

    async def _drain(self, client: Client, pane: str) -> None:
        """Throw the output away; the first of it has tmux say no more until ``_show`` has looked its fill."""
        while said := await client.read():
            self.ring()
            if b"output %" in said:
                client.tell(f"refresh-client -A '{pane}:pause'")

    async def _show(self) -> None:
        """Frames at an even pace while the screen changes; then listen again, and look once at what was missed."""
        while True:
            await self._bell.wait()
            self._bell.clear()
            while await self._look():
                pass
            self._listen_again()
            if await self._look():
                self.ring()

    async def _look(self) -> bool:
        """One frame if there is news; answers whether there was, a pace after the last."""
        loop = asyncio.get_running_loop()
        due = loop.time() + self._pause
        try:
            changed = await self._frame()
        except NotFound:
            changed = self._say("closed")
        except CoveyError as error:
            changed = self._say(error.message)
        await asyncio.sleep(max(0.0, due - loop.time()))
        return changed

    def _listen_again(self) -> None:
        pane = self._fleet.panes.get(self.session)
        if pane and self._client:
            self._client.tell(f"refresh-client -A '{pane.pane}:continue'")

    async def _frame(self) -> bool:
        pane = await self._fleet.pane(self.session)
        (shot,) = await reading.capture(self._server, pane.pane)
        if shot is None:
            raise NotFound("closed")
        ended = pane.exit if pane.dead else None
        frame = (shot, pane.dead, ended)
        if frame == self._last:
            return False
        self._last = frame
        self._emit("Frame", self.session, self._data(pane, shot))
        return True

    def _data(self, pane: Pane, shot: reading.Shot) -> dict[str, Any]:
        x, y = shot.cursor
        cursor = {"x": x, "y": y, "visible": shot.cursor_visible}
        self._screen = {"ansi": shot.ansi, "cols": shot.cols, "rows": shot.rows, "cursor": cursor}
        known = pane.dead and pane.exit != Exit()  # tmux learns how a pane ended a moment after it knows that it did
        ended = pane.exit.to_json() if known else None
        return {**self._screen, "view": self.view, "dead": pane.dead, "exit": ended, "note": ""}

    def _say(self, note: str) -> bool:
        """The screen stays as it was; only why it stands still is said."""
        if self._last == (note,):
            return False
        self._last = (note,)
        self._emit("Frame", self.session, {**self._screen, "view": self.view, "dead": True, "exit": None, "note": note})
        return True


class Previews:
    """The previews of one helper, by the caller's own names for its views."""

    def __init__(self, fleet: Fleet, server: Server, emit: Emit, pause: float = FRAME_PAUSE) -> None:
        self._fleet, self._server, self._emit, self._pause = fleet, server, emit, pause
        self._open: dict[str, Preview] = {}

    async def open(self, session: str, view: str) -> None:
        """Send ``Frame`` events of the session under the name ``view``; a view of that name is replaced."""
        await self.shut(view)
        self._open[view] = Preview(self._fleet, self._server, self._emit, session, view, pause=self._pause)

    async def shut(self, view: str) -> None:
        """End a view. One that is not open is shut already."""
        if preview := self._open.pop(view, None):
            await preview.close()

    def ring(self, session: str) -> None:
        """Something about this session changed: its previews look again."""
        for preview in self._open.values():
            if preview.session == session:
                preview.ring()

    async def close(self) -> None:
        for view in list(self._open):
            await self.shut(view)
