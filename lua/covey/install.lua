--- Which Python runs the helper, and `:Covey install`, which makes one for it.
local M = {}

local OLDEST = "3.11"
local CANDIDATES = { "python3.14", "python3.13", "python3.12", "python3.11", "python3" }
local STEP_TIMEOUT = 600000 -- ms for one step; a slow network is no failure
local LOOK_TIMEOUT = 10000 -- ms for a Python to say that it works
local WORDS = 800 -- bytes of a failed step's output that are shown
local NO_AGENTS = { custom = true, shell = true, standin = true } -- profiles that need nothing installed

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
--- `python3`, whichever comes first; while an installation is under way none but the first. Looks at files only;
--- starts nothing.
---@return string? path
---@return covey.Error?
function M.python()
  local option = require("covey.config").get().python
  if option ~= "" then
    return named(option, "the option `python`")
  end
  if running then
    return nil, unavailable("covey's own Python is being installed", "wait until it says that it is ready")
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

---@class covey.Step
---@field say string
---@field argv string[]

---@param argv string[]
---@param timeout integer
---@param cb fun(done: { code: integer, stdout: string?, stderr: string? }) on the main loop, in any case
local function start(argv, timeout, cb)
  local options = { text = true, env = require("covey.host").environment(), clear_env = true, timeout = timeout }
  local ok, problem = pcall(vim.system, argv, options, vim.schedule_wrap(cb))
  if not ok then
    cb({ code = -1, stderr = tostring(problem) })
  end
end

local NO_ENSUREPIP = {
  "this Python cannot make environments: its module ensurepip is missing",
  "install uv (https://docs.astral.sh/uv), or your system's python3-venv, then run :Covey install again",
}

local function no_base(tried)
  if #tried == 0 then
    return unavailable("there is neither uv nor a python3", "install one of them, then run :Covey install again")
  end
  local message = "none of these runs, is %s or newer and can make environments: %s"
  return unavailable(message:format(OLDEST, table.concat(tried, ", ")), NO_ENSUREPIP[2])
end

--- The newest Python on PATH that works: a name may belong to a program that only says what is not installed.
---@param cb fun(err?: covey.Error, python?: string)
local function base_python(cb)
  local check = ("import ensurepip, sys, venv; sys.exit(sys.version_info < (%s))"):format((OLDEST:gsub("%.", ", ")))
  local tried = {}
  local function try(index)
    local name = CANDIDATES[index]
    local path = name and program(name)
    if not name then
      return cb(no_base(tried))
    elseif not path then
      return try(index + 1)
    end
    table.insert(tried, path)
    start({ path, "-c", check }, LOOK_TIMEOUT, function(done)
      if done.code == 0 then
        return cb(nil, path)
      end
      try(index + 1)
    end)
  end
  try(1)
end

---@return covey.Step[]
local function with_uv(uv)
  local install = vim.list_extend({ uv, "pip", "install", "--python", venv_python() }, requirements())
  return {
    { say = "making the environment with uv", argv = { uv, "venv", "--python", ">=" .. OLDEST, M.venv() } },
    { say = "installing the packages with uv", argv = install },
  }
end

---@return covey.Step[]
local function with_pip(base)
  local pip = { venv_python(), "-m", "pip", "install", "--disable-pip-version-check" }
  return {
    { say = "making the environment with " .. base, argv = { base, "-m", "venv", M.venv() } },
    { say = "installing the packages with pip", argv = vim.list_extend(pip, requirements()) },
  }
end

---@param cb fun(err?: covey.Error, steps?: covey.Step[])
local function plan(cb)
  local function planned(steps)
    table.insert(steps, 1, { say = "clearing " .. M.venv(), argv = { "rm", "-rf", "--", M.venv() } })
    cb(nil, steps)
  end
  local uv = program("uv")
  if uv then
    return planned(with_uv(uv))
  end
  base_python(function(err, base)
    if err then
      return cb(err)
    end
    planned(with_pip(base))
  end)
end

--- A failed step as a sentence with the way out.
---@param step covey.Step
---@return covey.Error
local function failure(step, done)
  local words = vim.trim((done.stderr or "") .. "\n" .. (done.stdout or "")):sub(-WORDS)
  if words:find("ensurepip", 1, true) then
    return unavailable(unpack(NO_ENSUREPIP))
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
  vim.api.nvim_echo({ { ("covey: %d/%d %s"):format(index, #steps, step.say) } }, false, {})
  start(step.argv, STEP_TIMEOUT, function(done)
    if done.code ~= 0 then
      return cb(failure(step, done))
    end
    run(steps, index + 1, cb)
  end)
end

--- What to do next, by what is installed here. Asking that is the new Python's first work.
local function farewell()
  require("covey.rpc").reset()
  require("covey.rpc").call("agents", {}, function(err, found)
    if err then
      return require("covey.notify").error(err)
    end
    local here = {}
    for _, agent in ipairs(found) do
      if agent.installed and not NO_AGENTS[agent.name] then
        table.insert(here, agent.name)
      end
    end
    local words = "covey: ready. Installed here: %s. Go on with :Covey open %s"
    local none = "covey: ready. No agent is installed yet; :Covey open standin shows how it works without one"
    require("covey.notify").say(here[1] and words:format(table.concat(here, ", "), here[1]) or none)
  end)
end

--- Build the plugin's own environment, with uv where there is one, else with venv and pip. Never blocks; says each
--- step. The next call uses it.
---@param _ table?
---@param cb? covey.Callback result: `{ python = path }`
function M.install(_, cb)
  cb = cb or require("covey.rpc").tell
  if running then
    return cb({ code = "refused", message = "an installation is under way already", hint = "" })
  end
  running = true
  local function finish(err, result)
    running = false
    if not err then
      farewell()
    end
    cb(err, result)
  end
  plan(function(err, steps)
    if err then
      return finish(err)
    end
    run(steps, 1, finish)
  end)
end

return M
