--- `:Covey`: one table from which a subcommand is run, completed and described.
local report = require("covey.report")
local words = require("covey.words")

local M = {}

---@class covey.Context What was typed.
---@field args string Everything after the verb, as it is.
---@field words covey.Words The same, read.
---@field bang boolean
---@field range integer 0, 1 or 2, as |nvim_create_user_command()| has it
---@field line1 integer
---@field line2 integer

---@alias covey.Kind "session"|"agent"|"directory"|"free"|string[] What a word may be.

---@class covey.Command
---@field desc string
---@field run fun(context: covey.Context): string? A sentence if the words are wrong.
---@field args? covey.Kind[] Kinds of the words in order.
---@field keys? table<string, covey.Kind> Kinds of `name=value`.
---@field raw? integer How many words are read; the rest is text as it was typed.
---@field bang? string What the bang does.
---@field range? boolean Takes a range.
---@field count? boolean Takes a count.

local ON_EXIT = { "keep", "reap", "settled" }
local RESTART = { "never", "on_failure", "always" }
local STYLES = { "float", "split", "vsplit", "tab" }
local CHOICES = { "yes", "no", "1", "2", "3" }
local STARTING = {
  name = "free",
  agent = "agent",
  cwd = "directory",
  cmd = "free",
  prompt = "free",
  on_exit = ON_EXIT,
  restart = RESTART,
  env = "free",
}

--- A callback that tells an error, or how the result reads.
---@param reads? fun(result: any): string[]
---@return covey.Callback
local function telling(reads)
  return function(err, result)
    if err then
      require("covey.notify").error(err)
    elseif reads then
      require("covey.notify").print(reads(result))
    end
  end
end

local function covey()
  return require("covey")
end

--- A verb with one optional NAME and nothing else.
local function named(desc, verb, reads, more)
  return vim.tbl_extend("force", {
    desc = desc,
    args = { "session" },
    run = function(context)
      covey()[verb]({ name = context.words.list[1] }, telling(reads))
    end,
  }, more or {})
end

--- A verb with an optional NAME before its last word.
local function with_last(desc, verb, field, kind, reads)
  return {
    desc = desc,
    args = { "session", kind },
    run = function(context)
      local given = context.words.list
      if #given == 0 then
        return ("say which: :Covey %s [NAME] %s"):format(verb, field:upper())
      end
      covey()[verb]({ name = given[2] and given[1], [field] = given[2] or given[1] }, telling(reads))
    end,
  }
end

--- A verb that moves to another session, by a count.
local function moving(desc, verb)
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

local function bare(desc, verb, reads)
  return {
    desc = desc,
    run = function()
      covey()[verb]({}, reads and telling(reads))
    end,
  }
end

--- The options of a verb that starts a session; a sentence if there is a word too many.
local function start_options(given)
  local opts = vim.deepcopy(given.named)
  if #given.list > 1 or (#given.list == 1 and opts.agent) then
    return nil, ("one agent only, not %q; quote a value with spaces in it"):format(given.list[#given.list])
  end
  opts.agent = opts.agent or given.list[1]
  opts.cmd = given.argv or (opts.cmd and (words.split(opts.cmd)))
  opts.env = given.env
  return opts
end

local function starting(desc, verb, what)
  return {
    desc = desc,
    args = { "agent" },
    keys = STARTING,
    bang = "attaches to it as well",
    run = function(context)
      local opts, wrong = start_options(context.words)
      if not opts then
        return wrong
      end
      covey()[verb](opts, function(err, session)
        telling(report.did(what))(err, session)
        if session and context.bang then
          covey().attach(session.id)
        end
      end)
    end,
  }
end

--- How a receipt reads; what went wrong is a notice already.
local function told_receipt(receipt)
  return require("covey.notify").receipt(receipt) and {} or report.receipt(receipt)
end

--- The text of a sending verb: its words, else the range.
local function text_of(context, typed)
  return typed ~= "" and typed or (context.range > 0 and require("covey.context").range(context)) or ""
end

---@type table<string, covey.Command>
M.verbs = {
  open = starting("start an agent", "open", "opened"),
  ensure = starting("start an agent unless that name lives", "ensure", "here is"),
  run = starting("start an agent for one task", "run", "started"),
  name = with_last("give a session another name", "rename", "new", "free", report.did("renamed to")),
  rename = with_last("give a session another name", "rename", "new", "free", report.did("renamed to")),
  list = {
    desc = "the sessions",
    run = function()
      covey().list({}, telling(report.sessions))
    end,
  },
  board = bare("the fleet in a buffer", "board"),
  pick = bare("choose a session and attach to it", "pick"),
  preview = named("watch a session", "preview"),
  attach = {
    desc = "type into a session",
    args = { "session" },
    keys = { style = STYLES },
    run = function(context)
      covey().attach({ name = context.words.list[1], style = context.words.named.style }, telling())
    end,
  },
  send = {
    desc = "send a prompt",
    args = { "session" },
    raw = 1,
    range = true,
    bang = "pastes without Enter",
    run = function(context)
      local name, typed = words.head(context.args)
      local text = text_of(context, typed)
      if text == "" then
        return "nothing to send: :Covey send NAME TEXT, or with a range"
      end
      local opts = { name = name ~= "" and name or nil, text = text, submit = not context.bang }
      covey().send(opts, telling(told_receipt))
    end,
  },
  broadcast = {
    desc = "send a prompt to every session",
    raw = 0,
    range = true,
    run = function(context)
      local text = text_of(context, context.args)
      if text == "" then
        return "nothing to send: :Covey broadcast TEXT, or with a range"
      end
      covey().broadcast({ text = text }, telling(report.table_of({ "session", "outcome", "reason" }, "no session")))
    end,
  },
  prompt = named("write a prompt in a buffer", "prompt"),
  respawn = {
    desc = "start the agent again in its place",
    args = { "session" },
    keys = { fresh = { "true", "false" } },
    bang = "ends a living agent first",
    run = function(context)
      local fresh = context.words.named.fresh == "true"
      local opts = { name = context.words.list[1], fresh = fresh, force = context.bang }
      covey().respawn(opts, telling(report.did("respawned")))
    end,
  },
  kill = named("end a session", "kill", report.killed),
  reap = {
    desc = "what a sweep would end",
    bang = "ends it",
    run = function(context)
      covey().reap({ yes = context.bang }, telling(report.reaped(context.bang)))
    end,
  },
  interrupt = named("stop what the agent is doing", "interrupt"),
  answer = with_last("answer the agent's dialog", "answer", "choice", CHOICES),
  keep = named("spare a session in every sweep", "keep", nil, {
    bang = "spares it no longer",
    run = function(context)
      covey().keep({ name = context.words.list[1], on = not context.bang }, telling())
    end,
  }),
  settle = named("the work of a session is done", "settle"),
  adopt = named("become the owner of a session", "adopt"),
  next = moving("attach to the next session", "next"),
  prev = moving("attach to the previous session", "prev"),
  last = bare("attach to the session before this one", "last"),
  queue = named("prompts that wait", "queue", report.table_of({ "act", "outcome", "reason", "text" }, "nothing waits")),
  cancel = {
    desc = "take back a prompt",
    args = { "free" },
    run = function(context)
      if not context.words.list[1] then
        return "say which: :Covey cancel ID; :Covey queue lists them"
      end
      covey().cancel({ act = context.words.list[1] }, telling(report.receipt))
    end,
  },
  log = named("what was done with a session", "log", report.story),
  explain = named("why a session is in its state", "explain", report.explained),
  agents = bare("the agents covey knows", "agents", report.agents),
  stats = bare("what each session costs", "stats", report.stats),
  restore = {
    desc = "what tmux lost",
    bang = "brings it back",
    run = function(context)
      local reads = report.table_of({ "name", "agent", "state", "error" }, "nothing to restore")
      covey().restore({ yes = context.bang }, telling(reads))
    end,
  },
  install = bare("build the helper's own Python environment", "install"),
  health = bare("check everything", "health"),
}

---@return string[]
function M.names()
  local names = vim.tbl_keys(M.verbs)
  table.sort(names)
  return names
end

return M
