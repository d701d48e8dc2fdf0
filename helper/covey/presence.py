"""The tmux server as one helper knows it: which process it is, whether it can be had again, and what panes it has."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable

from covey.errors import NoServer, ServerLost, Unavailable
from covey.models import Identity, Pane
from covey.session import Kit
from covey.tmux import reading
from covey.tmux.control import Control

REVIVE_TRIES, REVIVE_PAUSE = 20, 0.05  # a living server makes its socket anew on SIGUSR1


class Presence:
    """``server``: the process that answered last, None where none runs. ``unread``: marked rows nobody can read."""

    def __init__(self, kit: Kit, unreadable: Callable[[str], None]) -> None:
        self._kit, self._place = kit, kit.place
        self._unreadable = unreadable  # told once of each such row
        self._control: Control | None = None
        self.server: Identity | None = None
        self.unread: set[str] = set()

    async def look(self) -> list[Pane]:
        """All panes of one server, which is known by its process; none where there is no server."""
        wire = self._place.wire
        try:
            control = await wire.connect()
        except NoServer:
            if not await self._revive():
                self.server = None
                return []
            control = await wire.connect()
        await self._meet(control)
        found, unread = await reading.look(wire)
        for row in set(unread) - self.unread:
            self._unreadable(row)
        self.unread = set(unread)
        if await wire.connect() is not control:
            raise ServerLost("the tmux server changed while it was read")
        return found

    async def start(self) -> None:
        """Make sure that a server runs. The caller holds the fleet's lock."""
        try:
            await self._place.wire.connect()
        except NoServer:
            if not await self._revive():
                await self._place.wire.start()

    def nudge(self) -> None:
        """Have the server look after its children: it forgets how some of them ended until then."""
        if self.server is not None:
            self._place.processes.nudge(self.server.pid)

    async def _meet(self, control: Control) -> None:
        """Learn which process answers: for one client that is one server for good."""
        if self.server is None or control is not self._control:
            self.server = None
            self.server = self._place.processes.identify(await reading.server_pid(self._place.wire))
            self._control = control
            await self._remember()

    async def _remember(self) -> None:
        if self.server is not None:
            wire = self._place.wire
            await self._kit.note(self._kit.store.remember_server, self.server, str(wire.socket), wire.binary)

    async def _revive(self) -> bool:
        """Ask a server that lives without its socket to make it again; True when it answers."""
        known = await asyncio.to_thread(self._kit.store.server)
        if known is None or not self._place.processes.alive(known[0]):
            return False
        server, *_ = known
        os.kill(server.pid, signal.SIGUSR1)
        for _ in range(REVIVE_TRIES):
            try:
                await self._place.wire.connect()
            except NoServer:
                await asyncio.sleep(REVIVE_PAUSE)
            else:
                return True
        raise Unavailable("covey's tmux server lives but its socket is gone", f"see process {server.pid}")
