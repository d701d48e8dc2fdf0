"""A preview on a drawn screen: how late it is, how much it shows of a flood, and what that costs."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil
import pytest

from bench.cost import Meter
from bench.seat import Seat
from bench.stopwatch import Stopwatch
from bench.table import Budget
from covey import paths

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bench.table import Report
    from terminal import Terminal
    from world import World

PANE = str(Path(__file__).with_name("pane.py"))
TICK = 0.07  # seconds between two lines of a quiet program
CHANGES = 70  # of them, looked at
FLOOD_TIME = 4.0  # seconds that a flood is watched
FAST, STEADY = 0, 2000  # lines a second; 0: as many as there can be
OPEN = """
    ready, failure = nil, nil
    require('covey').open(..., function(err, session) ready, failure = true, err end)
"""
PREVIEW = """
    view = require('covey.ui.preview').open(require('covey').get(...))
"""
# The moment a stamp is in a buffer, against the moment in it.
FOLLOW = """
    late = {}
    local seen = {}
    local function look(buf, first, last)
      for _, line in ipairs(vim.api.nvim_buf_get_lines(buf, first, last, false)) do
        local number, stamp = line:match('@(%d+) (%d+)@')
        if number and not seen[number] then
          seen[number] = true
          table.insert(late, (watch.now() - tonumber(stamp)) / 1e6)
        end
      end
    end
    local buf = ...
    look(buf, 0, -1)
    late = {}
    vim.api.nvim_buf_attach(buf, false, { on_lines = function(_, _, _, first, _, last) look(buf, first, last) end })
"""
PAINTS = """
    paints, screens = 0, {}
    local Canvas = getmetatable(view.canvas).__index
    local paint = Canvas.paint
    function Canvas.paint(self, screen)
      paints = paints + 1
      if #screens < 100 then table.insert(screens, screen) end
      paint(self, screen)
      watch.kind = 'painted'
    end
"""
# The floor of a frame: the same rows on a bare terminal buffer of the same size.
REPLAY = """
    local win = vim.api.nvim_open_win(vim.api.nvim_create_buf(false, true), false, {
      relative = 'editor', row = 1, col = 1, width = view.canvas.cols, height = view.canvas.rows, style = 'minimal' })
    local channel = vim.api.nvim_open_term(vim.api.nvim_win_get_buf(win), {})
    times, over = {}, false
    local function step(index)
      local data = '\\27[H' .. screens[index].ansi:gsub('\\n', '\\27[K\\r\\n') .. '\\27[J'
      local began = vim.uv.hrtime()
      vim.api.nvim_chan_send(channel, data)
      table.insert(times, (vim.uv.hrtime() - began) / 1e6)
      if index < #screens then
        vim.defer_fn(function() step(index + 1) end, 25)
      else
        over = true
      end
    end
    step(1)
"""
TERMINAL = """
    vim.cmd('botright vnew')
    job = vim.fn.jobstart(..., { term = true })
    return vim.api.nvim_get_current_buf()
"""


@pytest.fixture
def seat(world: World, terminal: Terminal) -> Iterator[Seat]:
    here = Seat(world, terminal)
    yield here
    here.quit()


def session(seat: Seat, name: str, *words: str) -> dict[str, Any]:
    seat.lua(OPEN, {"name": name, "cmd": [sys.executable, PANE, *words], "on_exit": "reap"})
    seat.wait(f"ready and require('covey').get('{name}')")
    return seat.lua("return require('covey').get(...)", name)


def kill(seat: Seat, name: str) -> None:
    seat.lua("gone = nil; require('covey').kill({ name = ... }, function(err) gone, failure = true, err end)", name)
    seat.wait("gone", timeout=30)


def host(seat: Seat) -> psutil.Process:
    (found,) = [p for p in psutil.Process(seat.pid).children() if any("covey_rplugin" in word for word in p.cmdline())]
    return found


def tmux_attach(seat: Seat) -> list[str]:
    """Neovim's own terminal on the same pane."""
    seat.lua("argv = nil; require('covey.rpc').call('attach', { name = 'pane' }, function(_, r) argv = r.argv end)")
    seat.wait("argv")
    return [*seat.lua("return argv"), "-r", "-f", "ignore-size,read-only"]


def test_how_late_a_preview_is(seat: Seat, report: Report) -> None:
    Stopwatch(seat)
    session(seat, "pane", "tick", str(TICK))
    seat.lua(PREVIEW, "pane")
    seat.wait("view.canvas")
    seat.lua(FOLLOW + "\nfollowed = true", seat.lua("return view.canvas.buf"))
    seat.wait(f"#late >= {CHANGES}", timeout=60)
    mine = seat.lua("return late")
    seat.lua("require('covey.ui.preview').close(view)")
    buffer = seat.lua(TERMINAL, tmux_attach(seat))
    seat.wait(f"vim.fn.search('@') > 0 or vim.fn.getbufline({buffer}, 1, '$')[3]:find('@')")
    seat.lua(FOLLOW, buffer)
    seat.wait(f"#late >= {CHANGES}", timeout=60)
    floor = seat.lua("vim.fn.jobstop(job) return late")
    report.add("preview: change in pane → change in float", "ms", mine, floor=floor, budget=Budget(most=50))


@pytest.mark.parametrize("rate", [STEADY, FAST], ids=["steady", "fast"])
def test_a_flood(seat: Seat, report: Report, rate: int) -> None:
    watch = Stopwatch(seat)
    session(seat, "pane", "flood", str(rate))
    server = seat.lua("return vim.fn.system(...)", ["tmux", "-S", str(paths.socket_path()), "display", "-p", "#{pid}"])
    pids = {"host": host(seat).pid, "nvim": seat.pid, "tmux server": int(server)}
    mine = previewed(seat, watch, pids)
    bare = attached(seat, watch, pids)
    kill(seat, "pane")
    report.add(f"preview of {rate or 'all'} lines/s: frames", "1/s", [mine["count"]], budget=Budget("", least=30))
    both, floor = (spent["host"] + spent["nvim"] for spent in (mine, bare))
    report.add("  host and nvim", "% core", [both], floor=[floor], budget=Budget("", most=25))
    for name in pids:
        report.add(f"  {name}", "% core", [mine[name]], floor=[bare[name]])
    report.add("  editor blocked: a frame comes", "ms", mine["framed"], budget=Budget("p99", most=1))
    report.add(
        "  editor blocked: a frame painted", "ms", mine["painted"], floor=mine["replayed"], budget=Budget("p99", most=8)
    )
    report.add("  whole turns of the main loop", "ms", mine["turns"], floor=bare["turns"], budget=Budget("p99", most=8))


def previewed(seat: Seat, watch: Stopwatch, pids: dict[str, int]) -> dict[str, Any]:
    """A spell with a preview, then its frames once more, bare (``replayed``)."""
    seat.lua(PREVIEW, "pane")
    seat.wait("view.canvas")
    seat.lua(PAINTS)
    spent = spell(seat, watch, pids)
    spent |= {what: watch.take(what) for what in ("framed", "painted")}
    seat.lua("require('covey.ui.preview').close(view)")
    seat.lua(REPLAY)
    seat.wait("over", timeout=30)
    return {**spent, "replayed": seat.lua("return times")}


def attached(seat: Seat, watch: Stopwatch, pids: dict[str, int]) -> dict[str, Any]:
    """The floor: a spell with Neovim's own terminal on the pane, through tmux's own client."""
    seat.lua(TERMINAL, tmux_attach(seat))
    seat.wait("vim.fn.getline(1):find('word')")
    spent = spell(seat, watch, pids)
    seat.lua("vim.fn.jobstop(job)")
    return spent


def spell(seat: Seat, watch: Stopwatch, pids: dict[str, int]) -> dict[str, Any]:
    """What a few seconds cost: percent of a core each, turns of the main loop, and frames painted a second."""
    meter, first, began = Meter(pids), seat.lua("return paints or 0"), time.monotonic()
    watch.begin()
    time.sleep(FLOOD_TIME)
    turns, frames = watch.turns(), seat.lua("return paints or 0") - first
    return {**meter.shares(), "turns": turns, "count": frames / (time.monotonic() - began)}
