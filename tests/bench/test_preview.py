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
    from collections.abc import Callable, Iterator

    from bench.table import Report
    from terminal import Terminal
    from world import World

PANE = str(Path(__file__).with_name("pane.py"))
TICK = 0.07  # seconds between two lines of a quiet program
CHANGES = 100  # of them, looked at
FLOOD_TIME = 5.0  # seconds that a flood is watched
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
      return watch.timed('paint', paint)(self, screen)
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
    seat.lua(FOLLOW, buffer)
    seat.wait(f"#late >= {CHANGES}", timeout=60)
    floor = seat.lua("vim.fn.jobstop(job) return late")
    report.add("preview: change in pane → change in float", "ms", mine, floor=floor, budget=Budget(most=50))


@pytest.mark.parametrize("rate", [STEADY, FAST], ids=["steady", "fast"])
def test_a_flood(seat: Seat, report: Report, rate: int) -> None:
    watch = Stopwatch(seat)
    session(seat, "pane", "flood", str(rate))
    server = int(seat.lua("return vim.fn.system(...)", ["tmux", "-S", str(paths.socket_path()), "display", "-p", "#{pid}"]))
    pids = {"host": host(seat).pid, "nvim": seat.pid, "tmux": server}
    calm = spell(watch, lambda: 0, **pids)
    seat.lua(PREVIEW, "pane")
    seat.wait("view.canvas")
    seat.lua(PAINTS)
    busy = spell(watch, lambda: seat.lua("return paints"), **pids)
    paint, later, framed = watch.take("paint"), watch.take("later"), watch.take("framed")
    seat.lua("require('covey.ui.preview').close(view)")
    how = f"{rate} lines/s" if rate else "all a core gives"
    seat.lua(REPLAY)
    seat.wait("over", timeout=30)
    bare = seat.lua("return times")
    kill(seat, "pane")
    report.add(f"preview frame on the main loop, flood of {how}", "ms", [a + b for a, b in zip(framed, later, strict=False)], floor=bare, budget=Budget("p99", most=8))
    report.add(f"  of that, painting", "ms", paint, floor=bare)
    report.add(f"preview: frames, flood of {how}", "1/s", [busy["count"]], budget=Budget("p50", least=30))
    both = busy["host"] + busy["nvim"]
    report.add("  share of a core: host and nvim", "%", [both], floor=[calm["host"] + calm["nvim"]], budget=Budget("p50", most=25))
    for name in pids:
        report.add(f"  share of a core: {name}", "%", [busy[name]], floor=[calm[name]])
    report.add("  whole turns of the main loop", "ms", busy["turns"], floor=calm["turns"], budget=Budget("p99", most=8))


def spell(watch: Stopwatch, count: Callable[[], int], **pids: int) -> dict[str, Any]:
    """What a few seconds cost: shares of a core, turns of the main loop, and how much was counted a second."""
    meter, first, began = Meter(**pids), count(), time.monotonic()
    watch.begin()
    time.sleep(FLOOD_TIME)
    turns = watch.turns()
    return {**meter.shares(), "turns": turns, "count": (count() - first) / (time.monotonic() - began)}
