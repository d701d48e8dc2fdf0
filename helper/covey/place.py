"""Where a session's machine is reached: its tmux, its files, its processes.

``local`` is the only place there is; ssh and containers are to come through the same three.
"""

from __future__ import annotations

import contextlib
import os
import time
from dataclasses import dataclass
from pathlib import Path

from covey import ending, env, paths, process, terminal
from covey.errors import Unavailable
from covey.tmux.control import Notify
from covey.tmux.server import Server


@dataclass(frozen=True, slots=True)
class Files:
    """Private files that carry a prompt, or a start, to another process: 0600 in a 0700 directory of ours."""

    directory: Path

    def stage(self, name: str, data: bytes) -> Path:
        """A new file of that name, whole or not at all; one that exists, or a link laid there, is a FileExistsError."""
        path = self.directory / name
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
        except OSError as error:
            path.unlink(missing_ok=True)
            sentence = f"{path} cannot be written: {error.strerror}"
            raise Unavailable(sentence, paths.no_room(self.directory)) from error
        return path

    def read(self, name: str) -> bytes:
        return (self.directory / name).read_bytes()

    def remove(self, name: str) -> None:
        with contextlib.suppress(FileNotFoundError):
            (self.directory / name).unlink()

    def older_than(self, seconds: float) -> list[str]:
        """Names of the staged files that have lain there for so long."""
        before, found = time.time() - seconds, []
        for path in self.directory.iterdir():
            with contextlib.suppress(FileNotFoundError):
                found += [path.name] if path.lstat().st_mtime < before else []
        return sorted(found)

    def of(self, prefix: str) -> list[str]:
        """Names of the staged files that begin so."""
        return sorted(path.name for path in self.directory.iterdir() if path.name.startswith(prefix))


class Processes:
    """The processes of this machine: each by its rooms' own words."""

    identify = staticmethod(process.identify)
    alive = staticmethod(process.alive)
    environment = staticmethod(process.environment)
    snapshot = staticmethod(process.snapshot)
    canonical = staticmethod(terminal.canonical)
    unread = staticmethod(terminal.unread)
    nudge = staticmethod(process.nudge)
    end = staticmethod(ending.end)


@dataclass(frozen=True, slots=True)
class Place:
    """One machine: ``wire`` to its tmux, ``files`` on it, ``processes`` of it."""

    wire: Server
    files: Files
    processes: Processes


def local(notify: Notify, tmux: str = "tmux", socket: Path | None = None) -> Place:
    """This machine."""
    runtime = paths.runtime_dir()
    server = Server(tmux, socket or paths.socket_path(), runtime / "tmux.conf", env.base(os.environ), notify)
    return Place(server, Files(paths.spool_dir()), Processes())
