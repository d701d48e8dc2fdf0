"""A real nvim for one test, driven over its rpc socket. For tests without an event loop of their own."""

from __future__ import annotations

import contextlib
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pynvim

from waiting import PATIENCE, eventually
from world import ROOT, World

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

COLUMNS, LINES = 120, 40
LEAVING = 5.0  # seconds an nvim has to leave at the end of a test; one that waits for a key never does


class Editor:
    """``nvim --embed --headless --clean -n`` with covey on its runtimepath.

    ``vim`` is pynvim's object, ``process`` the Popen (nvim itself, so signals reach it). While the editor runs its
    standard input stays open: it cannot outlive the test run.
    """

    def __init__(self, world: World, args: Sequence[str] = (), env: Mapping[str, str] | None = None) -> None:
        number = len(list(world.run.glob("editor*.sock")))
        self.socket = world.run / f"editor{number}.sock"
        self._stderr = (world.state / f"editor{number}.stderr").open("w+b")
        self.process = subprocess.Popen(
            [executable(world), *self._arguments(), *args],
            env={**world.env, **(env or {})},
            cwd=world.home,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=self._stderr,
        )
        try:
            self.vim = self._connect()
        except BaseException:
            self._end()
            raise

    def _arguments(self) -> list[str]:
        return [
            *("--embed", "--headless", "--clean", "-n", "--listen", str(self.socket)),
            *("--cmd", f"set columns={COLUMNS} lines={LINES}"),
            *("--cmd", f"let g:python3_host_prog = '{sys.executable}'"),
            *("--cmd", f"let &runtimepath = '{_option(ROOT)},' .. &runtimepath"),
        ]

    def _connect(self) -> pynvim.Nvim:
        return eventually(self._try_connect, message=lambda: f"nvim listens; it said {self.stderr()!r}")

    def _try_connect(self) -> pynvim.Nvim | None:
        assert self.running(), f"nvim did not start: {self.stderr()}"
        return connected(self.socket)

    @property
    def pid(self) -> int:
        return self.process.pid

    def lua(self, code: str, *args: Any) -> Any:
        """What a chunk of Lua returns; ``args`` are its ``...``. An error in it is a ``pynvim.NvimError``."""
        return self.vim.exec_lua(code, *args)

    def cmd(self, command: str) -> str:
        """What one Ex command prints."""
        return self.vim.api.exec2(command, {"output": True})["output"]

    def eval(self, expression: str) -> Any:
        return self.vim.eval(expression)

    def keys(self, keys: str) -> None:
        """Type keys (``<CR>`` notation), as a person would."""
        self.vim.input(keys)

    def wait(self, condition: str | Callable[[], Any], timeout: float = PATIENCE) -> Any:
        """The first truthy value of a Lua expression or of a callable; nvim goes on between two looks."""
        if callable(condition):
            return eventually(condition, timeout)
        return eventually(lambda: self.lua(f"return {condition}"), timeout, lambda: f"{condition}\n{self.messages()}")

    def messages(self) -> str:
        return self.cmd("messages")

    def screen(self) -> str:
        """The grid as nvim has drawn it, one line a row, right-stripped."""
        code = """
            vim.cmd.redraw()
            local rows = {}
            for row = 1, vim.o.lines do
              local cells = {}
              for column = 1, vim.o.columns do cells[column] = vim.fn.screenstring(row, column) end
              rows[row] = (table.concat(cells):gsub('%s+$', ''))
            end
            return table.concat(rows, '\\n')
        """
        return self.lua(code)

    def stderr(self) -> str:
        """All that nvim wrote to its standard error until now."""
        return Path(self._stderr.name).read_text(errors="replace")

    def running(self) -> bool:
        return self.process.poll() is None

    def quit(self, command: str = "qall!", timeout: float = PATIENCE) -> int:
        """Leave as a person does, with an Ex command; the exit code. The process is gone afterwards."""
        if self.running():
            self.vim.command(command, async_=True)
        return self.gone(timeout)

    def gone(self, timeout: float = PATIENCE) -> int:
        """Wait until nvim has ended by itself or by a signal; its exit code."""
        return self.process.wait(timeout)

    def close(self) -> None:
        """Give back all this object holds; an nvim that still runs is told to leave, and killed if it does not."""
        with contextlib.suppress(OSError, EOFError, pynvim.NvimError, subprocess.TimeoutExpired):
            self.quit(timeout=LEAVING)
        self._end()
        self._hang_up()

    def _end(self) -> None:
        if self.running():
            self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self._stderr.close()

    def _hang_up(self) -> None:
        """Let pynvim see the end of the line: closed before that, it leaves its socket to the garbage collector."""
        with contextlib.suppress(OSError, EOFError):
            self.vim.api.get_mode()
        self.vim.close()


def connected(socket: Path) -> pynvim.Nvim | None:
    """The nvim that listens there; None while none does: the socket is there a moment before."""
    with contextlib.suppress(FileNotFoundError, ConnectionRefusedError):
        return pynvim.attach("socket", path=str(socket))
    return None


def executable(world: World) -> str:
    """The nvim that people of this world would start."""
    found = shutil.which("nvim", path=world.env["PATH"])
    assert found, "no nvim on PATH: run `make setup`"
    return found


def _option(path: Path) -> str:
    """A path as an item of a comma-separated option, inside a single-quoted Vim string."""
    return str(path).replace("\\", "\\\\").replace(",", "\\,").replace("'", "''")
