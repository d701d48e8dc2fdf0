--- What the keys of the board do.
local M = {}

local function confirmed(session, what)
  local question = ("%s %s (%s)?"):format(what, session.name, session.agent)
  return vim.fn.confirm(question, ("&%s\n&Leave it"):format(what), 2) == 1
end

--- Ask the helper, and show how its answer reads.
local function sheet(verb, reads)
  return function(session)
    require("covey")[verb]({ name = session.id }, function(err, result)
      if err then
        return require("covey.notify").error(err)
      end
      require("covey.ui.sheet").open(verb .. " · " .. session.name, require("covey.report")[reads](result))
    end)
  end
end

local function ask(prompt, default, act)
  vim.ui.input({ prompt = prompt, default = default }, function(text)
    if text then
      act(text)
    end
  end)
end

local function answer(session)
  local question = vim.trim((session.evidence or {}).excerpt or "")
  local prompt = (question ~= "" and question .. "\n" or "") .. "Answer (yes, no, or words of an option): "
  ask(prompt, "", function(choice)
    if choice ~= "" then
      require("covey").answer({ name = session.id, choice = choice })
    end
  end)
end

--- Verbs on the session under the cursor: name in the config, what they do, and how.
---@type { [1]: string, [2]: string, [3]: fun(session: covey.Session) }[]
local VERBS = {
  {
    "rename",
    "rename",
    function(session)
      ask("New name: ", session.name, function(new)
        require("covey").rename({ name = session.id, new = new })
      end)
    end,
  },
  {
    "respawn",
    "start the agent again",
    function(session)
      require("covey").respawn({ name = session.id })
    end,
  },
  {
    "kill",
    "kill, after a question",
    function(session)
      if confirmed(session, "Kill") then
        require("covey").kill({ name = session.id })
      end
    end,
  },
  {
    "delete",
    "kill and forget what was sent, after a question",
    function(session)
      if confirmed(session, "Delete") then
        require("covey").delete({ name = session.id })
      end
    end,
  },
  {
    "reset",
    "start the agent anew, its conversation forgotten, after a question",
    function(session)
      if confirmed(session, "Reset") then
        require("covey").reset({ name = session.id })
      end
    end,
  },
  {
    "keep",
    "keep, or no longer",
    function(session)
      require("covey").keep({ name = session.id, on = not session.keep })
    end,
  },
  {
    "settle",
    "settle: a sweep may end it",
    function(session)
      require("covey").settle({ name = session.id })
    end,
  },
  {
    "interrupt",
    "interrupt the agent",
    function(session)
      require("covey").interrupt({ name = session.id })
    end,
  },
  { "answer", "answer what it asks", answer },
  {
    "adopt",
    "become its owner",
    function(session)
      require("covey").adopt({ name = session.id })
    end,
  },
  {
    "mute",
    "say nothing of it, or again",
    function(session)
      local muted = require("covey.attention").muted(session.id)
      require("covey").mute({ name = session.id, on = not muted })
    end,
  },
  { "explain", "why it is in its state", sheet("explain", "explained") },
  { "log", "what was done with it", sheet("log", "story") },
  { "queue", "prompts that wait", sheet("queue", "waiting") },
}

--- Verbs that go to another window: the board closes first.
local LEAVING = {
  { "attach", "attach: type into the agent" },
  { "prompt", "write a prompt" },
  { "changed", "files changed since its last prompt" },
}

local function with(hands, act)
  return function()
    local session = hands.current()
    if session then
      act(session)
    end
  end
end

local function leave_to(hands, verb)
  return with(hands, function(session)
    hands.close()
    require("covey")[verb]({ name = session.id })
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
  add("open", "open a session", function()
    ask("Agent: ", require("covey.config").get().default_agent, function(agent)
      require("covey").open({ agent = agent ~= "" and agent or nil })
    end)
  end)
  add("group", "by project, or not", hands.group)
  add("fold", "fold the project, or unfold it", hands.fold)
  add("costs", "what each costs: cpu and memory", hands.costs)
  add("filter", "show only what matches", filter(hands))
  add("close", "close", hands.close)
  add("help", "this help", function()
    require("covey.ui.keys").help("board", require("covey.ui.keys").chosen("board", keys))
  end)
  return require("covey.ui.keys").chosen("board", keys)
end

return M
