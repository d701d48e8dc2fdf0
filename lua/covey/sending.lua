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

---@param opts covey.SendOpts with `text`
---@param cb? covey.Callback
function M.text(opts, cb)
  local params = vim.tbl_extend("keep", opts, { submit = true, act = verb.new_act() })
  require("covey.receipts").expect(params.act, cb ~= nil)
  verb.on_session("send")(params, cb or M.teller)
end

--- One text to several sessions, each by an act of its own.
---@param opts { text: string, names: string[] }
---@param cb? covey.Callback
function M.broadcast(opts, cb)
  local acts = vim.tbl_map(verb.new_act, opts.names)
  for _, act in ipairs(acts) do
    require("covey.receipts").expect(act, cb ~= nil)
  end
  require("covey.rpc").call(
    "broadcast",
    { text = opts.text, names = opts.names, acts = acts },
    cb or function(err, told)
      M.teller(err)
      vim.tbl_map(require("covey.receipts").tell, told or {})
    end
  )
end

--- Where a placeholder has no value the prompt is not sent: it is in the prompt buffer then, with the place marked.
local function unresolved(session, text, cb)
  require("covey.ui.prompt").open(session, { text = text })
  verb.fail(cb, "usage", "a placeholder has no value here; the prompt was not sent", "it is in the prompt buffer")
end

--- Send a prompt of the library.
---@param opts covey.SendOpts with `template`
---@param cb? covey.Callback
function M.template(opts, cb)
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
      M.text(vim.tbl_extend("keep", given, { when = opts.when, force = opts.force, act = opts.act }), cb)
    end)
  end)
end

return M
