"""How a dialog is answered: by the words of an option, one key at a time, with the screen read anew before each.

Never by position and never blind: order and default of options change between versions of an agent, and an Enter
that lands on the wrong one grants a tool or ends the agent. tmux itself looks for the question and the option once
more in the line that presses a key, so that none goes to what came after them.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from itertools import zip_longest

from covey import state
from covey.agents import Profile
from covey.agents.dialog import Dialog, Option
from covey.errors import NotFound, Refused, Usage
from covey.models import Json, Pane
from covey.place import Place
from covey.tmux import panes, reading, screen
from covey.tmux.server import Server

MAX_KEYS = 40  # presses of an arrow key, more than any dialog has options
SETTLE = 2.0  # seconds until a key must have shown an effect
TAKEN = 10.0  # seconds until an answer must have; some agents start anew on it
STILL = 0.3  # seconds a dialog must stand before the first key
REDRAW = 0.15  # seconds a dialog may be away while it is drawn anew
LOOK = 0.02  # seconds between looks
ROWS = 8  # above the options, that must stand as they were read: what is asked about
YES = ("yes", "allow", "approve", "accept", "trust", "confirm", "proceed", "continue")
NO = ("no", "reject", "deny", "cancel", "decline", "exit", "don't", "do not", "skip")

_ESCAPES = re.compile(r"(?i)\(esc\b")  # an option that names its key; with Enter some would only open for a text
_WORDS = re.compile(r"[^\W_]+|[❯›▶►●◉◆→⏵»>]")
_BETWEEN = "[^A-Za-z0-9]*"
Reader = Callable[[], Awaitable[screen.Screen]]


def pick(dialog: Dialog, choice: str) -> int:
    """The index of the one option meant by ``yes``, ``no`` or a part of its text. Anything else is a ``Usage``."""
    labels = [_plain(option.label) for option in dialog.options]
    wanted = _plain(choice)
    words = {"yes": YES, "no": NO}.get(wanted, ())
    exact = [i for i, label in enumerate(labels) if label == wanted]
    starts = [i for i, label in enumerate(labels) if any(label.startswith(word) for word in words)]
    holds = [i for i, label in enumerate(labels) if wanted and wanted in label] if not words else []
    for found in (exact, starts[:1], holds):
        if len(found) == 1:
            return found[0]
    options = "; ".join(option.label for option in dialog.options)
    raise Usage(f"{choice!r} does not name one of the options", f"options: {options}")


def _plain(text: str) -> str:
    return " ".join(text.casefold().split()).strip(" .")


def standing(seen: screen.Screen, dialog: Dialog) -> str:
    """The condition, as a tmux format, that the screen still shows what is asked and the options, words and pointer.

    Of a row nothing but letters, digits and pointers goes into it: what else a screen shows may mean something there.
    """
    rows = seen.lines[max(0, dialog.row - ROWS) : dialog.end + 1]
    searches = [f"#{{C/r:{_BETWEEN.join(words)}}}" for row in rows if (words := _WORDS.findall(row))]
    while len(searches) > 1:  # in pairs of pairs, for tmux nests formats to a depth only
        pairs = zip_longest(searches[::2], searches[1::2], fillvalue="1")
        searches = [f"#{{&&:{one},{other}}}" for one, other in pairs]
    return searches[0]


def _content(dialog: Dialog) -> tuple[object, ...]:
    """All of a dialog but its place."""
    return dialog.question, dialog.options, dialog.selected


@dataclass(frozen=True, slots=True)
class Desk:
    """What answering needs: the pane, its profile, a way to read it, and how much it has not read of what was typed."""

    server: Server
    pane: Pane
    profile: Profile
    read: Reader
    unread: Callable[[], Awaitable[int | None]]

    async def dialog(self, patience: float = REDRAW) -> Dialog:
        """The dialog that is on the screen. One that is just drawn anew is waited for."""
        deadline = time.monotonic() + patience
        while (found := state.dialog(await self.read(), self.profile)) is None:
            if time.monotonic() > deadline:
                raise Refused("no question is on the screen", "look: :Covey preview")
            await asyncio.sleep(LOOK)
        return found

    async def changed(self, old: Dialog, patience: float = SETTLE) -> Dialog | None:
        """The dialog once it looks different, None once it is gone. One that stays as it was is a refusal.

        Agents clear and redraw: only what two looks in a row agree on counts, and longer where it seems gone.
        """
        deadline, since = time.monotonic() + patience, time.monotonic()
        last: Dialog | None = old
        while time.monotonic() < deadline:
            new = state.dialog(await self.read(), self.profile)
            if new != last:
                last, since = new, time.monotonic()
            same = new is not None and (new.question, new.selected) == (old.question, old.selected)
            gone = new is None or new.question != old.question
            if not same and time.monotonic() - since >= (REDRAW if gone else LOOK):
                return new
            await asyncio.sleep(LOOK)
        raise Refused("the key had no effect on the dialog", "attach, and answer it yourself")

    async def still(self) -> Dialog:
        """The dialog once it stands still: some agents draw it twice, and forget what was pressed in between."""
        dialog, since = await self.dialog(), time.monotonic()
        while time.monotonic() - since < STILL:
            await asyncio.sleep(LOOK)
            now = await self.dialog()
            if now != dialog:
                dialog, since = now, time.monotonic()
        return dialog

    async def heeded(self) -> None:
        """Wait until the agent has read every key so far: one that waits would answer what comes after this."""
        deadline = time.monotonic() + SETTLE
        while await self.unread():
            if time.monotonic() > deadline:
                raise Refused("the agent does not read what is typed", "wait until it does, and look")
            await asyncio.sleep(LOOK)

    async def press(self, dialog: Dialog, key: str) -> None:
        """Press a key while exactly this dialog stands, or refuse; one that is just drawn anew is waited for."""
        await self.heeded()
        deadline = time.monotonic() + REDRAW
        while True:
            seen = await self.read()
            now = state.dialog(seen, self.profile)
            try:
                if now is not None and _content(now) == _content(dialog):
                    await panes.keys(self.server, self.pane, key, guard=standing(seen, now))
                    return
            except Refused:
                if time.monotonic() > deadline:
                    raise
            if time.monotonic() > deadline:
                raise Refused("the dialog changed while it was answered", "look at it and answer again")
            await asyncio.sleep(LOOK)

    async def take(self, dialog: Dialog, key: str = "Enter") -> None:
        """Press the key that takes an option; the dialog must go, or another come."""
        await self.press(dialog, key)
        now = await self.changed(dialog, TAKEN)
        if now is not None and (now.question, now.options) == (dialog.question, dialog.options):
            raise Refused("the same question is shown again", "look at it and answer again")


def desk(place: Place, pane: Pane, profile: Profile) -> Desk:
    """To answer in that pane."""

    async def read() -> screen.Screen:
        (shot,) = await reading.capture(place.wire, pane.pane)
        if shot is None:
            raise NotFound("the session's pane is gone")
        return screen.parse(shot.ansi, shot.cols)

    async def unread() -> int | None:
        return await asyncio.to_thread(place.processes.unread, pane.pid)

    return Desk(place.wire, pane, profile, read, unread)


async def choose(desk: Desk, choice: str) -> Json:
    """Choose the option; answers with the question and the words that were chosen."""
    dialog = await desk.still()
    target = pick(dialog, choice)
    option = dialog.options[target]
    said: Json = {"question": dialog.question, "chosen": option.label}
    if _ESCAPES.search(option.label):
        await desk.take(dialog, "Escape")
    elif dialog.selected is None and option.key:
        await _by_letter(desk, dialog, option)
    elif dialog.selected is None:
        raise Refused("covey cannot see which option is highlighted", "attach, and answer it yourself")
    else:
        await _by_arrows(desk, dialog, option)
    return said


async def _by_letter(desk: Desk, dialog: Dialog, option: Option) -> None:
    """For ``(Y)es/(N)o``: the letter, and Enter where the letter alone did not do it."""
    await desk.press(dialog, option.key)
    deadline = time.monotonic() + SETTLE / 4
    while time.monotonic() < deadline:
        if state.dialog(await desk.read(), desk.profile) is None:
            return
        await asyncio.sleep(LOOK)
    now = await desk.dialog()
    if now.question == dialog.question:
        await desk.press(now, "Enter")


async def _by_arrows(desk: Desk, dialog: Dialog, option: Option) -> None:
    """Move the highlight to the option's words, reading after each key, then Enter."""
    for _ in range(MAX_KEYS):
        labels = [each.label for each in dialog.options]
        if option.label not in labels or dialog.selected is None:
            raise Refused("the dialog changed while it was answered", "look at it and answer again")
        distance = labels.index(option.label) - dialog.selected
        if distance == 0:
            await desk.take(dialog)
            return
        await desk.press(dialog, _arrow(dialog, forward=distance > 0))
        changed = await desk.changed(dialog)
        if changed is None or changed.question != dialog.question:
            raise Refused("the dialog changed while it was answered", "look at it and answer again")
        dialog = changed
    raise Refused("the highlight did not reach the option", "attach, and answer it yourself")


def _arrow(dialog: Dialog, *, forward: bool) -> str:
    across = dialog.row == dialog.end
    return ("Right" if forward else "Left") if across else ("Down" if forward else "Up")
