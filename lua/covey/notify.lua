--- What covey says, and when it keeps quiet.
local M = {}

local TITLE = "covey"
local REMEMBERED = 200 -- keys of messages that are shown once

local LEVEL = vim.log.levels
local NAMES = { debug = LEVEL.DEBUG, info = LEVEL.INFO, warn = LEVEL.WARN, error = LEVEL.ERROR, off = LEVEL.OFF }

local said = {} ---@type table<string, boolean>
local count = 0

--- Whether `key` is new; it is old from now on.
---@param key string
---@return boolean
function M.first(key)
  if said[key] then
    return false
  end
  if count >= REMEMBERED then
    said, count = {}, 0
  end
  said[key], count = true, count + 1
  return true
end

--- Whether a line would have the person press a key before he can go on.
local function too_wide(line)
  return vim.api.nvim_strwidth(line) > vim.v.echospace
end

--- Whether the message would stop the person in the middle of a word: he types, and it is Neovim itself that shows it.
local function interrupts(message)
  local source = debug.getinfo(vim.notify, "S").source
  local own = source:find("^@vim/") ~= nil or source == "?" -- the latter where Neovim was built without such words
  local free = vim.api.nvim_get_mode().mode:sub(1, 1) == "n"
  return own and not free and (too_wide(message) or message:find("\n") ~= nil)
end

--- Its beginning, where the word for the mode leaves room; |:messages| has the whole, in rows that fit. Drawn anew
--- after each, they ask for no key.
local function show_cut(message, level)
  local group = level == LEVEL.ERROR and "ErrorMsg" or level == LEVEL.WARN and "WarningMsg" or "Normal"
  local label = require("covey.ui.label")
  local rest, first = label.line(message), label.fit(message, vim.v.echospace)
  while rest ~= "" do
    local row = label.cut(rest, vim.v.echospace)
    vim.api.nvim_echo({ { row, group } }, true, {})
    vim.cmd.redraw()
    rest = rest:sub(#row + 1)
  end
  vim.schedule(function()
    vim.api.nvim_echo({ { first, group } }, false, {})
  end)
end

--- Always shown.
---@param message string
---@param level integer
function M.show(message, level)
  vim.schedule(function()
    if interrupts(message) then
      return show_cut(message, level)
    end
    vim.notify(message, level, { title = TITLE })
  end)
end

--- The answer to something a person did: always shown.
---@param message string
function M.say(message)
  M.show(message, LEVEL.INFO)
end

--- The same of several lines.
local function too_many(lines)
  return #lines > math.max(1, vim.o.cmdheight) or too_wide(lines[#lines])
end

--- Call `act` in normal mode: now, or when who types has come back to it.
local function in_normal_mode(act)
  if vim.api.nvim_get_mode().mode:sub(1, 1) == "n" then
    return act()
  end
  vim.api.nvim_create_autocmd("ModeChanged", { pattern = "*:n*", once = true, callback = vim.schedule_wrap(act) })
end

--- Lines that were asked for: below the windows, and kept by |:messages|; or where that has too little room for them,
--- in a window. A script gets no window.
---@param lines string[]
---@param title? string of such a window
function M.print(lines, title)
  local function echo()
    vim.api.nvim_echo({ { table.concat(lines, "\n") } }, true, {})
  end
  if #lines == 0 then
    return
  elseif not (title and too_many(lines) and #vim.api.nvim_list_uis() > 0) then
    return echo()
  end
  in_normal_mode(function()
    if not require("covey.ui.sheet").open(title, lines) then
      echo()
    end
  end)
end

---@param message string
function M.warn(message)
  M.show(message, LEVEL.WARN)
end

--- A failure as a sentence. One that several calls share (`once`) is shown a single time.
---@param err covey.Error
function M.error(err)
  if not err.once or M.first(err.once) then
    M.show(M.sentence(err), LEVEL.ERROR)
  end
end

--- The words of an error: what happened, and where there is one, the way out. One row, as a second one would have the
--- person press a key; several lines of a hint stay below.
---@param err covey.Error
---@return string
function M.sentence(err)
  local hint = err.hint or ""
  local joint = hint == "" and "" or hint:find("\n") and "\n" or "; "
  local message = joint == "; " and err.message:gsub("%.$", "") or err.message
  return TITLE .. ": " .. message .. joint .. hint
end

--- What the helper wants to be known; shown from `notify.level` upwards.
---@param data { level?: string, message: string }
function M.notice(data)
  local level = NAMES[data.level or "info"] or LEVEL.INFO
  if level >= NAMES[require("covey.config").get().notify.level] then
    M.show(TITLE .. ": " .. data.message, level)
  end
end

return M
