"""The agent: a composer that a person types into, and a worker behind it. Knows no terminal."""

from __future__ import annotations

from collections.abc import Callable

from covey.standin.dialog import permission, trust
from covey.standin.draft import Draft, Echo
from covey.standin.enters import Enters
from covey.standin.keys import Event
from covey.standin.options import Options
from covey.standin.worker import Ending, Worker

HELLO = "A scripted agent. Try: work 5, ask, flood 100, echo …, /exit"


class Agent:
    """Events and time in; draft, dialog, work and output out. Times are seconds of one monotonic clock.

    ``note`` is called with each prompt, byte for byte, before anything is done about it.
    """

    def __init__(self, options: Options, note: Callable[[str], None], greeting: str, now: float) -> None:
        self.options = options
        self.note = note
        self.worker = Worker(options)
        self.draft = Draft()
        self.echo = Echo()
        self.trusted = not options.trust
        self._enters = Enters(options, now)
        self._ready_at = now + options.ready_after
        self._asked = False
        self._leaving = False
        self._spent = False  # the draft was submitted, and is drawn no more the next time
        self.deaf = 0.0  # seconds to read nothing, once
        self._greeting = greeting
        self._asks_at = now + options.ask_after if options.trust else None
        if options.trust:
            self.tick(now)
        else:
            self._greet()

    def tick(self, now: float) -> None:
        """Do what time makes due."""
        if self._asks_at is not None and now >= self._asks_at:
            self._asks_at = None
            self._greet()
            self.worker.dialog = trust()
        if self._spent:
            self._spent = False
            self._clear(now)
        self.worker.tick(now)

    def take(self, event: Event, now: float) -> None:
        """Do what a person did. A caller hands over nothing that came before it was ready."""
        leaving, self._leaving = self._leaving, event.key == "c-c"
        if event.key == "c-c":
            self._stop(now, leaving=leaving)
        elif event.key == "paste-begin":
            self._begin_paste()
        elif self.worker.dialog:
            self._reply(event, now)
        else:
            self._edit(event, now)
        self._enters.saw_input(now)

    def is_ready(self, now: float) -> bool:
        return now >= self._ready_at

    def wait(self, now: float) -> float | None:
        """Seconds until the picture changes by itself; None: only input changes it."""
        moments = [at - now for at in (self.echo.due(), self._ready_at, self._asks_at) if at is not None and at > now]
        moments += [wait for wait in (self.worker.wait(now),) if wait is not None]
        return min(moments, default=None)

    def title(self, now: float) -> str:
        """What it calls itself; nothing before it is ready, and trusted or yet to ask."""
        if (self.trusted or self.options.ask_after) and self.is_ready(now):
            return "⠋ standin" if self.worker.work else "standin"
        return ""

    def _greet(self) -> None:
        self.worker.say(HELLO)
        if self._greeting:
            self.worker.say(self._greeting)

    def _stop(self, now: float, *, leaving: bool) -> None:
        if leaving:
            self.worker.ending = Ending("exit")
        elif self.worker.dialog:
            self._reply(Event("esc"), now)
        elif not self.worker.interrupt():
            self._clear(now)
            self.worker.say("Press ctrl-c again to exit")

    def _clear(self, now: float) -> None:
        self.draft.clear()
        self.echo.show("", now)

    def _begin_paste(self) -> None:
        if self.options.exit_mid_paste:
            self.worker.ending = Ending("exit", 3)

    def _reply(self, event: Event, now: float) -> None:
        """One key, or each typed character, goes to the dialog; what is typed after it closed is draft again."""
        assert self.worker.dialog
        keys = list(event.text) if event.key == "text" else [event.key]
        while keys and self.worker.dialog.open:
            self.worker.dialog.press(keys.pop(0))
        if self.worker.dialog.open:
            return
        self.trusted = True
        self.worker.close_dialog(now)
        if keys:
            self.take(Event("text", "".join(keys)), now)

    def _edit(self, event: Event, now: float) -> None:
        if event.key == "enter":
            self._enter(now)
        elif event.key == "esc":
            self.worker.interrupt()
            self.worker.tick(now)
        elif event.key == "c-d" and not self.draft:
            self.worker.ending = Ending("exit")
        else:
            self._change(event)
            self.echo.show(self.draft.shown(), now + self.options.slow_echo / 1000)

    def _change(self, event: Event) -> None:
        if event.key == "text":
            self.draft.type(event.text)
        elif event.key == "newline":
            self.draft.type("\n")
        elif event.key == "backspace":
            self.draft.backspace()
        elif event.key == "c-u":
            self.draft.clear()
        elif event.key == "paste":
            self._paste(event.text)

    def _paste(self, text: str) -> None:
        self.draft.paste(text)
        self.deaf = self.options.deaf
        if self.options.dialog_after_paste and not self._asked:
            self._asked = True
            self.worker.dialog = permission()

    def _enter(self, now: float) -> None:
        what = self._enters.decide(now)
        if what == "newline" or (what == "enter" and self.draft.continues()):
            self.draft.type("\n")
            self.echo.show(self.draft.shown(), now + self.options.slow_echo / 1000)
        elif what == "enter" and self.draft:
            self._submit(now)

    def _submit(self, now: float) -> None:
        text = self.draft.text()
        self._spent = bool(self.options.deaf)
        if not self._spent:
            self.draft.clear()
            self.echo.show("", now + self.options.slow_echo / 1000 + self.options.sticky)
        self._asked = False
        self.note(text)
        self.worker.submit(text, now)
