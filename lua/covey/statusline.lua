--- The statusline's word on the fleet. Computed when the fleet changes, so that a redraw only reads a string.
local M = {}

--- What a person needs to know, the most urgent first. Of those that ended, and of those that finished (`unseen`), only
--- as many as were not looked at.
local SHOWN = { "blocked", "lost", "exited", "unseen", "working", "queued" }

local text = ""

--- Such as `covey 1 blocked 2 working`; `covey 3` when nothing of note is going on; "" without sessions.
---@return string
function M.get()
  return text
end

local function compose(counts)
  local parts = { "covey" }
  local numbers = vim.tbl_extend("force", counts, { exited = counts.ended, unseen = counts.unseen - counts.ended })
  for _, shown in ipairs(SHOWN) do
    if (numbers[shown] or 0) > 0 then
      table.insert(parts, ("%d %s"):format(numbers[shown], shown))
    end
  end
  if #parts == 1 then
    table.insert(parts, tostring(counts.total))
  end
  return counts.total > 0 and table.concat(parts, " ") or ""
end

--- Called by the fleet after each change.
function M.refresh()
  local fresh = compose(require("covey.fleet").counts())
  if fresh ~= text then
    text = fresh
    vim.schedule(function()
      vim.cmd.redrawstatus({ bang = true })
    end)
  end
end

return M
