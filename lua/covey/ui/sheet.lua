--- A float with lines to read; `q`, `<Esc>` or `g?` closes it, and so does whatever is done next elsewhere: what it
--- says was so when it was asked for.
local M = {}

local BORDER = 2 -- cells of the frame
local MARGIN = BORDER + 2 -- and some air

--- Say how much there is below what is shown, for as long as there is more.
local function watch_end(sheet, total)
  local function tell()
    local below = sheet:valid() and total - vim.fn.line("w$", sheet.win) or 0
    sheet:caption(nil, below > 0 and (" %d more below: <C-d> "):format(below) or "")
  end
  vim.api.nvim_create_autocmd({ "WinScrolled", "WinResized" }, { group = sheet.group, callback = tell })
  tell()
end

--- A window as wide as the lines, where the editor is; and so high that those that are wider have their rows, too.
local function place(title, lines)
  local widths = vim.tbl_map(vim.api.nvim_strwidth, lines)
  local width = math.max(#title, unpack(widths)) + MARGIN
  return function(area)
    local room = math.max(1, math.min(width, area.width) - BORDER)
    local height = BORDER
    for _, each in ipairs(widths) do
      height = height + math.max(1, math.ceil(each / room))
    end
    return { width = width, height = height, border = require("covey.config").get().float.border }
  end
end

local open ---@type covey.Float?

--- Close what is shown, if anything is.
function M.close()
  if open and open:valid() then
    open:close()
  end
end

--- Show lines; where they are more than fit, the window scrolls, and says so.
---@param title string
---@param lines string[] control characters become spaces
---@return covey.Float? sheet nil where the editor has no room for it
function M.open(title, lines)
  local shown = vim.tbl_map(require("covey.ui.label").line, #lines > 0 and lines or { "nothing" })
  local sheet
  local function close()
    sheet:close()
  end
  sheet = require("covey.ui.float").open({
    place = place(title, shown),
    focus = true,
    wo = { wrap = true },
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
    vim.api.nvim_create_autocmd(
      "WinLeave",
      { group = sheet.group, buffer = sheet.buf, callback = vim.schedule_wrap(close) }
    )
    open = sheet
  end
  return sheet
end

return M
