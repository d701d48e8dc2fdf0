"""Many agents: what they cost at rest and at work, and how the editor leaves them."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import psutil
import pytest

from bench.cost import Births, Meter, resident, until_dead
from bench.table import Budget
from covey import paths
from waiting import eventually
from world import is_alive, tmux

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.table import Report
    from editor import Editor
    from world import World

SESSIONS = 50
REST = 12.0  # seconds: longer than the helper's own safety look at all sessions
QUIET = 3.0  # seconds after which agents that became idle are at rest
SWEEP = 12.0  # seconds a host may take after its editor
FEW = 3
BUSY = 40
AT_ONCE = 25  # opened together: each waits for those before it, for at most 10 s
OPEN = """
    opened, failure = 0, nil
    local first, last, spec = ...
    for index = first, last do
      local one = vim.tbl_extend('force', spec, { name = ('rest %02d'):format(index), on_exit = 'reap' })
      require('covey').open(one, function(err) opened, failure = opened + 1, failure or err end)
    end
"""
WORK = """
    for _, each in ipairs(require('covey').list()) do require('covey').send({ name = each.name, text = 'work 90' }) end
"""
STANDIN = {"agent": "standin"}
SLEEP = {"cmd": ["sleep", "1000"]}


def opened(nvim: Editor, number: int, spec: dict[str, object]) -> float:
    """Open that many, some at once; the seconds until the last one was."""
    began = time.monotonic()
    for first in range(1, number + 1, AT_ONCE):
        last = min(number, first + AT_ONCE - 1)
        nvim.lua(OPEN, first, last, spec)
        nvim.wait(f"opened == {last - first + 1}", timeout=60)
        assert nvim.lua("return failure") is None
    return time.monotonic() - began


def host(nvim: Editor) -> psutil.Process:
    (found,) = [p for p in psutil.Process(nvim.pid).children() if any("covey_rplugin" in word for word in p.cmdline())]
    return found


def server() -> int:
    return int(tmux(paths.socket_path(), "display-message", "-p", "#{pid}"))


def test_fifty_at_rest(nvim: Editor, start_nvim: Callable[[], Editor], report: Report) -> None:
    took = opened(nvim, SESSIONS, STANDIN)
    report.add(f"{SESSIONS} stand-ins opened, {AT_ONCE} at once: each", "ms", [1000 * took / SESSIONS])
    nvim.wait(f"(require('covey').counts().idle or 0) == {SESSIONS}", timeout=60)
    time.sleep(QUIET)
    helper = host(nvim)
    pids = {"host": helper.pid, "tmux server": server(), "nvim": nvim.pid}
    births, meter = Births(*pids.values()), Meter(pids)
    time.sleep(REST)
    shares, born = meter.shares(), births.seen()
    report.add(f"{SESSIONS} at rest for {REST:g} s: processes started", "", [born], budget=Budget("", most=0))
    report.add(
        "  host and tmux server", "% core", [shares["host"] + shares["tmux server"]], budget=Budget("", most=0.5)
    )
    for name, share in shares.items():
        report.add(f"  {name}", "% core", [share])
    report.add("  memory of the host", "MiB", [resident(helper.pid)], budget=Budget("", most=60))
    leave(nvim, report, f"{SESSIONS} stand-ins", [quit_took(start_nvim()) for _ in range(FEW)])


def test_forty_at_work(nvim: Editor, report: Report) -> None:
    opened(nvim, BUSY, STANDIN)
    nvim.wait(f"(require('covey').counts().idle or 0) == {BUSY}", timeout=60)
    nvim.lua(WORK)
    nvim.wait(f"(require('covey').counts().working or 0) == {BUSY}", timeout=60)
    pids = {"host": host(nvim).pid, "tmux server": server()}
    meter = Meter(pids)
    time.sleep(REST)
    shares = meter.shares()
    report.add(f"{BUSY} at work for {REST:g} s: host", "% core", [shares["host"]], budget=Budget("", most=15))
    report.add("  tmux server", "% core", [shares["tmux server"]])
    assert nvim.lua("return require('covey').counts().working") == BUSY


def test_leaving_fifty_that_sleep(start_nvim: Callable[[], Editor], report: Report) -> None:
    nvim = start_nvim()
    took = opened(nvim, SESSIONS, SLEEP)
    report.add(f"{SESSIONS} × sleep opened, {AT_ONCE} at once: each", "ms", [1000 * took / SESSIONS])
    leave(nvim, report, f"{SESSIONS} × sleep", [quit_took(start_nvim()) for _ in range(FEW)])


def leave(nvim: Editor, report: Report, what: str, bare: list[float]) -> None:
    """Leave with everything to reap: when the editor is gone, and when its agents are."""
    helper = host(nvim)
    pids = nvim.lua("return vim.tbl_map(function(each) return each.pid end, require('covey').list())")
    agents = [psutil.Process(pid) for pid in pids]
    assert len(agents) == SESSIONS
    began = time.monotonic()
    took = quit_took(nvim)
    eventually(lambda: not is_alive(helper), SWEEP, "the host ended")
    swept = time.monotonic() - began
    left = sum(is_alive(each) for each in agents)
    report.add(f":qa with {what} to reap: editor gone", "ms", [took], floor=bare, budget=Budget("", most=300))
    report.add("  host gone", "s", [swept], budget=Budget("", most=10))
    report.add("  agents left", "", [left], budget=Budget("", most=0))


def quit_took(nvim: Editor) -> float:
    """Milliseconds from the command to the end of the process."""
    took = until_dead(nvim.pid, lambda: nvim.vim.command("qa", async_=True))
    nvim.gone()
    return took


@pytest.mark.parametrize("hung", ["host", "tmux server"])
def test_leaving_when_one_hangs(start_nvim: Callable[[], Editor], world: World, report: Report, hung: str) -> None:
    nvim = start_nvim()
    opened(nvim, FEW, SLEEP)
    stopped = host(nvim) if hung == "host" else psutil.Process(server())
    stopped.suspend()
    try:
        took = quit_took(nvim)
    finally:
        stopped.resume()
    bare = [quit_took(start_nvim()) for _ in range(FEW)]
    report.add(f":qa with a hung {hung}: editor gone", "ms", [took], floor=bare, budget=Budget("", most=1600))
