--- The rows of the board: which sessions, in which order, written in how many cells. Pure but for the clock.
local label = require("covey.ui.label")
local states = require("covey.states")

local M = {}

local NAME, AGENT, CWD = { 8, 24 }, { 4, 10 }, { 10, 28 } -- cells: least and most
local STATE = 19 -- cells: "exited (signal 9)" and a space; the age has its own
local AGE, COST = 4, 10 -- cells
local MARKS = { 3, 8 } -- cells of "+12KSum": least and most
local WITH_AGENT, WITH_CWD = 56, 96 -- a board that wide has the column

--- Who needs the person first: the lower, the sooner. Who asks; who is gone and wants a decision; who is done and was
--- not looked at; who waits for a prompt; who is busy. Settled work wants nothing.
---@param session covey.Session
---@param unseen boolean
---@return integer
local function rank(session, unseen)
  local at_rest = session.state == "exited" or session.state == "idle"
  if at_rest and session.settled then
    return 9
  elseif session.state == "idle" then
    return unseen and 4 or 5
  end
  return ({ blocked = 1, lost = 2, exited = 3, unknown = 6, starting = 7, working = 8 })[session.state] or 6
end

--- Whether it finished and the person has not looked.
---@param session covey.Session
---@return boolean
function M.unseen(session)
  return vim.list_contains(session.flags or {}, "unseen")
end

--- Sessions by who needs the person, then by name.
---@param sessions covey.Session[]
---@param held string? id of a session that stays where it was although it is being looked at
---@return covey.Session[]
function M.sorted(sessions, held)
  local result, ranks = vim.list_slice(sessions), {}
  for _, session in ipairs(sessions) do
    ranks[session] = rank(session, M.unseen(session) or session.id == held)
  end
  table.sort(result, function(a, b)
    local left, right = ranks[a], ranks[b]
    if left == right then
      return a.name == b.name and a.id < b.id or a.name < b.name
    end
    return left < right
  end)
  return result
end

--- Sessions in which every word of `filter` occurs: in name, agent, state or directory, whatever the case.
---@param sessions covey.Session[]
---@param filter string?
---@return covey.Session[]
function M.matching(sessions, filter)
  local words = vim.split(vim.trim(filter or ""):lower(), "%s+", { trimempty = true })
  return vim.tbl_filter(function(session)
    local text = table.concat({ session.name, session.agent, session.state, session.cwd }, " "):lower()
    return vim.iter(words):all(function(word)
      return text:find(word, 1, true) ~= nil
    end)
  end, sessions)
end

--- What is asked on a screen: the last line with a question mark, else the first that says anything.
local function question(excerpt)
  local first, asked
  for line in excerpt:gmatch("[^\n]+") do
    first = first or (line:find("%S") and line)
    asked = line:find("?", 1, true) and line or asked
  end
  return asked or first
end

--- What a session waits for, else its last line.
local function says(session)
  local excerpt = session.state == "blocked" and (session.evidence or {}).excerpt or ""
  return vim.trim(label.line(question(excerpt) or session.last_line))
end

local function widest(sessions, text, limits)
  local width = limits[1]
  for _, session in ipairs(sessions) do
    width = math.max(width, vim.api.nvim_strwidth(label.line(text(session))))
  end
  return math.min(width, limits[2])
end

local function home_relative(session)
  return vim.fn.fnamemodify(session.cwd or "", ":~")
end

--- Prompts that wait, and what was decided about it.
local function marks(session)
  local queued = (session.queued or 0) > 0 and ("+%d"):format(session.queued) or ""
  local unseen = M.unseen(session) and "u" or ""
  local muted = vim.list_contains(session.flags or {}, "muted") and "m" or ""
  return queued .. (session.keep and "K" or "") .. (session.settled and "S" or "") .. unseen .. muted
end

--- Widths of the columns of a board `width` cells wide. `says` gets what is left.
local function columns(sessions, width, costs)
  local function field(name)
    return function(session)
      return session[name]
    end
  end
  local fits = {
    name = widest(sessions, field("name"), width >= WITH_AGENT and NAME or { NAME[1], 14 }),
    agent = width >= WITH_AGENT and widest(sessions, field("agent"), AGENT) or 0,
    state = widest(sessions, states.of, { 8, STATE }),
    marks = widest(sessions, marks, MARKS),
    cwd = width >= WITH_CWD and widest(sessions, home_relative, CWD) or 0,
  }
  fits.cost = costs and COST or 0
  local gaps = 1 + 4
  for _, column in ipairs({ "agent", "cwd", "cost" }) do
    gaps = gaps + (fits[column] > 0 and 1 or 0)
  end
  fits.says = math.max(0, width - fits.name - fits.agent - fits.state - AGE - fits.marks - fits.cwd - fits.cost - gaps)
  return fits
end

---@class covey.Row
---@field text string
---@field marks { [1]: integer, [2]: integer, [3]: string }[] first byte, past the last, highlight group

--- Rows by session. A session that changed is another table, so what is cached for one is right while it lives.
local cache = setmetatable({}, { __mode = "k" }) ---@type table<covey.Session, { key: string, row: covey.Row }>

--- Cells, each as wide as it is to be, side by side; those of no width are left out.
---@param cells { [1]: string, [2]: integer, [3]: string }[]
---@return covey.Row
local function line(cells)
  local text, highlights = " ", {}
  for _, cell in ipairs(cells) do
    if cell[2] > 0 then
      local first = #text
      text = text .. label.fit(cell[1], cell[2])
      table.insert(highlights, { first, #text, cell[3] })
      text = text .. " "
    end
  end
  return { text = text, marks = highlights }
end

local function make(session, fits, age, cost)
  return line({
    { session.name, fits.name, "CoveyName" },
    { session.agent, fits.agent, "CoveyAgent" },
    { states.of(session), fits.state, require("covey.ui.highlight").state(session.state) },
    { age, AGE, "CoveyDim" },
    { marks(session), fits.marks, "CoveyQueued" },
    { cost, fits.cost, "CoveyQueued" },
    { says(session), fits.says, "CoveyDim" },
    { home_relative(session), fits.cwd, "CoveyCwd" },
  })
end

--- What stands above the columns; "" where the board is too narrow to spend a line on it.
local function heading(fits)
  local cells = {
    { "name", fits.name },
    { "agent", fits.agent },
    { "state", fits.state },
    { "for", AGE },
    { "", fits.marks },
    { " cpu   mem", fits.cost },
    { "last line", fits.says },
    { "directory", fits.cwd },
  }
  return fits.agent > 0 and line(cells).text:gsub("%s+$", "") or ""
end

--- One session as a row: the very table of the time before, where nothing of it changed.
local function row(session, fits, now, cost)
  local age = label.age(session.since, now)
  local key = table.concat({ fits.name, fits.agent, fits.state, fits.marks, fits.says, fits.cwd, age, cost }, " ")
  local cached = cache[session]
  if not cached or cached.key ~= key then
    cached = { key = key, row = make(session, fits, age, cost) }
    cache[session] = cached
  end
  return cached.row
end

--- The rows of sessions, in their order, for a board `width` cells wide.
---@param sessions covey.Session[]
---@param width integer
---@param now integer? seconds since 1970
---@param costs covey.Costs? what each costs, where there is a column for it
---@return covey.Row[]
---@return string heading
function M.rows(sessions, width, now, costs)
  local fits = columns(sessions, width, costs)
  local rows = vim.tbl_map(function(session)
    return row(session, fits, now or os.time(), costs and costs:of(session) or "")
  end, sessions)
  return rows, heading(fits)
end

return M
