"""A question with numbered options, as agents ask for permission. It takes the composer's place."""

from __future__ import annotations

from typing import NamedTuple

CANCEL = "Esc to cancel"


class Option(NamedTuple):
    label: str
    exits: int | None = None  # choosing it ends the agent with this code


class Dialog:
    """``chosen`` is None while it is open. ``cancels_to`` is what Esc means; None: it answers nothing."""

    def __init__(self, question: str, options: tuple[Option, ...], cancels_to: Option | None = None) -> None:
        self.question = question
        self.options = options
        self.cancels_to = cancels_to
        self.selected = 0
        self.open = True
        self.chosen: Option | None = None

    def press(self, key: str) -> None:
        """Take one key or one typed character; what means nothing here is ignored, a paste too."""
        if key in ("up", "down"):
            self.selected = (self.selected + (1 if key == "down" else -1)) % len(self.options)
        elif key == "enter":
            self._close(self.options[self.selected])
        elif key == "esc":
            self._close(self.cancels_to)
        elif key.isdecimal() and 1 <= int(key) <= len(self.options):
            self._close(self.options[int(key) - 1])

    def rows(self) -> list[str]:
        marks = ("❯" if at == self.selected else " " for at in range(len(self.options)))
        numbered = enumerate(zip(marks, self.options, strict=True), 1)
        return [self.question, *(f"{mark} {number}. {option.label}" for number, (mark, option) in numbered), "", CANCEL]

    def _close(self, option: Option | None) -> None:
        self.open = False
        self.chosen = option


def permission() -> Dialog:
    options = (Option("Yes"), Option("Yes, and do not ask again"), Option("No"))
    return Dialog("Do you want to proceed?", options)


def trust() -> Dialog:
    leave = Option("No, exit", exits=1)
    return Dialog("Do you trust the files in this directory?", (leave, Option("Yes, I trust it")), leave)
