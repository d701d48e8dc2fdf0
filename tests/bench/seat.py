"""A person's nvim: in a terminal, with its screen drawn, driven over its socket as well."""

from __future__ import annotations

import contextlib
import sys
from typing import TYPE_CHECKING, Any

from editor import connected, executable
from waiting import PATIENCE, eventually
from world import ROOT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from terminal import Terminal
    from world import World

COLS, ROWS = 200, 60


class Seat:
    """``nvim --clean -n`` on a screen of 200×60 with covey on its runtimepath; ``pid`` is what does the work."""

    def __init__(self, world: World, terminal: Terminal, args: Sequence[str] = ()) -> None:
        self._socket = world.run / "seat.sock"
        self._terminal = terminal
        argv = [executable(world), "--clean", "-n", "--listen", str(self._socket)]
        argv += ["--cmd", f"let g:python3_host_prog = '{sys.executable}'"]
        argv += ["--cmd", f"let &runtimepath = '{ROOT},' .. &runtimepath"]
        terminal.start([*argv, *args], cols=COLS, rows=ROWS, env={"PATH": world.env["PATH"]})
        self.vim = eventually(lambda: connected(self._socket), message="nvim listens")
        self.pid: int = self.lua("return vim.fn.getpid()")

    def lua(self, code: str, *args: Any) -> Any:
        return self.vim.exec_lua(code, *args)

    def wait(self, condition: str, timeout: float = PATIENCE) -> None:
        """Until a Lua expression is true."""
        eventually(lambda: self.lua(f"return {condition}"), timeout, condition)

    def quit(self) -> None:
        """Leave, and see the terminal's program end."""
        with contextlib.suppress(OSError, EOFError):
            self.vim.command("qall!")
        eventually(lambda: not self._terminal.running(), message="nvim left")
        self.vim.close()
