--- When a host that died may be started again: soon, later, or not before a minute has passed. Pure but for what it
--- remembers; times are in ms.
local M = {}

local WINDOW = 60000 -- ms in which deaths count together
local DELAYS = { 0, 250, 1000 } -- ms from the last death to the next start, by deaths in the window and one
M.GIVE_UP = #DELAYS -- deaths

local deaths = {} ---@type integer[]

---@param now integer
function M.died(now)
  table.insert(deaths, now)
end

--- How long to wait before the next start; nil: there were too many deaths, do not start at all.
---@param now integer
---@return integer?
function M.delay(now)
  deaths = vim.tbl_filter(function(time)
    return now - time < WINDOW
  end, deaths)
  local delay = DELAYS[#deaths + 1]
  return delay and math.max(0, delay - (now - (deaths[#deaths] or 0)))
end

--- Forget the deaths: something was repaired.
function M.reset()
  deaths = {}
end

return M
