--- How the result of a command reads: a table for what was asked, a sentence for what was done. Pure but for the clock.
local label = require("covey.ui.label")

local M = {}

local GAP = "  "
local MIB = 1024 * 1024

--- A session's name by its id, which stands for itself where nobody knows it any more.
---@param id string
---@return string
local function name_of(id)
  local session = require("covey.fleet").get(id)
  return session and session.name or id
end

local function text(value)
  if value == nil then
    return ""
  end
  return label.line(type(value) == "table" and vim.json.encode(value) or tostring(value))
end

--- Rows under headings, in columns as wide as they need; empty columns are left out.
---@param headings string[]
---@param rows string[][]
---@return string[]
local function columns(headings, rows)
  local widths = {}
  for column in ipairs(headings) do
    for _, row in ipairs(rows) do
      widths[column] = math.max(widths[column] or 0, vim.api.nvim_strwidth(row[column]))
    end
    if (widths[column] or 0) > 0 then
      widths[column] = math.max(widths[column], #headings[column])
    end
  end
  return vim.tbl_map(function(row)
    local cells = {}
    for column, cell in ipairs(row) do
      if (widths[column] or 0) > 0 then
        table.insert(cells, label.fit(cell, widths[column]))
      end
    end
    return (table.concat(cells, GAP):gsub("%s+$", ""))
  end, vim.list_extend({ headings }, rows))
end

--- A table of these fields of each item; `empty` where there is none.
---@param fields string[]
---@param empty string
---@return fun(items: table[]): string[]
local function table_of(fields, empty)
  return function(items)
    local rows = vim.tbl_map(function(item)
      return vim.tbl_map(function(field)
        return text(item[field])
      end, fields)
    end, items)
    return #rows > 0 and columns(fields, rows) or { empty }
  end
end

--- What was decided of a session, and what this editor knows of it.
local function marks(session)
  local flags = session.flags or {}
  local set = {
    kept = session.keep,
    settled = session.settled,
    unseen = vim.list_contains(flags, "unseen"),
    muted = vim.list_contains(flags, "muted"),
  }
  local function is_set(mark)
    return set[mark]
  end
  return table.concat(vim.tbl_filter(is_set, { "kept", "settled", "unseen", "muted" }), " ")
end

---@param sessions covey.Session[]
---@return string[]
local function fleet(sessions)
  local rows = vim.tbl_map(function(session)
    local queued = (session.queued or 0) > 0 and tostring(session.queued) or ""
    local state, cwd = require("covey.states").of(session), vim.fn.fnamemodify(session.cwd, ":~")
    return { label.line(session.name), session.agent, state, label.age(session.since), queued, marks(session), cwd }
  end, sessions)
  return #rows > 0 and columns({ "name", "agent", "state", "for", "queued", "marks", "directory" }, rows)
    or { "no session" }
end

--- How many prompts went with an agent that was ended.
local function unsent(result)
  local count = #(result.unsent or {})
  return count == 0 and "" or ("; %d %s never sent"):format(count, count == 1 and "prompt was" or "prompts were")
end

--- Of a verb that answers with a session: `opened amber (claude)`.
---@param what string
---@return fun(session: covey.Session): string[]
local function did(what)
  return function(session)
    local done = session.respawned and "respawned" or session.opened == false and "found" or what
    local name = label.line(session.name)
    local parts = { ("covey: %s %s (%s)%s"):format(done, name, session.agent, unsent(session)) }
    local receipt = session.receipt
    if receipt and receipt.outcome == "refused" then
      table.insert(parts, "its prompt was refused: " .. receipt.reason)
    end
    table.insert(parts, session.note)
    return { table.concat(parts, "; ") }
  end
end

--- Of a verb by which a session is so, or with `on = false` no longer.
---@param yes string
---@param no? string
---@return fun(session: covey.Session, opts: { on?: boolean }): string[]
local function told(yes, no)
  return function(session, opts)
    return { ("covey: %s %s"):format(label.line(session.name), opts.on == false and no or yes) }
  end
end

--- What was done to the agent, and how it was then: one that is idle has its keys pressed, too.
---@return string[]
local function interrupted(result)
  local keys, name = table.concat(result.keys, " "), label.line(result.name)
  return { ("covey: pressed %s in %s, which was %s"):format(keys, name, result.state) }
end

--- What was ended, and above all what was not.
---@return string[]
local function killed(result)
  local survivors = result.survivors or {}
  local name = label.line(result.name)
  if #survivors == 0 then
    local worktree = result.workspace and ("; its worktree %s"):format(result.workspace) or ""
    return { ("covey: killed %s%s%s"):format(name, unsent(result), worktree) }
  end
  return { ("covey: killed %s, but left %d of its processes: %s"):format(name, #survivors, text(survivors)) }
end

--- What a sweep would do, or did.
---@return string[]
local function reaped(result, opts)
  if opts.yes then
    return { ("covey: ended %d, left %d"):format(#(result.ended or {}), #(result.left or {})) }
  end
  local lines = table_of({ "name", "act", "reason" }, "covey: there is nothing to reap")(result.decisions or {})
  return #(result.decisions or {}) > 0 and vim.list_extend(lines, { "do it with :Covey reap!" }) or lines
end

--- What tmux lost, or what came back.
---@return string[]
local function restored(found, opts)
  local rows = vim.tbl_map(function(session)
    local what = session.error and session.error.message or opts.yes and "restored" or session.state
    return vim.tbl_extend("force", session, { [opts.yes and "result" or "state"] = what })
  end, found)
  local lines =
    table_of({ "name", "agent", opts.yes and "result" or "state" }, "covey: there is nothing to restore")(rows)
  return #found > 0 and not opts.yes and vim.list_extend(lines, { "bring them back with :Covey restore!" }) or lines
end

--- A prompt whose text is another now, and what has become of it.
---@return string[]
local function edited(receipt)
  return { require("covey.receipts").sentence(receipt, "changed") }
end

--- Fields of one value, one a line; the screen's excerpt last, as it is.
---@return string[]
local function explained(verdict)
  local lines = {
    "state  " .. text(verdict.state),
    "rule   " .. text(verdict.rule),
  }
  if (verdict.background or 0) > 0 then
    table.insert(lines, "background  " .. verdict.background)
  end
  return vim.list_extend(lines, vim.split(verdict.excerpt or "", "\n"))
end

--- What happened to a session and what was sent to it, one event a line, as the helper words it.
---@return string[]
local function story(entries)
  local rows = vim.tbl_map(function(entry)
    return { label.clock(entry.at), text(entry.kind), text(entry.words) }
  end, entries)
  return #rows > 0 and columns({ "at", "what", "" }, rows) or { "nothing happened yet" }
end

--- What each session's processes use, by its name.
---@param stats table<string, { cpu: number, rss: integer, count: integer }>
---@return string[]
local function costs(stats)
  local rows = {}
  for id, each in pairs(stats) do
    local name, memory = label.line(each.name or name_of(id)), ("%.0f MiB"):format(each.rss / MIB)
    table.insert(rows, { name, ("%.1f s"):format(each.cpu), memory, tostring(each.count) })
  end
  table.sort(rows, function(a, b)
    return a[1] < b[1]
  end)
  return #rows > 0 and columns({ "name", "cpu", "memory", "processes" }, rows) or { "no agent runs" }
end

--- How many files; the quickfix list has them.
---@param paths string[]
---@return string[]
local function changed(paths)
  local many = #paths == 1 and "1 file" or #paths .. " files"
  return { #paths > 0 and many .. " changed" or "no file changed since the last prompt" }
end

---@return string[]
local function known(agents)
  local wrong = vim.tbl_filter(function(agent)
    return agent.problem ~= nil
  end, agents)
  local rows = vim.tbl_map(function(agent)
    local installed = agent.installed and "installed" or "not here"
    return { agent.name, agent.title or "", installed, text(agent.version), agent.untested and "untested" or "" }
  end, vim.list_slice(agents, 1, #agents - #wrong))
  return vim.list_extend(
    columns({ "agent", "title", "here", "version", "" }, rows),
    vim.tbl_map(function(file)
      return "wrong: " .. file.problem
    end, wrong)
  )
end

--- By verb: how its result reads. A verb that is not here has nothing to say.
---@type table<string, fun(result: any, opts: table): string[]>
M.of = {
  open = did("opened"),
  ensure = did("here is"),
  run = did("started"),
  worktree = did("opened worktree"),
  rename = did("renamed to"),
  list = fleet,
  respawn = did("respawned"),
  reset = did("started anew"),
  kill = killed,
  delete = killed,
  reap = reaped,
  restore = restored,
  keep = told("is kept: no sweep ends it", "is kept no longer"),
  mute = told("is muted: nothing is said of it", "is spoken of again"),
  settle = told("is settled: a sweep may end it", "is settled no longer"),
  adopt = did("adopted"),
  interrupt = interrupted,
  answer = function(result)
    return { ("covey: answered %s: %s"):format(label.line(result.name), text(result.chosen)) }
  end,
  changed = changed,
  queue = table_of({ "number", "outcome", "reason", "text" }, "nothing waits"),
  edit = edited,
  log = story,
  explain = explained,
  agents = known,
  stats = costs,
}

return M
