--- Which Python runs the helper, and `:Covey install`, which makes one for it.
local M = {}

local OLDEST = "3.11"
local CANDIDATES = { "python3.14", "python3.13", "python3.12", "python3.11", "python3" }
local STEP_TIMEOUT = 600000 -- ms for one step; a slow network is no failure
local WORDS = 800 -- bytes of a failed step's output that are shown

local running = false

---@return covey.Error
local function unavailable(message, hint)
  return { code = "unavailable", message = message, hint = hint }
end

--- The plugin's own environment.
---@return string
function M.venv()
  return vim.fs.joinpath(vim.fn.stdpath("data") --[[@as string]], "covey", "venv")
end

---@return string
local function venv_python()
  return vim.fs.joinpath(M.venv(), "bin", "python")
end

---@return string? path, nil where there is no such program
local function program(name)
  local path = vim.fn.exepath(vim.fs.normalize(name))
  return path ~= "" and path or nil
end

--- A program that a person named: it is used, or its absence is told; never something else in its place.
local function named(name, where)
  local path = program(name)
  return path, not path and unavailable(("%s is %q, which is no program"):format(where, name), "set it right") or nil
end

--- `pynvim-python` only starts the interpreter beside it: that one is taken, and a process is saved.
local function beside_pynvim()
  local wrapper = program("pynvim-python")
  if wrapper then
    return program(vim.fs.joinpath(vim.fs.dirname(vim.uv.fs_realpath(wrapper)), "python")) or wrapper
  end
end

--- The interpreter of the helper: the option `python`, the plugin's own, `g:python3_host_prog`, `pynvim-python`,
--- `python3`, whichever comes first. Looks at files only; starts nothing.
---@return string? path
---@return covey.Error?
function M.python()
  local option = require("covey.config").get().python
  if option ~= "" then
    return named(option, "the option `python`")
  end
  if program(venv_python()) then
    return venv_python()
  end
  if vim.uv.fs_lstat(venv_python()) then
    return nil, unavailable("covey's own Python in " .. M.venv() .. " is broken", "run :Covey install to build it anew")
  end
  local host_prog = vim.g.python3_host_prog
  if host_prog and host_prog ~= "" then
    return named(host_prog, "g:python3_host_prog")
  end
  local found = beside_pynvim() or program("python3")
  return found, not found and unavailable("no Python found", "install Python " .. OLDEST .. " or newer") or nil
end

--- What the helper needs, as `pyproject.toml` says it.
---@return string[]
local function requirements()
  local root = require("covey.host").root()
  local text = table.concat(vim.fn.readfile(vim.fs.joinpath(root, "pyproject.toml")), "\n")
  local listed = {}
  for requirement in text:match("\ndependencies = %[(.-)\n%]"):gmatch('"([^"]+)"') do
    table.insert(listed, requirement)
  end
  return listed
end

--- The newest Python on PATH by its name; its version is checked by the first step.
local function base_python()
  for _, name in ipairs(CANDIDATES) do
    if program(name) then
      return program(name)
    end
  end
end

---@class covey.Step
---@field say string
---@field argv string[]

---@return covey.Step[]?
---@return covey.Error?
local function plan()
  local venv, uv, base = M.venv(), program("uv"), base_python()
  local fresh = { say = "clearing " .. venv, argv = { "rm", "-rf", "--", venv } }
  if uv then
    local install = vim.list_extend({ uv, "pip", "install", "--python", venv_python() }, requirements())
    return {
      fresh,
      { say = "making the environment with uv", argv = { uv, "venv", "--python", ">=" .. OLDEST, venv } },
      { say = "installing the packages with uv", argv = install },
    }
  end
  if not base then
    return nil, unavailable("there is neither uv nor a python3", "install one of them, then run :Covey install again")
  end
  local check = ("import sys; sys.exit(sys.version_info < (%s))"):format((OLDEST:gsub("%.", ", ")))
  local pip = { venv_python(), "-m", "pip", "install", "--disable-pip-version-check" }
  return {
    { say = "looking at " .. base, argv = { base, "-c", check } },
    fresh,
    { say = "making the environment", argv = { base, "-m", "venv", venv } },
    { say = "installing the packages with pip", argv = vim.list_extend(pip, requirements()) },
  }
end

--- A failed step as a sentence with the way out.
---@param step covey.Step
---@param done vim.SystemCompleted
---@return covey.Error
local function failure(step, done)
  local words = vim.trim((done.stderr or "") .. "\n" .. (done.stdout or "")):sub(-WORDS)
  if words:find("ensurepip", 1, true) then
    local hint = "install uv (https://docs.astral.sh/uv), or your system's python3-venv, then run :Covey install again"
    return unavailable("this Python cannot make environments: its module ensurepip is missing", hint)
  end
  if step.say:find("^looking at") then
    local hint = "install uv, or a newer Python, then run :Covey install again"
    return unavailable(step.argv[1] .. " is older than " .. OLDEST, hint)
  end
  return unavailable(("%s failed with code %d"):format(step.say, done.code), words)
end

---@param steps covey.Step[]
---@param index integer
---@param cb covey.Callback
local function run(steps, index, cb)
  local step = steps[index]
  if not step then
    return cb(nil, { python = venv_python() })
  end
  require("covey.notify").say(("covey: %d/%d %s"):format(index, #steps, step.say))
  local options = { text = true, env = require("covey.host").environment(), clear_env = true, timeout = STEP_TIMEOUT }
  local ok, err = pcall(vim.system, step.argv, options, function(done)
    vim.schedule(function()
      if done.code ~= 0 then
        cb(failure(step, done))
      else
        run(steps, index + 1, cb)
      end
    end)
  end)
  if not ok then
    cb(unavailable(step.say .. " failed", tostring(err)))
  end
end

--- Build the plugin's own environment, with uv where there is one, else with venv and pip. Never blocks; says each
--- step. The next call uses it.
---@param _ table?
---@param cb? covey.Callback result: `{ python = path }`
function M.install(_, cb)
  cb = cb or require("covey.rpc").tell
  local steps, err = plan()
  if running or not steps then
    return cb(err or { code = "refused", message = "an installation is under way already", hint = "" })
  end
  running = true
  run(steps, 1, function(failed, result)
    running = false
    if not failed then
      require("covey.rpc").reset()
      require("covey.notify").say("covey: ready, with " .. result.python .. ". Go on with :Covey open")
    end
    cb(failed, result)
  end)
end

return M
