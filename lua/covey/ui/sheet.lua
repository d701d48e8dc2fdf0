--- A float with lines to read; `q`, `<Esc>` or `g?` closes it.
local M = {}

local MARGIN = 4 -- cells of frame and air

--- Say how much there is below what is shown, for as long as there is more.
local function watch_end(sheet, total)
  local function tell()
    local below = sheet:valid() and total - vim.fn.line("w$", sheet.win) or 0
    sheet:caption(nil, below > 0 and (" %d more below: <C-d> "):format(below) or "")
  end
  vim.api.nvim_create_autocmd({ "WinScrolled", "WinResized" }, { group = sheet.group, callback = tell })
  tell()
end

--- Show lines; where they are more than fit, the window scrolls, and says so.
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
    footer = "",
    filetype = "covey-help",
    zindex = 60,
    keys = vim.tbl_map(function(lhs)
      return { name = "close", lhs = lhs, run = close, desc = "close" }
    end, { "q", "<Esc>", "g?" }),
  })
  if sheet then
    vim.api.nvim_buf_set_lines(sheet.buf, 0, -1, false, shown)
    vim.bo[sheet.buf].modifiable = false
    watch_end(sheet, #shown)
  end
end

return M
