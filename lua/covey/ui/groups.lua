--- Sessions by project: the repository that their directory lies in, also as a worktree; else the directory itself.
local M = {}

local MARKERS = { ".git", ".hg", ".jj" }

local known = {} ---@type table<string, string> project by directory

---@class covey.Entry One row of the board: a session, or the head of a project.
---@field session covey.Session?
---@field project string?
---@field count integer?
---@field folded boolean?

--- The repository that a git worktree belongs to: its `.git` is a file that says so.
local function main_of(root)
  local file = io.open(root .. "/.git")
  local said = file and file:read("l") -- nil where it is a directory
  if file then
    file:close()
  end
  return said and said:match("^gitdir: (.+)/%.git/worktrees/") or root
end

---@param cwd string
---@return string
function M.project(cwd)
  if not known[cwd] then
    local root = vim.fs.root(cwd, MARKERS)
    known[cwd] = root and main_of(root) or cwd
  end
  return known[cwd]
end

--- Rows for sessions without heads.
---@param sessions covey.Session[]
---@return covey.Entry[]
function M.flat(sessions)
  return vim.tbl_map(function(session)
    return { session = session }
  end, sessions)
end

--- Rows for sessions under the heads of their projects. Projects come in the order of their first session.
---@param sessions covey.Session[]
---@param folded table<string, boolean> projects of which only the head is shown
---@return covey.Entry[]
function M.arrange(sessions, folded)
  local order, members = {}, {}
  for _, session in ipairs(sessions) do
    local project = M.project(session.cwd)
    if not members[project] then
      members[project] = {}
      table.insert(order, project)
    end
    table.insert(members[project], session)
  end
  local entries = {}
  for _, project in ipairs(order) do
    table.insert(entries, { project = project, count = #members[project], folded = folded[project] or false })
    vim.list_extend(entries, folded[project] and {} or M.flat(members[project]))
  end
  return entries
end

--- The head of a project as a row.
local function head(entry)
  local name = require("covey.ui.label").line(vim.fn.fnamemodify(entry.project, ":~"))
  local sign = entry.folded and "▸" or "▾"
  local text = ("%s %s  "):format(sign, name)
  local past = text .. entry.count
  return { text = past, marks = { { 0, #text, "CoveyCwd" }, { #text, #past, "CoveyQueued" } } }
end

--- The rows of a board `width` cells wide.
---@param entries covey.Entry[]
---@param width integer
---@param costs covey.Costs?
---@return covey.Row[]
---@return string heading
function M.rows(entries, width, costs)
  local sessions = {}
  for _, entry in ipairs(entries) do
    table.insert(sessions, entry.session)
  end
  local written, heading = require("covey.ui.roster").rows(sessions, width, nil, costs)
  local rows, at = {}, 0
  for index, entry in ipairs(entries) do
    at = at + (entry.session and 1 or 0)
    rows[index] = entry.session and written[at] or head(entry)
  end
  return rows, heading
end

return M
