--- What is written beside a prompt: values of placeholders, why it is still here; and above it: to whom it goes, how
--- large it is and which files it speaks of are not saved.
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

--- To whom, in which state, and what will be sent.
---@param session covey.Session
---@param text string as written
---@param source covey.Source
---@return string a value for 'winbar'
function M.winbar(session, text, source)
  local rendered = placeholder.render(text, source)
  local parts = { label.bar(session), size(rendered) }
  local unsaved = placeholder.unsaved(rendered, source)
  if #unsaved > 0 then
    table.insert(parts, ("%%#CoveyReason#not saved: %s%%*"):format(label.escaped(table.concat(unsaved, ", "))))
  end
  return table.concat(parts, " · ")
end

return M
