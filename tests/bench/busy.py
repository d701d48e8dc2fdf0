"""Ten busy minutes in one editor, by hand: ``PYTHONPATH=tests .venv/bin/python tests/bench/busy.py [MINUTES]``.

Thirty stand-ins work and seventy quiet programs stand beside them. The board is open with its preview; a preview of a
flood comes and goes; and 25 times a second something is asked of covey, each verb in its turn. What is told at the end
are milliseconds for which the editor's main loop was held: by each call, by each answer and each frame that came, and
by whole turns of the loop, with all that Neovim itself does in them. Three things are timed at the same moments,
whose tails are the machine's and not covey's: ``bare``, a little Lua of a like length; ``bare names``, completion from
a list that is there; and ``bare message``, the same message to a process that forgets it (who wakes another process may
have to make room for it).
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import Any

from bench.seat import Seat
from bench.stopwatch import Stopwatch
from bench.table import quantile
from terminal import Terminal
from world import World

MINUTES = 10
WORKERS, QUIET = 30, 70
AT_ONCE = 10  # opened together
PANE = str(Path(__file__).with_name("pane.py"))
CALL, FRAME, CACHED = 1.0, 8.0, 0.2  # ms: what each may take, at its 99th percentile
OPEN = """
    opened, failure = 0, nil
    for _, spec in ipairs(...) do
      require('covey').open(spec, function(err) opened, failure = opened + 1, failure or err end)
    end
"""
WORK = """
    local covey, number = require('covey'), 0
    local preview = require('covey.ui.preview')
    local shown
    local function name() return ('worker %02d'):format(number % 30) end
    local function ignore() end
    local steps = {
      { 'list()', function() covey.list() end },
      { 'statusline()', function() covey.statusline() end },
      { 'counts()', function() covey.counts() end },
      { 'completion', function() vim.fn.getcompletion('Covey send wor', 'cmdline') end },
      { 'send', function() covey.send({ name = name(), text = 'echo ' .. number }, ignore) end },
      { 'preview', function()
        if shown and shown.float:valid() then
          preview.close(shown)
        else
          shown = preview.open(covey.get('flood'))
        end
      end },
      { 'keep', function() covey.keep({ name = name(), on = number % 2 == 0 }, ignore) end },
      { 'explain', function() covey.explain({ name = name() }, ignore) end },
      { 'capture', function() covey.capture({ name = name() }, ignore) end },
      { 'list', function() covey.list({}, ignore) end },
      { 'log', function() covey.log({ name = name() }, ignore) end },
      { 'queue', function() covey.queue({ name = name() }, ignore) end },
      { 'bare names', (function()
        local names = covey.names()
        local function complete() return names end
        vim.api.nvim_create_user_command('Bare', complete, { nargs = '*', complete = complete })
        return function() vim.fn.getcompletion('Bare send wor', 'cmdline') end
      end)() },
      { 'bare message', (function()
        local sink = vim.fn.jobstart({ 'sh', '-c', 'cat > /dev/null; :' }, { rpc = true })
        return function() vim.rpcnotify(sink, 'covey.call', number, 'send', { name = name(), text = 'echo' }) end
      end)() },
      { 'bare', (function()
        local names = covey.names()
        return function() table.sort(vim.list_extend({}, names), function(a, b) return a > b end) end
      end)() },
    }
    kinds = vim.tbl_map(function(step) return step[1] end, steps)
    for _, step in ipairs(steps) do step[2] = watch.timed(step[1], step[2]) end
    local Canvas = require('covey.ui.canvas')
    local made = Canvas.new
    Canvas.new = function(...)
      local canvas = made(...)
      local paint = getmetatable(canvas).__index.paint
      canvas.paint = function(self, screen) watch.kind = 'painted'; paint(self, screen) end
      return canvas
    end
    ticker = vim.uv.new_timer()
    ticker:start(0, 40, vim.schedule_wrap(function()
      number = number + 1
      steps[number % #steps + 1][2]()
    end))
"""
PROMISES = {"list()": CACHED, "statusline()": CACHED, "counts()": CACHED, "completion": CACHED, "painted": FRAME}


def session(name: str, cmd: list[str], **more: Any) -> dict[str, Any]:
    return {"name": name, "cmd": cmd, "on_exit": "reap", **more}


def fleet() -> list[dict[str, Any]]:
    standin = [sys.executable, "-m", "covey.standin"]
    workers = [
        session(f"worker {n:02d}", standin, agent="standin", prompt="work 3600", cwd="/tmp") for n in range(WORKERS)
    ]
    quiet = [session(f"quiet {n:02d}", ["sleep", "7200"]) for n in range(QUIET)]
    return [*workers, session("flood", [sys.executable, PANE, "flood", "2000"]), *quiet]


def fill(seat: Seat) -> None:
    everyone = fleet()
    for first in range(0, len(everyone), AT_ONCE):
        some = everyone[first : first + AT_ONCE]
        seat.lua(OPEN, some)
        seat.wait(f"opened == {len(some)}", timeout=120)
        assert seat.lua("return failure") is None, seat.lua("return failure")
    seat.wait(f"(require('covey').counts().working or 0) >= {WORKERS}", timeout=120)


def row(what: str, wall: list[float], on_core: list[float]) -> str:
    """One line of the table. The promise is of what covey itself does: the 99th percentile on a core."""
    times = [quantile(samples, share) for samples in (wall, on_core or wall) for share in (0.5, 0.99, 1.0)]
    promised = PROMISES.get(what, CALL)
    verdict = f"p99 ≤ {promised:g}  {'ok' if times[4] <= promised else 'OVER'}"
    cells = "".join(f"{value:>9.3f}" for value in times)
    return f"{what:<14}{len(wall):>8}{cells}   {'' if what.startswith(('bare', 'turns')) else verdict}"


def busy(seat: Seat, minutes: float) -> list[str]:
    watch = Stopwatch(seat)
    seat.lua("require('covey').board({})")
    seat.lua(WORK)
    watch.begin()
    time.sleep(minutes * 60)
    seat.lua("ticker:stop()")
    turns = watch.turns()
    lines = [f"{'ms':<14}{'n':>8}" + "".join(f"{head:>9}" for head in ("p50", "p99", "max", "core p50", "p99", "max"))]
    for what in [
        *seat.lua("return kinds"),
        "call",
        "resolve",
        "event",
        "receipt",
        "fleet",
        "framed",
        "painted",
        "later",
    ]:
        samples = watch.take(what)
        lines += [row(what, samples, watch.take(f"{what} on core"))] if samples else [f"{what:<14}       0"]
    return [*lines, row("turns", turns, []), seat.lua("return vim.fn.execute('messages')")]


def main(minutes: float) -> None:
    world = World()
    os.environ.clear()
    os.environ.update(world.env)
    terminal = Terminal(world)
    try:
        seat = Seat(world, terminal)
        fill(seat)
        print("\n".join(busy(seat, minutes)), flush=True)
        seat.quit()
    finally:
        terminal.kill()
        print("\n".join(world.close()))


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else MINUTES)
