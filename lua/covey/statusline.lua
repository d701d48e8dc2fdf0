--- The statusline's word on the fleet. Computed when the fleet changes, so that a redraw only reads a string.
local M = {}

---@type [string, string][] What a person needs to know, the most urgent first: state, and how it reads.
local SHOWN = {
  { "blocked", "%d waiting" },
  { "lost", "%d lost" },
  { "ended", "%d exited" },
  { "done", "%d done" },
  { "working", "%d working" },
  { "queued", "%d queued" },
}

local text = ""

--- Such as `covey 1 waiting 2 working`; `covey 3` when nothing of note is going on; "" without sessions.
---@return string
function M.get()
  return text
end

local function compose(counts)
  local parts = { "covey" }
  counts = vim.tbl_extend("force", counts, { done = counts.unseen - counts.ended })
  for _, shown in ipairs(SHOWN) do
    local number = counts[shown[1]] or 0
    if number > 0 then
      table.insert(parts, shown[2]:format(number))
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
