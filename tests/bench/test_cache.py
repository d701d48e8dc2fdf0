"""A hundred sessions in one editor: what its main loop pays, and what answers from the cache without Python."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bench.stopwatch import Stopwatch
from bench.table import Budget

if TYPE_CHECKING:
    from bench.table import Report
    from editor import Editor

SESSIONS, LOOKS, CALLS = 100, 500, 60
AT_ONCE = 20  # opened together: each waits for those before it, for at most 10 s
OPEN = """
    opened, failure = 0, nil
    for number = select(1, ...), select(2, ...) do
      local spec = { name = ('session %03d'):format(number), cmd = { 'sleep', '1000' } }
      require('covey').open(spec, function(err) opened, failure = opened + 1, failure or err end)
    end
"""
READS = {
    "list()": "require('covey').list()",
    "get(name)": "require('covey').get('session 050')",
    "names()": "require('covey').names()",
    "counts()": "require('covey').counts()",
    "statusline()": "require('covey').statusline()",
    ":Covey preview <Tab>": "vim.fn.getcompletion('Covey preview ses', 'cmdline')",
}
# The floor of them all: an answer that is there; of completion: Neovim's own with a list that is there.
FLOORS = {
    "list()": "ready()",
    ":Covey preview <Tab>": "vim.fn.getcompletion('Bare session ses', 'cmdline')",
}
BARE = """
    local names = require('covey').names()
    function ready() return names end
    vim.api.nvim_create_user_command('Bare', ready, { nargs = '*', complete = function(lead)
      return vim.tbl_filter(function(name) return vim.startswith(name, lead) end, names)
    end })
"""
TIME = """
    local read, number = load('return ' .. select(1, ...)), select(2, ...)
    local times = {}
    for index = 1, number do
      local began = vim.uv.hrtime()
      read()
      times[index] = (vim.uv.hrtime() - began) / 1e3
    end
    return times
"""
WORK = """
    answers, asked = 0, 0
    local covey, rounds = require('covey'), ...
    local function heard() answers = answers + 1 end
    local function ask(fn, opts) asked = asked + 1; fn(opts, heard) end
    -- the floor: a little Lua of a like length, at the same moments
    local bare = watch.timed('bare', function(names) table.sort(names, function(a, b) return a > b end) end)
    local function round(number)
      local name = ('session %03d'):format(number)
      ask(covey.list, {})
      ask(covey.keep, { name = name, on = number % 2 == 0 })
      ask(covey.explain, { name = name })
      ask(covey.capture, { name = name })
      ask(covey.send, { name = name, text = ('a line of text %d\\n'):format(number):rep(20) })
      ask(function(_, cb) require('covey.rpc').call('snapshot', {}, cb) end)
      bare(vim.list_extend({}, covey.names()))
      if number < rounds then
        vim.defer_fn(function() round(number + 1) end, 30)
      else
        over = true
      end
    end
    over = false
    round(1)
"""
# What a message to Python costs at the least: the same to a process that reads and forgets.
SINK = """
    local sink = vim.fn.jobstart({ 'sh', '-c', 'exec cat > /dev/null' }, { rpc = true })
    local times = {}
    for index = 1, ... do
      local params = { name = 'session 050', text = ('a line of text\\n'):rep(20), act = tostring(index) }
      local began = vim.uv.hrtime()
      vim.rpcnotify(sink, 'covey.call', index, 'send', params)
      times[index] = (vim.uv.hrtime() - began) / 1e6
    end
    vim.fn.jobstop(sink)
    return times
"""


@pytest.fixture
def crowd(nvim: Editor) -> Editor:
    """An editor with a hundred living sessions."""
    for first in range(1, SESSIONS, AT_ONCE):
        nvim.lua(OPEN, first, first + AT_ONCE - 1)
        nvim.wait(f"opened == {AT_ONCE}", timeout=60)
        assert nvim.lua("return failure") is None
    nvim.wait(f"#(require('covey').list() or {{}}) == {SESSIONS}")
    return nvim


def test_a_crowd(crowd: Editor, report: Report) -> None:
    watch = Stopwatch(crowd)
    reads(crowd, watch, report)
    calls(crowd, watch, report)


def reads(crowd: Editor, watch: Stopwatch, report: Report) -> None:
    crowd.lua(BARE)
    before = watch.counted()
    times = {name: crowd.lua(TIME, code, LOOKS) for name, code in READS.items()}
    told, started = (after - then for after, then in zip(watch.counted(), before, strict=True))
    bare = {name: crowd.lua(TIME, code, LOOKS) for name, code in FLOORS.items()}
    for name, samples in times.items():
        floor = bare.get(name) or bare["list()"]
        report.add(f"{name} at {SESSIONS} sessions", "µs", samples, floor=floor, budget=Budget(most=200))
    report.add(f"messages to Python in {LOOKS * len(READS)} of these", "", [told], budget=Budget("", most=0))
    report.add(f"processes started in {LOOKS * len(READS)} of these", "", [started], budget=Budget("", most=0))


def calls(crowd: Editor, watch: Stopwatch, report: Report) -> None:
    for what in ("call", "resolve", "event", "receipt", "fleet", "later"):
        watch.take(what)
    watch.begin()
    crowd.lua(WORK, CALLS)
    crowd.wait("over and answers == asked", timeout=60)
    turns = watch.turns()
    sink = crowd.lua(SINK, LOOKS)
    bare, budget = watch.take("bare"), Budget("p99", most=1)
    report.add("editor blocked: a call", "ms", watch.take("call"), floor=sink, budget=budget)
    report.add(
        f"editor blocked: an answer, {SESSIONS} sessions", "ms", watch.take("resolve"), floor=bare, budget=budget
    )
    report.add(
        f"editor blocked: news of one of {SESSIONS} sessions", "ms", watch.take("event"), floor=bare, budget=budget
    )
    report.add(f"editor blocked: news of all {SESSIONS} sessions", "ms", watch.take("fleet"), floor=bare, budget=budget)
    report.add("editor blocked: a receipt", "ms", watch.take("receipt"), floor=bare, budget=budget)
    report.add("editor blocked: what these put off", "ms", watch.take("later"), floor=bare, budget=budget)
    report.add("editor: whole turns of the main loop meanwhile", "ms", turns)
