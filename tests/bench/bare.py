"""Floors: what covey does, done by the fewest means there are."""

from __future__ import annotations

import subprocess
import threading
from typing import TYPE_CHECKING

from covey.tmux.control import line

if TYPE_CHECKING:
    from pathlib import Path


class Client:
    """One control-mode client of a tmux server, written to and drained, and nothing else."""

    def __init__(self, socket: Path) -> None:
        argv = ["tmux", "-S", str(socket), "-C", "attach-session", "-t", "=hub", "-f", "no-output,ignore-size"]
        self._process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._drain = threading.Thread(target=self._read, daemon=True)
        self._drain.start()

    def _read(self) -> None:
        while self._process.stdout.read1(1 << 16):
            pass

    def prompt(self, pane: str, text: str) -> None:
        """Paste a text and press Enter, without a look, a guard or a proof. Does not wait."""
        paste = ("paste-buffer", "-p", "-r", "-d", "-b", "bare", "-t", pane)
        typed = line(("set-buffer", "-b", "bare", text), paste, ("send-keys", "-t", pane, "Enter"))
        self._process.stdin.write(f"{typed}\n".encode())
        self._process.stdin.flush()

    def close(self) -> None:
        self._process.stdin.close()
        self._process.wait(5)
        self._drain.join(5)
        self._process.stdout.close()
