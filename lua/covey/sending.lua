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

local function summed(_, told)
  require("covey.receipts").summary(told)
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

--- One text to several sessions; without names to everybody, which the helper knows who is.
---@param opts { text: string, names?: string[] }
---@param cb? covey.Callback
function M.broadcast(opts, cb)
  if is_nothing(opts, cb) then
    return
  end
  local params = { text = opts.text, names = opts.names, act = verb.new_act() }
  require("covey.rpc").call("broadcast", params, function(err, told)
    if err then
      return (cb or require("covey.rpc").tell)(err)
    elseif #told == 0 then
      return verb.fail(cb, "not_found", "there is no agent to send to", "open one with :Covey open")
    end
    require("covey.receipts").follow(told, cb ~= nil);
    (cb or summed)(nil, told)
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
