"""An agent that dies: when the editor hears of it."""

from __future__ import annotations

import os
import signal
import time
from functools import partial
from typing import TYPE_CHECKING

from bench.cost import until_dead
from bench.table import Budget

if TYPE_CHECKING:
    from bench.table import Report
    from editor import Editor

DEATHS = 40
OPEN = """
    opened, failure, heard = 0, nil, {}
    vim.api.nvim_create_autocmd('User', { pattern = 'CoveyExited', callback = function(event)
      local seconds, micros = vim.uv.gettimeofday()
      heard[event.data.name] = seconds * 1000000000 + micros * 1000
    end })
    for number = 1, ... do
      require('covey').open({ name = 'dies ' .. number, cmd = { 'sleep', '1000' } }, function(err)
        opened, failure = opened + 1, failure or err
      end)
    end
"""


def test_exit_seen(nvim: Editor, report: Report) -> None:
    nvim.lua(OPEN, DEATHS)
    nvim.wait(f"opened == {DEATHS}", timeout=60)
    nvim.wait(f"#(require('covey').list() or {{}}) == {DEATHS}")
    seen, kernel = [], []
    for number in range(1, DEATHS + 1):
        name = f"dies {number}"
        pid = nvim.lua("return require('covey').get(...).pid", name)
        began = time.time_ns()
        kernel.append(until_dead(pid, partial(os.kill, pid, signal.SIGKILL)))
        nvim.wait(f"heard['{name}']")
        seen.append((nvim.lua("return heard[...]", name) - began) / 1e6)
    budget = Budget(most=50)
    report.add("exit seen: SIGKILL → User CoveyExited", "ms", seen, floor=kernel, budget=budget)
