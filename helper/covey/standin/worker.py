"""The half of the agent that does what prompts say: one after the other, each to its end or to an Esc."""

from __future__ import annotations

from typing import Literal, NamedTuple

from covey import cells
from covey.standin import answers
from covey.standin.dialog import Dialog, permission
from covey.standin.options import Options

FRAME = 0.1  # seconds that a spinner glyph stands
FLOOD_STEP = 200  # lines of a flood between two looks at the keyboard
REPEATED = 72  # cells of a prompt's first line that the transcript repeats


class Ending(NamedTuple):
    """How the process is to end: with ``code``, as a shell, or by a crash."""

    how: Literal["exit", "shell", "crash"]
    code: int = 0


class Work(NamedTuple):
    """``printed`` counts the lines of a flood so far."""

    plan: answers.Plan
    began: float
    ends: float
    printed: int = 0


class Worker:
    """Holds what waits (``queue``), what runs (``work``), the ``dialog`` that is open and the ``ending`` if it came.

    What it says is in ``output`` until somebody takes it. Nothing is begun while a dialog is open.
    """

    def __init__(self, options: Options) -> None:
        self.options = options
        self.queue: list[str] = []
        self.work: Work | None = None
        self.dialog: Dialog | None = None
        self.ending: Ending | None = None
        self.output = bytearray()
        self._asks = False
        self._answered = 0

    def say(self, text: str) -> None:
        self.output += answers.encode(text) + b"\n"

    def submit(self, text: str, now: float) -> None:
        """Run it now if nothing runs, else after what waits already."""
        self.queue.append(text)
        self.tick(now)

    def interrupt(self) -> bool:
        """Stop what runs; False: nothing did."""
        if not self.work:
            return False
        self.work = None
        self.say("Interrupted")
        return True

    def tick(self, now: float) -> None:
        """Do what time makes due."""
        if self.work and now >= self.work.ends:
            self._go_on(self.work)
        while self.queue and not (self.work or self.dialog or self.ending):
            self._begin(self.queue.pop(0), now)

    def wait(self, now: float) -> float | None:
        """Seconds until ``tick`` or the spinner has something to do; None: nothing runs."""
        return max(0.0, min(self.work.ends - now, FRAME)) if self.work else None

    def close_dialog(self, now: float) -> None:
        """The open dialog was answered; if a prompt had asked, that prompt is done."""
        assert self.dialog
        chosen, self.dialog = self.dialog.chosen, None
        self.say(f"Answered: {chosen.label}" if chosen else "Cancelled")
        if chosen and chosen.exits is not None:
            self.ending = Ending("exit", chosen.exits)
        elif self._asks:
            self._asks = False
            self._count()
        self.tick(now)

    def _begin(self, text: str, now: float) -> None:
        first = cells.drawable(text).partition("\n")[0]
        self.say(f"> {cells.clip(first, REPEATED)}")
        plan = answers.plan(text, self.options.work)
        if plan.seconds > 0 or plan.deed == "flood":
            self.work = Work(plan, now, now + plan.seconds)
        else:
            self._finish(plan)

    def _go_on(self, work: Work) -> None:
        upto = min(work.printed + FLOOD_STEP, work.plan.number) if work.plan.deed == "flood" else 0
        self.output += b"".join(map(answers.flood_line, range(work.printed + 1, upto + 1)))
        if work.plan.deed == "flood" and upto < work.plan.number:
            self.work = work._replace(printed=upto)
        else:
            self.work = None
            self._finish(work.plan)

    def _finish(self, plan: answers.Plan) -> None:
        self.output += plan.output
        if plan.deed == "ask":
            self.dialog, self._asks = permission(), True
        elif plan.deed in ("exit", "shell", "crash"):
            self.ending = Ending(plan.deed, plan.number)
        else:
            self._count()

    def _count(self) -> None:
        self._answered += 1
        if self._answered == self.options.exit_after:
            self.ending = Ending("exit")
        elif self._answered == self.options.shell_after:
            self.ending = Ending("shell")
