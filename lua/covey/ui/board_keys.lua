--- What the keys of the board do.
local M = {}

local function confirmed(session, what)
  local question = ("%s %s (%s)?"):format(what, session.name, session.agent)
  return vim.fn.confirm(question, ("&%s\n&Leave it"):format(what), 2) == 1
end

--- What a verb would do, and after a question it is done.
local function wary(verb)
  return function()
    require("covey")[verb]({}, function(err, found)
      if err then
        return require("covey.notify").error(err)
      end
      local lines = require("covey.report").of[verb](found, {})
      if #lines == 1 then
        return require("covey.notify").print(lines)
      end
      if vim.fn.confirm(table.concat(lines, "\n"), "&Do it\n&Leave it", 2) == 1 then
        require("covey.recipe").act(verb, { yes = true })
      end
    end)
  end
end

--- Ask the helper, and show how its answer reads.
local function sheet(verb)
  return function(session)
    require("covey")[verb]({ name = session.id }, function(err, result)
      if err then
        return require("covey.notify").error(err)
      end
      require("covey.ui.sheet").open(verb .. " · " .. session.name, require("covey.report").of[verb](result, {}))
    end)
  end
end

--- Do it, and say in a quiet word that it was done.
local function act(verb, opts)
  require("covey.recipe").act(verb, opts)
end

--- A verb that wants nothing but the session; after a question where there is one.
local function plain(verb, question)
  return function(session)
    if not question or confirmed(session, question) then
      act(verb, { name = session.id })
    end
  end
end

--- A verb that is taken back where the session is so already.
local function switch(verb, field)
  return function(session)
    act(verb, { name = session.id, on = not session[field] })
  end
end

local function ask(prompt, default, use)
  vim.ui.input({ prompt = prompt, default = default }, function(text)
    if text then
      use(text)
    end
  end)
end

--- A verb that wants one thing, which the person is asked for; nothing given is none.
local function asked(prompt, verb, field)
  return function()
    local default = field == "agent" and require("covey.config").get().default_agent or ""
    ask(prompt, default, function(given)
      if given ~= "" then
        act(verb, { [field] = given })
      end
    end)
  end
end

--- A verb that something is asked for first.
local function questioned(room, verb)
  return function(session)
    require("covey.ui." .. room)[verb](session)
  end
end

--- Verbs on the session under the cursor: name in the config, what they do, and how.
---@type { [1]: string, [2]: string, [3]: fun(session: covey.Session) }[]
local VERBS = {
  { "rename", "rename", questioned("question", "rename") },
  { "respawn", "start the agent again", plain("respawn") },
  { "kill", "kill; asks first", plain("kill", "Kill") },
  { "delete", "kill, and forget what was sent; asks first", plain("delete", "Delete") },
  { "reset", "start anew, its conversation forgotten; asks first", plain("reset", "Reset") },
  { "keep", "keep, or no longer", switch("keep", "keep") },
  { "settle", "settle: a sweep may end it, or no longer", switch("settle", "settled") },
  { "interrupt", "interrupt the agent", plain("interrupt") },
  { "answer", "answer what it asks", questioned("question", "answer") },
  { "adopt", "become its owner", plain("adopt") },
  {
    "mute",
    "say nothing of it, or again",
    function(session)
      act("mute", { name = session.id, on = require("covey.attention").muted(session.id) == false })
    end,
  },
  { "explain", "why it is in its state", sheet("explain") },
  { "log", "what was done with it", sheet("log") },
  { "queue", "prompts that wait", sheet("queue") },
  { "cancel", "take back a prompt that waits", questioned("waiting", "cancel") },
  { "edit", "write a prompt that waits anew", questioned("waiting", "edit") },
}

--- Verbs that go to another window: the board closes first.
local LEAVING = {
  { "attach", "attach: type into the agent" },
  { "prompt", "write a prompt" },
}

--- What the marks of a row mean.
local MARKS = {
  " +2      2 prompts wait, K kept, S settled,",
  "         u unseen, m muted",
  "",
}

local function with(hands, use)
  return function()
    local session = hands.current()
    if session then
      use(session)
    end
  end
end

local function leave_to(hands, verb)
  return with(hands, function(session)
    hands.close()
    require("covey")[verb]({ name = session.id })
  end)
end

--- The quickfix list, if there is anything to put into it; else the board stays.
local function changed(hands)
  return with(hands, function(session)
    require("covey.recipe").act("changed", { name = session.id }, function(files)
      if #files > 0 then
        hands.close()
      end
    end)
  end)
end

local function filter(hands)
  return function()
    ask("Filter: ", hands.filtered(), hands.filter)
  end
end

--- All keys of the board.
---@param hands covey.BoardHands
---@return covey.Key[]
function M.all(hands)
  local keys = {}
  local function add(name, desc, run)
    table.insert(keys, { name = name, desc = desc, run = run })
  end
  for _, verb in ipairs(LEAVING) do
    add(verb[1], verb[2], leave_to(hands, verb[1]))
  end
  add("preview", "go to the preview", hands.look)
  for _, verb in ipairs(VERBS) do
    add(verb[1], verb[2], with(hands, verb[3]))
  end
  add("changed", "files changed since its last prompt", changed(hands))
  add("open", "open a session", asked("Agent: ", "open", "agent"))
  add("run", "open one for one task", asked("Task: ", "run", "prompt"))
  add("worktree", "open one in a git worktree", asked("Branch: ", "worktree", "name"))
  add("broadcast", "send to every agent", asked("To every agent: ", "broadcast", "text"))
  add("reap", "what a sweep would end; asks first", wary("reap"))
  add("restore", "what tmux lost, back again; asks first", wary("restore"))
  add("group", "by project, or not", hands.group)
  add("fold", "fold the project, or unfold it", hands.fold)
  add("costs", "what each costs: cpu and memory", hands.costs)
  add("filter", "show only what matches", filter(hands))
  add("clear", "show all again", function()
    hands.filter("")
  end)
  add("close", "close", hands.close)
  return require("covey.ui.keys").chosen("board", keys, MARKS)
end

return M
