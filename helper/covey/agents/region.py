"""The parts of a screen that rules look at. Rows are cut and joined text is limited, so that no rule takes long."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from covey.agents import composer
from covey.agents.profile import Profile, Rule
from covey.tmux.screen import Screen

# How many rows that are not blank belong to a region, counted from its lower end.
_OF_SCREEN = {"last": 1, "tail": 14, "screen": 1_000}
_OF_ABOVE = {"near": 5, "above": 12}
NARROW = 72  # columns
MAX_ROW = 400  # characters
MAX_JOINED = 2_000
_FRAME = re.compile(r"^[│┃║]\s?|\s*[│┃║█▐]$")


@dataclass(frozen=True, slots=True)
class View:
    """One screen with its title and the composer found on it, ready to be asked."""

    screen: Screen
    title: str
    box: composer.Box | None

    @classmethod
    def of(cls, screen: Screen, title: str, profile: Profile) -> View:
        box = composer.locate(screen, profile.composer) if profile.composer else None
        return cls(screen, title, box)

    @property
    def narrow(self) -> bool:
        """Whether the pane is so narrow that status lines wrap."""
        width = self.screen.cols or max((len(row) for row in self.screen.lines), default=0)
        return width < NARROW

    def rows(self, where: str) -> Sequence[str]:
        """The rows of a region, top to bottom, none of them blank."""
        if where == "title":
            return [self.title] if self.title else []
        if where in _OF_SCREEN:
            return _filled(self.screen.lines)[-_OF_SCREEN[where] :]
        return self._around(self.box, where) if self.box else []

    def _around(self, box: composer.Box, where: str) -> Sequence[str]:
        if where == "rail":
            return [self.screen.lines[box.top]]
        if where == "draft":
            return _filled(self.screen.lines[box.first : box.last + 1])
        if where == "below":
            return _filled(self.screen.lines[box.bottom + 1 :])
        return _filled(self.screen.lines[: box.top])[-_OF_ABOVE[where] :]

    def holds(self, rule: Rule) -> str | None:
        """The excerpt that fits the rule, or None. Cut to one readable line."""
        found = self.find(rule)
        return excerpt(found) if found else None

    def find(self, rule: Rule) -> re.Match[str] | None:
        """Where the rule fits, or None."""
        if rule.scene != "any" and (rule.scene == "composer") != (self.box is not None):
            return None
        if rule.narrow and not self.narrow:
            return None
        rows = [row[:MAX_ROW] for row in self.rows(rule.where)]
        joined = " ".join(" ".join(_FRAME.sub("", row).split()) for row in rows)[-MAX_JOINED:]
        if rule.unless and rule.unless.search(joined):
            return None
        found = (rule.match.search(row) for row in ([joined] if rule.joined else rows))
        return next((match for match in found if match), None)


def _filled(lines: Sequence[str]) -> list[str]:
    return [row for row in lines if row.strip()]


def excerpt(found: re.Match[str]) -> str:
    """At most 120 characters of the row around what was found."""
    start = max(0, found.start() - 20)
    return found.string[start : start + 120].strip()
