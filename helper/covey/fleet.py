"""Which sessions are ours: the only map from id to session, kept true to tmux's marks and to the store.

While a tmux session lives its marks are the truth and the store is corrected from them; the store is the truth only
for what tmux lost. An answer that did not come is *unknown*: it changes nothing.
"""

from __future__ import annotations

import asyncio
import contextlib
import unicodedata
from collections.abc import AsyncIterator, Callable, Collection
from typing import Any, TypeAlias

from covey import registry
from covey.ending import Ended
from covey.errors import NoServer, NotFound, ServerLost, TmuxRefused, TmuxTimeout, Unavailable
from covey.lane import FLEET
from covey.leftovers import Leftovers
from covey.models import Exit, Identity, Pane, Receipt, now, stamp
from covey.models import Session as View
from covey.presence import Presence
from covey.records import GIVEN_UP, Records, completed, differs, seconds_since
from covey.session import Kit, Session, lane, note_end
from covey.store import Record, acting
from covey.tmux import reading
from covey.underway import Underway

STATUS_TRIES = 8  # readings of a dead pane without a status, each after a nudge of its server
STATUS_PAUSE = 0.004  # seconds between them: tmux answers a nudge in about 2 ms
UNREAD = "a marked pane cannot be read: it may be this one's"
OUTSIDE = "closed outside covey"
HANG_UP = 0.3  # seconds that an agent gets to heed a hang-up before it is said to run on

Emit = Callable[[str, str, dict[str, Any]], None]
Start: TypeAlias = tuple[str, int]  # a session and its epoch


class Fleet:
    """All sessions of one pair of XDG directories, as one helper sees and changes them."""

    def __init__(self, kit: Kit, emit: Emit, told: Callable[[Receipt], None]) -> None:
        self._kit = kit
        self._told = told
        self._wire = kit.place.wire
        self._records = Records(kit)
        self._emit = emit
        self.lock = lane(kit, FLEET)
        self._looking = asyncio.Lock()
        self.presence = Presence(kit, self._unreadable)
        self.underway = Underway()
        self._finished: set[str] = set()  # ended by this helper: a look that began before may still see them
        self._untold: set[Start] = set()  # of these tmux never said how they ended
        self._left: dict[str, list[int]] = {}  # what runs on of sessions that were closed outside
        self.panes: dict[str, Pane] = {}
        self.views: dict[str, View] = {}
        self.sessions: dict[str, Session] = {}

    # Looking

    async def refresh(self) -> dict[str, View]:
        """Read everything and say what changed. What could not be read is shown as unknown.

        Where tmux has still to learn that or how a program ended, that one is looked at again; the others are told of
        at once.
        """
        async with self._looking:
            for _ in range(STATUS_TRIES):
                unclear = await self._pass()
                if not unclear or self.presence.server is None:
                    return self.views
                self.presence.nudge()
                await asyncio.sleep(STATUS_PAUSE)
            self._untold |= await self._pass(last=True)
        return self.views

    async def _pass(self, *, last: bool = False) -> set[Start]:
        """One look, told of; answers who is still unclear, and of these tells only in the last."""
        records, counts = await asyncio.to_thread(self._records.read)
        try:
            found = await self.presence.look()
        except (NoServer, TmuxTimeout, ServerLost, Unavailable, TmuxRefused) as error:
            self._doubt(error.code, error.message, records, counts)
            return set()
        unclear = {_start(pane) for pane in found if self._unclear(pane)}
        if unclear and not last:
            found = self._meanwhile(found, unclear)
        if found or not unclear:
            await self._merge(found, records, counts)
        return unclear

    def _meanwhile(self, found: list[Pane], unclear: set[Start]) -> list[Pane]:
        """What can be told before all is clear: the news of others, if anybody of them died; else nothing."""
        if not {id_ for id_, _ in unclear} <= self.panes.keys() or not any(self._just_died(pane) for pane in found):
            return []
        return [self.panes[pane.spec.id] if _start(pane) in unclear else pane for pane in found]

    def _just_died(self, pane: Pane) -> bool:
        known = self.views.get(pane.spec.id)
        return (
            pane.dead and pane.exit != Exit() and bool(known and (known.state, known.epoch) != ("exited", pane.epoch))
        )

    def _unreadable(self, row: str) -> None:
        self._emit("Notice", "", {"level": "error", "message": f"a marked pane cannot be read: {row[:80]!r}"})

    def _unclear(self, pane: Pane) -> bool:
        """Whether tmux has still to learn that the pane's process ended, or how, and has not failed to before.

        tmux ≤ 3.5a loses more than half of all statuses until it is nudged.
        """
        if pane.dead:
            return pane.exit == Exit() and _start(pane) not in self._untold
        return self._kit.place.processes.identify(pane.pid) is None

    def _doubt(
        self,
        rule: str,
        why: str,
        records: dict[str, Record],
        counts: dict[str, int],
        but: Collection[str] = (),
    ) -> None:
        """Nothing is known now: say so of what was seen and of what is written down, and change nothing else."""
        written = {id_: registry.lost(r.spec, r.epoch, now(), queued=counts.get(id_, 0)) for id_, r in records.items()}
        for id_, old in (written | self.views).items():
            if id_ not in but and (id_ not in self.views or old.state not in ("lost", "unknown")):
                self._show(registry.doubted(old, rule, why, now()))

    async def _merge(self, found: list[Pane], records: dict[str, Record], counts: dict[str, int]) -> None:
        """Take over what was read. A marked row that cannot be read may be any session's that is missing."""
        found = [completed(pane, records.get(pane.spec.id)) for pane in found]
        await self._kit.eyes.read(found)
        self.panes = {pane.spec.id: pane for pane in found if pane.spec.id not in self._finished}
        due = self._kit.kin.follow(self.panes.values())
        news = [
            (pane, view)
            for session, pane in self.panes.items()
            if (view := self._show_pane(pane, records.get(session), counts.get(session, 0)))
        ]
        if news:  # what cannot be written down is news again at the next look
            await self._kit.note(self._records.note, news, self.presence.server)
        if due:
            self._kit.kin.look(await asyncio.to_thread(self._kit.place.processes.snapshot))
        if self.presence.unread:
            self._doubt("not-read", UNREAD, records, counts, but=self.panes.keys())
            return
        missing = await self._missing(records)
        for record in missing:
            if record.state.get("state") != "lost":
                await self._kit.note(self._records.note_lost, record.spec.id)
            self._show_lost(record, counts.get(record.spec.id, 0))
        for gone in self.views.keys() - self.panes.keys() - {record.spec.id for record in missing}:
            over = await asyncio.to_thread(self._kit.store.session, gone)
            self.forget(gone, (over and over.ended_reason) or OUTSIDE)

    async def _missing(self, records: dict[str, Record]) -> list[Record]:
        """Sessions that should be and are not, because their server went away.

        Those that the very server that had them, asked twice, has no more were closed outside; one that was never
        seen in tmux is being opened by somebody right now, or was given up.
        """
        self._left = {}
        if not records.keys() - self.panes.keys():
            return []
        missing = [
            record
            for session, record in (await asyncio.to_thread(self._records.live)).items()
            if session not in self.panes
        ]
        closed = [record for record in missing if self.presence.server and record.server == self.presence.server]
        if closed:
            again, _ = await reading.look(self._wire)
            here = {pane.spec.id for pane in again}
            for record in closed:
                if record.spec.id not in here:
                    await self._over(record, OUTSIDE)
        for record in missing:
            if record.server is None and seconds_since(record.spec.created) > GIVEN_UP:
                await self._over(record, "it was never started")
        return [r for r in missing if r.server not in (None, self.presence.server) or r.spec.id in self._left]

    async def _over(self, record: Record, reason: str) -> None:
        """That it has no tmux session is the end of it, unless something of it runs on."""
        session, known = record.spec.id, record.state.get("state") == "lost"
        if left := await Leftovers(self._kit).of(record, patience=0 if known else HANG_UP):
            self._left[session] = left
            await self._kit.note(self._records.note_lost, session, "closed", {"pids": left})
            return
        with acting({}):
            await self._kit.note(note_end, self._kit.store, session, reason, Ended([], [], []))
        await self.finish(session, reason)

    def _show_pane(self, pane: Pane, record: Record | None, queued: int) -> View | None:
        """Say how a session is; answers it where that, or something of it, has to be written down."""
        sight = self._kit.eyes.seen[pane.spec.id]
        old = record.state if record and record.epoch == pane.epoch else {}
        self._kit.kin.recall(pane.spec.id, Identity.from_json(old.get("root")))
        same = old.get("state") == sight.verdict.state and "since" in old
        since = old["since"] if same else (stamp(pane.died_at) if pane.dead and pane.died_at else now())
        last = self._kit.eyes.last_line(pane.spec.id)
        view = registry.view(pane, sight.verdict, since, queued=queued, last_line=last)
        first = view.id not in self.views
        self._show(view)
        if first and view.state == "exited" and not same:  # it ended before anybody could look
            self._emit("Exited", view.id, view.to_json())
        known = same and record is not None and record.server == self.presence.server and not differs(record, pane)
        return None if known else view

    def _show_lost(self, record: Record, queued: int) -> None:
        old = self.views.get(record.spec.id)
        before = record.state if record.state.get("state") == "lost" else {}
        since = old.since if old and old.state == "lost" else before.get("since") or now()
        left = self._left.get(record.spec.id, ())
        self._show(registry.lost(record.spec, record.epoch, since, queued=queued, left=left))

    def _show(self, view: View) -> None:
        """Take it over and say so. That one has exited which is being ended here is for after that: see ``ends``."""
        old = self.views.get(view.id)
        if old == view or (view.state == "exited" and self.underway.is_ending(view.id, view.epoch)):
            return
        self.views[view.id] = view
        self._emit(registry.event(old, view), view.id, view.to_json())
        if view.queued and (old is None or old.state != view.state or old.queued != view.queued):
            self.session(view.id).kick()

    def session(self, session: str) -> Session:
        """The acting side of a session."""
        if session not in self.sessions:
            self.sessions[session] = Session(self._kit, session, self.pane, self._told)
        return self.sessions[session]

    async def pane(self, session: str) -> Pane:
        """The session's pane, read now. ``NotFound`` when tmux has it no more."""
        known = self.panes.get(session)
        pane = await reading.look_at(self._wire, known.pane) if known else None
        if pane is None or pane.spec.id != session:
            found, _ = await reading.look(self._wire)
            pane = next((each for each in found if each.spec.id == session), None)
        if pane is None:
            raise NotFound("the session's pane is gone", "see: covey list")
        if pane.spec.guessed:
            pane = completed(pane, await asyncio.to_thread(self._kit.store.session, session))
        self.panes[session] = pane
        return pane

    @contextlib.asynccontextmanager
    async def ends(self, session: str, epoch: int | None = None) -> AsyncIterator[None]:
        """As ``Underway.ends``. How the session is afterwards, if it is still there, is told as ever."""
        try:
            with self.underway.ends(session, epoch):
                yield
        finally:
            if session in self.views:
                await self.refresh()

    def find(self, name: str) -> View:
        """The session of exactly that name, else of that id; never by prefix."""
        wanted = unicodedata.normalize("NFC", name)
        for view in self.views.values():
            if unicodedata.normalize("NFC", view.name) == wanted:
                return view
        if name in self.views:
            return self.views[name]
        near = ", ".join(sorted(view.name for view in self.views.values())) or "none are open"
        raise NotFound(f"there is no session {name!r}", f"sessions: {near}")

    async def finish(self, session: str, reason: str) -> None:
        self._finished.add(session)
        await self._kit.note(self._kit.store.end_session, session, reason)
        for receipt in await self._kit.note(self._kit.outbox.undelivered, session) or ():
            self._told(receipt)
        self.session(session).clear_up()
        self._kit.kin.forget(session)
        (self._kit.lanes / f"{session}.lock").unlink(missing_ok=True)
        self.sessions.pop(session, None)

    def forget(self, session: str, reason: str) -> None:
        """Take a session out of the map and say why."""
        view = self.views.pop(session, None)
        self.panes.pop(session, None)
        if view is not None:
            self._emit("Gone", session, {"id": session, "name": view.name, "reason": reason})


def _start(pane: Pane) -> Start:
    return pane.spec.id, pane.epoch
