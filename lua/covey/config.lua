--- What a person may set. One literal of defaults, one list of checks; nothing in here is ever fatal.
local M = {}

--- The styles of attach.
M.STYLES = { "float", "split", "vsplit", "tab", "popup", "tmux" }

---@class covey.Opts Everything is optional.
---@field python? string Interpreter of the helper; "" looks for one (|covey-python|).
---@field tmux? string Name or path of the tmux program.
---@field default_agent? string What `:Covey open` starts.
---@field on_exit? "keep"|"reap"|"settled" What becomes of a session when its editor leaves.
---@field cwd? "cwd"|"root"|fun(): string Where a session starts: here, at the project's root, or what you return.
---@field float? covey.Size Floats of attach and prompt.
---@field preview? covey.Preview
---@field attach? covey.Attach
---@field notify? covey.Notify
---@field keys? table<string, table<string, string|false>> Keys inside covey's own windows; false switches one off.
---@field agents_dir? string Directory of your own agent profiles; "" is `$XDG_CONFIG_HOME/covey/agents`.
---@field prompts_dir? string Directory of your own prompts; "" is `stdpath("config")/covey/prompts` alone.
---@field editor_bridge? boolean Whether `$EDITOR` of an agent leads back to this editor.
---@field reload? boolean Whether buffers are reloaded when an agent changed their files.
---@field picker? "auto"|"select"|"snacks"|"telescope"|"fzf-lua" What a session is chosen with.
---@field log_level? "debug"|"info"|"warn"|"error"
---@field history_limit? integer Lines of scrollback that tmux keeps for a session.
---@field when? ""|"now"|"idle"|"ask" When prompts go to an agent that works (|covey-when|); "" leaves it to the agent.

---@class covey.Size
---@field width? number Columns, or a share of the editor when 1 or less.
---@field height? number Rows, or a share of the editor when 1 or less.
---@field border? string|string[] As 'border' of |nvim_open_win()|.

---@class covey.Preview: covey.Size
---@field interval? integer Milliseconds between two frames at least.

---@class covey.Attach
---@field style? "float"|"split"|"vsplit"|"tab"|"popup"|"tmux" Where; the last two are in the person's own tmux.
---@field editor_keys? string[] Keys that stay the editor's while you type into an agent: what they do in normal mode.

---@class covey.PromptBuffer
---@field insert? boolean Whether an empty one is opened in insert mode.

---@class covey.Notify
---@field level? "debug"|"info"|"warn"|"error"|"off" Below it covey's own notices stay silent.
---@field events? ("opened"|"blocked"|"idle"|"exited"|"lost")[] What a session does that is worth a notice.

---@class covey.Config: covey.Opts
local defaults = {
  python = "",
  tmux = "tmux",
  default_agent = "claude",
  on_exit = "settled",
  cwd = "cwd",
  float = { width = 0.8, height = 0.8, border = "rounded" },
  preview = { width = 0.5, height = 0.6, border = "rounded", interval = 25 },
  attach = { style = "float", editor_keys = {} },
  prompt = { insert = true },
  notify = { level = "warn", events = { "blocked", "exited", "lost" } },
  keys = {
    attach = { leave = "<C-\\><C-n>", respawn = "R", close = "q", help = "g?" },
    preview = {
      attach = "<CR>",
      insert = "i",
      append = "a",
      zoom = "zz",
      respawn = "R",
      file = "gf",
      history = "gh",
      close = "q",
      help = "g?",
    },
    prompt = { submit = "<C-s>", older = "[h", newer = "]h", help = "g?" },
    board = {
      attach = "<CR>",
      preview = "p",
      prompt = "s",
      rename = "r",
      respawn = "R",
      kill = "x",
      keep = "K",
      settle = "S",
      interrupt = "I",
      answer = "a",
      delete = "gD",
      reset = "gR",
      adopt = "A",
      mute = "m",
      explain = "e",
      log = "L",
      queue = "Q",
      cancel = "X",
      edit = "E",
      changed = "c",
      open = "o",
      run = "O",
      worktree = "go",
      broadcast = "B",
      reap = "gx",
      restore = "gl",
      group = "gp",
      fold = "za",
      costs = "C",
      filter = "/",
      clear = "<Esc>",
      close = "q",
      help = "g?",
    },
  },
  agents_dir = "",
  prompts_dir = "",
  editor_bridge = false,
  reload = true,
  picker = "auto",
  log_level = "info",
  history_limit = 10000,
  when = "",
}

local expect = require("covey.expect")
local of_type, one_of, between, list_of = expect.of_type, expect.one_of, expect.between, expect.list_of

local function is_cwd(value)
  local fits = vim.is_callable(value) or value == "cwd" or value == "root"
  return not fits and '"cwd", "root" or a function' or nil
end

local function is_key(value)
  return value ~= false and (type(value) ~= "string" or value == "") and "a key, or false" or nil
end

---@type [string, covey.Check][] Every leaf of the defaults; a trailing `*` stands for each key of that table.
local checks = {
  { "python", of_type("string") },
  { "tmux", of_type("string") },
  { "default_agent", of_type("string") },
  { "on_exit", one_of("keep", "reap", "settled") },
  { "cwd", is_cwd },
  { "float.width", between(0.05, 1000) },
  { "float.height", between(0.05, 1000) },
  { "float.border", of_type("string", "table") },
  { "preview.width", between(0.05, 1000) },
  { "preview.height", between(0.05, 1000) },
  { "preview.border", of_type("string", "table") },
  { "preview.interval", between(10, 10000) },
  { "attach.style", one_of(unpack(M.STYLES)) },
  { "attach.editor_keys", list_of(of_type("string")) },
  { "prompt.insert", of_type("boolean") },
  { "notify.level", one_of("debug", "info", "warn", "error", "off") },
  { "notify.events", list_of(one_of("opened", "blocked", "idle", "exited", "lost")) },
  { "keys.attach.*", is_key },
  { "keys.preview.*", is_key },
  { "keys.prompt.*", is_key },
  { "keys.board.*", is_key },
  { "agents_dir", of_type("string") },
  { "prompts_dir", of_type("string") },
  { "editor_bridge", of_type("boolean") },
  { "reload", of_type("boolean") },
  { "picker", one_of("auto", "select", "snacks", "telescope", "fzf-lua") },
  { "log_level", one_of("debug", "info", "warn", "error") },
  { "history_limit", between(0, 1000000) },
  { "when", one_of("", "now", "idle", "ask") },
}

local by_path = {} ---@type table<string, covey.Check>
for _, check in ipairs(checks) do
  by_path[check[1]] = check[2]
end

local function is_branch(value)
  return type(value) == "table" and not vim.islist(value)
end

--- `given` over `base`: what fits is taken, what does not is put into `problems` and left out.
---@return table
local function merge(base, given, path, problems)
  local merged = vim.deepcopy(base)
  for key, value in pairs(given) do
    local name = path .. tostring(key)
    local known = base[key]
    local check = by_path[name] or by_path[path .. "*"]
    local expected = is_branch(known) and (type(value) ~= "table" and "a table" or nil) or (check and check(value))
    if known == nil then
      table.insert(problems, ("%s is no option of covey"):format(name))
    elseif expected then
      table.insert(problems, ("%s: expected %s, got %s"):format(name, expected, vim.inspect(value)))
    else
      merged[key] = is_branch(known) and merge(known, value, name .. ".", problems) or value
    end
  end
  return merged
end

local given = nil ---@type covey.Opts? What setup() was called with.
local current = nil ---@type { config: covey.Config, problems: string[] }?

--- `vim.g.covey`, called where it is a function. An error in it is a problem like any other.
local function from_global(problems)
  local global = vim.g.covey
  if vim.is_callable(global) then
    local ok, result = pcall(global)
    global = ok and result or nil
    if not ok then
      table.insert(problems, "vim.g.covey: " .. tostring(result))
    end
  end
  if global ~= nil and type(global) ~= "table" then
    table.insert(problems, "vim.g.covey: expected a table or a function that returns one")
    return {}
  end
  return global or {}
end

local function load()
  local problems = {}
  local config = merge(defaults, from_global(problems), "", problems)
  config = merge(config, given or {}, "", problems)
  local project = require("covey.project").current()
  if project then
    config = merge(config, project.opts, "", problems)
    vim.list_extend(problems, project.problems)
  end
  table.sort(problems)
  return { config = config, problems = problems }
end

--- The merged options; everything is filled in. Works without setup().
---@return covey.Config
function M.get()
  current = current or load()
  return current.config
end

--- What is wrong with the options as given, one sentence each, each with its full path. None of it is fatal.
---@return string[]
function M.problems()
  current = current or load()
  return current.problems
end

--- Store options over `vim.g.covey`. Starts nothing.
---@param opts? covey.Opts
function M.setup(opts)
  given, current = opts or {}, nil
  if type(given) ~= "table" then
    given = {}
    require("covey.notify").warn("covey.setup() expects a table")
  end
end

--- A person does something here: a project's own settings count from now on. What is wrong with them is told once.
function M.enter()
  if require("covey.project").look() then
    current = nil
    for _, problem in ipairs((require("covey.project").current() or { problems = {} }).problems) do
      require("covey.notify").warn("covey: " .. problem)
    end
  end
end

--- What the helper has to know, as `covey.hello` carries it.
---@return table
function M.for_helper()
  local config = M.get()
  return {
    tmux = config.tmux,
    default_agent = config.default_agent,
    on_exit = config.on_exit,
    agents_dirs = config.agents_dir ~= "" and { vim.fs.normalize(config.agents_dir) } or {},
    log_level = config.log_level,
    history_limit = config.history_limit,
    preview_interval = config.preview.interval,
    when = config.when,
  }
end

---@return covey.Config
function M.defaults()
  return vim.deepcopy(defaults)
end

return M
