"""Ways out of a delivery, and what each means for the prompt: by how far it had come. Pure."""

from __future__ import annotations

from covey.errors import CoveyError, NotFound, Refused
from covey.models import Outcome, Pane
from covey.prompt import Draft, Result


class Halt(Exception):
    """Ends a delivery with its ``result``."""

    def __init__(self, outcome: Outcome, reason: str, draft: Draft | None = None) -> None:
        self.result = Result(outcome, reason, draft)


def gone(why: str, draft: Draft | None) -> Halt:
    """The agent is not there any more; without an Enter it never got the prompt."""
    if draft is None:
        return Halt("refused", f"{why}; respawn it first")
    if draft.presses:
        return Halt("unconfirmed", f"{why} before the prompt was seen to leave")
    return Halt("failed", f"{why} before Enter was pressed")


def overtaken(began: Pane, now: Pane, draft: Draft | None) -> Halt:
    """A kill, a respawn or an interrupt came first: from now on the delivery that ``began`` so may type nothing."""
    if now.epoch != began.epoch:
        return gone("the agent was started again", draft) if draft else Halt("queued", "started again")
    if draft is None:
        return Halt("queued", "somebody interfered first")
    if draft.presses:
        return Halt("unconfirmed", "somebody interfered before the prompt was seen to leave")
    return Halt("held", "somebody interfered before Enter was pressed; it waits unsent in the composer", draft)


def broken(error: CoveyError | OSError, draft: Draft | None, *, certain: bool) -> Result:
    """What an error means; ``certain``: whether ``draft`` is what was typed, or only what may have been."""
    reason = error.message if isinstance(error, CoveyError) else f"{error.strerror}: {error.filename}"
    if not certain:
        return Result("unconfirmed", reason)
    if draft is None:
        return Result("refused" if isinstance(error, Refused) else "held", reason)
    if isinstance(error, NotFound):
        return gone(reason, draft).result
    return Result("held", f"{reason}; the prompt waits unsent in the composer", draft)
