--- Who waits for the person: blocked agents, and agents that finished while nobody looked. Fed by the fleet; what is on
--- screen counts as seen.
local M = {}

local ENDED = { idle = true, exited = true }
local BUSY = { working = true, blocked = true }

local unseen = {} ---@type table<string, true> ids
local muted = {} ---@type table<string, true> ids
local focused = true -- as far as the terminal tells
local watching = false

--- Whether a session's screen is in a window of the current tab page, in an editor that has the focus.
---@param id string
---@return boolean
function M.on_screen(id)
  if not focused then
    return false
  end
  for _, win in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
    local buf = vim.api.nvim_win_get_buf(win)
    if vim.b[buf].covey_session == id and vim.bo[buf].buftype ~= "acwrite" then
      return true
    end
  end
  return false
end

--- What is on screen now was seen.
local function look()
  for id in pairs(unseen) do
    if M.on_screen(id) then
      M.seen(id)
    end
  end
end

local function watch()
  if watching then
    return
  end
  watching = true
  local group = vim.api.nvim_create_augroup("covey.attention", { clear = true })
  local function on(events, act)
    vim.api.nvim_create_autocmd(events, { group = group, callback = act })
  end
  -- a window is told which session it shows a moment after it shows it
  on({ "BufWinEnter", "WinEnter", "TabEnter" }, function()
    if next(unseen) then
      vim.schedule(look)
    end
  end)
  on("FocusLost", function()
    focused = false
  end)
  on("FocusGained", function()
    focused = true
    look()
  end)
end

--- A person has seen how this session stands.
---@param id string
function M.seen(id)
  if unseen[id] then
    unseen[id] = nil
    require("covey.fleet").touch(id)
  end
end

--- Whether a session has just finished what it did: an agent that only got ready has not.
---@param before? covey.Session
---@param now covey.Session
---@return boolean
function M.finished(before, now)
  if not before or before.state == now.state then
    return false
  end
  return now.state == "exited" or now.state == "idle" and BUSY[before.state] == true
end

--- Take in what became of a session.
---@param before? covey.Session
---@param now covey.Session
function M.note(before, now)
  watch()
  if not ENDED[now.state] then
    unseen[now.id] = nil
  elseif M.finished(before, now) then
    unseen[now.id] = not M.on_screen(now.id) or nil
  end
end

---@param id string
function M.forget(id)
  unseen[id], muted[id] = nil, nil
end

--- The flags of a session with what this editor knows: `unseen`, `muted`.
---@param session covey.Session
---@return string[]
function M.flags(session)
  local flags = vim.list_slice(session.flags or {})
  for name, set in pairs({ unseen = unseen, muted = muted }) do
    if set[session.id] and not vim.list_contains(flags, name) then
      table.insert(flags, name)
    end
  end
  return flags
end

--- Say nothing of a session any more, or again.
---@param id string
---@param on boolean
function M.mute(id, on)
  muted[id] = on or nil
  require("covey.fleet").touch(id)
end

---@param id string
---@return boolean
function M.muted(id)
  return muted[id] == true
end

local function waits(session)
  return session.state == "blocked" or session.state == "lost" or vim.list_contains(session.flags or {}, "unseen")
end

--- Sessions that wait for the person: those with a question first, then the others, the longest waiting first.
---@return covey.Session[]
function M.waiting()
  local found = vim.tbl_filter(waits, require("covey.fleet").all())
  table.sort(found, function(a, b)
    local left, right = a.state == "blocked", b.state == "blocked"
    if left ~= right then
      return left
    end
    return (a.since or "") == (b.since or "") and a.name < b.name or (a.since or "") < (b.since or "")
  end)
  return found
end

--- The `count`th that waits, counted from the one after `from` where that waits too.
---@param count integer
---@param from? string id of the session the person is at
---@return covey.Session?
function M.next(count, from)
  local found = M.waiting()
  local start = 0
  for index, session in ipairs(found) do
    start = session.id == from and index or start
  end
  return #found > 0 and found[(start + count - 1) % #found + 1] or nil
end

return M
