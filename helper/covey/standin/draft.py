"""What stands in the composer, and what of it is shown when."""

from __future__ import annotations

from typing import NamedTuple

from covey.cells import is_joined

PASTE_LINES, PASTE_CHARS = 3, 800  # a longer paste is shown as one line


class Paste(NamedTuple):
    """A long paste: one unit to the eye and to backspace."""

    text: str
    label: str


class Draft:
    def __init__(self) -> None:
        self.parts: list[str | Paste] = []
        self.pastes = 0

    def __bool__(self) -> bool:
        return bool(self.parts)

    def type(self, text: str) -> None:
        self.parts.extend(text)

    def paste(self, text: str) -> None:
        lines = text.count("\n")
        if lines < PASTE_LINES and len(text) <= PASTE_CHARS:
            self.type(text)
            return
        self.pastes += 1
        self.parts.append(Paste(text, f"[Pasted text #{self.pastes} +{lines} lines]"))

    def backspace(self) -> None:
        """Take back one character with all that is joined to it, or one long paste."""
        while self.parts:
            last = self.parts.pop()
            if isinstance(last, Paste) or not is_joined(last):
                return

    def continues(self) -> bool:
        r"""Whether it ends with a typed ``\``; if so that is taken out, for Enter makes it a new line."""
        if self.parts and self.parts[-1] == "\\":
            self.parts.pop()
            return True
        return False

    def text(self) -> str:
        return "".join(part if isinstance(part, str) else part.text for part in self.parts)

    def shown(self) -> str:
        return "".join(part if isinstance(part, str) else part.label for part in self.parts)

    def clear(self) -> None:
        self.parts.clear()


class Echo:
    """What the composer shows: each text it was told, from the moment that text is due."""

    def __init__(self) -> None:
        self._coming: list[tuple[float, str]] = []
        self._shown = ""

    def show(self, text: str, due: float) -> None:
        """Show ``text`` from ``due`` on; what was to come later than that is stale."""
        self._coming = [entry for entry in self._coming if entry[0] < due]
        self._coming.append((due, text))

    def text(self, now: float) -> str:
        while self._coming and self._coming[0][0] <= now:
            self._shown = self._coming.pop(0)[1]
        return self._shown

    def due(self) -> float | None:
        return self._coming[0][0] if self._coming else None
