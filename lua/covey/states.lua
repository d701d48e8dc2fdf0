--- The words for how sessions are: one table, for board, list, titles, statusline and notices alike. A state is called
--- by its own name (|covey-states|) and by no other.
local M = {}

--- All states, those that need the person first.
M.ALL = { "blocked", "lost", "exited", "idle", "unknown", "starting", "working" }

--- How one agent ended.
---@param exit { code?: integer, signal?: integer }?
---@return string
function M.ending(exit)
  local how = exit and (exit.signal and "signal " .. exit.signal or exit.code)
  return ("exited (%s)"):format(how or "unknown")
end

--- How a session is, with the exit status where there is one, and `?` where it was guessed.
---@param session table
---@return string
function M.of(session)
  local words = session.state == "exited" and M.ending(session.exit) or session.state or "unknown"
  return words .. (session.guessed and "?" or "")
end

---@type table<string, [string, string]> What more is to be said than the state: of one, and of several.
local MORE = {
  blocked = { " and waits for you", " and wait for you" },
  lost = { "; :Covey restore", "; :Covey restore" },
}

--- What became of sessions, as a sentence goes on after their names.
---@param state string
---@param exit { code?: integer, signal?: integer }?
---@param many boolean
---@return string
function M.news(state, exit, many)
  if state == "exited" then
    return M.ending(exit)
  end
  return (many and "are " or "is ") .. state .. (MORE[state] or { "", "" })[many and 2 or 1]
end

return M
