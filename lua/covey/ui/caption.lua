--- What stands around the rows of the board: who is how, in which directory, what is left out. Pure.
local label = require("covey.ui.label")

local M = {}

---@type table<string, [string, string]> What a session in that state wants of the person: the key, and what it does.
local WANTED = {
  blocked = { "answer", "answers" },
  exited = { "respawn", "respawns" },
  lost = { "restore", "restores" },
}
local LEAST = 3 -- rows of a window that can spare one for headings

--- How many sessions are in each state, as far as they fit: the most urgent first.
---@param counts table<string, integer>
---@param width integer cells
---@return [string, string][]
function M.title(counts, width)
  local chunks, left = { { " covey ", "CoveyTitle" } }, width - #" covey "
  for _, state in ipairs(require("covey.states").ALL) do
    local text = ("· %d %s "):format(counts[state] or 0, state)
    left = left - (counts[state] and vim.api.nvim_strwidth(text) or 0)
    if counts[state] and left >= 0 then
      table.insert(chunks, { text, require("covey.ui.highlight").state(state) })
    end
  end
  return chunks
end

--- The directory of the row under the cursor, where the board has no column for it.
local function directory(session, heading)
  local shown = not session or heading:find("directory", 1, true)
  local path = shown and "" or vim.fn.fnamemodify(session.cwd, ":~")
  return #path > 0 and label.line(path) or nil
end

local function hint(key, what)
  return key and key .. " " .. what or nil
end

--- Below: where the session works, what it wants, what is left out and how to see it again, and where to read on.
---@param session covey.Session? under the cursor
---@param heading string
---@param filter string
---@return string
function M.footer(session, heading, filter)
  local keys = require("covey.config").get().keys.board
  local parts = {}
  table.insert(parts, directory(session, heading))
  if filter ~= "" then
    table.insert(parts, "filter: " .. label.line(filter))
    table.insert(parts, hint(keys.clear, "clears it"))
  elseif session and WANTED[session.state] then
    local key, what = unpack(WANTED[session.state])
    table.insert(parts, hint(keys[key], what))
  end
  table.insert(parts, hint(keys.help, "help"))
  return #parts > 0 and " " .. table.concat(parts, " · ") .. " " or ""
end

--- Put headings above the columns; a window that is too low for them has none.
---@param win integer
---@param heading string
function M.head(win, heading)
  local room = vim.api.nvim_win_get_height(win) >= LEAST
  local wanted = heading ~= "" and room and heading:gsub("%%", "%%%%") or ""
  if vim.wo[win].winbar ~= wanted then
    vim.api.nvim_set_option_value("winbar", wanted, { win = win, scope = "local" })
  end
end

--- What stands in a board without rows.
---@return string
function M.nothing()
  local sessions = require("covey.fleet").list()
  if not sessions then
    return " connecting to the helper…"
  end
  return #sessions > 0 and " nothing matches the filter" or " no session yet; :Covey open starts one"
end

return M
