"""The rooms composed, and their loop: bells in, one look at a time, news out. The only file that knows all rooms."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

from covey import agents, conversation, paths, place, process, settings
from covey.errors import CoveyError, Unavailable
from covey.fleet import Fleet
from covey.keeper import Keeper
from covey.mail import Mail
from covey.models import Identity, Json, Receipt, Session, now
from covey.outbox import Outbox
from covey.preview import FRAME_PAUSE, Previews
from covey.revival import Revival
from covey.session import Kit
from covey.settling import Settling
from covey.shortage import Workers
from covey.store import Store
from covey.tmux import reading
from covey.tmux.control import Control
from covey.watch import SUBSCRIPTION, Bells, Eyes

LOOK_PAUSE = 0.05  # seconds between two looks, however many bells ring
UNSETTLED_PAUSE = 0.15  # seconds to the next look while time alone may change a state
SAFETY_PAUSE = 10.0  # seconds to the next look when no bell rings at all
ALONE_PAUSE = 1.0  # the same while there is no server, which rings no bell when somebody starts it
CLOSE_PAUSE = 0.1  # seconds between two requests to the loop to end
LEARN_PAUSES = (0.0, 0.5, 1.0, 2.0, 4.0, 8.0)  # seconds between looks for the id of a new conversation

log = logging.getLogger("covey")


class Helper:
    """One running helper: an editor's, or a command line's. ``emit`` is given each event as one JSON-able dict."""

    def __init__(self, emit: Callable[[Json], None], config: Json | None = None, owner: Identity | None = None) -> None:
        config = config or {}
        me = process.identify(os.getpid())
        assert me is not None
        self.owner = owner
        self.when = str(config.get("when") or "")  # what an editor says of prompts that nobody says more of
        self.store = Store(paths.store_path())
        self.caller = _caller(owner)
        self.settings = settings.read(paths.config_dir() / "config.toml")
        self._bells = Bells(self.ring, self.hurry)
        known = self.store.server()
        if known and process.alive(known[0]):
            self.place = place.local(self._bells.notice, known[2], Path(known[1]))
        else:
            chosen = config.get("tmux") not in (None, "", "tmux")
            self.place = place.local(self._bells.notice, str(config["tmux"]) if chosen else self.settings.tmux)
        dirs = [paths.config_dir() / "agents", *map(Path, config.get("agents_dirs", ()))]
        self.catalog = agents.load(dirs)
        self.outbox = Outbox(self.store, me)
        self.mail = Mail(self.outbox, self.receipt)
        self.eyes = Eyes(self.place.wire, self.catalog, self.ring)
        self.kit = Kit(self.place, self.store, self.outbox, self.eyes, paths.lanes_dir(), me)
        self.fleet = Fleet(self.kit, self.emit, self.receipt)
        self.keeper = Keeper(
            self.kit, self.fleet, max(self.settings.history_limit, int(config.get("history_limit") or 0))
        )
        self.revival = Revival(self.fleet, self.keeper, self.emit, self.kit)
        cap = self.settings.max_settled
        self.settling = Settling(self.fleet, self.keeper, self.emit, self.kit, cap)
        pause = max(FRAME_PAUSE, float(config.get("preview_interval") or 0) / 1000)
        self.previews = Previews(self.fleet, self.place.wire, self.emit, pause)
        self._out = emit
        self._seq = 0
        self._unwritten = False
        self.place.wire.before = self._server_runs
        self._bell, self._urgent = asyncio.Event(), asyncio.Event()
        self._looked = 0.0
        self._subscribed: Control | None = None
        self._loop: asyncio.Task[None] | None = None
        self._errands: set[asyncio.Task[Any]] = set()

    async def note(self, session: str, kind: str, facts: Json) -> None:
        """Log what was done to a session, if that can be."""
        await self.kit.note(self.store.log, session, kind, facts)

    def tell_unwritten(self) -> None:
        """Say once, until something can be written again, that what was done is not written down."""
        trouble = self.store.trouble
        if trouble and not self._unwritten:
            hint = f" ({trouble.hint})" if trouble.hint else ""
            self.notice(f"{trouble.message}; what is done meanwhile is not written down{hint}")
        self._unwritten = trouble is not None

    # News

    def notice(self, message: str, session: str = "", *, level: str = "warn") -> None:
        """Say something to the person, whatever they are looking at."""
        self.emit("Notice", session, {"level": level, "message": message})

    def emit(self, event: str, session: str, data: Any) -> None:
        self._seq += 1
        self._out({"event": event, "session": session, "data": data, "seq": self._seq})
        if event != "Frame":
            self.previews.ring(session)
        if event in ("Opened", "Exited") and data["state"] == "exited":
            self.revival.exited(self.fleet.views[session], news=event == "Exited")
        if event in ("Opened", "State", "Exited", "Changed"):
            self.settling.seen(self.fleet.views[session])

    def _errand(self, work: Coroutine[Any, Any, Any]) -> None:
        """Something to be done soon, by itself; a failure is for the log."""
        task = asyncio.create_task(work)
        self._errands.add(task)
        task.add_done_callback(self._errand_done)

    def _errand_done(self, task: asyncio.Task[Any]) -> None:
        self._errands.discard(task)
        if not task.cancelled() and (error := task.exception()):
            log.warning("an errand failed: %s", error)

    async def _learn_conversation(self, view: Session) -> None:
        """The id that an agent gave its conversation by itself: it is in its history soon after the first prompt."""
        pane = await self.fleet.pane(view.id)
        profile = self.eyes.profile(view.agent)
        root = self.kit.kin.root(view.id, pane.pid)
        for pause in LEARN_PAUSES if profile.resume and profile.history else ():
            await asyncio.sleep(pause)
            if found := await conversation.current(pane, profile, root, {}):
                await self.keeper.change(view.id, conversation=found)
                return

    def _hear_conversations(self) -> None:
        """Keep with each session the conversation that its agent says it is in now: people change it."""
        for session, sight in self.eyes.seen.items():
            view, said = self.fleet.views.get(session), sight.published.conversation if sight.published else ""
            if view and said not in ("", view.conversation):
                self._errand(self.keeper.change(session, conversation=said))

    def name_of(self, session: str) -> str:
        """The session's name, also after its end; '' where nothing is known of it any more."""
        if view := self.fleet.views.get(session):
            return view.name
        record = self.store.session(session)
        return record.spec.name if record else ""

    def receipt(self, receipt: Receipt) -> None:
        """Say what became of a send, also to whoever waits for it."""
        self.mail.heard(receipt)
        view = self.fleet.views.get(receipt.session)
        if view and receipt.outcome == "submitted" and not view.conversation:
            self._errand(self._learn_conversation(view))
        self.emit("Receipt", receipt.session, {**receipt.to_json(), "name": self.name_of(receipt.session)})
        self.ring()  # how many wait is another number now

    # The loop

    def ring(self) -> None:
        """Something may have changed."""
        self._bell.set()

    def hurry(self) -> None:
        """An agent died: that waits for no pause, for each dies but once."""
        self._urgent.set()
        self._bell.set()

    async def start(self) -> None:
        """One look now, and then one after each bell."""
        asyncio.get_running_loop().set_default_executor(Workers())
        await self.kit.note(self._purge)
        await self.fleet.refresh()
        if self.place.wire.connected:
            await self._end_orphans()
        await self.settling.catch_up()
        self._loop = asyncio.create_task(self._run(), name="covey-watch")

    async def _end_orphans(self) -> None:
        """End control clients whose helper was killed: tmux 3.3a keeps one for ever that could not say its answer.

        Nor does the server let go of it when it is asked to: it waits until that answer was read.
        """
        clients = [each.pid for each in await reading.clients(self.place.wire) if not each.person]
        if len(clients) > 1:
            table = await asyncio.to_thread(process.snapshot)
            ours = str(self.place.wire.socket)
            async with self.place.wire.telling():
                for found in filter(None, map(table.get, clients)):
                    if table.orphan(found) and ours in process.arguments(found.pid):
                        process.send(found.identity, signal.SIGKILL)

    def _server_runs(self) -> None:
        """Refuse to attach to a stopped server: clients that give up on it crash tmux 3.3a when it goes on."""
        known = self.store.server()
        if known and process.stopped(known[0]):
            raise Unavailable("covey's tmux server is stopped", f"continue it: kill -CONT {known[0].pid}")

    def _purge(self) -> None:
        """Once a day, what is older than 30 days is forgotten."""
        last, today = self.store.get("purged"), now()[:10]
        if last != today:
            self.store.put("purged", today)
            self.outbox.purge()

    async def _run(self) -> None:
        while True:
            try:
                await self._follow()
                await self._wait()
                await self.fleet.refresh()
                self._hear_conversations()
                await self.mail.catch_up()
                self.tell_unwritten()
                self._looked = asyncio.get_running_loop().time()
            except CoveyError as error:
                log.warning("looking failed: %s", error.message)
                await asyncio.sleep(UNSETTLED_PAUSE)
            except Exception:
                log.exception("looking failed")
                await asyncio.sleep(UNSETTLED_PAUSE)

    async def _follow(self) -> None:
        self._bells.follow(self.fleet.panes.values())
        wire = self.place.wire
        if wire.connected:
            control = await wire.connect()
            if control is not self._subscribed:
                await reading.subscribe(control, *SUBSCRIPTION)
                self._subscribed = control

    async def _wait(self) -> None:
        """Until a bell rings, with the pause since the last look kept, unless somebody died."""
        most = SAFETY_PAUSE if self.place.wire.connected else ALONE_PAUSE
        await self._until(self._bell, self.eyes.pause(most))
        await self._until(self._urgent, self._looked + LOOK_PAUSE - asyncio.get_running_loop().time())
        self._bell.clear()
        self._urgent.clear()

    @staticmethod
    async def _until(event: asyncio.Event, seconds: float) -> None:
        """Not by ``wait_for``: in Python 3.11 it forgets a cancellation that comes together with the event."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(max(seconds, 0)):
                await event.wait()

    async def close(self) -> None:
        """Leave. Sessions are untouched."""
        if self._loop is not None:
            while not self._loop.done():  # a cancellation may be swallowed by what it interrupts
                self._loop.cancel()
                await asyncio.wait([self._loop], timeout=CLOSE_PAUSE)
        for errand in self._errands:
            errand.cancel()
        await asyncio.gather(*self._errands, return_exceptions=True)
        await self.revival.close()
        await self.settling.close()
        await self.previews.close()
        await asyncio.gather(*(session.stop() for session in self.fleet.sessions.values()))
        self._bells.close()
        await self.place.wire.close()
        await asyncio.to_thread(self.store.close)


def _caller(owner: Identity | None) -> Json:
    """Who speaks through this helper: an editor, an agent that runs in a session itself, or a person in a shell."""
    inside = os.environ.get(process.MARK)
    if owner:
        return {"who": "editor", "pid": owner.pid}
    return {"who": f"session {inside}" if inside else "shell", "pid": os.getppid()}
