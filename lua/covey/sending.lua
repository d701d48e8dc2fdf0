--- Prompts on their way: literal text as it is, a prompt of the library filled in from where the person is.
local verb = require("covey.verb")

local M = {}

--- The callback of who has none: what went wrong is told, and so is what became of the prompt.
function M.teller(err, receipt)
  require("covey.rpc").tell(err)
  if receipt then
    require("covey.receipts").tell(receipt)
  end
end

--- Where there is no text that is said, and the answer is true.
local function is_nothing(opts, cb)
  local empty = (opts.text or "") == ""
  if empty then
    verb.fail(cb, "usage", "there is nothing to send", "give a text or a range, or write it with :Covey prompt")
  end
  return empty
end

---@param opts covey.SendOpts with `text`
---@param cb? covey.Callback
local function send_text(opts, cb)
  local params = vim.tbl_extend("keep", opts, { submit = true, act = verb.new_act() })
  require("covey.receipts").expect(params.act, cb ~= nil)
  verb.on_session("send")(params, cb or M.teller)
end

--- Who is meant by everybody: agents that run and have work. A shell would take a prompt for a program.
---@param sessions covey.Session[]
---@return string[]
local function hearers(sessions)
  local heard = vim.tbl_filter(function(session)
    local over = session.settled or session.state == "exited" or session.state == "lost"
    return not over and session.agent ~= "shell"
  end, sessions)
  return vim.tbl_map(function(session)
    return session.name
  end, heard)
end

---@param text string
---@param names string[]
---@param cb? covey.Callback
local function send_to(text, names, cb)
  if #names == 0 then
    return verb.fail(cb, "not_found", "there is no agent to send to", "open one with :Covey open")
  end
  local acts = vim.tbl_map(verb.new_act, names)
  for _, act in ipairs(acts) do
    require("covey.receipts").expect(act, true)
  end
  require("covey.rpc").call("broadcast", { text = text, names = names, acts = acts }, cb or function(err, told)
    M.teller(err)
    require("covey.receipts").summary(told or {})
  end)
end

--- One text to several sessions, each by an act of its own; without names to everybody.
---@param opts { text: string, names?: string[] }
---@param cb? covey.Callback
function M.broadcast(opts, cb)
  if is_nothing(opts, cb) then
    return
  elseif opts.names then
    return send_to(opts.text, opts.names, cb)
  end
  local known = require("covey.fleet").list()
  if known then
    return send_to(opts.text, hearers(known), cb)
  end
  require("covey").list({}, function(err, sessions)
    if err then
      return (cb or require("covey.rpc").tell)(err)
    end
    send_to(opts.text, hearers(sessions), cb)
  end)
end

--- Where a placeholder has no value the prompt is not sent: it is in the prompt buffer then, with the place marked.
local function unresolved(session, text, cb)
  require("covey.ui.prompt").open(session, { text = text })
  verb.fail(cb, "usage", "a placeholder has no value here; the prompt was not sent", "it is in the prompt buffer")
end

--- Send a prompt of the library.
---@param opts covey.SendOpts with `template`
---@param cb? covey.Callback
local function send_template(opts, cb)
  local text, err = require("covey.library").read(opts.template)
  if not text then
    return (cb or M.teller)(err)
  end
  verb.with_session(opts, cb, function(session)
    local placeholder = require("covey.ui.placeholder")
    local source = placeholder.source(session, opts.selection)
    placeholder.ready(text, source, function()
      if #placeholder.unresolved(text, source) > 0 then
        return unresolved(session, text, cb)
      end
      placeholder.warn_unsaved(text, source)
      local given = { name = session.id, text = placeholder.render(text, source), submit = opts.submit }
      send_text(vim.tbl_extend("keep", given, { when = opts.when, force = opts.force, act = opts.act }), cb)
    end)
  end)
end

--- Send a text, or a prompt of the library.
---@param opts covey.SendOpts
---@param cb? covey.Callback
function M.send(opts, cb)
  if opts.template then
    send_template(opts, cb)
  elseif not is_nothing(opts, cb) then
    send_text(opts, cb)
  end
end

return M
