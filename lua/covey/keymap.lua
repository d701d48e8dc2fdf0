--- What the `<Plug>(Covey…)` maps of `plugin/covey.lua` do. No key is mapped to them by default.
local M = {}

local function covey()
  return require("covey")
end

--- Do it, and tell how it went.
local function act(verb, opts)
  require("covey.recipe").act(verb, opts)
end

--- Send, and tell only what went wrong; an empty text is nothing to send.
local function send(text)
  if text ~= "" then
    covey().send({ text = text })
  end
end

local function paste(text)
  if text ~= "" then
    covey().paste({ text = text })
  end
end

local function leave_visual()
  vim.api.nvim_feedkeys(vim.keycode("<Esc>"), "nx", false)
end

--- Paste a reference to the current file, and to these lines, without Enter: the person goes on writing there.
local function send_reference(first, last)
  if vim.bo.buftype ~= "" or vim.api.nvim_buf_get_name(0) == "" then
    return require("covey.notify").warn("covey: this buffer is no file")
  end
  local name, modified = vim.api.nvim_buf_get_name(0), vim.bo.modified
  require("covey.verb").with_session({}, nil, function(session)
    local form = require("covey.agents").reference(session.agent)
    local reference = require("covey.context").written(name, session.cwd, form, first, last)
    if modified then
      require("covey.notify").warn("covey: this buffer is not saved; the agent reads the file")
    end
    covey().send({ name = session.id, text = reference .. " ", submit = false })
  end)
end

--- Called by |g@| with what the motion covered: to be sent, or to be pasted without Enter.
---@param kind "line"|"char"|"block"
function M.operate(kind)
  send(require("covey.context").motion(kind))
end

---@param kind "line"|"char"|"block"
function M.operate_paste(kind)
  paste(require("covey.context").motion(kind))
end

--- Ask for a word or two, and use them unless there are none.
local function ask(prompt, use)
  vim.ui.input({ prompt = prompt }, function(text)
    if text and text ~= "" then
      use(text)
    end
  end)
end

--- What is selected, which is no longer so afterwards.
local function selection()
  local text = require("covey.context").selection()
  leave_visual()
  return text
end

--- Something is asked of a session.
local function questioned(room, verb)
  return function()
    require("covey.verb").with_session({}, nil, function(session)
      require("covey.ui." .. room)[verb](session)
    end)
  end
end

---@type table<string, fun(): string?> What stands between `<Plug>(Covey` and `)`.
M.actions = {
  Send = function()
    vim.o.operatorfunc = "v:lua.require'covey.keymap'.operate"
    return "g@"
  end,
  SendSelection = function()
    send(selection())
  end,
  Paste = function()
    vim.o.operatorfunc = "v:lua.require'covey.keymap'.operate_paste"
    return "g@"
  end,
  PasteSelection = function()
    paste(selection())
  end,
  Broadcast = function()
    ask("To every agent: ", function(text)
      covey().broadcast({ text = text })
    end)
  end,
  BroadcastSelection = function()
    covey().broadcast({ text = selection() })
  end,
  Answer = questioned("question", "answer"),
  Run = function()
    ask("Task: ", function(text)
      act("run", { prompt = text })
    end)
  end,
  Worktree = function()
    ask("Branch: ", function(text)
      act("worktree", { name = text })
    end)
  end,
  Prompt = function()
    covey().prompt({})
  end,
  SendFile = function()
    send_reference()
  end,
  SendLines = function()
    local first, last = vim.fn.line("v"), vim.fn.line(".")
    leave_visual()
    send_reference(math.min(first, last), math.max(first, last))
  end,
  Attention = function()
    covey().attention({ count = vim.v.count1 })
  end,
  Next = function()
    covey().next({ count = vim.v.count1 })
  end,
  Prev = function()
    covey().prev({ count = vim.v.count1 })
  end,
  Rename = questioned("question", "rename"),
  Cancel = questioned("waiting", "cancel"),
  Edit = questioned("waiting", "edit"),
}

--- Do what a map stands for; maps without an action of their own are `:Covey` with that verb and nothing else.
---@param name string
---@return string? keys for an expression map
function M.run(name)
  local action = M.actions[name]
  if action then
    return action()
  end
  require("covey.dispatch").run({ args = name:lower(), bang = false, range = 0, line1 = 0, line2 = 0 })
end

return M
