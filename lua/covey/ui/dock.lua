--- Previews without a place of their own share the right edge of the editor, one above the other.
local M = {}

local docked = {} ---@type covey.View[]

---@param view covey.View
function M.join(view)
  table.insert(docked, view)
end

---@param view covey.View
function M.leave(view)
  docked = vim.tbl_filter(function(other)
    return other ~= view
  end, docked)
end

--- Lay all of them out again, after one came or went.
function M.layout()
  for _, view in ipairs(vim.list_slice(docked)) do
    view.float:layout()
  end
end

--- The docked view of a session, if there is one.
---@param id string
---@return covey.View?
function M.of(id)
  for _, view in ipairs(docked) do
    if view.session.id == id then
      return view
    end
  end
end

local function position(view)
  for index, other in ipairs(docked) do
    if other == view then
      return index
    end
  end
  return 1
end

--- Where a docked view lies now. Alone it has the height of the config, else its share.
---@param view covey.View
---@return covey.Placement
function M.place(view)
  local size = require("covey.config").get().preview
  return {
    width = size.width,
    height = #docked <= 1 and size.height or 1,
    border = size.border,
    align = "right",
    slot = { index = position(view), count = math.max(1, #docked) },
  }
end

return M
