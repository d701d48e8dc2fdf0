--- covey's Lua API. Each verb is `require("covey").VERB(opts, cb)`: it returns at once, and `cb(err, result)` comes
--- later on the main loop. Without a callback an error is shown and a result is not. Where `opts` names no session:
--- the only one is meant, and of several a picker asks for one. A string in place of `opts` is a name.
---
--- `list get names counts statusline` answer at once, from the editor's own cache.
local M = {}

---@class covey.Named
---@field name? string Name or id of the session.

---@alias covey.Verb fun(opts?: table|string, cb?: covey.Callback)

local verb = require("covey.verb")

-- What is no verb: it sets something up, or answers from the cache.
local AT_ONCE = { setup = true, warm = true, get = true, names = true, counts = true, statusline = true }

local function call(method, params, cb)
  require("covey.rpc").call(method, params, cb)
end

--- Set options; needed for nothing else. Starts nothing.
---@param opts? covey.Opts
function M.setup(opts)
  require("covey.config").setup(opts)
end

--- Start the helper before it is needed.
function M.warm()
  require("covey.rpc").warm()
end

--- All sessions by name, at once; before the helper is up nil, "not connected". With a callback: asked of the helper.
---@param _? table
---@param cb? covey.Callback
---@return covey.Session[]? sessions not to be changed
---@return string? reason
function M.list(_, cb)
  if cb then
    return call("list", {}, cb)
  end
  return require("covey.fleet").list()
end

--- One session by its name, else by its id; at once.
---@param name string
---@return covey.Session?
function M.get(name)
  return require("covey.fleet").get(name)
end

---@return string[]
function M.names()
  return require("covey.fleet").names()
end

--- How many sessions are in each state, and `total`, `queued`, `unseen`; at once. Who shows them has the helper started
--- a moment later, if there are sessions.
---@return table<string, integer>
function M.counts()
  require("covey.presence").wanted()
  return require("covey.fleet").counts()
end

--- For a statusline: "" without sessions; at once. As `counts`.
---@return string
function M.statusline()
  require("covey.presence").wanted()
  return require("covey.statusline").get()
end

---@class covey.OpenOpts: covey.Named
---@field agent? string
---@field words? string[] A name and an agent in any order, or one of them.
---@field cwd? string
---@field cmd? string[] A command in place of the agent's own.
---@field prompt? string Sent once the agent is ready.
---@field env? table<string, string>
---@field unset? string[]
---@field on_exit? "keep"|"reap"|"settled"
---@field restart? "never"|"on_failure"|"always"
---@field worktree? boolean In a git worktree of the branch called `name`.

--- Open a session. The result is the session.
---@type fun(opts?: covey.OpenOpts|string, cb?: covey.Callback)
M.open = verb.starting("open")

--- As open, but a session of that name that lives already is the result.
---@type fun(opts?: covey.OpenOpts|string, cb?: covey.Callback)
M.ensure = verb.starting("ensure")

--- As open, for one task: the session is settled once its agent is done.
---@type fun(opts?: covey.OpenOpts|string, cb?: covey.Callback)
M.run = verb.starting("run")

--- As open, in a git worktree of the branch called `name`; each is made where it is not there.
---@type fun(opts?: covey.OpenOpts|string, cb?: covey.Callback)
M.worktree = verb.starting("worktree")

---@class covey.SendOpts: covey.Named
---@field text? string Sent as it is; nothing in it is expanded.
---@field template? string In its place: a prompt of the library (|covey-library|), its placeholders filled in.
---@field selection? string What {selection} stands for in it.
---@field submit? boolean false pastes without Enter.
---@field when? "now"|"idle"|"ask" While the agent works (|covey-when|).
---@field force? boolean Send over a half-typed draft.
---@field raw? boolean
---@field as_file? boolean Send words that make the agent read the text from a file.
---@field act? string The act's id; asking twice with the same one is harmless.

--- Send a prompt. The result is a receipt.
---@param opts covey.SendOpts
---@param cb? covey.Callback
function M.send(opts, cb)
  require("covey.sending").send(opts, cb)
end

--- Paste a text without Enter, by default what is in the register `register` ("" is the unnamed one).
---@param opts? { name?: string, text?: string, register?: string }
---@param cb? covey.Callback
function M.paste(opts, cb)
  M.send({ name = opts.name, text = opts.text or vim.fn.getreg(opts.register or ""), submit = false }, cb)
end

--- Send one text to several sessions; where `names` is absent to all agents that run, but not to shells nor to what is
--- settled. The result is a list of receipts.
---@param opts { text: string, names?: string[] }
---@param cb? covey.Callback
function M.broadcast(opts, cb)
  require("covey.sending").broadcast(opts, cb)
end

--- Start the agent again in its place: `fresh` forgets its conversation, `force` ends one that lives.
---@type fun(opts?: { name?: string, fresh?: boolean, force?: boolean }|string, cb?: covey.Callback)
M.respawn = verb.reviving("respawn")

--- End a session and prove it. The result says what ended and what survived.
M.kill = verb.on_session("kill")
--- Stop what the agent is doing.
M.interrupt = verb.on_session("interrupt")
--- Choose an option of the dialog that an agent shows: `choice` is "yes", "no" or words of its label.
M.answer = verb.on_session("answer")
--- Give a session another name: `new`.
M.rename = verb.on_session("rename")
--- The work of a session is done: a sweep may end it; with `on = false` it is not.
M.settle = verb.on_session("settle")
--- Become the owner of a session that has none.
M.adopt = verb.on_session("adopt")
--- What was done with a session, oldest first.
M.log = verb.on_session("log")
--- Prompts that wait, as receipts.
M.queue = verb.on_session("queue", verb.WAITING)
--- Why a session is said to be in its state.
M.explain = verb.on_session("explain")
--- The rows of a session's screen.
M.capture = verb.on_session("capture")
--- As kill, and what was sent to the session is forgotten; `workspace`: and its git worktree removed.
M.delete = verb.on_session("delete")

--- Start the agent anew in its place, its conversation forgotten, whatever it does now.
---@type covey.Verb
M.reset = verb.reviving("reset")

--- Replace the text of a prompt that was not typed yet, or say `when` it goes: "now" or "idle".
---@param opts { act: string, text?: string, when?: string }
---@param cb? covey.Callback
function M.edit(opts, cb)
  call("edit", { act = opts.act, text = opts.text, when = opts.when }, cb)
end

--- Say nothing of a session any more, or with `on = false` again; in this editor.
---@type fun(opts?: { name?: string, on?: boolean }|string, cb?: covey.Callback)
function M.mute(opts, cb)
  verb.with_session(opts, cb, function(session)
    require("covey.attention").mute(session.id, opts.on ~= false)
    if cb then
      cb(nil, M.get(session.id))
    end
  end)
end

--- Files that changed since the last prompt to a session: into the quickfix list. The result is a list of paths.
---@type covey.Verb
function M.changed(opts, cb)
  verb.with_session(opts, cb, function(session)
    require("covey.changes").list(session, cb)
  end)
end

--- Leave a session alone in every sweep, or with `on = false` no longer.
---@type fun(opts?: { name?: string, on?: boolean }|string, cb?: covey.Callback)
function M.keep(opts, cb)
  verb.on_session("keep")(vim.tbl_extend("keep", opts, { on = true }), cb)
end

--- Take a prompt back that was not typed yet: by its id, or by the name of a session for which it alone waits.
---@param opts { act: string }
---@param cb? covey.Callback
function M.cancel(opts, cb)
  call("cancel", { act = opts.act }, cb or require("covey.receipts").took_back)
end

--- What a sweep would end and why; with `yes` it does.
---@param opts? { yes?: boolean }
---@param cb? covey.Callback
function M.reap(opts, cb)
  call("reap", { yes = opts.yes == true }, cb)
end

--- The sessions that tmux lost; with `yes` they are brought back.
---@type fun(opts?: { names?: string[], yes?: boolean }, cb?: covey.Callback)
function M.restore(opts, cb)
  call("restore", vim.tbl_extend("force", opts, { environ = verb.environ() }), cb)
end

--- The agents covey knows, and which of them are installed here.
---@type covey.Verb
function M.agents(_, cb)
  call("agents", {}, cb)
end

--- What each session costs.
---@type covey.Verb
function M.stats(opts, cb)
  call("stats", opts, cb)
end

--- Watch a session in a float; focus stays where it is unless `focus` is set.
M.preview = verb.in_window(function(session, opts)
  require("covey.ui.preview").open(session, opts)
end)

--- Type into a session, in a `style` of window.
M.attach = verb.in_window(function(session, opts)
  require("covey.ui.attach").open(session, opts)
end)

--- Write a prompt in a buffer.
M.prompt = verb.in_window(function(session, opts)
  require("covey.ui.prompt").open(session, opts)
end)

--- The fleet in one buffer.
---@type covey.Verb
function M.board(opts)
  require("covey.ui.board").open(opts)
end

--- A verb that goes to another session.
local function travel(how)
  return function(opts, cb)
    require("covey.travel")[how](opts, cb)
  end
end

--- Choose a session and attach to it.
---@type covey.Verb
M.pick = travel("pick")

--- Attach to the session that has waited longest for you, the next time to the one after it; with `preview` only look.
---@type fun(opts?: { count?: integer, preview?: boolean }, cb?: covey.Callback)
M.attention = travel("attention")

--- Attach to the session `count` places further.
---@type fun(opts?: { count?: integer }, cb?: covey.Callback)
M.next = travel("next")

--- Attach to the session `count` places before.
---@type fun(opts?: { count?: integer }, cb?: covey.Callback)
M.prev = travel("prev")

--- Attach to the session looked at before this one.
---@type covey.Verb
M.last = travel("last")

--- Build the helper's own Python environment.
---@type covey.Verb
function M.install(opts, cb)
  require("covey.install").install(opts, cb)
end

--- |:checkhealth| covey.
---@type covey.Verb
function M.health()
  vim.cmd.checkhealth("covey")
end

--- Another word for rename.
M.name = M.rename
--- Another word for health.
M.doctor = M.health

for name, run in pairs(M) do
  M[name] = AT_ONCE[name] and run or require("covey.door").verb(name, run)
end

return M
