"""Agents that are to be started again when they end: waits as ``restart.plan`` says, then respawns, or says why not."""

from __future__ import annotations

import asyncio
import os
import time
from dataclasses import dataclass, field

from covey import restart
from covey.errors import CoveyError
from covey.fleet import Emit, Fleet
from covey.keeper import Keeper
from covey.models import Exit, Session
from covey.store import Store


@dataclass(slots=True)
class Revival:
    """The automatic respawns of one helper. Where another is quicker, the epoch has moved on."""

    fleet: Fleet
    keeper: Keeper
    emit: Emit
    store: Store
    _exits: dict[str, list[tuple[float, Exit]]] = field(default_factory=dict)
    _tasks: dict[str, asyncio.Task[None]] = field(default_factory=dict)

    def exited(self, view: Session) -> None:
        """An agent ended: start it again, if its session is to be."""
        pane = self.fleet.panes.get(view.id)
        if pane is None or pane.spec.restart == "never" or view.guessed or view.exit is None:
            return
        exits = self._exits.setdefault(view.id, [])
        exits.append((time.monotonic(), view.exit))
        plan = restart.plan(pane.spec.restart, exits, stopped_by_person=False)
        if isinstance(plan, restart.Stop):
            self.emit("Notice", view.id, {"level": "warn", "message": f"{view.name} stays ended: {plan.reason}"})
        else:
            self._tasks[view.id] = asyncio.create_task(self._later(view, plan.delay))

    async def _later(self, view: Session, delay: float) -> None:
        await asyncio.sleep(delay)
        try:
            new = await self.keeper.respawn(view.id, os.environ, fresh=False, force=False, from_epoch=view.epoch)
            await asyncio.to_thread(self.store.log, view.id, "restarted", {"epoch": [view.epoch, new.epoch], "by": {}})
        except CoveyError as error:
            message = f"{view.name} could not be started again: {error.message}"
            self.emit("Notice", view.id, {"level": "error", "message": message})

    def started(self, session: str) -> None:
        """A person started it: what went before does not count any more."""
        self._exits.pop(session, None)

    async def close(self) -> None:
        """Start nothing more."""
        for task in self._tasks.values():
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks.values())
