--- How a session is written in titles, pickers and on the board. Pure but for the clock.
local M = {}

local MINUTE, HOUR, DAY = 60, 3600, 86400 -- seconds

--- Days from 1970-01-01 to a day of the Gregorian calendar.
local function days(year, month, day)
  local shift = math.floor((14 - month) / 12)
  local y, m = year + 4800 - shift, month + 12 * shift - 3
  local leaps = math.floor(y / 4) - math.floor(y / 100) + math.floor(y / 400)
  return day + math.floor((153 * m + 2) / 5) + 365 * y + leaps - 32045 - 2440588
end

--- Seconds since 1970 of an RFC 3339 time in UTC; nil where it is none.
---@param stamp string?
---@return integer?
function M.seconds(stamp)
  local year, month, day, hour, minute, second = (stamp or ""):match("^(%d+)-(%d+)-(%d+)T(%d+):(%d+):(%d+)")
  if not year then
    return nil
  end
  return days(tonumber(year), tonumber(month), tonumber(day)) * DAY + hour * HOUR + minute * MINUTE + second
end

--- Time since `stamp` in its largest unit: `8s`, `3m`, `5h`, `2d`; empty where there is no stamp.
---@param stamp string?
---@param now integer? seconds since 1970
---@return string
function M.age(stamp, now)
  local since = M.seconds(stamp)
  if not since then
    return ""
  end
  local passed = math.max(0, (now or os.time()) - since)
  for _, unit in ipairs({ { DAY, "d" }, { HOUR, "h" }, { MINUTE, "m" } }) do
    if passed >= unit[1] then
      return math.floor(passed / unit[1]) .. unit[2]
    end
  end
  return passed .. "s"
end

--- A time as the person's clock shows it; with the day where that is not today. What is no time stays as it is.
---@param stamp string?
---@param now integer? seconds since 1970
---@return string
function M.clock(stamp, now)
  local at = M.seconds(stamp)
  if not at then
    return M.line(stamp)
  end
  local today = os.date("%Y-%m-%d", at) == os.date("%Y-%m-%d", now)
  return tostring(os.date(today and "%H:%M:%S" or "%Y-%m-%d %H:%M:%S", at))
end

--- One line of text: control characters, which names and last lines may hold, become spaces.
---@param text string?
---@return string
function M.line(text)
  return (tostring(text or ""):gsub("%c", " "))
end

--- `text` in exactly `width` cells: cut between characters, or filled with spaces.
---@param text string?
---@param width integer
---@return string
function M.fit(text, width)
  local line = M.line(text)
  if vim.api.nvim_strwidth(line) > width then
    line = M.cut(line, width - 1) .. (width > 0 and "…" or "")
  end
  return line .. (" "):rep(width - vim.api.nvim_strwidth(line))
end

--- `text` at the right end of `width` cells.
---@param text string
---@param width integer
---@return string
function M.right(text, width)
  return (" "):rep(width - vim.api.nvim_strwidth(text)) .. text
end

--- The longest beginning of `text` that fits into `width` cells; no character is split.
---@param text string
---@param width integer
---@return string
function M.cut(text, width)
  local low, high = 0, vim.fn.strcharlen(text)
  while low < high do
    local middle = math.ceil((low + high) / 2)
    if vim.api.nvim_strwidth(vim.fn.strcharpart(text, 0, middle, true)) <= width then
      low = middle
    else
      high = middle - 1
    end
  end
  return vim.fn.strcharpart(text, 0, low, true)
end

--- A window title: `name · agent · state`, as chunks with highlights.
---@param session table
---@return [string, string][]
function M.title(session)
  return {
    { " " .. M.line(session.name) .. " ", "CoveyTitle" },
    { "· " .. M.line(session.agent) .. " · ", "CoveyDim" },
    { require("covey.states").of(session) .. " ", require("covey.ui.highlight").state(session.state) },
  }
end

--- A text as a part of 'winbar'.
---@param text string
---@return string
function M.escaped(text)
  return (M.line(text):gsub("%%", "%%%%"))
end

return M
