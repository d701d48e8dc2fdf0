--- What becomes of prompts: told to who sent them, asked of him where it is his to say, known while they wait.
local M = {}

local HELD = 3000 -- ms that a prompt may wait before that is told
local LEVEL = vim.log.levels

---@type table<string, integer> How a person is told.
local LEVELS = {
  queued = LEVEL.INFO,
  submitted = LEVEL.INFO,
  pasted = LEVEL.INFO,
  cancelled = LEVEL.INFO,
  held = LEVEL.WARN,
  refused = LEVEL.ERROR,
  failed = LEVEL.ERROR,
  dropped = LEVEL.WARN,
  unconfirmed = LEVEL.WARN,
  undelivered = LEVEL.WARN,
}

--- Outcomes after which more comes.
local WAITING = { queued = true, held = true }

--- Outcomes that are told with the number of the prompt: |:Covey-cancel| and |:Covey-edit| know it by that.
local NUMBERED = { queued = true, held = true, cancelled = true }

local ANSWERS = { "now", "when idle", "not at all" }

local expected = {} ---@type table<string, { outcome: string, quiet: boolean }> acts that this editor sent
local waiting = {} ---@type table<string, covey.Receipt> whoever sent them

--- From now on tell what becomes of this act, also when it is known later only. `quiet`: but not that all is well.
---@param act string
---@param quiet? boolean
function M.expect(act, quiet)
  expected[act] = { outcome = "queued", quiet = quiet == true }
end

--- The same of prompts whose receipts are there, as far as they wait.
---@param told covey.Receipt[]
---@param quiet boolean
function M.follow(told, quiet)
  for _, receipt in ipairs(told) do
    expected[receipt.id] = WAITING[receipt.outcome] and { outcome = receipt.outcome, quiet = quiet } or nil
  end
end

---@param receipt covey.Receipt
---@return string
local function name_of(receipt)
  local session = require("covey.fleet").get(receipt.session)
  return (receipt.name or "") ~= "" and receipt.name or (session and session.name) or receipt.session
end

--- How a receipt reads; one that waits has its number.
---@param receipt covey.Receipt
---@param done? string what was done to it before
---@return string
function M.sentence(receipt, done)
  local reason = (receipt.reason or "") ~= "" and (": " .. receipt.reason) or ""
  local stripped = (receipt.stripped or 0) > 0 and (" (%d control characters taken out)"):format(receipt.stripped) or ""
  local number = NUMBERED[receipt.outcome] and receipt.number and receipt.number .. " " or ""
  local outcome = (done and done .. "; " or "") .. receipt.outcome
  return ("covey: prompt %sto %s %s%s%s"):format(number, name_of(receipt), outcome, reason, stripped)
end

--- Have the person say when a prompt goes to an agent that works; who does not say leaves it held.
local function ask(receipt)
  local prompt = ("%s is working: send now, when idle, or not at all?"):format(name_of(receipt))
  vim.ui.select(ANSWERS, { prompt = prompt, kind = "covey" }, function(_, index)
    if index == 3 then
      require("covey").cancel({ act = receipt.id })
    elseif index then
      require("covey").edit({ act = receipt.id, when = index == 1 and "now" or "idle" }, require("covey.rpc").tell)
    end
  end)
end

--- What became of a prompt, or the question that its receipt is. The same of the same act is told once.
---@param receipt covey.Receipt
function M.tell(receipt)
  local notify = require("covey.notify")
  if not notify.first(receipt.id .. receipt.outcome .. tostring(receipt.asks)) then
    return
  elseif receipt.asks then
    vim.schedule(function()
      ask(receipt)
    end)
  else
    notify.show(M.sentence(receipt), LEVELS[receipt.outcome] or LEVEL.WARN)
  end
end

--- How many of them have become what, and why those that did not arrive.
---@param told covey.Receipt[]
---@return string sentence
---@return integer level
local function summed(told)
  local counts, reasons, order, level = {}, {}, {}, LEVEL.INFO
  for _, receipt in ipairs(told) do
    local outcome = receipt.outcome
    if not counts[outcome] then
      table.insert(order, outcome)
    end
    counts[outcome] = (counts[outcome] or 0) + 1
    reasons[outcome] = reasons[outcome] or {}
    if (receipt.reason or "") ~= "" then
      table.insert(reasons[outcome], name_of(receipt) .. ": " .. receipt.reason)
    end
    level = math.max(level, LEVELS[outcome] or LEVEL.WARN)
  end
  local parts = vim.tbl_map(function(outcome)
    local why = #reasons[outcome] > 0 and (" (%s)"):format(table.concat(reasons[outcome], "; ")) or ""
    return ("%d %s%s"):format(counts[outcome], outcome, why)
  end, order)
  return ("covey: %d agents: %s"):format(#told, table.concat(parts, ", ")), level
end

--- What became of one text to several: one sentence. What comes of those that wait is told when it does.
---@param told covey.Receipt[]
function M.summary(told)
  if #told < 2 then
    return vim.tbl_map(M.tell, told)
  end
  for _, receipt in ipairs(told) do
    if receipt.asks then
      M.tell(receipt)
    end
    require("covey.notify").first(receipt.id .. receipt.outcome .. tostring(receipt.asks))
  end
  require("covey.notify").show(summed(told))
end

--- What is held for a moment only, as while an agent starts, is no news.
local function tell_if_it_stays(receipt)
  vim.defer_fn(function()
    local act = expected[receipt.id]
    if act and act.outcome == "held" then
      M.tell(receipt)
    end
  end, HELD)
end

--- The callback of who takes a prompt back: that it was taken back already is told each time.
---@type covey.Callback
function M.took_back(err, receipt)
  if err then
    require("covey.rpc").tell(err)
  elseif (receipt.reason or "") ~= "" then
    require("covey.notify").say(M.sentence(receipt))
  else
    M.tell(receipt)
  end
end

--- A receipt that came as an event: told if this editor sent the prompt.
---@param receipt covey.Receipt
function M.heard(receipt)
  local act = expected[receipt.id]
  waiting[receipt.id] = WAITING[receipt.outcome] and receipt or nil
  if not act then
    return
  end
  act.outcome = receipt.outcome
  expected[receipt.id] = WAITING[receipt.outcome] and act or nil
  if receipt.outcome == "held" and not receipt.asks then
    tell_if_it_stays(receipt)
  elseif receipt.outcome ~= "queued" and not (act.quiet and LEVELS[receipt.outcome] == LEVEL.INFO) then
    M.tell(receipt)
  end
end

--- All that waits, from a picture of the whole fleet.
---@param receipts covey.Receipt[]
function M.replace(receipts)
  waiting = {}
  for _, receipt in ipairs(receipts) do
    waiting[receipt.id] = receipt
  end
end

--- The numbers of prompts that wait, in their order.
---@return string[]
function M.waiting()
  local numbers = vim.tbl_map(function(receipt)
    return receipt.number
  end, vim.tbl_values(waiting))
  table.sort(numbers)
  return vim.tbl_map(tostring, numbers)
end

return M
