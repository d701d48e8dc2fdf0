--- What a session printed before its present screen, in pages, in place of a preview's live screen.
local M = {}

local PAGE = 1000 -- lines; what tmux hands over without making its other clients wait

---@class covey.History
---@field lines integer how many lines above the screen were asked for

local function show(preview, view, lines, result)
  local from_end = view.history and vim.fn.line("$", view.float.win) - vim.fn.line(".", view.float.win) or 0
  local rows = result.ansi and vim.split(result.ansi, "\n", { plain = true }) or result.lines
  preview.replace(view, { lines = lines }, function(win)
    local height = vim.api.nvim_win_get_height(win)
    local cols = math.max(vim.api.nvim_win_get_width(win), math.min(result.cols, vim.o.columns))
    return require("covey.ui.canvas").new(win, cols, height, #rows + 1)
  end)
  view.canvas:write("\27)0\27[?7l" .. require("covey.ui.canvas").inert(table.concat(rows, "\r\n")))
  M._settle(view, #rows, from_end)
end

--- Put the cursor where it was, counted from the end, once all lines are in the buffer.
function M._settle(view, count, from_end)
  vim.api.nvim_buf_attach(view.float.buf, false, {
    on_lines = function(_, buf)
      if vim.api.nvim_buf_line_count(buf) < count then
        return
      end
      vim.schedule(function()
        if view.float:valid() and view.float.buf == buf then
          pcall(vim.api.nvim_win_set_cursor, view.float.win, { math.max(1, count - from_end), 0 })
        end
      end)
      return true
    end,
  })
end

--- Show the history, or one page more of it where it is shown already.
---@param preview table
---@param view covey.View
function M.open(preview, view)
  local limit = require("covey.config").get().history_limit
  local lines = math.min(limit, (view.history and view.history.lines or 0) + PAGE)
  if view.history and view.history.lines >= limit then
    return require("covey.notify").say("covey: this is all there is")
  end
  local params = { name = view.session.id, ansi = true, history = lines }
  require("covey.rpc").call("capture", params, function(err, result)
    if err then
      require("covey.notify").error(err)
    elseif view.float:valid() then
      show(preview, view, lines, result)
    end
  end)
end

return M
