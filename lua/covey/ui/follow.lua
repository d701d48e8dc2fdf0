--- Changes of a buffer, taken in as they are made. `:edit` does not end that.
local M = {}

--- Call `at_once` within each change, and `later` once after any number of them.
---@param buf integer
---@param later fun()
---@param at_once fun()?
function M.changes(buf, later, at_once)
  local due = false
  vim.api.nvim_buf_attach(buf, false, {
    on_lines = function()
      if at_once then
        at_once()
      end
      if not due then
        due = true
        vim.schedule(function()
          due = false
          later()
        end)
      end
    end,
    on_detach = function()
      vim.schedule(function()
        if vim.api.nvim_buf_is_loaded(buf) then
          M.changes(buf, later, at_once)
          later()
        end
      end)
    end,
  })
end

return M
