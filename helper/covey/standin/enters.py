"""What becomes of an Enter in the composer: the faults that make a submit uncertain."""

from __future__ import annotations

from typing import Literal

from covey.standin.options import Options


class Enters:
    def __init__(self, options: Options, now: float) -> None:
        self._deaf_until = now + options.ignore_enter
        self._swallow = options.swallow
        self._gap = options.burst_gap / 1000
        self._pressed = 0
        self._last_input = float("-inf")

    def saw_input(self, now: float) -> None:
        """Any input at all arrived, an Enter too: a burst is measured from here."""
        self._last_input = now

    def decide(self, now: float) -> Literal["enter", "newline", "nothing"]:
        if now < self._deaf_until:
            return "nothing"
        self._pressed += 1
        if self._swallow and self._pressed % self._swallow == 0:
            return "nothing"
        return "newline" if now - self._last_input < self._gap else "enter"
