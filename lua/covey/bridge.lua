--- The way from an agent's "open in $EDITOR" back to the editor that the person sits in. `program()` is what the agent
--- runs: it asks the editor that opened or last attached to its session to open the file, and waits until that is done.
--- Where that editor is gone it becomes a Neovim of its own.
local M = {}

local MODE_DIR, MODE_PROGRAM, MODE_FILE = "0700", 448, 384 -- the latter two: 0700 and 0600 in decimal
local HEIGHT = 12 -- rows of the window

local SCRIPT = [[
#!/bin/sh
# Opens a file in the Neovim that this agent belongs to, and waits until the person is done with it.
COVEY_EDITORS=%s %s --clean --headless -n -l %s "$@"
code=$?
# 3: there is no such editor any more
if [ "$code" -eq 3 ] && [ -t 0 ]; then exec %s "$@"; fi
exit "$code"
]]

local function folder()
  return vim.fs.joinpath(vim.fn.stdpath("state") --[[@as string]], "covey", "editors")
end

local function write(path, text, mode)
  vim.fn.mkdir(vim.fs.dirname(path), "p", MODE_DIR)
  local fresh = ("%s.%d"):format(path, vim.fn.getpid())
  local handle = assert(vim.uv.fs_open(fresh, "w", mode))
  assert(vim.uv.fs_write(handle, text))
  vim.uv.fs_close(handle)
  assert(vim.uv.fs_rename(fresh, path))
end

--- The program for `$EDITOR`; written anew, for Neovim or covey may have moved.
---@return string path
function M.program()
  local quote, nvim = vim.fn.shellescape, vim.v.progpath
  local visitor = vim.fs.joinpath(require("covey.host").root(), "lua", "covey", "visitor.lua")
  local script = SCRIPT:format(quote(folder()), quote(nvim), quote(visitor), quote(nvim))
  local path = vim.fs.joinpath(folder(), "covey-edit")
  write(path, script, MODE_PROGRAM)
  return path
end

--- From now on this session's files are opened here.
---@param id string
function M.claim(id)
  if require("covey.config").get().editor_bridge then
    write(vim.fs.joinpath(folder(), id), vim.v.servername, MODE_FILE)
  end
end

local function tell(channel, code)
  pcall(vim.rpcnotify, channel, "nvim_exec_lua", "require('covey.visitor').done(...)", { code })
end

--- Placeholders that were written have their values when the agent reads the file.
local function finish(buf, source)
  local text = table.concat(vim.api.nvim_buf_get_lines(buf, 0, -1, false), "\n")
  local rendered = require("covey.ui.placeholder").render(text, source)
  if rendered ~= text then
    vim.api.nvim_buf_set_lines(buf, 0, -1, false, vim.split(rendered, "\n", { plain = true }))
    vim.api.nvim_buf_call(buf, function()
      vim.cmd("silent! noautocmd write")
    end)
  end
end

local function show(path)
  vim.api.nvim_open_win(vim.api.nvim_get_current_buf(), true, { split = "below", win = -1, height = HEIGHT })
  vim.cmd("silent edit " .. vim.fn.fnameescape(path))
  vim.bo.bufhidden = "wipe"
  vim.bo.filetype = "markdown"
  return vim.api.nvim_get_current_buf()
end

local function keys(buf)
  require("covey.ui.keys").set(
    buf,
    require("covey.ui.keys").chosen("prompt", {
      {
        name = "submit",
        mode = { "n", "i" },
        desc = "give it to the agent",
        run = "<Esc><Cmd>update<CR><Cmd>close!<CR>",
      },
    })
  )
end

local function follow(buf, source)
  local gloss = require("covey.ui.gloss")
  local function refresh()
    if vim.api.nvim_buf_is_valid(buf) then
      gloss.write(buf, source)
    end
  end
  source.changed = refresh
  require("covey.ui.follow").changes(buf, refresh)
  require("covey.ui.completion").attach(buf, function()
    return source
  end)
  refresh()
end

--- Back to where the person was, who may have been typing there.
local function go_back(win)
  if vim.api.nvim_win_is_valid(win) then
    vim.api.nvim_set_current_win(win)
  end
end

--- A visitor's request: open a file in a window, and tell the visitor when the person has left it.
---@param id string of the session
---@param path string
---@param channel integer
function M.open(id, path, channel)
  local session = require("covey.fleet").get(id) or { id = id, cwd = vim.fn.getcwd(), agent = "", name = id }
  local before = vim.api.nvim_get_current_win()
  local source = require("covey.ui.placeholder").source(session)
  vim.cmd.stopinsert()
  local buf = show(path)
  vim.b[buf].covey_session = nil
  vim.wo[0][0].winbar = " %#CoveyTitle#" .. session.name:gsub("%%", "%%%%") .. "%* · write and close to go on"
  keys(buf)
  follow(buf, source)
  vim.api.nvim_create_autocmd("BufWinLeave", {
    buffer = buf,
    once = true,
    callback = function()
      finish(buf, source)
      tell(channel, 0)
      vim.schedule(function()
        go_back(before)
      end)
    end,
  })
end

return M
