--- Whether there may be sessions, for an editor that has not asked yet. Who has the fleet in the statusline wants to
--- see it before the first `:Covey`; nobody else pays for that, and nobody while Neovim starts.
local M = {}

local IDLE = 500 -- ms from the first wish, when startup is over
local SOCKET_MAX = 100 -- bytes, as in paths.py
local AGAIN = 5000 -- ms between two looks while there is nothing

local settled = false -- there is a helper, or one was started
local due = 0 -- when to look again, in ms of |uv.now()|

--- Where the sockets of covey's tmux servers lie, one in a directory of each fleet: somewhere short, where the path of
--- one would be too long.
local function folder()
  local base = vim.env.XDG_RUNTIME_DIR or ""
  local usable = base ~= "" and vim.uv.fs_access(base, "WX") and #base + #"/covey/01234567/s" <= SOCKET_MAX
  return usable and base .. "/covey" or "/tmp/covey-" .. vim.uv.getuid()
end

--- Whether a tmux server of covey's may run.
local function is_there()
  local base = folder()
  for name in vim.fs.dir(base) do
    if vim.uv.fs_stat(("%s/%s/s"):format(base, name)) then
      return true
    end
  end
  return false
end

local function look()
  settled = require("covey.fleet").connected()
  if not settled and is_there() then
    settled = true
    require("covey.rpc").warm()
  end
end

--- Somebody shows how many sessions there are: look for them, a moment later. Where there are some the helper is
--- started, once.
function M.wanted()
  local now = vim.uv.now()
  if settled or now < due then
    return
  end
  due = now + AGAIN
  vim.defer_fn(look, IDLE)
end

return M
