"""How text becomes a submitted prompt: sanitise, look, paste, see, Enter, verify.

The words of a prompt are never looked for on the screen, for agents collapse long pastes: what counts is that the
composer, read by structure, went from empty to not empty after our paste (*seen*), and that it emptied or the agent
went to work after our Enter (*left*). Enter is pressed again only while the composer still holds what we pasted;
nothing is ever pasted twice.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from covey import state
from covey.agents import Profile
from covey.errors import CoveyError, NotFound, Refused, TmuxTimeout
from covey.models import Outcome, Pane, Verdict
from covey.tmux import panes, screen
from covey.tmux.server import Server

MAX_BYTES = 1 << 20  # a prompt typed by keyboard; more goes by a file and a reference
CANONICAL_LINE = 4095  # bytes a line-buffered terminal keeps of one line (n_tty(4)); the rest is lost in silence
SEEN_DEADLINE = 10.0  # seconds a pasted draft may take to show
LEFT_DEADLINE = 60.0  # seconds until an Enter that changed nothing is given up; some agents ignore it after start
PERSON_PAUSE = 2.0  # seconds since an attached person's last key before we type
POLL_FIRST, POLL_MOST, POLL_GROWTH = 0.001, 0.05, 1.25  # seconds between looks at the composer
DIALOG = "(❯|›|●|▶) *1[.] "  # what tmux itself looks for in the line that presses Enter

_PASTE_MARK = re.compile(r"\x1b\[20[01]~")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Clean:
    """What will be typed, and how many bytes were taken out of what was given."""

    text: str
    stripped: int


def sanitise(text: str) -> Clean:
    """Line ends become LF, trailing ones go, and nothing but TAB and LF is left of the control characters.

    A paste terminator inside a paste would end it, and what follows would be typed as keys.
    """
    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    kept = _CONTROL.sub("", _PASTE_MARK.sub("", lines))
    return Clean(kept.rstrip("\n"), size(lines) - size(kept))


def size(text: str) -> int:
    """Bytes of the text in UTF-8."""
    return len(text.encode("utf-8", "surrogatepass"))


def plain(text: str, profile: Profile) -> str:
    """The text as it must be typed to reach this agent's model as text, or ``Refused`` by name.

    What a first or last character does to a prompt is the profile's to say: ``/`` runs a command, ``!`` a shell.
    """
    if text.strip() in profile.words:
        raise Refused(f"{profile.name} takes the word {text.strip()!r} as an order to end", "send it raw to give it")
    first, last = text.lstrip()[:1], text[-1:]
    if profile.leading.get(first) == "refuse":
        raise Refused(f"{profile.name} does not take a prompt that begins with {first!r} as text", "or send it raw")
    if profile.trailing.get(last) == "refuse":
        raise Refused(f"{profile.name} does not send a prompt that ends with {last!r}", "put a word behind it")
    before = " " if profile.leading.get(first) == "space" and text[:1] == first else ""
    return before + text + (" " if profile.trailing.get(last) == "space" else "")


def check(clean: Clean, profile: Profile) -> None:
    """Refuse what cannot arrive, before a ticket is written."""
    if not clean.text.strip():
        raise Refused("the prompt is empty", "write something to send")
    limit = min(MAX_BYTES, profile.paste_limit or MAX_BYTES)
    if size(clean.text) > limit:
        raise Refused(
            f"the prompt has {size(clean.text)} bytes; {profile.name} takes {limit}",
            "put it in a file and send a reference to that",
        )


@dataclass(frozen=True, slots=True)
class Result:
    """How a delivery ended. ``draft`` is set when the text was pasted and waits unsent for ``reason`` to end."""

    outcome: Outcome
    reason: str = ""
    draft: str | None = None


def obstacle(verdict: Verdict, composer: str | None, profile: Profile, *, when: str) -> Result | None:
    """Why a prompt may not be typed now, from what the session shows; None when it may. The first that fits."""
    reasons: tuple[tuple[bool, Outcome, str], ...] = (
        (verdict.state == "exited", "refused", "the agent has exited; respawn it first"),
        (verdict.state == "blocked", "held", f"it waits for a decision: {verdict.excerpt}"),
        (verdict.state == "starting", "held", "the agent is starting"),
        (verdict.state == "working" and when == "idle", "held", "the agent is working"),
        (profile.has_composer and composer is None, "held", "no composer is on the screen"),
        (bool(composer), "held", "a half-typed draft is in the composer"),
    )
    return next((Result(outcome, reason) for fits, outcome, reason in reasons if fits), None)


class Halt(Exception):  # a way out of the driver, never seen outside this file
    def __init__(self, outcome: Outcome, reason: str, draft: str | None = None) -> None:
        self.result = Result(outcome, reason, draft)


@dataclass(slots=True)
class Delivery:
    """One send on its way into one pane.

    ``stage`` writes bytes to a private file; ``begin`` commits that typing starts, before the first byte,
    and gives the text;
    ``verdict`` says what the session is doing by a given screen; ``alive`` asks whether the pane still runs;
    ``canonical`` whether its terminal hands over whole lines only.
    """

    server: Server
    profile: Profile
    pane: Pane
    act: str
    stage: Callable[[str, bytes], Awaitable[Path]]
    begin: Callable[[], Awaitable[str]]
    verdict: Callable[[Pane, screen.Screen], Verdict]
    alive: Callable[[], Awaitable[bool]]
    canonical: Callable[[], Awaitable[bool | None]]
    submit: bool = True
    when: str = "now"
    force: bool = False
    _typed: bool = field(default=False, init=False)
    _busy: bool = field(default=True, init=False)  # work shown after Enter proves nothing if it was shown before
    _last: tuple[str, screen.Screen] | None = field(default=None, init=False)

    async def run(self, draft: str | None = None) -> Result:
        """Deliver, or say why not yet (``held``) or never (``refused``).

        ``draft`` goes on with a delivery that was held after its paste. Raises nothing that a receipt can say.
        """
        self._typed = draft is not None
        try:
            return await self._press(draft if draft is not None else await self._paste())
        except Halt as halt:
            return halt.result
        except TmuxTimeout as error:
            return Result("unconfirmed" if self._typed else "failed", error.message)
        except CoveyError as error:
            return Result("unconfirmed" if self._typed else "refused", error.message)

    async def _paste(self) -> str:
        before = await self._clear()
        text = await self.begin()
        if not self.profile.has_composer and _longest_line(text) > CANONICAL_LINE and await self.canonical():
            raise Halt("refused", f"the program reads whole lines, of at most {CANONICAL_LINE} bytes")
        path = await self.stage(self.act, text.encode("utf-8"))
        await panes.paste(self.server, self.pane, path, self.act)  # a denial means: nothing was typed
        self._typed = True
        pasted_at = time.monotonic()
        if not self.submit:
            raise Halt("pasted", "not submitted, as asked")
        draft = await self._seen(before) if self.profile.has_composer else None
        await asyncio.sleep(max(0.0, pasted_at + self.profile.enter_delay - time.monotonic()))
        if draft is None:
            await panes.keys(self.server, self.pane, "Enter")
            raise Halt("pasted", "no evidence: this program shows no composer to read")
        return draft

    async def _clear(self) -> str:
        """Make sure the way is free; answers what the composer holds already (only by force not empty)."""
        if self.pane.dead:
            raise Halt("refused", "the agent has exited; respawn it first")
        if self.pane.in_mode:
            await panes.leave_mode(self.server, self.pane)
        if not self.force and self.pane.attached and await self._person_types():
            raise Halt("held", "somebody is typing in the session")
        seen = await self._screen()
        composer = state.composer(seen, self.profile)
        verdict = self.verdict(self.pane, seen)
        self._busy = verdict.state == "working"
        stop = obstacle(verdict, composer, self.profile, when=self.when)
        if stop and not (self.force and stop.outcome == "held" and not state.dialog(seen, self.profile)):
            raise Halt(stop.outcome, stop.reason)
        return composer or ""

    async def _person_types(self) -> bool:
        recent = time.time() - PERSON_PAUSE
        people = await panes.clients(self.server)
        return any(c.person and c.tmux_session == self.pane.tmux_session and c.active_at > recent for c in people)

    async def _seen(self, before: str) -> str:
        """The draft as the composer shows it after our paste."""

        async def look() -> str | None:
            seen = await self._screen()
            if state.dialog(seen, self.profile):
                raise Halt("held", "a dialog opened while the prompt was typed", draft="")
            draft = state.composer(seen, self.profile)
            return draft if draft and draft != before else None

        draft = await self._poll(look, SEEN_DEADLINE)
        if draft is None and not await self.alive():
            raise Halt("failed", "the agent exited while the prompt was typed")
        if draft is None:
            raise Halt("unconfirmed", f"no draft showed within {SEEN_DEADLINE:g} s; Enter was not pressed")
        return draft

    async def _press(self, draft: str) -> Result:
        """Press Enter until the draft has left, and only while it is still there."""
        deadline = time.monotonic() + LEFT_DEADLINE
        presses = 0
        pauses = list(self.profile.enter_schedule)
        while time.monotonic() < deadline:
            await self._before_enter(draft, presses)
            await panes.keys(self.server, self.pane, "Enter", guard=f"#{{==:#{{C/r:{DIALOG}}},0}}")
            presses += 1
            pause = pauses.pop(0) if len(pauses) > 1 else pauses[0]
            if left := await self._poll(self._left, pause):
                return left
        return Result("pasted", f"Enter was pressed {presses} times and the draft is still in the composer")

    async def _before_enter(self, draft: str, presses: int) -> None:
        seen = await self._screen()
        if state.dialog(seen, self.profile):
            raise Halt("held", "a dialog is open; the prompt waits unsent in the composer", draft)
        composer = state.composer(seen, self.profile)
        if composer and (not draft or _same(composer, draft)):
            return
        if not await self.alive():
            raise Halt("unconfirmed", "the agent exited before the prompt was seen to leave")
        raise Halt("unconfirmed", f"the composer changed {'after' if presses else 'before'} Enter was pressed")

    async def _left(self) -> Result | None:
        seen = await self._screen()
        composer = state.composer(seen, self.profile)
        if composer == "" or state.dialog(seen, self.profile):
            return Result("submitted")
        went_to_work = not self._busy and self.verdict(self.pane, seen).state == "working"
        return Result("submitted") if went_to_work else None

    async def _screen(self) -> screen.Screen:
        (shot,) = await panes.capture(self.server, self.pane.pane)
        if shot is None:
            raise NotFound("the session's pane is gone")
        if self._last is None or self._last[0] != shot.ansi:
            self._last = (shot.ansi, screen.parse(shot.ansi, shot.cols))
        return self._last[1]

    @staticmethod
    async def _poll(look: Callable[[], Awaitable[T | None]], seconds: float) -> T | None:
        """Look until there is an answer or the time is up; often at first, then less."""
        deadline, pause = time.monotonic() + seconds, POLL_FIRST
        while (answer := await look()) is None and time.monotonic() < deadline:
            await asyncio.sleep(pause)
            pause = min(pause * POLL_GROWTH, POLL_MOST)
        return answer


def _longest_line(text: str) -> int:
    return max(map(size, text.split("\n")))


def _same(composer: str, draft: str) -> bool:
    """Whether it is still our draft; an Enter taken as a line feed adds blank rows to it."""
    return composer.strip() == draft.strip()
