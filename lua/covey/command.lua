--- `:Covey`: one table from which a subcommand is run, completed and described.
local words = require("covey.words")

local M = {}

---@class covey.Context What was typed.
---@field args string Everything after the verb, as it is.
---@field words covey.Words The same, read.
---@field bang boolean
---@field range integer 0, 1 or 2, as |nvim_create_user_command()| has it
---@field line1 integer
---@field line2 integer

---@alias covey.Kind "session"|"agent"|"directory"|"prompt"|"act"|"waiting"|"free"|string[] What a word may be.

---@class covey.Command
---@field desc string
---@field run fun(context: covey.Context): string? A sentence if the words are wrong.
---@field args? covey.Kind[] Kinds of the words in order.
---@field keys? table<string, covey.Kind> Kinds of `name=value`.
---@field options? table<string, true|string[]> What may stand before all words: `++flag`, `++key=value`.
---@field raw? integer How many words are read; the rest is text as it was typed.
---@field rest? boolean Whether its last word may be several.
---@field text? covey.Kind What that text may be.
---@field bang? string What the bang does.
---@field range? boolean Takes a range.
---@field count? boolean Takes a count.

local CHOICES = { "yes", "no" }
local SENDING = { raw = true, force = true, file = true, when = { "now", "idle", "ask" } }

local recipe = require("covey.recipe")
local telling, named = recipe.telling, recipe.named

local function covey()
  return require("covey")
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
  local given, rest, wrong = words.options(context.args, SENDING)
  if wrong then
    return wrong
  end
  local name, typed = words.head(rest)
  local opts = { name = name ~= "" and name or nil, submit = not context.bang, template = template_of(typed) }
  opts.raw, opts.force, opts.as_file, opts.when = given.raw, given.force, given.file, given.when
  if opts.template then
    opts.selection = context.range > 0 and require("covey.context").range(context) or nil
  else
    opts.text = text_of(context, typed)
  end
  if opts.text == "" then
    return "nothing to send: :Covey send NAME TEXT, or with a range"
  end
  covey().send(opts)
end

---@type table<string, covey.Command>
M.verbs = {
  open = recipe.starting("start an agent", "open"),
  ensure = recipe.starting("start an agent unless that name lives", "ensure"),
  run = recipe.starting("start an agent for one task", "run"),
  worktree = recipe.starting("start an agent in a git worktree of its own", "worktree"),
  rename = recipe.with_last("give a session another name", "rename", "new", "free"),
  list = recipe.bare("the sessions", "list"),
  board = {
    desc = "the fleet in a buffer",
    args = { require("covey.states").ALL, "free", "free" },
    run = function(context)
      local wanted = table.concat(context.words.list, " ")
      covey().board({ filter = wanted ~= "" and wanted or nil })
    end,
  },
  pick = recipe.bare("choose a session and attach to it", "pick"),
  preview = named("watch a session", "preview"),
  attach = {
    desc = "type into a session",
    args = { "session" },
    keys = { style = require("covey.config").STYLES },
    run = function(context)
      covey().attach({ name = context.words.list[1], style = context.words.named.style }, telling())
    end,
  },
  send = {
    desc = "send a prompt",
    args = { "session" },
    options = SENDING,
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
      covey().paste({ name = given[1], text = text, register = given[2] })
    end,
  },
  broadcast = {
    desc = "send a prompt to every agent",
    raw = 0,
    range = true,
    run = function(context)
      local text = text_of(context, context.args)
      if text == "" then
        return "nothing to send: :Covey broadcast TEXT, or with a range"
      end
      recipe.act("broadcast", { text = text })
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
      recipe.act("respawn", { name = context.words.list[1], fresh = fresh, force = context.bang })
    end,
  },
  kill = named("end a session", "kill"),
  delete = {
    desc = "end a session and forget what was sent to it",
    args = { "session" },
    bang = "removes its git worktree too, if all work in it is somewhere else",
    run = function(context)
      recipe.act("delete", { name = context.words.list[1], workspace = context.bang or nil })
    end,
  },
  reset = named("start the agent anew, its conversation forgotten", "reset"),
  reap = recipe.wary("what a sweep would end", "reap", "ends it"),
  interrupt = named("stop what the agent is doing", "interrupt"),
  answer = recipe.with_last("answer the agent's dialog", "answer", "choice", CHOICES),
  keep = recipe.switched("spare a session in every sweep", "keep", "spares it no longer"),
  mute = recipe.switched("say nothing of a session", "mute", "speaks of it again"),
  changed = named("files changed since its last prompt", "changed"),
  settle = recipe.switched("the work of a session is done", "settle", "it is not"),
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
  queue = named("prompts that wait", "queue"),
  edit = {
    desc = "replace the text of a prompt that waits",
    args = { "act" },
    raw = 1,
    run = function(context)
      local act, text = words.head(context.args)
      if act == "" or text == "" then
        return "say which and what: :Covey edit NUMBER TEXT; :Covey queue lists them"
      end
      recipe.act("edit", { act = act, text = text })
    end,
  },
  cancel = {
    desc = "take back a prompt",
    args = { "waiting" },
    run = function(context)
      if not context.words.list[1] then
        return "say which: :Covey cancel NAME, or NUMBER; :Covey queue lists them"
      end
      recipe.act("cancel", { act = context.words.list[1] })
    end,
  },
  log = named("what was done with a session", "log"),
  explain = named("why a session is in its state", "explain"),
  agents = recipe.bare("the agents covey knows", "agents"),
  stats = recipe.bare("what each session costs", "stats"),
  restore = recipe.wary("what tmux lost", "restore", "brings it back"),
  install = recipe.bare("build the helper's own Python environment", "install"),
  health = recipe.bare("check everything", "health"),
}

-- Other words for the same.
M.verbs.name = M.verbs.rename
M.verbs.doctor = M.verbs.health

---@return string[]
function M.names()
  local names = vim.tbl_keys(M.verbs)
  table.sort(names)
  return names
end

return M
