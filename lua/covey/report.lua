--- How the result of a command reads: a table for what was asked, a sentence for what was done. Pure but for the clock.
local label = require("covey.ui.label")

local M = {}

local GAP = "  "
local TEXT = 60 -- cells of a prompt that are shown
local MIB = 1024 * 1024

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
function M.columns(headings, rows)
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
function M.table_of(fields, empty)
  return function(items)
    local rows = vim.tbl_map(function(item)
      return vim.tbl_map(function(field)
        return text(item[field])
      end, fields)
    end, items)
    return #rows > 0 and M.columns(fields, rows) or { empty }
  end
end

--- Prompts that wait.
M.waiting = M.table_of({ "act", "outcome", "reason", "text" }, "nothing waits")

---@param sessions covey.Session[]
---@return string[]
function M.sessions(sessions)
  local rows = vim.tbl_map(function(session)
    local queued = (session.queued or 0) > 0 and session.queued .. " queued" or ""
    local cwd = vim.fn.fnamemodify(session.cwd, ":~")
    return { label.line(session.name), session.agent, label.state(session), label.age(session.since), queued, cwd }
  end, sessions)
  return #rows > 0 and M.columns({ "name", "agent", "state", "for", "queue", "cwd" }, rows) or { "no session" }
end

--- Of a verb that answers with a session: `opened amber (claude)`.
---@param what string
---@return fun(session: covey.Session): string[]
function M.did(what)
  return function(session)
    local did = session.opened == false and "found" or what
    local lines = { ("covey: %s %s (%s)"):format(did, label.line(session.name), session.agent) }
    local receipt = session.receipt
    if receipt and receipt.outcome == "refused" then
      table.insert(lines, ("covey: its prompt was refused: %s"):format(receipt.reason))
    end
    if session.note then
      table.insert(lines, "covey: " .. session.note)
    end
    return lines
  end
end

--- What was ended, and above all what was not.
---@return string[]
function M.killed(result)
  local survivors = result.survivors or {}
  local name = label.line(result.name)
  if #survivors == 0 then
    return { ("covey: killed %s"):format(name) }
  end
  return { ("covey: killed %s, but left %d of its processes: %s"):format(name, #survivors, text(survivors)) }
end

--- What a sweep would do, or did.
---@param done boolean
---@return fun(result: table): string[]
function M.reaped(done)
  return function(result)
    if done then
      return { ("covey: ended %d, left %d"):format(#(result.ended or {}), #(result.left or {})) }
    end
    local lines = M.table_of({ "name", "act", "reason" }, "there is nothing to reap")(result.decisions or {})
    return #(result.decisions or {}) > 0 and vim.list_extend(lines, { "do it with :Covey reap!" }) or lines
  end
end

---@param receipt covey.Receipt
---@return string[]
function M.receipt(receipt)
  local reason = (receipt.reason or "") ~= "" and (": " .. receipt.reason) or ""
  local stripped = (receipt.stripped or 0) > 0 and (" (%d control characters taken out)"):format(receipt.stripped) or ""
  return { "covey: " .. receipt.outcome .. reason .. stripped }
end

--- Fields of one value, one a line; the screen's excerpt last, as it is.
---@return string[]
function M.explained(verdict)
  local lines = {
    "state  " .. text(verdict.state),
    "rule   " .. text(verdict.rule),
  }
  if (verdict.background or 0) > 0 then
    table.insert(lines, "background  " .. verdict.background)
  end
  return vim.list_extend(lines, vim.split(verdict.excerpt or "", "\n"))
end

--- What happened to a session and what was sent to it.
---@return string[]
function M.story(entries)
  local rows = vim.tbl_map(function(entry)
    local data = entry.data or {}
    if entry.kind ~= "send" then
      return { text(entry.at), text(entry.kind), next(data) and text(data) or "" }
    end
    local reason = (data.reason or "") ~= "" and " (" .. data.reason .. ")" or ""
    return { text(entry.at), ("send %s%s"):format(data.outcome, reason), (label.fit(data.text, TEXT):gsub("%s+$", "")) }
  end, entries)
  return #rows > 0 and M.columns({ "at", "what", "" }, rows) or { "nothing happened yet" }
end

--- What each session's processes use, by its name.
---@param stats table<string, { cpu: number, rss: integer, count: integer }>
---@return string[]
function M.stats(stats)
  local rows = {}
  for id, each in pairs(stats) do
    local session = require("covey.fleet").get(id) or { name = id }
    local memory = ("%.0f MiB"):format(each.rss / MIB)
    table.insert(rows, { label.line(session.name), ("%.1f s"):format(each.cpu), memory, tostring(each.count) })
  end
  table.sort(rows, function(a, b)
    return a[1] < b[1]
  end)
  return #rows > 0 and M.columns({ "name", "cpu", "memory", "processes" }, rows) or { "no agent runs" }
end

--- Files, one a line.
---@param files string[]
---@return string[]
function M.files(files)
  local many = #files == 1 and "1 file" or #files .. " files"
  return vim.list_extend({ #files > 0 and many .. " changed" or "no file changed since the last prompt" }, files)
end

---@return string[]
function M.agents(agents)
  local rows = vim.tbl_map(function(agent)
    local installed = agent.installed and "installed" or "not here"
    return { agent.name, agent.title or "", installed, text(agent.version), agent.untested and "untested" or "" }
  end, agents)
  return M.columns({ "agent", "title", "here", "version", "" }, rows)
end

return M
