"""Agents that are to be started again when they end: waits as ``restart.plan`` says, then respawns, or says why not.

Whatever the plan, one that ended at once for an option which covey gave it by itself is started again without it.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import time
from dataclasses import dataclass, field
from datetime import datetime

from covey import restart
from covey.agents import lacks
from covey.errors import CoveyError, NotFound
from covey.fleet import Emit, Fleet
from covey.keeper import Keeper
from covey.models import Restart, Session
from covey.restart import FIRST_DELAY, Lived, Stop
from covey.session import Kit

FINISH = 5.0  # seconds that a start which is under way gets when its helper leaves


@dataclass(slots=True)
class Revival:
    """The automatic respawns of one helper. Where another is quicker, the epoch has moved on."""

    fleet: Fleet
    keeper: Keeper
    emit: Emit
    kit: Kit
    _exits: dict[str, dict[int, Lived]] = field(default_factory=dict)  # by session and epoch
    _news: set[tuple[str, int]] = field(default_factory=set)  # of these, that they stay ended is told
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)
    _leaving: asyncio.Event = field(default_factory=asyncio.Event)

    def exited(self, view: Session, *, news: bool) -> None:
        """An agent ended: start it again, if its session is to be, or if it does not know an option of ours.

        Where that is no ``news`` it ended long ago.
        """
        if news:
            self._news.add((view.id, view.epoch))
        pane = self.fleet.panes.get(view.id)
        known = self._exits.setdefault(view.id, {})
        if pane is None or view.guessed or view.exit is None or view.epoch in known:
            return
        option = self._unknown(view) if news else ""
        if pane.spec.restart == "never" and not option:
            return
        ended = time.time() if news else datetime.fromisoformat(view.since).timestamp()
        known[view.epoch] = (ended, view.exit)
        task = asyncio.create_task(self._without(view, option) if option else self._revive(view, pane.spec.restart))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _unknown(self, view: Session) -> str:
        """The option that a start which failed at once did not know."""
        sight = self.kit.eyes.seen.get(view.id)
        if sight is None or sight.started or sight.shot is None or view.exit is None or view.exit.clean:
            return ""
        return lacks.complaint(sight.shot.lines, self.kit.eyes.profile(view.agent), view.options)

    async def _without(self, view: Session, option: str) -> None:
        """Start it again without that option: once, for from then on it is not given any more."""
        why = f"this version of {view.agent} does not know {option}: it was started again without it"
        try:
            await self.keeper.change(view.id, options=lacks.adding(view.options, option))
            facts = {"epoch": view.epoch + 1, "reason": why, "by": {}}
            await self.kit.note(self.kit.store.log, view.id, "began", facts)
            if await self.keeper.revive(view.id, view.epoch, os.environ):
                self.emit("Notice", view.id, {"level": "warn", "message": f"{view.name}: {why}"})
        except CoveyError as error:
            self._say(view, "error", f"could not be started without {option}: {error.message}")

    async def _revive(self, view: Session, policy: Restart) -> None:
        """See it through. Decided is after the shortest delay: by then whoever started it has written that down."""
        try:
            if await self._left_within(FIRST_DELAY):
                return
            history = await asyncio.to_thread(self.kit.store.history, view.id)
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
            await self.kit.note(self.kit.store.log, view.id, "restarted", facts)

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
