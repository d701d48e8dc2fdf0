--- What surrounds the person, as text for a prompt: lists, differences, the symbol and the address under the cursor,
--- what a terminal shows. Called with the source's window as the current one, where there is still such a window.
local M = {}

local SEVERITY = { "error", "warning", "info", "hint" }
local TERMINAL = 200 -- lines of a terminal, from its end
local GIT = 5000 -- ms that git may take
local URL = "%a[%a%d+.-]*://[^%s<>\"'`|{}\\^]+"

local function joined(lines)
  return #lines > 0 and table.concat(lines, "\n") or nil
end

--- A file as a place in a list: no sign before it, whatever the agent's form.
local function plain(name, cwd)
  return require("covey.context").written(name, cwd, "{path}")
end

---@param source covey.Source
function M.diagnostics(source)
  local file = plain(vim.api.nvim_buf_get_name(0), source.cwd)
  return joined(vim.tbl_map(function(found)
    local message = found.message:gsub("%s*\n%s*", " ")
    return ("%s:%d:%d: %s: %s"):format(file, found.lnum + 1, found.col + 1, SEVERITY[found.severity], message)
  end, vim.diagnostic.get(0)))
end

---@param source covey.Source
function M.buffers(source)
  local found = {}
  for _, buf in ipairs(vim.api.nvim_list_bufs()) do
    local name = vim.api.nvim_buf_get_name(buf)
    if vim.bo[buf].buflisted and vim.bo[buf].buftype == "" and name ~= "" then
      table.insert(found, require("covey.context").written(name, source.cwd, source.form))
    end
  end
  return #found > 0 and table.concat(found, " ") or nil
end

--- The entries of a list, as `file:line:column: text`.
local function entries(items, source)
  return joined(vim.tbl_map(function(item)
    local name = item.bufnr > 0 and vim.api.nvim_buf_get_name(item.bufnr) or ""
    local place = name ~= "" and ("%s:%d:%d: "):format(plain(name, source.cwd), item.lnum, item.col) or ""
    return place .. vim.trim(item.text)
  end, items))
end

---@param source covey.Source
function M.quickfix(source)
  return entries(vim.fn.getqflist(), source)
end

---@param source covey.Source
function M.loclist(source)
  return entries(vim.fn.getloclist(0), source)
end

--- The name that a node of a syntax tree defines.
local function defined(node, buf)
  local kind = node:type()
  if not (kind:find("function") or kind:find("method") or kind:find("class") or kind:find("struct")) then
    return nil
  end
  local name = node:field("name")[1] or node:field("declarator")[1]
  return name and vim.treesitter.get_node_text(name, buf):match("^[^\n(]+")
end

--- The function, method or class around the cursor; without a parser for it the word under the cursor.
function M.symbol()
  local buf = vim.api.nvim_get_current_buf()
  local parsed, parser = pcall(vim.treesitter.get_parser, buf)
  if parsed and parser then
    pcall(parser.parse, parser)
    local found, node = pcall(vim.treesitter.get_node)
    while found and node do
      local name = defined(node, buf)
      if name then
        return name
      end
      node = node:parent()
    end
  end
  local word = vim.fn.expand("<cword>")
  return word ~= "" and word or nil
end

--- The address under the cursor, else the first one of its line.
function M.url()
  local line, column = vim.api.nvim_get_current_line(), vim.api.nvim_win_get_cursor(0)[2] + 1
  local first
  for from, address, past in line:gmatch("()(" .. URL .. ")()") do
    address = address:gsub("[.,;:!?)%]]+$", "")
    first = first or address
    if column >= from and column < past then
      return address
    end
  end
  return first
end

local function is_terminal(buf)
  local kept = vim.b[buf].covey_session ~= nil
  return vim.bo[buf].buftype == "terminal" and vim.api.nvim_buf_is_loaded(buf) and not kept
end

--- The end of what a terminal shows: the current one, else the one used last.
function M.term()
  local found = vim.tbl_filter(function(info)
    return is_terminal(info.bufnr)
  end, vim.fn.getbufinfo())
  table.sort(found, function(a, b)
    return a.lastused > b.lastused
  end)
  local current = vim.api.nvim_get_current_buf()
  local buf = is_terminal(current) and current or (found[1] or {}).bufnr
  if not buf then
    return nil
  end
  local lines = vim.api.nvim_buf_get_lines(buf, 0, -1, false)
  while lines[#lines] and not lines[#lines]:find("%S") do
    table.remove(lines)
  end
  return joined(vim.list_slice(lines, math.max(1, #lines - TERMINAL + 1)))
end

--- What git says is different from the last commit, in the session's directory; asked for, not waited for.
---@param source covey.Source
---@param done fun(value: string?)
function M.diff(source, done)
  local argv = { "git", "-C", source.cwd, "--no-pager", "--no-optional-locks", "diff", "--no-color", "--no-ext-diff" }
  local started = pcall(vim.system, vim.list_extend(argv, { "HEAD" }), { timeout = GIT, text = true }, function(result)
    local text = result.code == 0 and vim.trim(result.stdout or "") or ""
    vim.schedule(function()
      done(text ~= "" and text or nil)
    end)
  end)
  if not started then
    done(nil)
  end
end

return M
