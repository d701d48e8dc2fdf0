--- Which files changed since the last prompt of a session. Looked for when its agent stops or when a person asks, by
--- git where the directory is in a repository and by `find` elsewhere; never by a timer, never waited for.
local M = {}

local PATIENCE = 10000 -- ms that git or find may take
local MOST = 2000 -- files that are looked at
local AT_ONCE = 100 -- of them, in one turn of the main loop

---@class covey.Baseline How things stood when a prompt went to a session.
---@field time number seconds since 1970
---@field head? string the commit that was checked out
---@field act string the prompt's act
---@field told? string the files last told of, as one text

local baselines = {} ---@type table<string, covey.Baseline> by session
local begun = {} ---@type table<string, number> when an act was last heard of before it was typed
local written = {} ---@type table<string, number> files this editor wrote, with the time that gave them
local watching = false

local function mtime(path)
  local stat = vim.uv.fs_stat(path)
  return stat and stat.type == "file" and stat.mtime.sec + stat.mtime.nsec / 1e9 or nil
end

local function now()
  local seconds, micro = vim.uv.gettimeofday()
  return seconds + micro / 1e6
end

--- Call `done` with what a program prints, or with nil; on the main loop.
local function ask(argv, cwd, done)
  local options = { cwd = cwd, text = true, timeout = PATIENCE, env = { GIT_OPTIONAL_LOCKS = "0" } }
  local started = pcall(vim.system, argv, options, function(result)
    vim.schedule(function()
      done(result.code == 0 and result.stdout or nil)
    end)
  end)
  if not started then
    done(nil)
  end
end

--- Remember what this editor writes itself: that was no agent.
local function watch()
  if watching then
    return
  end
  watching = true
  vim.api.nvim_create_autocmd("BufWritePost", {
    group = vim.api.nvim_create_augroup("covey.changes", { clear = true }),
    callback = function(event)
      local path = vim.api.nvim_buf_get_name(event.buf)
      written[path] = mtime(path)
    end,
  })
end

--- Whether a file was changed at or after a time, by somebody else than this editor.
---@param path string
---@param time number
---@return boolean
function M.foreign(path, time)
  local at = mtime(path)
  return at ~= nil and at >= time and written[path] ~= at
end

--- When the last prompt of a session went, in seconds since 1970; nil where this editor knows of none.
---@param id string
---@return number?
function M.since(id)
  return baselines[id] and baselines[id].time
end

--- Whether a receipt is of the prompt that a session's baseline belongs to.
local function counted(receipt)
  local baseline = baselines[receipt.session]
  return baseline ~= nil and baseline.act == receipt.id
end

--- Take in what became of a prompt.
---@param receipt covey.Receipt
function M.heard(receipt)
  local session = require("covey.fleet").get(receipt.session)
  if receipt.outcome == "queued" or receipt.outcome == "held" then
    begun[receipt.id] = now()
  elseif session and (receipt.outcome == "pasted" or receipt.outcome == "submitted") and not counted(receipt) then
    watch()
    local head = require("covey.git").head(session.cwd)
    baselines[session.id] = { time = begun[receipt.id] or now(), act = receipt.id, head = head }
    begun[receipt.id] = nil
  else
    begun[receipt.id] = nil
  end
end

---@param id string
function M.forget(id)
  baselines[id] = nil
end

--- Those of some paths that changed since, a few at a time. What is gone now is one of them.
local function sift(cwd, paths, time, done)
  local found, at = {}, 1
  local function some()
    for index = at, math.min(#paths, MOST, at + AT_ONCE - 1) do
      local path = vim.fs.joinpath(cwd, paths[index])
      if M.foreign(path, time) or not vim.uv.fs_lstat(path) then
        table.insert(found, path)
      end
    end
    at = at + AT_ONCE
    if at > math.min(#paths, MOST) then
      table.sort(found)
      return done(found)
    end
    vim.schedule(some)
  end
  some()
end

local function split(text)
  return vim.split(text or "", "\0", { trimempty = true })
end

--- By git: what differs from the commit of then, and what is new and not ignored.
local function by_git(session, baseline, done)
  ask({ "git", "diff", "--no-ext-diff", "--name-only", "--relative", "-z", baseline.head }, session.cwd, function(diff)
    ask({ "git", "ls-files", "--others", "--exclude-standard", "-z" }, session.cwd, function(others)
      sift(session.cwd, vim.list_extend(split(diff), split(others)), baseline.time, done)
    end)
  end)
end

--- By find, where there is no git: files that are younger than the prompt; hidden directories are left out.
local function by_find(session, baseline, done)
  local minutes = math.ceil((now() - baseline.time) / 60) + 1
  local argv = { "find", ".", "-name", ".?*", "-prune", "-o", "-type", "f", "-mmin", "-" .. minutes, "-print0" }
  ask(argv, session.cwd, function(files)
    sift(session.cwd, split((files or ""):gsub("%z%./", "\0"):gsub("^%./", "")), baseline.time, done)
  end)
end

--- Call `done` with the files that changed since the last prompt of a session, as whole paths, sorted.
---@param session covey.Session
---@param done fun(files: string[])
function M.find(session, done)
  local baseline = baselines[session.id]
  if not baseline then
    return done({})
  end
  local look = baseline.head and by_git or by_find
  look(session, baseline, done)
end

--- Look, and tell with |CoveyFilesChanged| where the answer is a new one.
---@param session covey.Session
function M.tell(session)
  local baseline = baselines[session.id]
  M.find(session, function(files)
    local told = table.concat(files, "\n")
    if baseline and #files > 0 and told ~= baseline.told then
      baseline.told = told
      local data = { id = session.id, name = session.name, cwd = session.cwd, files = files }
      require("covey.fleet").tell({ event = "FilesChanged", data = data, seq = 0 })
    end
  end)
end

--- The files in the quickfix list, which is opened; where there are none nothing is.
---@param session covey.Session
---@param cb? covey.Callback
function M.list(session, cb)
  M.find(session, function(files)
    if #files > 0 then
      local items = vim.tbl_map(function(path)
        return { filename = path, lnum = 1, text = "changed by " .. session.name }
      end, files)
      vim.fn.setqflist({}, " ", { title = "changed since the last prompt to " .. session.name, items = items })
      vim.cmd("botright copen")
    end
    if cb then
      cb(nil, files)
    end
  end)
end

return M
