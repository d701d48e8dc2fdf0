--- What stands at the upper edge of a window with a session, as 'winbar': name and state, then what else is to be
--- known, then keys. What has no room is left out; nothing is cut but a name or state that is wider than the window.
local label = require("covey.ui.label")

local M = {}

local DOT = " · "
local NAME = 8 -- cells that a name keeps where there is no room for name and state

---@alias covey.Fact [string, string?] A text and its highlight group.

local function cells(facts)
  local width = 1 + vim.api.nvim_strwidth(DOT) * (#facts - 1)
  for _, fact in ipairs(facts) do
    width = width + vim.api.nvim_strwidth(fact[1])
  end
  return width
end

local function shortened(text, width)
  return vim.api.nvim_strwidth(text) > width and label.fit(text, math.max(0, width)) or text
end

--- Name and state in `width` cells, the name giving way first.
local function least(name, state, width)
  local room = width - cells({ { "" }, { "" } })
  local kept = shortened(name[1], math.max(NAME, room - vim.api.nvim_strwidth(state[1])))
  local left = room - vim.api.nvim_strwidth(kept)
  return left > 0 and { { kept }, { shortened(state[1], left), state[2] } } or { { shortened(name[1], width - 1) } }
end

--- As many facts as fit: the agent goes first, then the others in their order.
local function fitting(session, width, others)
  local name = { label.line(session.name) }
  local state = { require("covey.states").of(session), require("covey.ui.highlight").state(session.state) }
  local facts = vim.list_extend({ name, { label.line(session.agent) }, state }, others)
  if cells({ name, state }) > width then
    return least(name, state, width)
  end
  while cells(facts) > width do
    table.remove(facts, facts[2] == state and 3 or 2)
  end
  return facts
end

local function written(facts)
  local parts = vim.tbl_map(function(fact)
    local text = label.escaped(fact[1])
    return fact[2] and ("%%#%s#%s%%*"):format(fact[2], text) or text
  end, facts)
  return " " .. table.concat(parts, DOT)
end

--- As many of `parts` as fit, the first before the others, after what has to be pressed for all of them; "" for none.
---@param lead string
---@param parts string[]
---@param room number cells
---@return string
function M.hint(lead, parts, room)
  for count = #parts, 1, -1 do
    local text = (" %s%s "):format(lead, table.concat(parts, DOT, 1, count))
    if vim.api.nvim_strwidth(text) <= room then
      return text
    end
  end
  return ""
end

--- A value of 'winbar' for a window `width` cells wide.
---@param session covey.Session
---@param width integer
---@param others covey.Fact[] behind the state
---@param hint fun(room: integer): string what to press, in so many cells
---@return string
function M.bar(session, width, others, hint)
  local facts = fitting(session, width, others)
  return ("%s%%=%%#CoveyDim#%s%%*"):format(written(facts), label.escaped(hint(width - cells(facts))))
end

return M
