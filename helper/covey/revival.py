"""Agents that are to be started again when they end: waits as ``restart.plan`` says, then respawns, or says why not."""

from __future__ import annotations

import asyncio
import contextlib
import os
import time
from dataclasses import dataclass, field
from datetime import datetime

from covey import restart
from covey.errors import CoveyError, NotFound
from covey.fleet import Emit, Fleet
from covey.keeper import Keeper
from covey.models import Restart, Session
from covey.restart import FIRST_DELAY, Lived, Stop
from covey.store import Store

FINISH = 5.0  # seconds that a start which is under way gets when its helper leaves


@dataclass(slots=True)
class Revival:
    """The automatic respawns of one helper. Where another is quicker, the epoch has moved on."""

    fleet: Fleet
    keeper: Keeper
    emit: Emit
    store: Store
    _exits: dict[str, dict[int, Lived]] = field(default_factory=dict)  # by session and epoch
    _news: set[tuple[str, int]] = field(default_factory=set)  # of these, that they stay ended is told
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)
    _leaving: asyncio.Event = field(default_factory=asyncio.Event)

    def exited(self, view: Session, *, news: bool) -> None:
        """An agent ended: start it again, if its session is to be. Where that is no ``news`` it ended long ago."""
        if news:
            self._news.add((view.id, view.epoch))
        pane = self.fleet.panes.get(view.id)
        known = self._exits.setdefault(view.id, {})
        if pane is None or pane.spec.restart == "never" or view.guessed or view.exit is None or view.epoch in known:
            return
        ended = time.time() if news else datetime.fromisoformat(view.since).timestamp()
        known[view.epoch] = (ended, view.exit)
        task = asyncio.create_task(self._revive(view, pane.spec.restart))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _revive(self, view: Session, policy: Restart) -> None:
        """See it through. Decided is after the shortest delay: by then whoever started it has written that down."""
        try:
            if await self._left_within(FIRST_DELAY):
                return
            history = await asyncio.to_thread(self.store.history, view.id)
            exits = restart.lives(history, self._exits.get(view.id, {}), view.epoch)
            plan = restart.plan(policy, exits, stopped_by_person=False)
            if isinstance(plan, Stop):
                if (view.id, view.epoch) in self._news:
                    self._say(view, "warn", f"stays ended: {plan.reason}")
            elif not await self._left_within(min(plan.delay, exits[-1][0] + plan.delay - time.time())):
                await self._start(view)
        except NotFound:
            pass  # somebody ended the session meanwhile
        except CoveyError as error:
            self._say(view, "error", f"could not be started again: {error.message}")

    async def _left_within(self, seconds: float) -> bool:
        """Wait so long; True where this helper leaves first."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(max(seconds, 0)):
                await self._leaving.wait()
        return self._leaving.is_set()

    async def _start(self, view: Session) -> None:
        if await self.keeper.revive(view.id, view.epoch, os.environ):
            facts = {"epoch": [view.epoch, view.epoch + 1], "by": {}}
            await asyncio.to_thread(self.store.attempt, self.store.log, view.id, "restarted", facts)

    def _say(self, view: Session, level: str, what: str) -> None:
        self.emit("Notice", view.id, {"level": level, "message": f"{view.name} {what}"})

    def started(self, session: str) -> None:
        """A person started it: what went before does not count any more."""
        self._exits.pop(session, None)

    async def close(self) -> None:
        """Start nothing more; a start that is under way is finished."""
        self._leaving.set()
        if self._tasks:
            _, late = await asyncio.wait(self._tasks, timeout=FINISH)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)
