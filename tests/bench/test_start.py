"""What covey adds to a start of Neovim, and how long a cold editor takes to run its first agent."""

from __future__ import annotations

import contextlib
import re
import statistics
import subprocess
import sys
from typing import TYPE_CHECKING

import psutil

from bench.table import Budget
from editor import Editor, executable
from waiting import eventually
from world import ROOT, World, is_alive

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from bench.table import Report

STARTS = 60  # of each kind, one and one in turn
COLD = 10  # editors, of each kind
PLUGIN = re.compile(r"^[\d.]+ +([\d.]+) +[\d.]+: sourcing .*/plugin/covey\.lua$", re.MULTILINE)
STARTED = re.compile(r"^([\d.]+) .*--- N?VIM STARTED ---$", re.MULTILINE)
# A host that runs no plugin of anybody's, up to its first answer; what covey's own must do before it can do more.
BARE_HOST = """
    local began = vim.uv.hrtime()
    local host = vim.fn.jobstart({ ..., '-c', 'import pynvim; pynvim.start_host()' }, { rpc = true })
    local spawned = vim.uv.hrtime()
    vim.rpcrequest(host, 'poll')
    local took = { (spawned - began) / 1e6, (vim.uv.hrtime() - began) / 1e6 }
    vim.fn.jobstop(host)
    return took
"""
# The agent is a shell that writes down when it runs.
FIRST = """
    local file, name = ...
    local seconds, micros = vim.uv.gettimeofday()
    local began = vim.uv.hrtime()
    local agent = { 'sh', '-c', 'date +%s%N > "$0"; exec sleep 1000', file }
    require('covey').open({ name = name, cmd = agent, on_exit = 'reap' }, function(err, session)
      failure, first = err, session
    end)
    return { seconds * 1000000000 + micros * 1000, (vim.uv.hrtime() - began) / 1e6 }
"""


def test_what_is_added_to_a_start(world: World, report: Report) -> None:
    runs = [(start(world, covey=False), start(world, covey=True)) for _ in range(STARTS)]
    without, with_covey = ([started_at(text) for text in kind] for kind in zip(*runs, strict=True))
    sourced = [float(PLUGIN.search(text)[1]) for _, text in runs]
    added = statistics.median(with_covey) - statistics.median(without)
    report.add("nvim starts, with covey on its runtimepath", "ms", with_covey, floor=without)
    report.add("added to nvim's start (medians)", "ms", [added], budget=Budget("", most=0.5))
    report.add("  of that, plugin/covey.lua", "ms", sourced, budget=Budget("p50", most=0.5))


def started_at(text: str) -> float:
    return float(STARTED.findall(text)[-1])


def start(world: World, *, covey: bool) -> str:
    """The log of ``--startuptime`` of one nvim that leaves at once."""
    log = world.tmp / "startup"
    log.unlink(missing_ok=True)
    path = ["--cmd", f"let &runtimepath = '{ROOT},' .. &runtimepath"] if covey else []
    argv = [executable(world), "--clean", "-n", "--headless", "--startuptime", str(log), *path, "+qall"]
    subprocess.run(argv, env=world.env, check=True, timeout=20, capture_output=True)
    return log.read_text()


def test_a_started_editor_runs_no_python(nvim: Editor, report: Report) -> None:
    nvim.wait("vim.v.vim_did_enter == 1")
    report.add(
        "processes under a started editor", "", [len(psutil.Process(nvim.pid).children())], budget=Budget("", most=0)
    )


def test_first_command(start_nvim: Callable[[], Editor], world: World, report: Report) -> None:
    floor, cold, warm = [], [], []
    with kept() as other:
        for number in range(COLD):
            floor.append(bare(start_nvim()))
            cold.append(first(start_nvim(), world.tmp / f"cold{number}"))
            warm.append(there(other, number))
    budget = Budget("p50", ratio=1.5)
    (spawned, answered), (blocked, ran), (_, ran_there) = (
        list(zip(*pairs, strict=True)) for pairs in (floor, cold, warm)
    )
    report.add("cold editor: first command → agent runs", "ms", ran_there, floor=answered, budget=budget)
    report.add("  the same where no tmux server runs yet", "ms", ran, floor=answered, budget=budget)
    report.add("editor blocked: the first call starts the host", "ms", blocked, floor=spawned)


@contextlib.contextmanager
def kept() -> Iterator[World]:
    """A second world, where an editor with a session stays, and with it the tmux server."""
    other = World()
    nvim = Editor(other)
    try:
        first(nvim, other.tmp / "keeper", leave=False)
        yield other
    finally:
        nvim.close()
        left = other.close()
    assert not left, left


def there(other: World, number: int) -> tuple[float, float]:
    """A first command in that world."""
    nvim = Editor(other)
    try:
        return first(nvim, other.tmp / f"warm{number}", name=f"first {number}")
    finally:
        nvim.close()


def bare(nvim: Editor) -> tuple[float, float]:
    """Milliseconds for which the start of a bare host blocks, and until it answers."""
    spawn, answered = nvim.lua(BARE_HOST, sys.executable)
    nvim.quit()
    return spawn, answered


def first(nvim: Editor, file: Path, *, leave: bool = True, name: str = "first") -> tuple[float, float]:
    """Milliseconds for which the first command blocked the editor, and until its agent ran."""
    began, held = nvim.lua(FIRST, str(file), name)
    eventually(
        lambda: file.exists() and file.read_text().strip(),
        message=lambda: f"the agent runs: {nvim.lua('return failure')} {nvim.messages()}",
    )
    took = (int(file.read_text()) - began) / 1e6
    nvim.wait("first or failure")
    assert nvim.lua("return failure") is None
    helpers = psutil.Process(nvim.pid).children()
    if leave:
        nvim.quit("qa")
        eventually(lambda: not any(map(is_alive, helpers)), message="the host ended")
    return held, took
