"""A person's terminal for one test: keys in, a screen out. It is a private tmux server that covey knows nothing of."""

from __future__ import annotations

import re
import shutil
import subprocess
from typing import TYPE_CHECKING

from waiting import PATIENCE, eventually

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from world import World

CHUNK = 4000  # characters; a tmux command line may have about 16 KB
SETTINGS = """
set -g status off
set -g remain-on-exit on
set -s escape-time 0
set -s focus-events on
set -g default-terminal tmux-256color
set -g history-limit 5000
"""


class Terminal:
    """One window on one program. The program sees a plain colour terminal: no ``TMUX`` in its environment."""

    def __init__(self, world: World) -> None:
        self._world = world
        number = len(list(world.run.glob("person*.conf")))
        self._settings = world.run / f"person{number}.conf"
        self._settings.write_text(SETTINGS)
        self.socket: Path = world.run / f"person{number}.sock"

    def start(
        self, argv: Sequence[str], cols: int = 120, rows: int = 40, env: Mapping[str, str] | None = None
    ) -> Terminal:
        """Run a program in the world's environment; answers once it runs."""
        clean = ["env", "-u", "TMUX", "-u", "TMUX_PANE", "COLORTERM=truecolor"]
        given = [f"{name}={value}" for name, value in (env or {}).items()]
        size = ["-x", str(cols), "-y", str(rows)]
        self.tmux("new-session", "-d", "-s", "person", *size, "-c", str(self._world.home), "--", *clean, *given, *argv)
        return self

    def tmux(self, *words: str) -> str:
        """What a command of the person's tmux prints; an AssertionError with its words where it fails."""
        program = shutil.which("tmux")
        assert program, "no tmux on PATH: run `make setup`"
        argv = [program, "-u", "-S", str(self.socket), "-f", str(self._settings), *words]
        done = subprocess.run(argv, env=self._world.env, capture_output=True, text=True, timeout=PATIENCE, check=False)
        assert done.returncode == 0, f"{words[0]}: {done.stderr.strip()}"
        return done.stdout

    def keys(self, *keys: str) -> None:
        """Press keys by tmux's names: ``Enter``, ``Escape``, ``C-c``, ``M-x``, ``Up`` …"""
        self.tmux("send-keys", "-t", "person:", *keys)

    def type(self, text: str) -> None:
        """Type text as it stands, with no meaning to any of its characters."""
        for start in range(0, len(text), CHUNK):
            chunk = text[start : start + CHUNK]
            # tmux takes a trailing semicolon for the end of its command
            literal = chunk[:-1] + "\\;" if chunk.endswith(";") else chunk
            self.tmux("send-keys", "-l", "-t", "person:", "--", literal)

    def screen(self) -> str:
        """What is shown, as text, one line a row, right-stripped."""
        return self.tmux("capture-pane", "-p", "-t", "person:")

    def ansi(self) -> str:
        """What is shown, with its colours as SGR sequences."""
        return self.tmux("capture-pane", "-p", "-e", "-t", "person:")

    def wait_for(self, pattern: str, timeout: float = PATIENCE) -> re.Match[str]:
        """The first match of a regular expression (MULTILINE) on the screen."""
        wanted = re.compile(pattern, re.MULTILINE)
        return eventually(lambda: wanted.search(self.screen()), timeout, lambda: f"{pattern!r} on\n{self.screen()}")

    def resize(self, cols: int, rows: int) -> None:
        self.tmux("resize-window", "-t", "person:", "-x", str(cols), "-y", str(rows))

    @property
    def pid(self) -> int:
        """The program's process (``env`` has become it)."""
        return int(self.tmux("display-message", "-p", "-t", "person:", "#{pane_pid}"))

    def running(self) -> bool:
        return self.tmux("display-message", "-p", "-t", "person:", "#{pane_dead}").strip() == "0"

    def kill(self) -> None:
        """Close the terminal: the program gets SIGHUP. Nothing happens where it is closed already."""
        subprocess.run(
            ["tmux", "-S", str(self.socket), "kill-server"], capture_output=True, timeout=PATIENCE, check=False
        )
