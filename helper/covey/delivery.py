"""How text becomes a submitted prompt: look, paste, see, Enter, verify.

The words of a prompt are never looked for on the screen, as agents collapse long pastes: what counts is that the
composer, read by structure, went from empty to not empty after our paste (*seen*), and that after our Enter it emptied,
or held our draft no more while the agent went to work (*left*). Nothing is pasted twice; Enter is pressed again only
while the composer holds what we pasted and the agent has read the last one, the later, the longer the paste took to
show: of several that it reads at once it may take each for the same draft, and one more takes what it suggests in an
empty one. Each look is the pane and its screen of one moment: a fence, an exit or a shell where the agent was ends a
delivery.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from covey import halt, state
from covey.agents import Profile
from covey.errors import CoveyError, NotFound, Refused, TmuxRefused
from covey.halt import Halt
from covey.look import MOST, NO_DIALOG, NO_SHELL, Look, poll
from covey.models import Pane, Verdict
from covey.prompt import CANONICAL_LINE, SHELLS, Draft, Result, is_same, longest_line, obstacle
from covey.tmux import panes, reading, screen
from covey.tmux.server import COLS, ROWS, Server

SEEN_DEADLINE = 30.0  # seconds a pasted draft may take to show
LEFT_DEADLINE = 60.0  # seconds until an Enter that changed nothing is given up; some agents ignore it after start
REDRAW = 2.0  # seconds a composer may be away while the agent draws anew
REDRAW_FIRST = 0.2  # seconds that an agent is given to draw itself anew: into a window of another size, or after Enter
SHELL_STAYS = 1.0  # seconds a shell must have had the pane before it counts as left behind
PERSON_PAUSE = 2.0  # seconds since an attached person's last key before we type
SLOWER = 3.0  # how many times as long as a paste took to show, the effect of an Enter may take


@dataclass(slots=True)
class Delivery:
    """One send on its way into one pane.

    ``stage`` writes bytes to a private file; ``begin`` commits that typing starts, before the first byte, and gives
    the text; ``verdict`` says what the session is doing by a given screen; ``entered`` is called with each Enter;
    ``canonical`` says whether its terminal hands over whole lines only; ``shell`` whether nothing but a shell has it.
    ``draft`` is set from the moment on in which a byte may have been typed, and always says what a successor has to
    know.
    """

    server: Server
    profile: Profile
    pane: Pane
    act: str
    stage: Callable[[bytes], Awaitable[Path]]
    begin: Callable[[], Awaitable[str]]
    verdict: Callable[[Pane, screen.Screen], Verdict]
    entered: Callable[[], None]
    canonical: Callable[[], Awaitable[bool | None]]
    unread: Callable[[], Awaitable[int | None]]
    shell: Callable[[Pane], Awaitable[bool]]
    submit: bool = True
    when: str = "now"
    force: bool = False
    draft: Draft | None = None
    certain: bool = field(default=True, init=False)  # whether ``draft`` is what was typed, or only what may have been
    _before: str = field(default="", init=False)  # what stood in the composer, and stands there again without ours
    _busy: bool = field(default=True, init=False)  # work shown after Enter proves nothing if it was shown before
    _echo: float = field(default=0.0, init=False)  # seconds the paste took to show
    _away: float = field(default=0.0, init=False)  # monotonic seconds since when it works without our draft
    _last: tuple[str, Look] | None = field(default=None, init=False)

    async def run(self) -> Result:
        """Deliver, or say why not yet (``held``, ``queued``) or never (``refused``, ``failed``).

        With a ``draft`` given it goes on with a delivery that was held after its paste. ``unconfirmed`` with
        ``certain`` False: nobody saw whether the paste was done. Raises nothing that a receipt can say.
        """
        try:
            return await self._deliver()
        except Halt as way_out:
            return way_out.result
        except (CoveyError, OSError) as error:
            return halt.broken(error, self.draft, certain=self.certain)

    async def _deliver(self) -> Result:
        if self.draft is None:
            self._before, text = await self._clear(), await self.begin()
            await self._paste(f" {text}" if self._before and not self.submit else text)
            if not self.submit:
                return Result("pasted", "not submitted, as asked")
            await self._settle(text)
        elif self.pane.in_mode:
            await panes.leave_mode(self.server, self.pane)
        return await self._press()

    # Before

    async def _clear(self) -> str:
        """Make sure the way is free; answers what the composer holds already."""
        if self.pane.in_mode:
            await panes.leave_mode(self.server, self.pane)
        look, people = await asyncio.gather(self._look(), reading.people(self.server, self.pane.tmux_session))
        if not self.force and any(abs(time.time() - each.active_at) < PERSON_PAUSE for each in people):
            raise Halt("held", "somebody is typing in the session")
        if not people and (look.pane.cols < COLS or look.pane.rows < ROWS):  # a draft might not fit
            await panes.restore_size(self.server, look.pane)
            await asyncio.sleep(REDRAW_FIRST)
            look = await self._look()
        verdict = self.verdict(look.pane, look.screen)
        self.pane = look.pane
        if self.profile.has_composer and verdict.state != "starting":  # what starts an agent is a shell, too
            await self._lives(look.pane)
        stop = obstacle(verdict, look.composer, self.profile, when=self.when, submit=self.submit)
        if stop and not (self.force and stop.outcome == "held" and not look.dialog):
            raise Halt(stop.outcome, stop.reason)
        return look.composer or ""

    # Typing

    async def _paste(self, text: str) -> None:
        if not self.profile.has_composer and longest_line(text) > CANONICAL_LINE and await self.canonical():
            raise Halt("refused", f"the program reads whole lines, of at most {CANONICAL_LINE} bytes")
        path = await self.stage(text.encode("utf-8"))
        self.draft, self.certain = Draft(), False
        try:
            await panes.paste(self.server, self.pane, path, self.act, guard=self._no_shell())
        except (Refused, NotFound, TmuxRefused):  # a denial means: nothing was typed, and never will be
            self.draft, self.certain = None, True
            if (await self._look()).pane.command in SHELLS and self._no_shell():
                raise Halt("queued", "a shell took the terminal, or the agent is ending") from None
            raise
        self.certain = True

    async def _settle(self, text: str) -> None:
        """Wait until the paste is a draft in the composer, and has its rest before Enter."""
        pasted_at = time.monotonic()
        if self.profile.has_composer:
            await self._seen()
            self._echo = time.monotonic() - pasted_at
        await asyncio.sleep(max(0.0, pasted_at + self.profile.enter_delay - time.monotonic()))
        if not self.profile.has_composer:
            await self._asks_nothing(text)
            await panes.keys(self.server, self.pane, "Enter")
            raise Halt("pasted", "no evidence: it was typed, with Enter, and this program shows no composer to read")

    async def _asks_nothing(self, text: str) -> None:
        """Where no composer shows what is a draft: no dialog but one that is quoted in what was typed."""
        found = state.dialog((await self._look()).screen, self.profile)
        if found and not all(option.label in text for option in found.options):
            raise Halt("unconfirmed", "a dialog opened while the prompt was typed; Enter was not pressed")

    async def _seen(self) -> None:
        async def look() -> str | None:
            now = await self._look()
            if now.dialog:
                raise Halt("held", "a dialog opened while the prompt was typed", self.draft)
            return now.composer if now.composer and now.composer != self._before else None

        shown = await poll(look, SEEN_DEADLINE)
        if shown is None:
            raise Halt("unconfirmed", f"no draft showed within {SEEN_DEADLINE:g} s; Enter was not pressed")
        self.draft = Draft(shown)

    # Submitting

    async def _press(self) -> Result:
        """Press Enter until the draft has left, and only while it is still there."""
        assert self.draft is not None
        deadline = time.monotonic() + LEFT_DEADLINE
        pauses = list(self.profile.enter_schedule)
        if self.draft.presses and await self._taken(pauses[0]):
            return Result("submitted")
        while not self.draft.presses or time.monotonic() < deadline:  # one that was stopped meanwhile presses, too
            if await self._waiting() is None:
                return Result("submitted")
            await self._enter()
            if await self._taken(pauses.pop(0) if len(pauses) > 1 else pauses[0]):
                return Result("submitted")
        return Result("pasted", f"Enter was pressed {self.draft.presses} times and the draft is still in the composer")

    async def _taken(self, pause: float) -> bool:
        """Whether the draft is seen to leave by the last Enter, in a pause that begins when the agent has read it.

        One that was busy reads several Enters in one go, and may submit the draft by each of them.
        """
        pause, since = max(pause, SLOWER * self._echo), time.monotonic()

        async def look() -> bool | None:
            nonlocal since
            left = await self._left()
            if not left and await self.unread():
                since = time.monotonic()
            return left or (None if time.monotonic() - since < pause else False)

        left = await poll(look, LEFT_DEADLINE + pause)
        if left is None:
            raise Halt("held", "the agent does not read what is typed", self.draft)
        return left

    async def _waiting(self) -> Look | None:
        """The draft as it waits for Enter; None where an earlier Enter is now seen to have submitted it."""
        assert self.draft is not None
        look = await poll(self._drawn, REDRAW) or await self._look()
        if look.dialog:
            raise Halt("held", "a dialog is open; the prompt waits unsent in the composer", self.draft)
        if look.composer and (self.draft.shown is None or is_same(look.composer, self.draft.shown)):
            self.draft = replace(self.draft, shown=look.composer)
            return look
        if self.draft.presses and await poll(self._left, REDRAW):
            return None
        when = "after" if self.draft.presses else "before"
        raise Halt("unconfirmed", f"the composer changed {when} Enter was pressed")

    async def _drawn(self) -> Look | None:
        """A look with a dialog, with the whole draft, or after an Enter with an empty composer.

        Before an Enter the draft may still be coming in; after one it may be drawn anew, or a tall one be pushed up.
        """
        assert self.draft is not None
        look = await self._look()
        if look.dialog or (self.draft.presses and look.composer == ""):
            return look
        if look.composer and is_same(look.composer, self.draft.shown or ""):
            return look
        if look.composer and not self.draft.presses:
            self.draft = replace(self.draft, shown=look.composer)
        return look if look.composer and self.draft.shown is None else None

    async def _enter(self) -> None:
        """One Enter, counted before it is pressed; what is refused was not pressed."""
        assert self.draft is not None
        look, before = await self._look(), self.draft
        self._busy = self.verdict(look.pane, look.screen).state == "working"
        self.draft = replace(before, presses=before.presses + 1)
        guard = self._no_shell()
        if not look.pointed:
            guard = f"#{{&&:{NO_DIALOG},{guard}}}" if guard else NO_DIALOG
        try:
            await panes.keys(self.server, self.pane, "Enter", guard=guard)
            self.entered()
        except (Refused, NotFound, TmuxRefused):
            self.draft = before
            if (await self._look()).dialog:
                raise Halt("held", "a dialog opened before Enter was pressed", before) from None
            raise

    async def _left(self) -> bool | None:
        look = await self._look()
        if look.dialog:
            raise Halt("held", "a dialog opened with Enter; whether the prompt left shows behind it", self.draft)
        if look.composer in ("", self._before):
            return True
        self._away = (self._away or time.monotonic()) if self._works_without(look) else 0.0
        return True if self._away and time.monotonic() - self._away >= REDRAW_FIRST else None

    def _works_without(self, look: Look) -> bool:
        """Whether work began and our draft shows no more.

        Beside the draft it may be of an earlier turn, with the Enter lost on it; so it may for a moment without the
        draft, while the agent draws anew.
        """
        if self.draft and look.composer and is_same(look.composer, self.draft.shown or ""):
            return False
        return not self._busy and self.verdict(look.pane, look.screen).state == "working"

    # Looking

    async def _look(self) -> Look:
        """The pane and its screen now. One that died, was left to a shell or was fenced off ends the delivery."""
        seen = await reading.see(self.server, self.pane.pane)
        if seen is None:
            raise NotFound("the session's pane is gone")
        pane, shot = seen
        self._check(pane)
        if self.draft and self._no_shell():
            await self._lives(pane)
        if self._last is None or self._last[0] != shot.ansi:
            self._last = shot.ansi, Look.read(pane, screen.parse(shot.ansi, shot.cols), self.profile)
        return replace(self._last[1], pane=pane)

    def _check(self, pane: Pane) -> None:
        if pane.dead:
            raise halt.gone("the agent has exited", self.draft)
        if (pane.epoch, pane.fence) != (self.pane.epoch, self.pane.fence):
            raise halt.overtaken(self.pane, pane, self.draft)

    async def _lives(self, pane: Pane) -> None:
        """End the delivery where nothing but a shell has the pane, and keeps it: one that ran the agent ends, too."""
        deadline = time.monotonic() + SHELL_STAYS
        while await self.shell(pane):
            if time.monotonic() > deadline:
                raise halt.gone("the agent left a shell behind", self.draft)
            await asyncio.sleep(MOST)
            now = await reading.look_at(self.server, pane.pane)
            if now is None:
                raise NotFound("the session's pane is gone")
            self._check(now)

    def _no_shell(self) -> str:
        """The guard against a shell where an agent was; none where a shell is what runs the agent."""
        return NO_SHELL if self.profile.has_composer and self.pane.command not in SHELLS else ""
