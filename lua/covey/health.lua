--- `:checkhealth covey`: every link from the editor to an agent, each with what to do where it is broken. Waits for
--- nothing longer than five seconds.
local M = {}

local WAIT = 5000 -- ms for each question
local LOOK = 20 -- ms between two looks
local OLDEST_NVIM = "0.10"
local OLDEST_TMUX = { 3, 2 }
-- What doctor says and others show.
local APART = { ok = true, warnings = true, agents = true, problems = true, covey = true }
local OUTPUT = 4096 -- bytes of a program's answer that are read

local function start(name)
  vim.health.start("covey: " .. name)
end

--- Ask the helper and wait, but never longer than `WAIT`.
---@return covey.Error?
---@return any result
local function ask(method)
  local answer
  require("covey.rpc").call(method, {}, function(err, result)
    answer = { err = err, result = result }
  end)
  vim.wait(WAIT, function()
    return answer ~= nil
  end, LOOK)
  if not answer then
    return { code = "timeout", message = ("no answer to %q within %d s"):format(method, WAIT / 1000), hint = "" }
  end
  return answer.err, answer.result
end

local function advice(err)
  return err.hint and err.hint ~= "" and vim.split(err.hint, "\n") or {}
end

local function editor()
  start("editor")
  if vim.fn.has("nvim-" .. OLDEST_NVIM) == 1 then
    vim.health.ok("Neovim " .. tostring(vim.version()))
  else
    vim.health.error(("Neovim %s is older than %s"):format(tostring(vim.version()), OLDEST_NVIM))
  end
  if vim.fn.exists(":Covey") ~= 2 then
    vim.health.error("there is no command :Covey", { "plugin/covey.lua was not sourced; is 'loadplugins' off?" })
  end
end

local function options()
  start("options")
  local problems = require("covey.config").problems()
  for _, problem in ipairs(problems) do
    vim.health.warn(problem, { "see |covey-options|; the default is used" })
  end
  if #problems == 0 then
    vim.health.ok("nothing is wrong with them")
  end
end

--- A program's first line, or why there is none: it hangs, fails, or writes without end.
---@param argv string[]
---@return string? line
---@return string? problem
local function first_line(argv)
  local seen = ""
  local ok, running = pcall(vim.system, argv, {
    timeout = WAIT,
    stdout = function(_, data)
      seen = #seen < OUTPUT and seen .. (data or "") or seen
    end,
  })
  if not ok then
    return nil, "does not start"
  end
  vim.wait(WAIT, function()
    return running:is_closing() or #seen >= OUTPUT
  end, LOOK)
  running:kill("sigkill")
  local line = seen:match("^[^\n]*")
  return line ~= "" and line or nil, "says nothing"
end

local function tmux()
  start("tmux")
  local name = require("covey.config").get().tmux
  local path = vim.fn.exepath(vim.fs.normalize(name))
  if path == "" then
    local where = { "install tmux 3.2 or newer, or set the option `tmux` to its path", "PATH is " .. vim.env.PATH }
    return vim.health.error(("there is no program %q"):format(name), where)
  end
  local line, problem = first_line({ path, "-V" })
  local major, minor = (line or ""):match("^tmux [%a-]*(%d+)%.(%d+)")
  if not major then
    local said = line and ("says %q"):format(line:sub(1, 60)) or problem
    return vim.health.error(("%s -V %s"):format(path, said), { "set the option `tmux` to a tmux that works" })
  end
  local too_old = vim.version.lt({ tonumber(major), tonumber(minor), 0 }, { OLDEST_TMUX[1], OLDEST_TMUX[2], 0 })
  local say = too_old and vim.health.error or vim.health.ok
  say(("%s is %s"):format(path, line) .. (too_old and ", older than " .. table.concat(OLDEST_TMUX, ".") or ""))
end

local function sorted_keys(content)
  local keys = vim.tbl_keys(content)
  table.sort(keys, function(a, b)
    return tostring(a) < tostring(b)
  end)
  return keys
end

--- A value as words: `name value, name value` where it is a table of names.
local function in_words(value)
  if type(value) ~= "table" then
    return tostring(value)
  end
  local parts = vim.tbl_map(function(key)
    return (type(key) == "string" and key .. " " or "") .. in_words(value[key])
  end, sorted_keys(value))
  return #parts > 0 and table.concat(parts, ", ") or "none"
end

--- A section of what `doctor` answers, by name.
local function section(name, content)
  start(name)
  if content.ok == false then
    vim.health.error("not as it should be")
  end
  for _, key in ipairs(sorted_keys(content)) do
    vim.health.info(("%s: %s"):format(key, in_words(content[key])))
  end
end

--- The interpreter, and whether the helper runs in it.
---@return boolean
local function helper()
  start("helper")
  local python, problem = require("covey.install").python()
  if not python then
    vim.health.error(problem.message, advice(problem))
    return false
  end
  vim.health.info("Python: " .. python)
  vim.health.info("log: " .. require("covey.host").log_path())
  local err = ask("list")
  if err then
    vim.health.error(err.message, advice(err))
    return false
  end
  local info = require("covey.rpc").status().info or {}
  vim.health.ok(("it answers, as covey %s"):format(info.version or "of unknown version"))
  return true
end

local function installed(agent)
  local untested = agent.untested and "; its profile is untested" or ""
  local version = agent.version and agent.version ~= "" and " " .. agent.version or ""
  vim.health.ok(("%s%s%s"):format(agent.name, version, untested))
end

--- Agents that are here, each; those that are not in one line, for it is no fault.
local function agents(found)
  start("agents")
  local missing = {}
  for _, agent in ipairs(found) do
    if agent.installed then
      installed(agent)
    else
      table.insert(missing, agent.name)
    end
  end
  if #missing > 0 then
    local fix = "To use one, install it, and start Neovim where its program is on $PATH; or see |covey-agents-own|"
    vim.health.info(("not installed: %s. %s"):format(table.concat(missing, ", "), fix))
  end
end

local function doctor()
  local err, sections = ask("doctor")
  if err then
    start("what the helper sees")
    return vim.health.error(err.message, advice(err))
  end
  for _, name in ipairs(sorted_keys(sections)) do
    if not APART[name] then
      section("helper's " .. name, sections[name])
    end
  end
  for _, problem in ipairs(vim.list_extend(sections.problems or {}, sections.warnings or {})) do
    vim.health.warn(problem)
  end
  agents(sections.agents or {})
end

local function self_test()
  start("self-test")
  local err, result = ask("selftest")
  if err then
    return vim.health.error("the self-test failed: " .. err.message, advice(err))
  end
  for _, check in ipairs(result.checks or {}) do
    local note = (check.note or "") ~= "" and (": " .. check.note) or ""
    local say = check.ok and vim.health.ok or vim.health.error
    say(check.name .. note)
  end
  vim.health.info(("a prompt to a session of its own and back: %s ms"):format(tostring(result.ms)))
end

--- |:checkhealth| covey.
function M.check()
  editor()
  options()
  tmux()
  if helper() then
    doctor()
    self_test()
  end
end

return M
