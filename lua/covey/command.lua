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

---@alias covey.Kind "session"|"agent"|"directory"|"prompt"|"free"|string[] What a word may be.

---@class covey.Command
---@field desc string
---@field run fun(context: covey.Context): string? A sentence if the words are wrong.
---@field args? covey.Kind[] Kinds of the words in order.
---@field keys? table<string, covey.Kind> Kinds of `name=value`.
---@field raw? integer How many words are read; the rest is text as it was typed.
---@field text? covey.Kind What that text may be.
---@field bang? string What the bang does.
---@field range? boolean Takes a range.
---@field count? boolean Takes a count.

local STYLES = { "float", "split", "vsplit", "tab" }
local CHOICES = { "yes", "no" }

local recipe = require("covey.recipe")
local telling, named, with_last = recipe.telling, recipe.named, recipe.with_last

local function covey()
  return require("covey")
end

--- How a receipt reads; what went wrong is a notice already.
local function told_receipt(receipt)
  return require("covey.notify").receipt(receipt) and {} or report.receipt(receipt)
end

--- The text of a sending verb: its words, else the range.
local function text_of(context, typed)
  return typed ~= "" and typed or (context.range > 0 and require("covey.context").range(context)) or ""
end

--- A text that is `@name` and nothing else, where the library has a prompt of that name.
local function template_of(typed)
  local name = vim.trim(typed):match("^@(%S+)$")
  return name and require("covey.library").has(name) and name or nil
end

--- `:Covey send`: a prompt of the library, else the words as they are, else the range.
local function send(context)
  local name, typed = words.head(context.args)
  local opts = { name = name ~= "" and name or nil, submit = not context.bang, template = template_of(typed) }
  if opts.template then
    opts.selection = context.range > 0 and require("covey.context").range(context) or nil
  else
    opts.text = text_of(context, typed)
  end
  if opts.text == "" then
    return "nothing to send: :Covey send NAME TEXT, or with a range"
  end
  covey().send(opts, telling(told_receipt))
end

---@type table<string, covey.Command>
M.verbs = {
  open = recipe.starting("start an agent", "open", "opened"),
  ensure = recipe.starting("start an agent unless that name lives", "ensure", "here is"),
  run = recipe.starting("start an agent for one task", "run", "started"),
  name = with_last("give a session another name", "rename", "new", "free", report.did("renamed to")),
  rename = with_last("give a session another name", "rename", "new", "free", report.did("renamed to")),
  list = {
    desc = "the sessions",
    run = function()
      covey().list({}, telling(report.sessions))
    end,
  },
  board = recipe.bare("the fleet in a buffer", "board"),
  pick = recipe.bare("choose a session and attach to it", "pick"),
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
    text = "prompt",
    range = true,
    bang = "pastes without Enter",
    run = send,
  },
  paste = {
    desc = "paste a range or a register without Enter",
    args = { "session", "free" },
    range = true,
    run = function(context)
      local given = context.words.list
      local text = context.range > 0 and require("covey.context").range(context) or nil
      covey().paste({ name = given[1], text = text, register = given[2] }, telling(told_receipt))
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
  prompt = {
    desc = "write a prompt in a buffer",
    args = { "session", "prompt" },
    range = true,
    run = function(context)
      local given = context.words.list
      local template = (given[2] or ""):match("^@(%S+)$")
      if given[2] and not template then
        return "a prompt of the library is written @NAME"
      end
      local selection = context.range > 0 and require("covey.context").range(context) or nil
      covey().prompt({ name = given[1], template = template, selection = selection }, telling())
    end,
  },
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
  delete = named("end a session and forget what was sent to it", "delete", report.killed),
  reset = named("start the agent anew, its conversation forgotten", "reset", report.did("started anew")),
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
  mute = named("say nothing of a session", "mute", nil, {
    bang = "speaks of it again",
    run = function(context)
      covey().mute({ name = context.words.list[1], on = not context.bang }, telling())
    end,
  }),
  changed = named("files changed since its last prompt", "changed", report.files),
  settle = named("the work of a session is done", "settle"),
  adopt = named("become the owner of a session", "adopt"),
  attention = {
    desc = "attach to who has waited longest for you",
    count = true,
    args = { "free" },
    bang = "looks only",
    run = function(context)
      local count = context.range > 0 and context.line2 or tonumber(context.words.list[1])
      covey().attention({ count = count or 1, preview = context.bang })
    end,
  },
  next = recipe.moving("attach to the next session", "next"),
  prev = recipe.moving("attach to the previous session", "prev"),
  last = recipe.bare("attach to the session before this one", "last"),
  queue = named("prompts that wait", "queue", report.waiting),
  edit = {
    desc = "replace the text of a prompt that waits",
    raw = 1,
    run = function(context)
      local act, text = words.head(context.args)
      if act == "" or text == "" then
        return "say which and what: :Covey edit ID TEXT; :Covey queue lists them"
      end
      covey().edit({ act = act, text = text }, telling(report.receipt))
    end,
  },
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
  agents = recipe.bare("the agents covey knows", "agents", report.agents),
  stats = recipe.bare("what each session costs", "stats", report.stats),
  restore = {
    desc = "what tmux lost",
    bang = "brings it back",
    run = function(context)
      local reads = report.table_of({ "name", "agent", "state", "error" }, "nothing to restore")
      covey().restore({ yes = context.bang }, telling(reads))
    end,
  },
  install = recipe.bare("build the helper's own Python environment", "install"),
  health = recipe.bare("check everything", "health"),
}

---@return string[]
function M.names()
  local names = vim.tbl_keys(M.verbs)
  table.sort(names)
  return names
end

return M
