"""What may have changed, and what can be seen. Bells say *look*; eyes say *what*; neither decides anything."""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial

from covey import deaths, process, state
from covey.agents import Catalog, Profile, composer
from covey.agents.profile import ComposerRule
from covey.agents.published import Files, Published
from covey.errors import Usage
from covey.models import Identity, Pane, Verdict
from covey.tmux import reading, screen
from covey.tmux.server import Server

SUBSCRIPTION = ("covey", "#{S:#{W:#{P:#{pane_id}#{pane_dead}#{window_activity}#{cursor_x}.#{cursor_y}#{pane_title}}}}")
CONFIRM = 0.15  # seconds that an end of work, or nothing to be read, must last to be so: agents clear and redraw
ANSWERED = 0.5  # the same of an end that comes after a question: agents go on with an answer some time later
LOOK_PAUSE, PANE_PAUSE = 0.15, 0.01  # seconds between looks while something may change, and more for each such pane
UPTAKE_PAUSE = 0.05  # seconds between looks after a prompt, until it is seen what came of it: it may be over soon
MOST_SAID = 200  # characters of the last row that was said
AFTERMATH = 2.0  # seconds after an act of ours in which its effect may show
GREETING = 60.0  # seconds after it was opened in which a session may still be starting
_BELLS = frozenset(
    "window-renamed subscription-changed sessions-changed unlinked-window-close window-close exit lost".split()
)


UNREAD = Verdict("unknown", "not-read")
SUBMITTED = "just-submitted"  # the rule by which an idle screen is one of work


class Bells:
    """Everything that may mean news: tmux's notices, and the deaths of panes' processes."""

    def __init__(self, ring: Callable[[], None], death: Callable[[], None]) -> None:
        self._ring, self._death = ring, death
        self._deaths = deaths.Deaths()
        self._followed: dict[int, Identity] = {}

    def notice(self, name: str, _rest: str) -> None:
        """For the control client: called with each of tmux's notifications."""
        if name in _BELLS:
            self._ring()

    def follow(self, living: Iterable[Pane]) -> None:
        """Wait for the deaths of these panes' processes, and of no others."""
        pids = {pane.pid for pane in living if not pane.dead}
        for pid in self._followed.keys() - pids:
            self._deaths.forget(self._followed.pop(pid))
        for pid in pids - self._followed.keys():
            if identity := process.identify(pid):
                self._followed[pid] = identity
                self._deaths.watch(identity, partial(self._died, pid))

    def _died(self, pid: int) -> None:
        self._followed.pop(pid, None)
        self._death()

    def close(self) -> None:
        self._deaths.close()


@dataclass(slots=True)
class Sight:
    """The last that was seen of one session."""

    epoch: int
    uptake: float = 0.0  # seconds its agent may take to show that it works on what was submitted
    key: tuple[object, ...] = ()
    shot: screen.Screen | None = None
    drawn: tuple[str, int] = ("", 0)  # what ``shot`` was parsed from, with its width
    active_at: float = 0.0  # seconds since 1970 of the last output, in whole seconds
    changed_at: float = 0.0  # seconds since 1970
    read_at: float = 0.0
    published: Published | None = None
    verdict: Verdict = UNREAD
    rests_since: float = 0.0  # monotonic seconds since when its screen shows no work; 0.0: it does
    blank_since: float = 0.0  # monotonic seconds since when its screen fits no rule; 0.0: it does
    doubted: bool = False  # what was told of it is not seen any more; whether that lasts will be seen
    entered_at: float = 0.0  # monotonic seconds of an Enter of ours for a prompt, after which no work was seen yet
    behind: bool = False  # it worked on something else when that Enter was pressed
    submitted_at: float = 0.0  # the same of its prompt being seen to leave
    told: tuple[screen.Screen | None, bool] = (None, False)  # the screen, and whether all is over, of which it is that
    said: str = ""  # this was said last
    acted_at: float = 0.0  # monotonic seconds of the last act of ours on it
    started: bool = False  # it was seen idle or at work: what it shows from now on is no greeting

    @property
    def awaited(self) -> bool:
        """Whether a prompt is so new that what comes of it may not show yet."""
        return time.monotonic() - max(self.entered_at, self.submitted_at) < self.uptake

    def conclude(self, verdict: Verdict) -> None:
        """Take over what is seen; but an end of work, or nothing that can be read, only once it has lasted."""
        blank = verdict.state == "unknown"
        rests = blank or verdict.state == "idle" or verdict.rule == SUBMITTED
        self.rests_since = (self.rests_since or time.monotonic()) if rests else 0.0
        self.blank_since = (self.blank_since or time.monotonic()) if blank else 0.0
        if not rests:
            self.entered_at = self.submitted_at = 0.0
        self.doubted = self._sudden(verdict)
        if not self.doubted:
            self.started = self.started or verdict.state in ("idle", "working")
            self.verdict = verdict

    def _sudden(self, verdict: Verdict) -> bool:
        """Whether what was told of went so lately that it may come back: agents clear and redraw."""
        told = self.verdict.state
        if verdict.state == "unknown":
            return told != "unknown" and time.monotonic() - self.blank_since < CONFIRM
        lasts = {"working": CONFIRM, "blocked": ANSWERED}.get(told, 0.0)
        return verdict.state == "idle" and time.monotonic() - self.rests_since < lasts


class Eyes:
    """Reads the panes whose output changed, all in one go, and remembers what it saw."""

    def __init__(self, server: Server, catalog: Catalog, ring: Callable[[], None]) -> None:
        self._server = server
        self._catalog = catalog
        self._ring = ring
        self._host = socket.gethostname()
        self._files = Files()
        self.seen: dict[str, Sight] = {}

    def profile(self, name: str) -> Profile:
        """The agent's profile; one whose file is gone is read by the generic rules."""
        try:
            return self._catalog.get(name)
        except Usage:
            return self._catalog.get("custom")

    def exact(self, name: str) -> Profile:
        """The agent's profile, or a sentence with the names there are."""
        return self._catalog.get(name)

    async def read(self, found: list[Pane]) -> None:
        """Bring ``seen`` up to these panes."""
        self.seen = {p.spec.id: self._sight(p) for p in found}
        stale = [pane for pane in found if self._stale(pane)]
        shots = await reading.capture(self._server, *(pane.pane for pane in stale), colours=True)
        for pane, shot in zip(stale, shots, strict=True):
            if shot is not None:
                self.saw(pane, self._parsed(pane, shot))
        await self._hear(found)
        for pane in found:
            self._conclude(pane)

    async def _hear(self, found: list[Pane]) -> None:
        """What agents write of themselves, where they do."""
        rules = [(pane, self.profile(pane.spec.agent).session_file) for pane in found if not pane.dead]
        asked = [(pane.spec.id, pane.pid, rule) for pane, rule in rules if rule]
        said = await asyncio.to_thread(self._files.read, asked) if asked else {}
        for session, sight in self.seen.items():
            sight.published = said.get(session)

    def _parsed(self, pane: Pane, shot: reading.Shot) -> screen.Screen:
        """The screen of a shot; parsed anew only where it is not what was read last."""
        sight = self.seen[pane.spec.id]
        if sight.shot is None or sight.drawn != (shot.ansi, shot.cols):
            sight.drawn = (shot.ansi, shot.cols)
            return screen.parse(shot.ansi, shot.cols)
        return sight.shot

    def _sight(self, pane: Pane) -> Sight:
        old = self.seen.get(pane.spec.id)
        if old and old.epoch == pane.epoch:
            return old
        fresh = old is not None or (pane.epoch == 1 and 0 <= _age(pane) < GREETING)
        uptake, changed_at = self.profile(pane.spec.agent).uptake, min(pane.active_at, time.time())
        return Sight(pane.epoch, uptake, changed_at=changed_at, started=not fresh)

    def _stale(self, pane: Pane) -> bool:
        """Whether the pane may show something else than at the last reading: activity is known to a second only."""
        sight = self.seen[pane.spec.id]
        return sight.shot is None or sight.key != self._key(pane) or _same_second(sight.read_at, pane.active_at)

    @staticmethod
    def _key(pane: Pane) -> tuple[object, ...]:
        return (pane.active_at, pane.progress, pane.title, pane.cols, pane.rows)

    def saw(self, pane: Pane, shot: screen.Screen) -> None:
        """Remember a screen that was read, by whomever."""
        sight = self.seen.setdefault(pane.spec.id, self._sight(pane))
        if sight.shot is not None and sight.shot.lines != shot.lines:
            sight.changed_at = time.time()
        sight.shot, sight.key, sight.read_at, sight.active_at = shot, self._key(pane), time.time(), pane.active_at

    def entered(self, session: str) -> None:
        """Enter is being pressed for a prompt."""
        if sight := self.seen.get(session):
            sight.entered_at, sight.behind = time.monotonic(), sight.verdict.state == "working"
        self.acted(session)

    def submitted(self, session: str) -> None:
        """The prompt left: for a moment, an idle screen only means that the work has not begun.

        But not where that work, or a question, was seen since that Enter: it may be done by now.
        """
        if (sight := self.seen.get(session)) and (sight.entered_at or sight.behind):
            sight.submitted_at = time.monotonic()
        self.acted(session)

    def acted(self, session: str) -> None:
        """Something was just typed: what it does shows soon, and tmux would not say so for up to a second."""
        if sight := self.seen.get(session):
            sight.acted_at = time.monotonic()
            self._ring()

    def judge(self, pane: Pane, shot: screen.Screen | None) -> Verdict:
        """The state that this screen shows of this pane, by the profile of its agent.

        A new agent is idle once its screen stands still: most paint their composer before they listen to it, or
        before they ask their first question.
        """
        sight = self._sight(pane)
        still = time.time() - sight.changed_at if sight.changed_at else None
        if shot is not None and sight.shot is not None and sight.shot.lines != shot.lines:
            still = 0.0
        own_title = pane.title not in ("", self._host)
        ended = pane.exit if pane.dead else None
        evidence = state.Evidence(shot, pane.title, pane.dead, ended, still, own_title, sight.published, sight.started)
        profile = self.profile(pane.spec.agent)
        verdict = state.judge(evidence, profile)
        if verdict.state == "idle" and not sight.started and not state.ready(evidence, profile):
            return Verdict("starting", "not-still", verdict.excerpt)
        if verdict.state in ("idle", "unknown") and time.monotonic() - sight.submitted_at < sight.uptake:
            return Verdict("working", SUBMITTED, verdict.excerpt)
        return verdict

    def _conclude(self, pane: Pane) -> None:
        sight = self.seen[pane.spec.id]
        sight.conclude(self.judge(pane, sight.shot))
        if sight.told != (sight.shot, pane.dead):
            sight.told = (sight.shot, pane.dead)
            sight.said = _said(sight.shot, None if pane.dead else self.profile(pane.spec.agent).composer)

    def pause(self, most: float) -> float:
        """Seconds to the next look if no bell rings: few while something may change, for tmux tells seconds only.

        Something may where an agent starts, works or pauses, where we just typed, and where output came in the second
        of the last look.
        The more such panes there are, the longer, for a look reads all of them; a pause in work is confirmed at once,
        and after an Enter looks come sooner.
        """
        restless = sum(map(_restless, self.seen.values()))
        if not restless:
            return most
        soon = any(sight.awaited for sight in self.seen.values())
        pause = (UPTAKE_PAUSE if soon else LOOK_PAUSE) + restless * PANE_PAUSE
        doubted = any(sight.doubted for sight in self.seen.values())
        return min(most, pause, CONFIRM if doubted else most)

    def last_line(self, session: str) -> str:
        """The last that the agent said, over its composer; without one the last row with something on it."""
        sight = self.seen.get(session)
        return sight.said if sight else ""


def _said(shot: screen.Screen | None, rule: ComposerRule | None) -> str:
    if shot is None:
        return ""
    if rule and (box := composer.locate(shot, rule)):
        return composer.talk(shot, rule, box)[:MOST_SAID]
    return next((row.strip()[:MOST_SAID] for row in reversed(shot.lines) if row.strip()), "")


def _restless(sight: Sight) -> bool:
    waits = sight.doubted or sight.awaited or sight.verdict.state in ("starting", "working")
    return waits or time.monotonic() - sight.acted_at < AFTERMATH or _same_second(sight.read_at, sight.active_at)


def _same_second(read_at: float, active_at: float) -> bool:
    """Whether output may have come after the reading: tmux tells seconds only. Not where the clock was put back."""
    return abs(read_at - active_at) <= 1


def _age(pane: Pane) -> float:
    """Seconds since the session was opened."""
    return (datetime.now(UTC) - datetime.fromisoformat(pane.spec.created)).total_seconds()
