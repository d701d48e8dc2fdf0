"""A second pair of eyes: reads one pane every 10 ms, in a process of its own, and keeps what it showed and when.

``python witness.py SOCKET PANE`` writes a line of JSON for each new picture until it is ended.
"""

from __future__ import annotations

import asyncio
import json
import os
import socket
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from covey import state
from covey.errors import CoveyError
from covey.tmux import reading, screen
from covey.tmux.server import Server

if TYPE_CHECKING:
    from collections.abc import Iterator

    from covey.agents import Profile
    from covey.models import Verdict

PAUSE = 0.01  # seconds between two readings


@dataclass(frozen=True)
class Frame:
    """What the pane showed from ``at`` on (seconds since 1970), as the rules of its profile read it."""

    at: float
    verdict: Verdict


class Witness:
    """Started around a pane that lives; ``frames`` are what it saw until ``close``."""

    def __init__(self, server: Path, pane: str, file: Path) -> None:
        self._words = (sys.executable, __file__, str(server), pane)
        self._file = file
        self._process: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        search = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        with self._file.open("wb") as out:
            self._process = await asyncio.create_subprocess_exec(*self._words, env=search, stdout=out)

    async def close(self) -> None:
        if self._process and self._process.returncode is None:
            self._process.terminate()
            await self._process.wait()

    def frames(self, profile: Profile, *, started: bool) -> Iterator[Frame]:
        """All pictures in their order; ``started``: whether what they show is no greeting."""
        for row in self._file.read_text().splitlines():
            at, title, ansi, cols = json.loads(row)
            own = title not in ("", socket.gethostname())
            evidence = state.Evidence(screen.parse(ansi, cols), title, title_is_set=own, started=started)
            yield Frame(at, state.judge(evidence, profile))


async def watch(path: str, pane: str) -> None:
    server = Server("tmux", Path(path), Path("/dev/null"), os.environ, lambda _name, _rest: None)
    last = None
    while True:
        asked = time.time()
        seen = await reading.see(server, pane)
        if seen is None:
            return
        now = (seen[0].title, seen[1].ansi, seen[1].cols)
        if now != last:
            print(json.dumps([asked, *now]), flush=True)
        last = now
        await asyncio.sleep(max(0.0, PAUSE - (time.time() - asked)))


if __name__ == "__main__":
    try:
        asyncio.run(watch(*sys.argv[1:]))
    except CoveyError as error:
        sys.exit(error.message)
