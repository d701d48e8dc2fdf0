"""Bytes from the terminal -> what a person did. Knows nothing of time but what it is told."""

from __future__ import annotations

import codecs
import re
from typing import NamedTuple

ESCAPE_WAIT = 0.025  # seconds after which a lone ESC is the key, not the start of a sequence
PASTE_BEGIN, PASTE_END = b"\x1b[200~", b"\x1b[201~"
CONTROLS = {
    0x03: "c-c", 0x04: "c-d", 0x08: "backspace", 0x0A: "newline", 0x0D: "enter", 0x15: "c-u", 0x7F: "backspace",
}  # fmt: skip
SEQUENCES = {
    b"\x1b[A": "up", b"\x1bOA": "up", b"\x1b[B": "down", b"\x1bOB": "down", b"\x1b\r": "newline",
    PASTE_BEGIN: "paste-begin",
}  # fmt: skip
TEXT = re.compile(rb"[\t\x20-\x7e\x80-\xff]+")
SEQUENCE = re.compile(rb"\x1b(?:\[[\x20-\x3f]*[\x40-\x7e]|O[\x40-\x7e]|[^\[O\x1b])", re.DOTALL)
PARTIAL = re.compile(rb"\x1b(?:\[[\x20-\x3f]*|O)?\Z")


class Event(NamedTuple):
    """``key`` is ``text``, ``paste`` (both with ``text``), ``paste-begin`` or the name of a key."""

    key: str
    text: str = ""


class Decoder:
    """Keeps what is not whole yet between reads: a UTF-8 character, an escape sequence, a paste."""

    def __init__(self) -> None:
        self.rest = b""
        self.paste: bytearray | None = None
        self._fed_at = 0.0
        self._utf8 = codecs.getincrementaldecoder("utf-8")("surrogateescape")

    def feed(self, data: bytes, now: float) -> list[Event]:
        """Take what was read at ``now``; return what is whole, in order."""
        self._fed_at = now
        events: list[Event] = []
        data = self.rest + data
        self.rest = b""
        while data:
            data = self._pasted(data, events) if self.paste is not None else self._typed(data, events)
        return events

    def wait(self, now: float) -> float | None:
        """Seconds until ``expire`` would have something to say; None if it would not."""
        return max(0.0, self._fed_at + ESCAPE_WAIT - now) if self.rest and self.paste is None else None

    def expire(self, now: float) -> list[Event]:
        """After a silence a lone ESC is the Esc key; any other half sequence is dropped."""
        if self.wait(now) != 0.0:
            return []
        rest, self.rest = self.rest, b""
        return [Event("esc")] if rest == b"\x1b" else []

    def _typed(self, data: bytes, events: list[Event]) -> bytes:
        if match := TEXT.match(data):
            self._say(self._utf8.decode(match[0]), events)
            return data[match.end() :]
        self._say(self._utf8.decode(b"", final=True), events)
        if data[0] == 0x1B:  # noqa: PLR2004  # ESC
            return self._escape(data, events)
        if key := CONTROLS.get(data[0]):
            events.append(Event(key))
        return data[1:]

    def _escape(self, data: bytes, events: list[Event]) -> bytes:
        if PARTIAL.match(data):
            self.rest = data
            return b""
        match = SEQUENCE.match(data)
        if not match:  # ESC ESC: the first one is the key
            events.append(Event("esc"))
            return data[1:]
        if key := SEQUENCES.get(match[0]):
            events.append(Event(key))
        if key == "paste-begin":
            self.paste = bytearray()
        return data[match.end() :]

    def _pasted(self, data: bytes, events: list[Event]) -> bytes:
        assert self.paste is not None
        seam = max(0, len(self.paste) - len(PASTE_END))
        self.paste += data
        end = self.paste.find(PASTE_END, seam)
        if end < 0:
            return b""
        after = bytes(self.paste[end + len(PASTE_END) :])
        events.append(Event("paste", self.paste[:end].decode("utf-8", "surrogateescape")))
        self.paste = None
        return after

    @staticmethod
    def _say(text: str, events: list[Event]) -> None:
        if text:
            events.append(Event("text", text))
