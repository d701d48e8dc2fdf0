"""The terminal: raw mode, reading, and a block at the bottom that is redrawn in place (no alternate screen)."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import termios
from types import FrameType, TracebackType
from typing import Any, Self

from covey.standin.picture import Picture

READ = 65536  # bytes
FALLBACK = (80, 24)  # where the terminal tells no size
BEGIN, END = "\x1b[?2004h", "\x1b[?2004l\x1b[?25h"


class Ended(BaseException):
    """SIGTERM or SIGHUP arrived, or the terminal is gone (``signum`` 0)."""

    def __init__(self, signum: int) -> None:
        self.signum = signum


class Terminal:
    """A context: inside it the terminal is raw, after it as it was, with the block gone and the transcript left."""

    def __init__(self, source: int = 0, target: int = 1) -> None:
        self._in, self._out = source, target
        self._saved = termios.tcgetattr(source)
        self._wake = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        self._block = Picture([], [], None)
        self._row = 0  # of the cursor, in the block
        self._column = 0
        self._title = ""
        self.size = FALLBACK

    def __enter__(self) -> Self:
        signal.set_wakeup_fd(self._wake[1], warn_on_full_buffer=False)
        signal.signal(signal.SIGWINCH, lambda _signum, _frame: None)
        for signum in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(signum, _end)
        termios.tcsetattr(self._in, termios.TCSANOW, _raw(self._saved))
        self._write(BEGIN)
        self._measure()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for signum in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(signum, signal.SIG_DFL)
        with contextlib.suppress(Ended, termios.error):
            self._write(f"{self._home()}\x1b[J{END}" + ("\x1b]2;\x07" if self._title else ""))
            termios.tcsetattr(self._in, termios.TCSANOW, self._saved)

    def read(self, seconds: float | None) -> bytes:
        """What was typed; b"" after that many seconds or when the size changed. Raises Ended at its end."""
        ready, _, _ = select.select([self._in, self._wake[0]], [], [], seconds)
        if self._wake[0] in ready:
            os.read(self._wake[0], READ)
            self._resized()
        if self._in not in ready:
            return b""
        with contextlib.suppress(OSError):
            if data := os.read(self._in, READ):
                return data
        raise Ended(0)

    def draw(self, output: bytes, block: Picture, title: str) -> None:
        """Put ``output`` above the block, and the block and the title as given, in one write."""
        said = f"\x1b]2;{title}\x07" if title != self._title else ""
        if not output and not said and block == self._block:
            return
        above = (self._home() + "\x1b[J").encode() + output if output else self._home().encode()
        self._write(said.encode() + above + self._rows(block).encode())
        self._title = title

    def _rows(self, block: Picture) -> str:
        cols = self.size[0]
        drawn = [row if width >= cols else f"{row}\x1b[K" for row, width in zip(block.rows, block.widths, strict=True)]
        if len(block.rows) < len(self._block.rows):
            drawn[-1] = "\x1b[J" + drawn[-1]
        self._block = block
        self._row, self._column = block.cursor or (len(block.rows) - 1, 0)
        up = len(block.rows) - 1 - self._row
        place = (f"\x1b[{up}A" if up else "") + "\r" + (f"\x1b[{self._column}C" if self._column else "")
        return "\r\n".join(drawn) + place + ("\x1b[?25h" if block.cursor else "\x1b[?25l")

    def _home(self) -> str:
        """To the first cell of the block."""
        return (f"\x1b[{self._row}A" if self._row else "") + "\r"

    def _resized(self) -> None:
        """Terminals wrap rows that became too long: count the rows that the block has now and wipe them."""
        self._measure()
        cols = self.size[0]
        above = sum(max(1, -(-width // cols)) for width in self._block.widths[: self._row])
        self._row = above + self._column // cols
        self._write(f"{self._home()}\x1b[J")
        self._block, self._row, self._column = Picture([], [], None), 0, 0

    def _measure(self) -> None:
        with contextlib.suppress(OSError):
            size = os.get_terminal_size(self._out)
            self.size = (size.columns or FALLBACK[0], size.lines or FALLBACK[1])

    def _write(self, data: str | bytes) -> None:
        view = memoryview(data.encode() if isinstance(data, str) else data)
        try:
            while view:
                view = view[os.write(self._out, view) :]
        except OSError:  # EIO: nobody holds the other end any more
            raise Ended(0) from None


def _raw(saved: list[Any]) -> list[Any]:
    """Every byte as it comes, no echo, no signals; output still turns LF into CR LF, for what prompts print."""
    iflag, oflag, cflag, lflag, *rest = saved
    iflag &= ~(termios.ICRNL | termios.INLCR | termios.IGNCR | termios.IXON | termios.ISTRIP | termios.BRKINT)
    oflag |= termios.OPOST | termios.ONLCR
    lflag &= ~(termios.ICANON | termios.ECHO | termios.ISIG | termios.IEXTEN)
    return [iflag, oflag, cflag, lflag, *rest]


def _end(signum: int, _frame: FrameType | None) -> None:
    raise Ended(signum)
