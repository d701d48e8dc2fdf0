--- The host process: a detached Python that runs the remote-plugin class, what it says on stderr, and why it ended.
local M = {}

local TAIL = 40 -- lines of stderr that are kept
local TOLD = 6 -- of them, lines that a message shows
local LINE = 400 -- bytes of such a line
local LOG_MAX = 1024 * 1024 -- bytes; a larger log starts anew with the next host
local SIGNALS = 128 -- an exit code above it is a signal

---@class covey.Host
---@field chan integer
---@field python string
---@field ready boolean whether hello was answered
---@field gone boolean whether it ended, or was let go
---@field info? table what the helper said of itself
---@field seq integer number of the last event
---@field tail string[] the last lines of stderr

--- Where the host's stderr goes: tracebacks, warnings, stray prints.
---@return string
function M.log_path()
  return vim.fs.joinpath(vim.fn.stdpath("log") --[[@as string]], "covey-host.log")
end

--- The directory that holds `lua/`, `rplugin/` and `helper/`, also where it is reached through a symlink.
---@return string
function M.root()
  local source = debug.getinfo(1, "S").source:sub(2)
  return vim.fn.fnamemodify(source, ":p:h:h:h")
end

local function open_log()
  vim.fn.mkdir(vim.fs.dirname(M.log_path()), "p")
  local stat = vim.uv.fs_stat(M.log_path())
  if stat and stat.size > LOG_MAX then
    os.remove(M.log_path())
  end
end

local function log(lines)
  local file = io.open(M.log_path(), "a")
  if file then
    file:write(table.concat(lines, "\n"))
    file:close()
  end
end

--- The editor's environment without what bends a Python.
---@return table<string, string>
function M.environment()
  local env = vim.fn.environ()
  for name in pairs(env) do
    if name:find("^PYTHON") or name == "VIRTUAL_ENV" then
      env[name] = nil
    end
  end
  return env
end

---@param own covey.Host
---@param data string[] as |channel-lines|: the first continues the last line
local function listen(own, data)
  own.tail[#own.tail] = (own.tail[#own.tail] .. data[1]):sub(1, LINE)
  for index = 2, #data do
    table.insert(own.tail, data[index]:sub(1, LINE))
  end
  own.tail = vim.list_slice(own.tail, math.max(1, #own.tail - TAIL + 1))
  log(data)
end

---@param own covey.Host
---@return string[]
local function lines_of(own)
  return vim.tbl_filter(function(line)
    return line ~= ""
  end, own.tail)
end

--- The sentence that the host left for a person, where it knew one.
---@return string?
local function sentence_of(own)
  for _, line in ipairs(lines_of(own)) do
    local sentence = line:match("^covey: (.+)")
    if sentence then
      return sentence
    end
    if line:lower():find("unknown option:? %-p") then
      return own.python .. " is too old: covey needs Python 3.11 or newer"
    end
  end
end

--- Why a host ended, for a person: its own sentence, else its exit code, its last lines and its log.
---@param own covey.Host
---@param code integer
---@return covey.Error
function M.cause(own, code)
  local sentence = sentence_of(own)
  if sentence then
    return { code = "unavailable", message = sentence, hint = "run :Covey install, or set the option `python`" }
  end
  local how = code > SIGNALS and ("was ended by signal %d"):format(code - SIGNALS)
    or ("ended with code %d"):format(code)
  local after = own.ready and "; sessions are untouched, it starts again at the next call" or " before it was ready"
  local lines = lines_of(own)
  local told = vim.list_slice(lines, math.max(1, #lines - TOLD + 1))
  table.insert(told, "log: " .. M.log_path())
  return { code = "host_lost", message = "the covey helper " .. how .. after, hint = table.concat(told, "\n") }
end

--- Start a host. It outlives the editor until its own sweep is done; it ends by itself when its channel closes.
---@param python string
---@param on_gone fun(own: covey.Host, code: integer) called once, unless stop() came first
---@return covey.Host?
---@return covey.Error?
function M.start(python, on_gone)
  open_log()
  local own = { chan = 0, python = python, ready = false, gone = false, seq = 0, tail = { "" } }
  local script = vim.fs.joinpath(M.root(), "rplugin", "python3", "covey_rplugin", "__main__.py")
  local ok, chan = pcall(vim.fn.jobstart, { python, "-P", script }, {
    rpc = true,
    detach = true,
    cwd = M.root(),
    env = M.environment(),
    clear_env = true,
    on_stderr = function(_, data)
      listen(own, data)
    end,
    on_exit = function(_, code)
      if not own.gone then
        own.gone = true
        on_gone(own, code)
      end
    end,
  })
  if not ok or chan <= 0 then
    return nil, { code = "unavailable", message = ("%s does not start: %s"):format(python, chan), hint = "" }
  end
  own.chan = chan
  return own
end

--- Let a host go: it ends by itself, and nobody is told.
---@param own covey.Host
function M.stop(own)
  own.gone = true
  pcall(vim.fn.chanclose, own.chan)
end

return M
