--- What the `<Plug>(Covey…)` maps of `plugin/covey.lua` do. No key is mapped to them by default.
local M = {}

local function covey()
  return require("covey")
end

--- Send, and tell only what went wrong; an empty text is nothing to send.
local function send(text)
  if text ~= "" then
    covey().send({ text = text })
  end
end

local function leave_visual()
  vim.api.nvim_feedkeys(vim.keycode("<Esc>"), "nx", false)
end

--- Paste a reference to the current file, and to these lines, without Enter: the person goes on writing there.
local function send_reference(first, last)
  local reference = require("covey.context").reference(vim.fn.getcwd(), first, last)
  if not reference then
    return require("covey.notify").warn("covey: this buffer is no file")
  end
  if vim.bo.modified then
    require("covey.notify").warn("covey: this buffer is not saved; the agent reads the file")
  end
  covey().send({ text = reference .. " ", submit = false })
end

--- Called by |g@| with what the motion covered.
---@param kind "line"|"char"|"block"
function M.operate(kind)
  send(require("covey.context").motion(kind))
end

--- Ask for the new name of a session.
local function rename()
  require("covey.verb").with_session({}, nil, function(session)
    vim.ui.input({ prompt = "Name: ", default = session.name }, function(name)
      if name and name ~= "" and name ~= session.name then
        covey().rename({ name = session.id, new = name })
      end
    end)
  end)
end

---@type table<string, fun(): string?> What stands between `<Plug>(Covey` and `)`.
M.actions = {
  Send = function()
    vim.o.operatorfunc = "v:lua.require'covey.keymap'.operate"
    return "g@"
  end,
  SendSelection = function()
    local text = require("covey.context").selection()
    leave_visual()
    send(text)
  end,
  SendFile = function()
    send_reference()
  end,
  SendLines = function()
    local first, last = vim.fn.line("v"), vim.fn.line(".")
    leave_visual()
    send_reference(math.min(first, last), math.max(first, last))
  end,
  Next = function()
    covey().next({ count = vim.v.count1 })
  end,
  Prev = function()
    covey().prev({ count = vim.v.count1 })
  end,
  Rename = rename,
}

--- Do what a map stands for; maps without an action of their own are verbs without arguments.
---@param name string
---@return string? keys for an expression map
function M.run(name)
  local action = M.actions[name]
  if action then
    return action()
  end
  covey()[name:lower()]({})
end

return M
