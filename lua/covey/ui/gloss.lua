--- What is written beside a prompt: values of placeholders, why it is still here; and above it: how large it is and
--- which files it speaks of are not saved.
local label = require("covey.ui.label")
local placeholder = require("covey.ui.placeholder")

local M = {}

local NAMESPACE = vim.api.nvim_create_namespace("covey.prompt")
local BYTES_PER_TOKEN = 4 -- roughly, for English and code

--- Mark placeholders, resolved and not, and the reason at the top.
---@param buf integer
---@param source covey.Source
---@param reason string?
function M.write(buf, source, reason)
  vim.api.nvim_buf_clear_namespace(buf, NAMESPACE, 0, -1)
  for _, mark in ipairs(placeholder.marks(vim.api.nvim_buf_get_lines(buf, 0, -1, false), source)) do
    local group = mark.value and "CoveyPlaceholder" or "CoveyUnresolved"
    vim.api.nvim_buf_set_extmark(buf, NAMESPACE, mark.row, mark.col, {
      end_col = mark.end_col,
      hl_group = group,
      virt_text = { { " " .. mark.note, mark.value and "CoveyDim" or group } },
    })
  end
  if reason then
    vim.api.nvim_buf_set_extmark(buf, NAMESPACE, 0, 0, { virt_lines = { { { reason, "CoveyReason" } } } })
  end
end

local function size(text)
  return ("%d bytes ≈ %d tokens"):format(#text, math.ceil(#text / BYTES_PER_TOKEN))
end

--- What will be sent, and which files it speaks of that are not saved.
---@param text string as written
---@param source covey.Source
---@return covey.Fact[]
local function facts(text, source)
  local rendered = placeholder.render(text, source)
  local found = { { size(rendered) } }
  local unsaved = placeholder.unsaved(rendered, source)
  if #unsaved > 0 then
    table.insert(found, { "not saved: " .. label.line(table.concat(unsaved, ", ")), "CoveyReason" })
  end
  return found
end

--- Say at the edge of each window of a prompt to whom it goes, in which state that is, what will be sent, and how.
---@param buf integer
---@param session covey.Session
---@param text string as written
---@param source covey.Source
function M.edge(buf, session, text, source)
  local told = facts(text, source)
  for _, win in ipairs(vim.fn.win_findbuf(buf)) do
    local width = vim.api.nvim_win_get_width(win)
    vim.wo[win][0].winbar = require("covey.ui.edge").bar(session, width, told, require("covey.ui.prompt_keys").hint)
  end
end

return M
