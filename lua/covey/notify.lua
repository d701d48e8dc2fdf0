--- What covey says, and when it keeps quiet.
local M = {}

local TITLE = "covey"
local HELD = 3000 -- ms that a prompt may wait before that is told
local SELF_TEST = "^selftest %x+$" -- what the helper calls the session that `:checkhealth` has it open and end
local REMEMBERED = 200 -- keys of messages that are shown once

local LEVEL = vim.log.levels
local NAMES = { debug = LEVEL.DEBUG, info = LEVEL.INFO, warn = LEVEL.WARN, error = LEVEL.ERROR, off = LEVEL.OFF }

---@type table<string, integer> What became of a prompt, where a person should know.
local OUTCOMES = {
  held = LEVEL.WARN,
  refused = LEVEL.ERROR,
  failed = LEVEL.ERROR,
  dropped = LEVEL.WARN,
  unconfirmed = LEVEL.WARN,
  undelivered = LEVEL.WARN,
}

--- Outcomes after which more comes.
local WAITING = { queued = true, held = true }

local said = {} ---@type table<string, boolean>
local count = 0
local expected = {} ---@type table<string, string> acts that this editor sent, and how they stand

--- Whether `key` is new; it is old from now on.
local function first(key)
  if said[key] then
    return false
  end
  if count >= REMEMBERED then
    said, count = {}, 0
  end
  said[key], count = true, count + 1
  return true
end

local function show(message, level)
  vim.schedule(function()
    vim.notify(message, level, { title = TITLE })
  end)
end

--- The answer to something a person did: always shown.
---@param message string
function M.say(message)
  show(message, LEVEL.INFO)
end

--- Lines that were asked for, as |:messages| keeps them.
---@param lines string[]
function M.print(lines)
  if #lines > 0 then
    vim.api.nvim_echo({ { table.concat(lines, "\n") } }, true, {})
  end
end

---@param message string
function M.warn(message)
  show(message, LEVEL.WARN)
end

--- A failure as a sentence. One that several calls share (`once`) is shown a single time.
---@param err covey.Error
function M.error(err)
  if not err.once or first(err.once) then
    show(M.sentence(err), LEVEL.ERROR)
  end
end

--- The words of an error: what happened, and where there is one, the way out.
---@param err covey.Error
---@return string
function M.sentence(err)
  local hint = err.hint and err.hint ~= "" and ("\n" .. err.hint) or ""
  return TITLE .. ": " .. err.message .. hint
end

--- What the helper wants to be known; shown from `notify.level` upwards.
---@param data { level?: string, message: string }
function M.notice(data)
  local level = NAMES[data.level or "info"] or LEVEL.INFO
  if level >= NAMES[require("covey.config").get().notify.level] then
    show(TITLE .. ": " .. data.message, level)
  end
end

--- From now on tell what becomes of this act, also when it is known later only.
---@param act string
function M.expect(act)
  expected[act] = "queued"
end

--- A receipt that came as an event: told if this editor sent the prompt. What is held for a moment only, as while an
--- agent starts, is no news.
---@param receipt covey.Receipt
function M.heard(receipt)
  if expected[receipt.id] then
    expected[receipt.id] = WAITING[receipt.outcome] and receipt.outcome or nil
    vim.defer_fn(function()
      if receipt.outcome ~= "held" or expected[receipt.id] == "held" then
        M.receipt(receipt)
      end
    end, receipt.outcome == "held" and HELD or 0)
  end
end

--- What became of a prompt, if it is not what was wanted. The same outcome of the same act is told once.
---@param receipt covey.Receipt
---@return boolean bad whether there was something to tell
function M.receipt(receipt)
  local level = OUTCOMES[receipt.outcome]
  if level and first(receipt.id .. receipt.outcome) then
    local session = require("covey.fleet").get(receipt.session)
    local name = receipt.name or (session and session.name) or receipt.session
    local reason = (receipt.reason or "") ~= "" and (": " .. receipt.reason) or ""
    show(("covey: prompt to %s %s%s"):format(name, receipt.outcome, reason), level)
  end
  return level ~= nil
end

---@param exit { code?: integer, signal?: integer }?
---@return string
function M.ending(exit)
  if not exit or (exit.code == nil and exit.signal == nil) then
    return "exited"
  end
  return exit.signal and ("ended by signal %d"):format(exit.signal) or ("exited (%d)"):format(exit.code)
end

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

--- An event of a session, if `notify.events` names what it did.
---@param event string
---@param session covey.Session
---@param before? covey.Session
function M.event(event, session, before)
  local kind, wishes = kind_of(event, session, before), require("covey.config").get().notify
  if wishes.level == "off" or not vim.list_contains(wishes.events, kind) or needless(session) then
    return
  end
  local failed = kind == "exited" and session.exit and session.exit.code ~= 0
  local what = ({ exited = M.ending(session.exit), blocked = "waits for you", idle = "is done" })[kind]
    or ("is " .. kind)
  local level = (failed or kind == "lost" or kind == "blocked") and LEVEL.WARN or LEVEL.INFO
  show(("covey: %s %s"):format(session.name, what), level)
end

return M
