--- What sessions do by themselves: whether that is worth a notice, and how it reads. What happens at one moment, as
--- when a server goes with all that it had, is one notice and not fifty.
local notify = require("covey.notify")

local M = {}

local MOMENT = 100 -- ms
local NAMED = 3 -- names in a notice; the others are counted
local SELF_TEST = "^selftest %x+$" -- what the helper calls the session that `:checkhealth` has it open and end

---@class covey.News
---@field words [string, string] of one session, and of several
---@field grave boolean
---@field names string[]

local pending = {} ---@type covey.News[]

--- The word in `notify.events` for what a session did; nil for what is no news. A question is one once.
local function kind_of(event, session, before)
  if event ~= "State" then
    return event:lower()
  elseif before and before.state == session.state then
    return nil
  end
  local news = session.state ~= "idle" or not before or require("covey.attention").finished(before, session)
  return news and session.state or nil
end

--- Whether the person sees it anyway, wants to hear nothing of this session, or it is the self-test's.
local function needless(session)
  local attention = require("covey.attention")
  return session.name:find(SELF_TEST) or attention.muted(session.id) or attention.on_screen(session.id)
end

local function sentence(news)
  local names = table.concat(news.names, ", ", 1, math.min(NAMED, #news.names))
  local more = #news.names > NAMED and (" and %d more"):format(#news.names - NAMED) or ""
  return ("covey: %s%s %s"):format(names, more, news.words[#news.names > 1 and 2 or 1])
end

local function tell()
  local told = pending
  pending = {}
  for _, news in ipairs(told) do
    (news.grave and notify.warn or notify.say)(sentence(news))
  end
end

--- Together with what others did alike at this moment.
local function gather(name, words, grave)
  if #pending == 0 then
    vim.defer_fn(tell, MOMENT)
  end
  for _, news in ipairs(pending) do
    if news.words[1] == words[1] then
      return table.insert(news.names, name)
    end
  end
  table.insert(pending, { words = words, grave = grave, names = { name } })
end

--- Tell what a session did, if `notify.events` names it.
---@param event string
---@param session covey.Session
---@param before? covey.Session
function M.heard(event, session, before)
  local kind, wishes = kind_of(event, session, before), require("covey.config").get().notify
  if wishes.level == "off" or not vim.list_contains(wishes.events, kind) or needless(session) then
    return
  end
  local failed = kind == "exited" and session.exit and session.exit.code ~= 0
  local news = require("covey.states").news
  local words = { news(kind, session.exit, false), news(kind, session.exit, true) }
  gather(session.name, words, failed or kind == "lost" or kind == "blocked")
end

return M
