--- A float with lines to read; `q`, `<Esc>` or `g?` closes it.
local M = {}

local MARGIN = 4 -- cells of frame and air

--- Show lines; where they are more than fit, the window scrolls.
---@param title string
---@param lines string[] control characters become spaces
function M.open(title, lines)
  local label = require("covey.ui.label")
  local shown = vim.tbl_map(label.line, #lines > 0 and lines or { "nothing" })
  local width = math.max(#title, unpack(vim.tbl_map(vim.api.nvim_strwidth, shown)))
  local sheet
  local function close()
    sheet:close()
  end
  sheet = require("covey.ui.float").open({
    place = function()
      return {
        width = math.max(2, width + MARGIN),
        height = math.max(2, #shown + 2),
        border = require("covey.config").get().float.border,
      }
    end,
    focus = true,
    title = " " .. title .. " ",
    filetype = "covey-help",
    zindex = 60,
    keys = vim.tbl_map(function(lhs)
      return { name = "close", lhs = lhs, run = close, desc = "close" }
    end, { "q", "<Esc>", "g?" }),
  })
  if sheet then
    vim.api.nvim_buf_set_lines(sheet.buf, 0, -1, false, shown)
    vim.bo[sheet.buf].modifiable = false
  end
end

return M
