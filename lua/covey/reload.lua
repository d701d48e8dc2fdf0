--- Buffers whose files an agent changed: the unmodified ones are read again, of the others a person is told.
local M = {}

local CALM = 400 -- ms between two looks while an agent works

local told = {} ---@type table<string, boolean> file and session, since the last prompt
local due = {} ---@type table<string, boolean> sessions that will be looked at

--- Loaded buffers of files below a directory.
local function buffers(cwd)
  local below = vim.fs.normalize(cwd):gsub("/$", "") .. "/"
  return vim.tbl_filter(function(buf)
    local kept = vim.api.nvim_buf_is_loaded(buf) and vim.bo[buf].buftype == ""
    return kept and vim.startswith(vim.api.nvim_buf_get_name(buf), below)
  end, vim.api.nvim_list_bufs())
end

--- As Neovim itself would, at the next |:checktime|; a person's own `FileChangedShell` is heard.
local function read_again(buf)
  local own = vim.bo[buf].autoread
  vim.bo[buf].autoread = true
  pcall(vim.cmd.checktime, { args = { tostring(buf) }, mods = { silent = true } })
  vim.bo[buf].autoread = own
end

local function warn(session, path)
  local name = vim.fn.fnamemodify(path, ":~:.")
  local words = "covey: %s changed %s, which you have changed too: `:edit!` takes its text, `:write!` keeps yours"
  require("covey.notify").warn(words:format(session.name, name))
end

--- Look at the buffers below a session's directory, now.
---@param session covey.Session
function M.look(session)
  local since = require("covey.changes").since(session.id)
  if not since or not require("covey.config").get().reload then
    return
  end
  for _, buf in ipairs(buffers(session.cwd)) do
    local path = vim.api.nvim_buf_get_name(buf)
    local foreign = require("covey.changes").foreign(path, since)
    if foreign and not vim.bo[buf].modified then
      read_again(buf)
    elseif foreign and not told[session.id .. path .. since] then
      told[session.id .. path .. since] = true
      warn(session, path)
    end
  end
end

--- Look soon, once for any number of calls.
local function look_soon(session)
  if due[session.id] then
    return
  end
  due[session.id] = true
  vim.defer_fn(function()
    due[session.id] = nil
    M.look(session)
  end, CALM)
end

--- Take in an event of a session: while it works its files are looked at as its screen changes, and when it stops all
--- that changed is told.
---@param session covey.Session
---@param before? covey.Session
function M.heard(session, before)
  if not require("covey.changes").since(session.id) then
    return
  end
  if session.state == "working" then
    look_soon(session)
  elseif before and before.state ~= session.state then
    M.look(session)
    require("covey.changes").tell(session)
  end
end

return M
