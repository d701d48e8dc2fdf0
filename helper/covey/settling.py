"""Sessions whose work is done: one opened for a task settles by itself, and what is settled too many is closed."""

from __future__ import annotations

import asyncio
import logging
import time
from dataclasses import dataclass, field

from covey import reaper
from covey.errors import CoveyError
from covey.fleet import Emit, Fleet
from covey.keeper import Keeper
from covey.models import Session
from covey.reaper import Decision
from covey.session import Kit
from covey.store import acting

CATCH_UP = 1.0  # seconds that a start waits, at most, until what had finished before is settled

log = logging.getLogger("covey")


@dataclass(slots=True)
class Settling:
    """What one helper settles and closes. ``cap``: settled sessions that stay open."""

    fleet: Fleet
    keeper: Keeper
    emit: Emit
    kit: Kit
    cap: int
    _tasks: dict[str, asyncio.Task[None]] = field(default_factory=dict)

    def seen(self, view: Session) -> None:
        """A session is as this says: if it was opened for one task, and that may be done, it is settled soon."""
        task = self._tasks.get(view.id)
        if self._over(view.id) and (task is None or task.done()):
            self._tasks[view.id] = asyncio.create_task(self._finish(view.id))

    async def catch_up(self) -> None:
        """What had finished before anybody looked is settled now: a command has no second look."""
        rested = [task for session, task in self._tasks.items() if self._rested(session)]
        if rested:
            await asyncio.wait(rested, timeout=CATCH_UP)

    def _over(self, session: str) -> bool:
        view = self.fleet.views.get(session)
        if view is None or not view.options.get("once"):
            return False
        return view.state in ("idle", "exited") and not (view.queued or view.settled or view.guessed)

    def _rested(self, session: str) -> bool:
        """Whether its agent said nothing for so long that it has not just been prompted, by whomever."""
        view, pane = self.fleet.views.get(session), self.fleet.panes.get(session)
        if view is None or pane is None:
            return False
        return view.state == "exited" or time.time() > pane.active_at + 1 + self._uptake(view)

    def _uptake(self, view: Session) -> float:
        return self.kit.eyes.profile(view.agent).uptake

    async def _finish(self, session: str) -> None:
        try:
            if not self._rested(session):
                await asyncio.sleep(self._uptake(self.fleet.views[session]))
                await self.fleet.refresh()
            if self._over(session) and await asyncio.to_thread(self.kit.outbox.spoken, session):
                await self.keeper.change(session, settled=True)
                facts = {"reason": "its agent has finished", "by": {}}
                await asyncio.to_thread(self.kit.store.log, session, "settled", facts)
                await self.limit()
        except CoveyError as error:
            log.warning("%s was not settled: %s", session, error.message)

    async def limit(self) -> None:
        """Close the longest settled beyond the cap; walk past what will not close."""
        refused: set[str] = set()
        with acting({"who": "the sweep"}):
            while decisions := reaper.over_cap(self.fleet.views.values(), self.cap, refused):
                refused |= {each.id for each in await self.carry_out(decisions)}

    async def carry_out(self, decisions: list[Decision]) -> list[Decision]:
        """Do it, and name every session that was closed without being asked for; answers what would not close."""
        done, left = await self.keeper.carry_out(decisions)
        for each in done:
            await self.kit.note(self.kit.store.log, each.id, "reaped", each.to_json())
            self.emit("Reaped", each.id, each.to_json())
        for each in left:
            self.emit("Notice", each.id, {"level": "warn", "message": f"{each.name} could not be closed"})
        return left

    async def close(self) -> None:
        """Settle nothing more."""
        for task in self._tasks.values():
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks.values())
