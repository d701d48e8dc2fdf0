--- `{file}` and the like in a prompt: what they stand for is taken once, from the window the person came from, so that
--- what is shown is what is sent. Any other word in braces is text like all text, and one without a value stays.
local M = {}

local PATTERN = "{(%l+)}"
local NOTE = 40 -- cells of a value that are shown beside it
local LOOKED_AT = 400 -- bytes of a value that a note is made of

---@class covey.Source
---@field win integer the window the person came from
---@field cwd string where the agent works; references are seen from there
---@field form string? how its agent is told of a file
---@field selection string?
---@field known table<string, covey.Known>? what was taken already
---@field changed fun()? called when a value came later

---@class covey.Known
---@field value string?
---@field note string? what is shown of it
---@field waiting fun()[]? who waits for it; nil: it is known

local function reference(line)
  return function(source)
    local at = line and vim.fn.line(".") or nil
    return require("covey.context").reference(source.cwd, source.form, at, at)
  end
end

local function around(name)
  return function(source, done)
    return require("covey.ui.surroundings")[name](source, done)
  end
end

---@type table<string, fun(source: covey.Source, done: fun(value: string?)): string?>
local VALUES = {
  file = reference(false),
  line = reference(true),
  selection = function(source)
    return source.selection
  end,
  diagnostics = around("diagnostics"),
  quickfix = around("quickfix"),
  loclist = around("loclist"),
  diff = around("diff"),
  buffers = around("buffers"),
  symbol = around("symbol"),
  term = around("term"),
  url = around("url"),
  cwd = function()
    return vim.fn.getcwd()
  end,
}

--- Values that come later.
local LATER = { diff = true }

--- The person's window as it is now, for a prompt to this session.
---@param session covey.Session
---@param selection string?
---@return covey.Source
function M.source(session, selection)
  return {
    win = vim.api.nvim_get_current_win(),
    cwd = session.cwd,
    form = require("covey.agents").reference(session.agent),
    selection = selection,
  }
end

local function note_of(value)
  local label = require("covey.ui.label")
  local lines = select(2, value:gsub("\n", "")) + 1
  local note = label.cut(label.line(value:sub(1, LOOKED_AT)), NOTE)
  return lines > 1 and ("%s … %d lines"):format(note, lines) or note
end

local function settle(known, value)
  known.value = value ~= "" and value or nil
  known.note = known.value and note_of(known.value)
end

local function in_source(source, act)
  if vim.api.nvim_win_is_valid(source.win) then
    return vim.api.nvim_win_call(source.win, act)
  end
end

--- Ask for a value that comes later.
local function ask(name, source, known)
  known.waiting = {}
  VALUES[name](source, function(value)
    local waiting = known.waiting
    known.waiting = nil
    settle(known, value)
    for _, act in ipairs(waiting) do
      act()
    end
    if source.changed and source.known and source.known[name] == known then
      source.changed()
    end
  end)
end

---@return covey.Known
local function take(name, source)
  source.known = source.known or {}
  local known = source.known[name]
  if not known then
    known = {}
    source.known[name] = known
    if LATER[name] then
      ask(name, source, known)
    else
      settle(
        known,
        in_source(source, function()
          return VALUES[name](source, function() end)
        end)
      )
    end
  end
  return known
end

---@return string[]
function M.names()
  return vim.fn.sort(vim.tbl_keys(VALUES))
end

--- What a placeholder stands for here, as it is shown beside it.
---@param name string
---@param source covey.Source
---@return string note
---@return string? value nil where it has none, or not yet
function M.describe(name, source)
  local known = take(name, source)
  if known.waiting then
    return "…"
  end
  return known.note or "no value: stays as it stands", known.value
end

--- Take the values anew: the person was elsewhere meanwhile.
---@param source covey.Source
function M.forget(source)
  source.known = nil
end

--- Call `act` once every value of a text is known.
---@param text string
---@param source covey.Source
---@param act fun()
function M.ready(text, source, act)
  for name in text:gmatch(PATTERN) do
    local known = VALUES[name] and take(name, source)
    if known and known.waiting then
      return table.insert(known.waiting, function()
        M.ready(text, source, act)
      end)
    end
  end
  act()
end

--- A text with its placeholders filled in. What has no value stays.
---@param text string
---@param source covey.Source
---@return string
function M.render(text, source)
  return (text:gsub(PATTERN, function(name)
    return VALUES[name] and take(name, source).value or nil
  end))
end

--- The placeholders of a text that have no value here.
---@param text string
---@param source covey.Source
---@return string[]
function M.unresolved(text, source)
  local found = {}
  for name in text:gmatch(PATTERN) do
    if VALUES[name] and not take(name, source).value then
      table.insert(found, name)
    end
  end
  return found
end

---@class covey.PlaceholderMark
---@field row integer from 0
---@field col integer bytes, from 0
---@field end_col integer
---@field note string
---@field value string? nil: it has none

--- Where the placeholders of some lines stand.
---@param lines string[]
---@param source covey.Source
---@return covey.PlaceholderMark[]
function M.marks(lines, source)
  local marks = {}
  for row, line in ipairs(lines) do
    for col, name, past in line:gmatch("(){(%l+)}()") do
      if VALUES[name] then
        local note, value = M.describe(name, source)
        table.insert(marks, { row = row - 1, col = col - 1, end_col = past - 1, note = note, value = value })
      end
    end
  end
  return marks
end

--- Names of files that a rendered text speaks of and that this editor has not saved: the agent reads what is on disk.
---@param text string
---@param source covey.Source
---@return string[]
function M.unsaved(text, source)
  local found = {}
  for _, buf in ipairs(vim.api.nvim_list_bufs()) do
    local name = vim.api.nvim_buf_get_name(buf)
    if vim.bo[buf].modified and vim.bo[buf].buftype == "" and name ~= "" then
      local written = require("covey.context").written(name, source.cwd, source.form)
      if text:find(written, 1, true) or text:find(name, 1, true) then
        table.insert(found, vim.fs.basename(name))
      end
    end
  end
  return found
end

--- Tell of files that the text speaks of and that are not saved.
---@param text string as written
---@param source covey.Source
function M.warn_unsaved(text, source)
  local names = M.unsaved(M.render(text, source), source)
  if #names > 0 then
    local message = "covey: %s is not saved; the agent reads what is on disk"
    require("covey.notify").warn(message:format(table.concat(names, ", ")))
  end
end

return M
