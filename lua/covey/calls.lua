--- The calls that wait for an answer. Each is answered once, whatever becomes of the host.
local M = {}

--- Calls that change nothing: a host that dies in the middle of one leaves no question open.
local READS =
  "list get snapshot capture attach preview unpreview log queue explain agents doctor selftest stats idle wait"

--- Calls that end sessions: those of a name that one, the others any.
local ENDS = { "kill", "delete", "reap" }

local pending = {} ---@type table<integer, { method: string, name: string?, cb: covey.Callback }>
local minted = 0

--- Remember a call.
---@param method string
---@param name string? of the session that it is for
---@param cb covey.Callback
---@return integer id never used before, and greater than 0
function M.mint(method, name, cb)
  minted = minted + 1
  pending[minted] = { method = method, name = name, cb = cb }
  return minted
end

--- Whether a call that ends this session waits for its answer.
---@param session { id: string, name: string }
---@return boolean
function M.ending(session)
  return vim.iter(vim.tbl_values(pending)):any(function(call)
    return vim.list_contains(ENDS, call.method)
      and vim.list_contains({ session.id, session.name }, call.name or session.id)
  end)
end

--- Answer a call; the second answer to one goes nowhere. A callback's own error is told and goes no further.
---@param id integer
---@param err? covey.Error
---@param result? any
function M.finish(id, err, result)
  local call = pending[id]
  pending[id] = nil
  local ok, trace = true, nil
  if call then
    ok, trace = xpcall(call.cb, debug.traceback, err, result)
  end
  if not ok then
    require("covey.notify").warn(("covey: error in the callback of %s: %s"):format(call.method, trace))
  end
end

---@return boolean
local function only_reads(call)
  return vim.list_contains(vim.split(READS, " "), call.method)
end

--- What is known of a call whose host died under it.
---@return covey.Error
local function orphaned(call, err)
  local known = only_reads(call) and "nothing was changed" or "whether it was done is not known"
  local message = ("%s; %q was under way: %s"):format(err.message, call.method, known)
  return vim.tbl_extend("force", err, { message = message })
end

--- What to answer every call in flight, by its id: its host died.
---@param err covey.Error
---@param begun boolean whether the host had begun to work; else nothing was done
---@return table<integer, covey.Error> answers
---@return covey.Error gravest the one that leaves a question open, else `err`
function M.orphans(err, begun)
  local gravest, answers = err, {}
  for id, call in pairs(pending) do
    answers[id] = begun and orphaned(call, err) or err
    gravest = not only_reads(call) and answers[id] or gravest
  end
  return answers, gravest
end

return M
