--- What is left of an attached session that went while a person typed into it: keys that were on their way must not
--- reach what lies behind.
local M = {}

--- The last that was shown, without the rows that nothing stands in below it.
local function shown(buf)
  local lines = vim.api.nvim_buf_get_lines(buf, 0, -1, false)
  while #lines > 0 and not lines[#lines]:find("%S") do
    table.remove(lines)
  end
  return lines
end

--- Show it in the view's window in place of the terminal, to be read and closed; what is typed does nothing.
---@param view covey.Attached
function M.leave(view)
  local lines, buf = shown(view.buf), vim.api.nvim_create_buf(false, true)
  local key = require("covey.config").get().keys.attach.close
  local close = key and ("; %s closes this"):format(key) or ""
  vim.list_extend(lines, { "", ("[%s is gone%s]"):format(require("covey.ui.label").line(view.session.name), close) })
  vim.api.nvim_buf_set_lines(buf, 0, -1, false, lines)
  vim.bo[buf].modifiable = false
  vim.bo[buf].bufhidden = "wipe"
  vim.cmd.stopinsert()
  if view.float then
    view.float:show(buf)
  else
    vim.api.nvim_win_set_buf(0, buf)
  end
  vim.api.nvim_win_set_cursor(0, { #lines, 0 })
  if key then
    vim.keymap.set("n", key, "<Cmd>bwipeout!<CR>", { buffer = buf, nowait = true, desc = "covey: close" })
  end
end

return M
