"""Editors, hosts and tmux servers struck at random moments of a busy run; afterwards everything must add up.

By hand: ``python tests/faults/chaos.py [--rounds 200] [--seed 1]`` prints what was struck and what did not add up.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import psutil

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from editor import Editor
from waiting import eventually
from world import World, describe, is_alive, is_tmux_server, tmux, words

if TYPE_CHECKING:
    from collections.abc import Iterator

PATIENCE = 45.0  # seconds within which all must have come to rest: a kill cut off midway is given up after 30 s
HELD = 0.4  # seconds for which what was stopped stays stopped, at most
NAMES = [f"s{number}" for number in range(8)]
TARGETS = ("editor", "host", "both", "server", "all")
STRIKES = [(number, target) for number in (signal.SIGKILL, signal.SIGSTOP) for target in TARGETS]
AGENTS = [
    {"cmd": ["sleep", "1000"]},
    {"cmd": ["sleep", "1000"], "on_exit": "reap"},
    {"cmd": ["sh", "-c", 'trap "" HUP; sleep 1000 & setsid sleep 1000 & wait'], "on_exit": "keep"},
    {"cmd": ["sh", "-c", 'trap "" HUP; sleep 1000 & wait'], "on_exit": "reap"},
    {"cmd": ["true"]},
    {"cmd": ["cat"]},
]
BUSY = """
local covey, names, agents, seed = require('covey'), ...
math.randomseed(seed)
local function any(list) return list[math.random(#list)] end
local function quiet() end
local acts = {
  function(name) covey.open(vim.tbl_extend('force', { name = name, cwd = vim.fn.getcwd() }, any(agents)), quiet) end,
  function(name) covey.open(vim.tbl_extend('force', { name = name, cwd = vim.fn.getcwd() }, any(agents)), quiet) end,
  function(name) covey.send({ name = name, text = 'echo ' .. math.random(1000) }, quiet) end,
  function(name) covey.respawn({ name = name, force = true }, quiet) end,
  function(name) covey.settle({ name = name }, quiet) end,
  function(name) covey.kill({ name = name }, quiet) end,
}
for _ = 1, 12 do pcall(any(acts), any(names)) end
"""


class Arena:
    """One fleet, and editors that come and go in it. ``faults`` is what did not add up."""

    def __init__(self, world: World, seed: int) -> None:
        self.world = world
        self.random = random.Random(seed)
        self.editors: list[Editor] = []
        self.struck: Counter[str] = Counter()
        self.faults: list[str] = []

    def round(self, strike: tuple[int, str]) -> None:
        """Busy, struck, at rest again, looked through."""
        number, target = strike
        editor = Editor(self.world)
        self.editors.append(editor)
        editor.lua("require('covey').warm()")
        editor.wait("require('covey').list() ~= nil", PATIENCE)
        editor.lua(BUSY, NAMES, AGENTS, self.random.randrange(10**6))
        time.sleep(self.random.uniform(0, 0.5))
        self._strike(number, self._victims(target, editor))
        self.struck[f"{signal.Signals(number).name} {target}"] += 1
        editor.close()
        self.editors.remove(editor)
        found = self._at_rest()
        self.faults += [f"{signal.Signals(number).name} {target}: {fault}" for fault in found]
        self._mend()

    def _victims(self, target: str, editor: Editor) -> list[psutil.Process]:
        kinds = {
            "editor": [psutil.Process(editor.pid)],
            "host": self.world.hosts(),
            "server": [one for one in self.world.processes() if is_tmux_server(one)],
        }
        wanted = {"both": ("editor", "host"), "all": ("editor", "host", "server")}.get(target, (target,))
        return [one for kind in wanted for one in kinds[kind]]

    def _strike(self, number: int, victims: list[psutil.Process]) -> None:
        for one in victims:
            with contextlib.suppress(psutil.Error):
                one.send_signal(number)
        if number == signal.SIGSTOP:
            time.sleep(self.random.uniform(0, HELD))
            for one in victims:
                with contextlib.suppress(psutil.Error):
                    one.resume()

    def _at_rest(self) -> list[str]:
        """What still does not add up when everything had the time to."""
        with contextlib.suppress(AssertionError):
            eventually(lambda: not self.world.hosts(), PATIENCE)
        self._next_editor()
        faults: list[str] = ["never looked"]

        def clear() -> bool:
            faults[:] = self.look()
            return not faults

        with contextlib.suppress(AssertionError):
            eventually(clear, PATIENCE)
        return faults

    def _next_editor(self) -> None:
        """The next covey on this machine does what a killed one could not."""
        editor = Editor(self.world)
        editor.lua("require('covey').warm()")
        editor.wait("require('covey').list() ~= nil", PATIENCE)
        editor.close()
        eventually(lambda: not self.world.hosts(), PATIENCE)

    def look(self) -> list[str]:
        """Sessions as listed against tmux, the processes, the store and the files."""
        sessions = {each["id"]: each for each in self.covey("list")}
        return [*self._names(sessions), *self._panes(sessions), *self._processes(sessions), *self._files(sessions)]

    def covey(self, *words: str) -> list[dict]:
        argv = [sys.executable, "-m", "covey.cli", *words, "--json"]
        done = subprocess.run(argv, env=self.world.env, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def _names(self, sessions: dict[str, dict]) -> Iterator[str]:
        for name, times in Counter(each["name"] for each in sessions.values()).items():
            if times > 1:
                yield f"{times} sessions are called {name}"
        for each in sessions.values():
            if each["owner"] is not None:
                yield f"{each['name']} ({each['on_exit']}, {each['state']}) still has an owner that is gone"
            if each["state"] == "unknown" and "stale" in each["flags"]:
                yield f"{each['name']} is unknown"

    def _panes(self, sessions: dict[str, dict]) -> Iterator[str]:
        socket = next(iter(self.world.run.glob("covey/*/s")), None) or next(iter(self.world.sockets()), None)
        rows = tmux(socket, "list-panes", "-a", "-F", "#{@covey_id} #{session_name}").split("\n") if socket else []
        ids = [row.split(" ")[0] for row in rows if "covey-" in row]
        here = {id_ for id_, each in sessions.items() if each["state"] != "lost"}
        for id_, times in Counter(ids).items():
            if times > 1 or id_ not in here:
                yield f"tmux has {times} × {id_ or 'an unmarked pane'}, the list has {sessions.get(id_)}"
        for id_ in here - set(ids):
            yield f"{id_} is listed as {sessions[id_]['state']} and has no pane"

    def _processes(self, sessions: dict[str, dict]) -> Iterator[str]:
        for one in self.world.processes():
            mark, argv = _mark(one), words(one)
            session = sessions.get(mark)
            if mark and session is None:
                yield f"orphan {one.pid} of a session that is no more: {argv}"
            elif not mark and "-C" in argv and not is_tmux_server(one):
                yield f"a control client was left: {describe(one)}"

    def _files(self, sessions: dict[str, dict]) -> Iterator[str]:
        for path in [
            *self.world.run.rglob("spool/*"),
            *self.world.state.rglob("lanes/*"),
            *self.world.run.rglob("lanes/*"),
        ]:
            stem = path.name.partition(".")[0]
            young = time.time() - path.lstat().st_mtime < 31  # somebody may be about to write down what it is for
            if stem not in {*sessions, "fleet"} and not (young and "spool" in path.parts):
                yield f"a file was left: {path.name}"
        database = next(iter(self.world.state.rglob("covey.db")))
        with contextlib.closing(sqlite3.connect(database)) as db:
            live = {row[0] for row in db.execute("SELECT id FROM sessions WHERE ended_at IS NULL")}
        for id_ in live ^ set(sessions):
            yield f"{id_} is {'only in the store' if id_ in live else 'not in the store'}"

    def _mend(self) -> None:
        """What was lost is offered and can be had again: half of it is restored, half of it killed."""
        for number, lost in enumerate(each for each in self.covey("list") if each["state"] == "lost"):
            self.covey("restore", lost["name"], "--yes") if number % 2 else self.covey("kill", lost["name"])

    def end(self) -> None:
        """Close the editors and end what is left of the fleet."""
        for editor in self.editors:
            editor.close()
        for each in self.covey("list"):
            self.covey("kill", each["name"])


def _mark(process: psutil.Process) -> str:
    try:
        return process.environ().get("COVEY_ID", "") if is_alive(process) else ""
    except (psutil.Error, OSError):
        return ""


def run(world: World, rounds: int, seed: int, *, talk: bool = False) -> Arena:
    """So many rounds; each kind of strike in turn."""
    arena = Arena(world, seed)
    for number in range(rounds):
        before = len(arena.faults)
        arena.round(STRIKES[number % len(STRIKES)])
        for fault in arena.faults[before:]:
            if talk:
                print(f"round {number}: {fault}", flush=True)
    return arena


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    world = World()
    for name in [name for name in os.environ if name not in world.env]:
        del os.environ[name]
    os.environ.update(world.env)
    began = time.monotonic()
    try:
        arena = run(world, asked.rounds, asked.seed, talk=True)
        arena.end()
    finally:
        left = world.close()
    for strike, times in sorted(arena.struck.items()):
        print(f"{strike:<20} {times:4}")
    print(f"{len(arena.faults)} faults in {sum(arena.struck.values())} strikes, {time.monotonic() - began:.0f} s")
    print(f"left running at the end: {left or 'nothing'}")


if __name__ == "__main__":
    main()
