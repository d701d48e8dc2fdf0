"""Times taken inside a real nvim: of covey's Lua, and of whole turns of the main loop."""

from __future__ import annotations

from typing import Any

INSTALL = """
local watch = { held = {}, turns = {}, rpcs = 0, started = 0, on = false }
_G.watch = watch
local hrtime = vim.uv.hrtime

function watch.note(what, ms)
  watch.held[what] = watch.held[what] or {}
  table.insert(watch.held[what], ms)
end

local function over(what, began, worked, ...)
  watch.note(what, (hrtime() - began) / 1e6)
  watch.note(what .. ' on core', (os.clock() - worked) * 1e3)
  return ...
end

function watch.timed(what, fn)
  return function(...)
    return over(what, hrtime(), os.clock(), fn(...))
  end
end

function watch.wrap(owner, name, what)
  owner[name] = watch.timed(what or name, owner[name])
end

function watch.now() -- ns since 1970
  local seconds, micros = vim.uv.gettimeofday()
  return seconds * 1000000000 + micros * 1000
end

-- Whatever of covey's code is put off to a later turn is timed there.
local schedule = vim.schedule
vim.schedule = function(fn)
  local ours = debug.getinfo(fn, 'S').source:find('/lua/covey/', 1, true)
  schedule(not ours and fn or function()
    local began, worked = hrtime(), os.clock()
    watch.kind = 'later'
    fn()
    over(watch.kind, began, worked)
  end)
end

-- What would reach Python, or start a process.
for _, name in ipairs({ 'rpcnotify', 'rpcrequest' }) do
  local fn = vim[name]
  vim[name] = function(...)
    watch.rpcs = watch.rpcs + 1
    return fn(...)
  end
end
for owner, names in pairs({ [vim.fn] = { 'jobstart', 'system', 'systemlist' }, [vim.uv] = { 'spawn' } }) do
  for _, name in ipairs(names) do
    local fn = owner[name]
    owner[name] = function(...)
      watch.started = watch.started + 1
      return fn(...)
    end
  end
end

-- A turn of the main loop is what lies between two waits for events, less the wait (|uv.metrics_idle_time()|).
vim.uv.loop_configure('metrics_idle_time')
local prepare, at, idle = vim.uv.new_prepare(), hrtime(), vim.uv.metrics_idle_time()
prepare:start(function()
  local now, waited = hrtime(), vim.uv.metrics_idle_time()
  if watch.on then
    table.insert(watch.turns, (now - at - (waited - idle)) / 1e6)
  end
  at, idle = now, waited
end)
"""
WRAP = """
local rpc = require('covey.rpc')
for _, name in ipairs({ 'call', 'resolve' }) do watch.wrap(rpc, name) end
local kinds, emit = { Fleet = 'fleet', Frame = 'framed', Receipt = 'receipt' }, rpc.emit
function rpc.emit(event)
  watch.timed(kinds[event.event] or 'event', emit)(event)
end
"""


class Stopwatch:
    """Installed in one editor. Times are milliseconds."""

    def __init__(self, editor: Any) -> None:
        self.editor = editor
        editor.lua(INSTALL)
        editor.lua(WRAP)

    def take(self, what: str) -> list[float]:
        """The times of ``call resolve event receipt fleet framed later painted`` since they were last taken.

        With `` on core`` after it, what of each the editor's process spent on a core: without the waits of a machine
        that others use.
        """
        return self.editor.lua(
            "local what = ... local all = watch.held[what] watch.held[what] = {} return all or {}", what
        )

    def begin(self) -> None:
        """From now on keep the length of each turn."""
        self.editor.lua("watch.turns, watch.on = {}, true")

    def turns(self) -> list[float]:
        """The turns since ``begin``."""
        return self.editor.lua("watch.on = false return watch.turns")

    def counted(self) -> tuple[int, int]:
        """How many messages were sent to Python, and how many processes were started, since it was installed."""
        return tuple(self.editor.lua("return { watch.rpcs, watch.started }"))
