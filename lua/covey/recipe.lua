--- Recipes for the subcommands of `:Covey`: what many of them have in common.
local report = require("covey.report")
local words = require("covey.words")

local M = {}

local ON_EXIT = { "keep", "reap", "settled" }
local RESTART = { "never", "on_failure", "always" }
local STARTING = {
  name = "free",
  agent = "agent",
  cwd = "directory",
  cmd = "free",
  prompt = "free",
  on_exit = ON_EXIT,
  restart = RESTART,
  env = "free",
  worktree = { "true", "false" },
}
local OPTIONS = { "model", "effort", "permission", "tools", "nice", "history_limit" } -- what a session keeps as options
for _, option in ipairs(OPTIONS) do
  STARTING[option] = "free"
end

--- A callback that tells an error, or how the result of a verb reads.
---@param verb? string
---@param opts? table what was asked for
---@param after? fun(result: any) where it went well
---@return covey.Callback
function M.telling(verb, opts, after)
  return function(err, result)
    if err then
      return require("covey.notify").error(err)
    end
    if report.of[verb] then
      local title = opts.name and ("%s · %s"):format(verb, opts.name) or verb
      require("covey.notify").print(report.of[verb](result, opts), title)
    end
    if after then
      after(result)
    end
  end
end

local function covey()
  return require("covey")
end

--- Do what a person asked for, and tell how that went; a verb that has no words in `report` tells by itself.
---@param verb string
---@param opts table
---@param after? fun(result: any) where it went well
function M.act(verb, opts, after)
  covey()[verb](opts, (report.of[verb] or after) and M.telling(verb, opts, after) or nil)
end

--- A verb with one optional NAME and nothing else.
function M.named(desc, verb)
  return {
    desc = desc,
    args = { "session" },
    run = function(context)
      M.act(verb, { name = context.words.list[1] })
    end,
  }
end

--- The same, which a bang takes back.
function M.switched(desc, verb, bang)
  return vim.tbl_extend("force", M.named(desc, verb), {
    bang = bang,
    run = function(context)
      M.act(verb, { name = context.words.list[1], on = not context.bang })
    end,
  })
end

--- A verb that only tells what it would do, but with a bang.
function M.wary(desc, verb, bang)
  return {
    desc = desc,
    bang = bang,
    run = function(context)
      M.act(verb, { yes = context.bang })
    end,
  }
end

--- A verb with an optional NAME before its last word, or before several that are one answer.
--- Of a session's name alone, or of nothing, the rest is asked for.
function M.with_last(desc, verb, field, kind)
  return {
    desc = desc,
    args = { "session", kind },
    rest = kind ~= "free",
    run = function(context)
      local list = context.words.list
      local first, session = list[1], list[1] and require("covey.fleet").get(list[1])
      if not first or (session and #list == 1) then
        require("covey.verb").with_session({ name = first }, nil, require("covey.ui.question")[verb])
      elseif #list == 2 or (session and #list > 2) then
        M.act(verb, { name = first, [field] = table.concat(list, " ", 2) })
      else
        M.act(verb, { [field] = table.concat(list, " ") })
      end
    end,
  }
end

--- A verb that moves to another session, by a count.
function M.moving(desc, verb)
  return {
    desc = desc,
    count = true,
    args = { "free" },
    run = function(context)
      local count = context.range > 0 and context.line2 or tonumber(context.words.list[1])
      covey()[verb]({ count = count or 1 })
    end,
  }
end

--- A verb without words.
function M.bare(desc, verb)
  return {
    desc = desc,
    run = function()
      M.act(verb, {})
    end,
  }
end

--- Of the values by name those that go into the helper's `options`, taken out; nil where there are none.
local function taken(named)
  local options = nil
  for _, option in ipairs(OPTIONS) do
    options = named[option] and vim.tbl_extend("force", options or {}, { [option] = named[option] }) or options
    named[option] = nil
  end
  return options
end

--- The options of a verb that starts a session; a sentence if there is a word too many. Which of its words is the name
--- and which the agent is the helper's to say, who knows all agents, but where only one of them is left open.
local function start_options(given)
  local opts, list = vim.deepcopy(given.named), given.list
  if #list > (opts.agent and 0 or 1) + (opts.name and 0 or 1) then
    return nil, ("one name and one agent only, not %q; quote a value with spaces in it"):format(list[#list])
  elseif opts.agent then
    opts.name = opts.name or list[1]
  elseif opts.name then
    opts.agent = list[1]
  else
    opts.words = #list > 0 and vim.list_slice(list) or nil
    opts.typed = #list == 1 and not (given.argv or opts.cmd) and list[1] or nil
  end
  opts.cmd = given.argv or (opts.cmd and (words.split(opts.cmd)))
  opts.env, opts.options = given.env, taken(opts)
  opts.worktree = opts.worktree and opts.worktree == "true"
  return opts
end

function M.starting(desc, verb)
  return {
    desc = desc,
    args = { "agent", "agent" },
    keys = STARTING,
    bang = "attaches to it as well",
    run = function(context)
      local opts, wrong = start_options(context.words)
      if not opts then
        return wrong
      end
      M.act(verb, opts, function(session)
        if context.bang then
          covey().attach(session.id)
        end
      end)
    end,
  }
end

return M
