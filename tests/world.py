"""A world of its own for one test: a home, the XDG directories, sockets; and the proof that nothing outlives it."""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil

ROOT = Path(__file__).resolve().parents[1]  # the repository
FAREWELL = 30.0  # seconds a detached host may need for its sweep (its own watchdog is 10 s) on a busy machine
ANSWER = 15.0  # seconds a tmux server may take to answer
DYING = 15.0  # seconds for panes to go once their tmux server went
LOG_LINES = 40  # of each log, in the report of a failed test
PASSED_ON = ("LANG", "LC_ALL", "TZ", "USER", "LOGNAME", "CI", "COLUMNS", "LINES")


class World:
    """Directories and an environment that meet no other: ``env`` is for subprocesses, ``os.environ`` holds the same.

    All lies under one short root, for a socket's path may have about 100 bytes. ``root home state run config data
    cache tmp`` are Paths and exist.
    """

    def __init__(self) -> None:
        self.root = Path(tempfile.mkdtemp(prefix="cv", dir="/tmp")).resolve()
        self.home, self.state, self.run = self._dir("home"), self._dir("state"), self._dir("run")
        self.config, self.data, self.cache = self._dir("config"), self._dir("data"), self._dir("cache")
        self.tmp = self._dir("tmp")
        self.env = self._environment()

    def _dir(self, name: str) -> Path:
        path = self.root / name
        path.mkdir(mode=0o700)
        return path

    def _environment(self) -> dict[str, str]:
        passed = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
        return passed | {
            "HOME": str(self.home),
            "XDG_STATE_HOME": str(self.state),
            "XDG_RUNTIME_DIR": str(self.run),
            "XDG_CONFIG_HOME": str(self.config),
            "XDG_DATA_HOME": str(self.data),
            "XDG_CACHE_HOME": str(self.cache),
            "TMPDIR": str(self.tmp),
            "TMUX_TMPDIR": str(self.tmp),
            "NVIM_LOG_FILE": str(self.state / "nvim.log"),
            "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
            "LC_ALL": passed.get("LC_ALL", "C.UTF-8"),
            "TERM": "xterm-256color",
            "SHELL": "/bin/sh",
        }

    def processes(self) -> list[psutil.Process]:
        """Every living process that was started in this world: its environment or its arguments name the root."""
        return [one for one in psutil.process_iter() if one.pid != os.getpid() and self._is_ours(one)]

    def running(self, word: str) -> list[psutil.Process]:
        """Those with the word in one of their arguments; without what one of them is just about to start.

        Between fork and exec a child has the arguments of its parent.
        """
        found = [one for one in self.processes() if any(word in each for each in words(one))]
        return [one for one in found if parent(one) not in {each.pid for each in found}]

    def hosts(self) -> list[psutil.Process]:
        """The hosts of its editors."""
        return self.running("covey_rplugin")

    def _is_ours(self, process: psutil.Process) -> bool:
        root = str(self.root)
        try:
            return is_alive(process) and any(
                root in value for value in (*process.environ().values(), *process.cmdline())
            )
        except (psutil.Error, OSError):
            return False

    def sockets(self) -> list[Path]:
        """Every Unix socket in this world."""
        found = []
        for folder, _, names in os.walk(self.root):
            found += [path for name in names if _is_socket(path := Path(folder, name))]
        return found

    def logs(self) -> str:
        """The last lines of each log that programs wrote in this world, for the report of a failed test."""
        parts = []
        for path in sorted([*self.state.rglob("*.log"), *self.state.rglob("*.stderr")]):
            lines = path.read_text(errors="replace").splitlines()[-LOG_LINES:]
            parts += [f"--- {path}", *lines] if lines else []
        return "\n".join(parts)

    def close(self) -> list[str]:
        """End all that still runs here, remove the directories; the answer names what should not have run any more.

        A tmux server and what runs in its panes may be there at the end of a test: they are ended quietly. Any other
        process gets the time a host needs for its sweep, and is a leak after that.
        """
        leaks = _wait_gone(self._outside_tmux, FAREWELL)
        told = [describe(one) for one in leaks]
        for server in self._servers():
            self._end_server(server)
        told += [f"{describe(one)} (outlived its tmux server)" for one in _wait_gone(self._outside_leaks(leaks), DYING)]
        for one in self.processes():
            kill(one)
        shutil.rmtree(self.root, ignore_errors=True)
        return told

    def _servers(self) -> list[psutil.Process]:
        return [one for one in self.processes() if is_tmux_server(one)]

    def _outside_tmux(self) -> list[psutil.Process]:
        inside = set()
        for server in self._servers():
            inside |= {server, *_children(server)}
        return [one for one in self.processes() if one not in inside]

    def _outside_leaks(self, leaks: list[psutil.Process]):
        return lambda: [one for one in self.processes() if one not in leaks]

    def _end_server(self, server: psutil.Process) -> None:
        for socket in self.sockets():
            if _tmux_pid(socket) == server.pid:
                tmux(socket, "kill-server")
        if _wait_gone(lambda: [server] if is_alive(server) else [], DYING):
            kill(server)


def tmux(socket: Path, *words: str, check: bool = False) -> str:
    """What one tmux command says on a private socket; '' where it fails or does not answer in time."""
    argv = ["tmux", "-S", str(socket), *words]
    try:
        done = subprocess.run(argv, capture_output=True, text=True, timeout=ANSWER, check=check)
    except subprocess.TimeoutExpired:
        return ""
    return done.stdout.rstrip("\n") if done.returncode == 0 else ""


def describe(process: psutil.Process) -> str:
    """One line about a process, for a person who has to find out why it is there."""
    try:
        return f"{process.pid} (parent {process.ppid()}, {process.status()}): {' '.join(process.cmdline())}"
    except psutil.Error:
        return f"{process.pid} (gone)"


def _tmux_pid(socket: Path) -> int:
    answer = tmux(socket, "display-message", "-p", "#{pid}")
    return int(answer) if answer.isdigit() else -1


def _is_socket(path: Path) -> bool:
    try:
        return stat.S_ISSOCK(path.lstat().st_mode)
    except OSError:
        return False


def words(process: psutil.Process) -> list[str]:
    """Its arguments; none once it has ended."""
    try:
        return process.cmdline()
    except psutil.Error:
        return []


def command(process: psutil.Process) -> str:
    """The name of its program; '' once it has ended."""
    try:
        return process.name()
    except psutil.Error:
        return ""


def parent(process: psutil.Process) -> int:
    """The pid of its parent; 0 once it has ended."""
    try:
        return process.ppid()
    except psutil.Error:
        return 0


def is_tmux_server(process: psutil.Process) -> bool:
    """tmux calls its server process ``tmux: server`` where the system lets it."""
    return command(process).startswith("tmux: server")


def is_alive(process: psutil.Process) -> bool:
    """Running, and no zombie: that one only waits for its parent."""
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False


def _children(process: psutil.Process) -> list[psutil.Process]:
    try:
        return process.children(recursive=True)
    except psutil.Error:
        return []


def _wait_gone(look, timeout: float) -> list[psutil.Process]:
    deadline = time.monotonic() + timeout
    while (left := look()) and time.monotonic() < deadline:
        time.sleep(0.02)
    return left


def kill(process: psutil.Process) -> None:
    """Kill one process and see it gone; its exit status is left to its parent."""
    with contextlib.suppress(psutil.Error):
        process.kill()
    _wait_gone(lambda: [process] if is_alive(process) else [], DYING)
