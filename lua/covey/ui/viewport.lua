--- Which part of a screen a preview's window shows, and what its lower edge says.
local M = {}

--- The words at a view's lower edge; empty where there is nothing to say.
---@param view covey.View
---@return string
function M.footer(view)
  local screen = view.screen or {}
  local lost = view.session.state == "lost" and "the tmux server was lost" or nil
  local note = (view.note or "") ~= "" and view.note or lost
  if view.history then
    return " history "
  elseif note then
    return " " .. require("covey.ui.label").line(note) .. " "
  elseif screen.dead or view.session.state == "exited" then
    local again = require("covey.config").get().keys.preview.respawn
    local ending = require("covey.states").ending(screen.exit or view.session.exit)
    return again and (" %s · %s respawns "):format(ending, again) or (" %s "):format(ending)
  end
  return view.reading and " reading · G follows " or ""
end

--- Where the window's view belongs: the end of what is in use on the screen, the cursor's row always in sight.
---@param screen covey.Screen
---@param painted covey.Canvas
---@param height integer rows of the window
---@return { topline: integer, lnum: integer, col: integer, leftcol: integer }
function M.home(screen, painted, height)
  local canvas = require("covey.ui.canvas")
  local last = math.max(1, math.min(canvas.used(screen) - painted.top, painted.rows))
  local topline = math.max(1, math.min(canvas.first(screen, height) - painted.top + 1, painted.rows))
  local cursor = screen.cursor
  local lnum = cursor and math.max(1, math.min(last, cursor.y - painted.top + 1)) or last
  return { topline = math.min(topline, lnum), lnum = lnum, col = 0, leftcol = 0 }
end

local function moved(view, now)
  return view.placed and (now.topline ~= view.placed.topline or now.lnum ~= view.placed.lnum)
end

--- Put the view to its home, unless the person moved it up: then it stays until they go to the end.
---@param view covey.View
---@return boolean changed whether the person began or ended reading
function M.place(view)
  local win, was = view.float.win, view.reading
  local at = M.home(view.screen, view.canvas, vim.api.nvim_win_get_height(win))
  vim.api.nvim_win_call(win, function()
    local now = vim.fn.winsaveview()
    view.reading = moved(view, now) and (now.lnum < at.lnum or now.topline < at.topline) or false
    if not view.reading then
      vim.fn.winrestview(at)
      now = vim.fn.winsaveview()
      view.placed = { topline = now.topline, lnum = now.lnum }
    end
  end)
  return was ~= view.reading
end

--- There is nothing to type into: whatever would start terminal mode, as many people's autocommands do, ends it.
---@param float covey.Float
function M.read_only(float)
  vim.bo[float.buf].modifiable = false
  vim.api.nvim_create_autocmd("TermEnter", {
    group = float.group,
    buffer = float.buf,
    callback = function()
      vim.cmd.stopinsert()
    end,
  })
end

return M
