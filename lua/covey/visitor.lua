--- Run by an agent as its `$EDITOR` (|covey-bridge|), in a Neovim without a screen: asks the agent's own editor to open
--- a file, and ends when the person is done. Ends with 3 where there is no such editor.
local M = {}

local LOOK = 50 -- ms between two looks while nothing happens
local CLAIM = 2000 -- ms for the editor to say that the session is its own
local NOBODY = 3 -- exit code

local code = nil ---@type integer?

--- The editor's answer.
---@param given integer exit code
function M.done(given)
  code = given
end

--- Where the agent's editor listens. An agent that asks at once may be faster than its editor is with that file.
local function address()
  local path = ("%s/%s"):format(os.getenv("COVEY_EDITORS") or "", os.getenv("COVEY_ID") or "")
  local file
  vim.wait(CLAIM, function()
    file = io.open(path, "r")
    return file ~= nil
  end, LOOK)
  local text = file and file:read("*a")
  if file then
    file:close()
  end
  return text
end

local function connect()
  local where = address()
  local kind = where and where:find("^[^/]+:%d+$") and "tcp" or "pipe"
  local ok, channel = pcall(vim.fn.sockconnect, kind, where or "", { rpc = true })
  return ok and channel > 0 and channel or nil
end

local function visit(path)
  local channel = connect()
  if not channel then
    return NOBODY
  end
  local ok = pcall(function()
    local own = vim.rpcrequest(channel, "nvim_get_chan_info", 0).id
    local ask = "require('covey.bridge').open(...)"
    vim.rpcrequest(channel, "nvim_exec_lua", ask, { os.getenv("COVEY_ID"), path, own })
  end)
  while ok and not code and pcall(vim.fn.rpcnotify, channel, "nvim_get_mode") do
    vim.wait(LOOK * 10, function()
      return code ~= nil
    end, LOOK)
  end
  return code or NOBODY
end

if arg and arg[0] and arg[0]:find("visitor%.lua$") then
  package.loaded["covey.visitor"] = M
  local path = arg[#arg]
  os.exit(visit(vim.fn.fnamemodify(path, ":p")))
end

return M
