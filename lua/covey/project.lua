--- A project's own settings: `.covey.toml` in its directory or above, read once a person trusts it
--- (|vim.secure.read()|).
local M = {}

M.FILE = ".covey.toml"

local MOST = 65536 -- bytes of it that are read: a file that is huge would keep the editor waiting

--- What a project has no say in: programs that are run, and what is fixed when the helper starts.
local NOT_HERE = { "python", "tmux", "agents_dir", "log_level", "history_limit", "keys" }

---@class covey.Project
---@field path string
---@field stamp string when it was written, and its size
---@field opts covey.Opts
---@field problems string[]

local known = {} ---@type table<string, covey.Project> by path
local current = nil ---@type covey.Project?

local function stamp_of(path)
  local stat = vim.uv.fs_stat(path)
  return stat and ("%d.%d %d"):format(stat.mtime.sec, stat.mtime.nsec, stat.size)
end

local function forbidden(opts)
  local problems = {}
  for _, name in ipairs(NOT_HERE) do
    if opts[name] ~= nil then
      opts[name] = nil
      table.insert(problems, ("%s: %s is not for a project to set"):format(M.FILE, name))
    end
  end
  return problems
end

--- Read a file. One that is not trusted counts as empty, and is not asked about again before it changes.
---@return covey.Project
local function read(path, stamp)
  if (vim.uv.fs_stat(path) or { size = 0 }).size > MOST then
    local problem = ("%s holds more than 64 KiB, and is not read"):format(path)
    return { path = path, stamp = stamp, opts = {}, problems = { problem } }
  end
  local text = vim.secure.read(path)
  if type(text) ~= "string" then
    return { path = path, stamp = stamp, opts = {}, problems = {} }
  end
  local opts, wrong = require("covey.toml").parse(text)
  local problems = opts and forbidden(opts) or { ("%s, %s"):format(path, wrong) }
  return { path = path, stamp = stamp, opts = opts or {}, problems = problems }
end

--- Look for the file of the current directory. Only to be called for something that a person does: where it is new,
--- they are asked whether they trust it.
---@return boolean changed whether the settings are others than before
function M.look()
  local path = vim.fs.find(M.FILE, { upward = true, type = "file", path = vim.fn.getcwd() })[1]
  local stamp = path and stamp_of(path)
  local before = current
  if not stamp then
    current = nil
  else
    local there = known[path]
    known[path] = there and there.stamp == stamp and there or read(path, stamp)
    current = known[path]
  end
  return current ~= before
end

--- The settings that were found when a person last did something.
---@return covey.Project?
function M.current()
  return current
end

return M
