"""Carries a session's prompts to its agent, lowest ticket first, whoever wrote it, while it holds the lane.

What is held does not occupy the lane: it is looked at again when something is said to have changed, and every
``RETRY`` seconds. A fence that somebody raised (kill, respawn, interrupt) ends what is under way and lets him pass.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable
from dataclasses import asdict
from pathlib import Path

from covey.delivery import Delivery
from covey.errors import CoveyError, LaneBusy, NoServer, NotFound
from covey.lane import Lane
from covey.models import Json, Outcome, Pane, Receipt
from covey.outbox import LOST_TYPER, Outbox
from covey.place import Place
from covey.prompt import SHELLS, Draft, Result, occasion
from covey.tickets import Ticket
from covey.tmux import panes
from covey.watch import Eyes

RETRY = 1.0  # seconds between looks at what is held, when nothing says that something changed
YIELD = 0.25  # seconds the lane is left to whoever raised the fence
STOP = 2.0  # seconds a delivery may go on when its helper leaves; a successor goes on with it
BEHIND = "it waits behind an earlier prompt"
GUESSED = "what this session runs had to be guessed; look at it, and force the prompt or respawn it"
DAMAGED = "what is written of it is damaged"

log = logging.getLogger("covey")


class Courier:
    """One session's. ``find`` reads its pane anew; ``told`` is called with each receipt that changed."""

    def __init__(  # noqa: PLR0917 - the rooms it joins
        self,
        place: Place,
        outbox: Outbox,
        eyes: Eyes,
        lane: Lane,
        session: str,
        find: Callable[[str], Awaitable[Pane]],
        told: Callable[[Receipt], None],
    ) -> None:
        self._place, self._outbox, self._eyes, self._lane = place, outbox, eyes, lane
        self.id = session
        self._find = find
        self._told = told
        self._door = asyncio.Lock()  # first come, first served: a writer's prompts keep their order
        self._bell = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._leaving = False

    async def take(self, act: str, epoch: int, text: str, options: Json, *, stripped: int) -> Receipt:
        """Commit a prompt to the store, behind those taken before it, and see to its delivery."""
        where = (act, self.id, epoch, "send", text, options, self._outbox.me)
        async with self._door:
            receipt = await asyncio.to_thread(self._outbox.put, *where, stripped=stripped)
        self.kick()
        return receipt

    def kick(self) -> None:
        """Deliver what is due; what was held is tried again."""
        self._bell.set()
        if (self._task is None or self._task.done()) and not self._leaving:
            self._task = asyncio.create_task(self._run(), name=f"courier-{self.id}")

    async def stop(self) -> None:
        """Leave the lane. What is being typed is finished soon or left to a successor."""
        self._leaving = True
        if self._task is not None and not self._task.done():
            await asyncio.wait([self._task], timeout=STOP if self._lane.held else 0)
            self._task.cancel()
            await asyncio.wait([self._task])

    async def _run(self) -> None:
        while not self._leaving:
            self._bell.clear()
            try:
                waits = await self._round()
            except CoveyError as error:  # not even that could be written down
                log.warning("delivery to %s: %s", self.id, error.message)
                waits = True
            if not waits and not self._bell.is_set():
                return
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._bell.wait(), RETRY)

    async def _round(self) -> bool:
        """Deliver until nothing is left or something holds; whether anything still waits."""
        first = None
        try:
            first = await asyncio.to_thread(self._outbox.head, self.id)
            if first is None:
                return False
            async with self._lane:
                overtaken, waits = await self._deliver_all()
        except LaneBusy as error:
            await self._busy(first, error.message)
            return True
        except CoveyError as error:
            log.warning("delivery to %s: %s", self.id, error.message)
            await self._hold_all(error.message)
            return True
        if overtaken:
            await asyncio.sleep(YIELD)
            self._bell.set()
        return waits

    async def _deliver_all(self) -> tuple[bool, bool]:
        """(whether somebody asked to pass, whether anything still waits)."""
        fence: int | None = None
        while not self._leaving and (ticket := await asyncio.to_thread(self._outbox.head, self.id)):
            pane = await self._pane()
            if pane and fence is not None and pane.fence != fence:
                return True, True
            receipt = await self._carry(ticket, pane)
            if receipt.outcome == "held":
                await self._hold_all(BEHIND)
                return False, True
            fence = pane.fence if pane else None
        return False, self._leaving

    async def _pane(self) -> Pane | None:
        """The session's pane; None when tmux has it no more."""
        try:
            return await self._find(self.id)
        except (NotFound, NoServer):
            return None

    async def _carry(self, ticket: Ticket, pane: Pane | None) -> Receipt:
        """One step with the ticket that is first in line."""
        if ticket.typer and ticket.outcome == "queued":
            return await self._take_over(ticket, pane)
        if ticket.damaged:
            return await self._note(ticket, Result("unconfirmed" if ticket.typer else "refused", DAMAGED))
        if pane is not None and ticket.epoch in (0, pane.epoch):
            return await self._deliver(ticket, pane)
        draft = _draft(ticket)
        if draft and draft.presses:
            return await self._note(ticket, Result("unconfirmed", "the agent went before it was seen to leave"))
        if pane is None:
            over: Outcome = "undelivered" if await asyncio.to_thread(self._is_over) else "held"
            return await self._note(ticket, Result("failed" if draft else over, "the session's pane is gone"))
        why = f"it was meant for start {ticket.epoch}; this is start {pane.epoch}"
        return await self._note(ticket, Result("dropped", why))

    def _is_over(self) -> bool:
        """Whether the session was ended: nobody will look at what waits for it any more."""
        record = self._outbox.store.session(self.id)
        return record is None or bool(record.ended_at)

    async def _take_over(self, ticket: Ticket, pane: Pane | None) -> Receipt:
        """Settle what its typer left: we hold the lane, so he types no more.

        Behind a raised fence nothing of his that is still on its way is typed either; so the act that is marked on
        the pane says for certain whether his was typed.
        """
        with contextlib.suppress(NotFound, NoServer):
            if pane is not None:
                await panes.raise_fence(self._place.wire, pane)
                now = await self._find(self.id)
                if now.epoch == ticket.epoch == pane.epoch and now.act != ticket.act:
                    return await self._note(ticket, Result("queued"))
        self._place.files.remove(self._file(ticket))
        return await self._note(ticket, Result("unconfirmed", LOST_TYPER))

    async def _deliver(self, ticket: Ticket, pane: Pane) -> Receipt:
        if pane.spec.guessed and not ticket.options.get("force"):
            return await self._note(ticket, Result("held", GUESSED))
        delivery = self._delivery(ticket, pane)
        try:
            if delivery.draft is not None:
                await asyncio.to_thread(self._outbox.resume, ticket.row)
            result = await delivery.run()
        except asyncio.CancelledError:
            if delivery.certain:
                outcome: Outcome = "held" if delivery.draft else "queued"
                self._set_down(ticket, Result(outcome, "the helper that typed it left", delivery.draft))
            raise
        self._place.files.remove(self._file(ticket))
        if not delivery.certain:
            return await self._take_over(ticket, pane)
        if result.outcome == "submitted":
            self._eyes.submitted(self.id)
        return await self._note(ticket, result)

    def _delivery(self, ticket: Ticket, pane: Pane) -> Delivery:
        profile = self._eyes.profile(pane.spec.agent)
        processes, options = self._place.processes, ticket.options
        return Delivery(
            server=self._place.wire,
            profile=profile,
            pane=pane,
            act=ticket.act,
            stage=lambda data: asyncio.to_thread(self._stage, ticket, data),
            begin=lambda: self._begin(ticket),
            verdict=self._eyes.judge,
            entered=lambda: self._eyes.entered(self.id),
            canonical=lambda: asyncio.to_thread(processes.canonical, pane.pid),
            unread=lambda: asyncio.to_thread(processes.unread, pane.pid),
            shell=self._shell,
            submit=options.get("submit", True),
            when=occasion(options.get("when", ""), profile, ""),
            force=options.get("force", False),
            draft=_draft(ticket),
        )

    def _file(self, ticket: Ticket) -> str:
        return f"{self.id}.{ticket.act}"

    def _stage(self, ticket: Ticket, data: bytes) -> Path:
        self._place.files.remove(self._file(ticket))  # of a typer that died
        return self._place.files.stage(self._file(ticket), data)

    async def _shell(self, pane: Pane) -> bool:
        """Whether nothing but shells belongs to the pane: one that wraps its agent has the agent below it."""
        if pane.command not in SHELLS:
            return False
        table = await asyncio.to_thread(self._place.processes.snapshot)
        living = [each.command.lstrip("-") for each in table.tree(pane.pid) if not each.dead]
        return bool(living) and SHELLS.issuperset(living)

    async def _begin(self, ticket: Ticket) -> str:
        """Commit that typing starts; answers the text as it is to be typed, for it may have been edited."""
        return (await asyncio.to_thread(self._outbox.typing, ticket.row)).text

    # What became of it

    async def _note(self, ticket: Ticket, result: Result) -> Receipt:
        """Commit a result and tell it, unless all of it is known already."""
        if result.outcome in ("held", "queued"):
            receipt = await asyncio.to_thread(self._set_down, ticket, result)
        else:
            receipt = await asyncio.to_thread(self._outbox.settle, ticket.row, result.outcome, result.reason)
        if (ticket.outcome, ticket.reason) != (receipt.outcome, receipt.reason):
            self._told(receipt)
        return receipt

    def _set_down(self, ticket: Ticket, result: Result) -> Receipt:
        if result.draft is not None:
            return self._outbox.set_down(ticket.row, result.reason, asdict(result.draft))
        receipt = self._outbox.receipt(ticket.act)
        if receipt.outcome == "queued":
            receipt = self._outbox.put_back(ticket.row)
        if result.outcome == "held" and (receipt.outcome, receipt.reason) != ("held", result.reason):
            receipt = self._outbox.hold(ticket.row, result.reason)
        return receipt

    async def _hold_all(self, reason: str) -> None:
        for receipt in await asyncio.to_thread(self._outbox.hold_behind, self.id, reason):
            self._told(receipt)

    async def _busy(self, first: Ticket | None, reason: str) -> None:
        """The lane could not be had. That is news only where its holder did not get on meanwhile."""
        head = await asyncio.to_thread(self._outbox.head, self.id)
        if head and first and head.row == first.row:
            await self._hold_all(reason)
        self._bell.set()


def _draft(ticket: Ticket) -> Draft | None:
    """What stands unsent in the composer, where that is what the act waits as."""
    draft = ticket.options.get("draft") if ticket.typer and ticket.outcome == "held" else None
    return Draft(**draft) if draft else None
