--- What `:Covey` completes: verbs, sessions, agents, keys and their values. Reads the editor's cache and nothing else.
local words = require("covey.words")

local M = {}

local written = { names = {}, quoted = {} } -- names of sessions, and the same as they are written

--- Names of sessions as they are written, worked out anew when there are others.
local function session_names()
  local fleet = require("covey.fleet")
  if not fleet.connected() then
    require("covey.rpc").warm()
  end
  local names = fleet.names()
  if written.names ~= names then
    written = { names = names, quoted = vim.tbl_map(words.quote, names) }
  end
  return written.quoted
end

---@param kind covey.Kind?
---@param lead string
---@return string[]
local function values(kind, lead)
  if type(kind) == "table" then
    return kind
  elseif kind == "session" then
    return session_names()
  elseif kind == "act" then
    return require("covey.receipts").waiting()
  elseif kind == "waiting" then
    return vim.list_extend(vim.list_slice(session_names()), values("act", lead))
  elseif kind == "agent" then
    return require("covey.agents").names()
  elseif kind == "prompt" then
    return vim.tbl_map(function(name)
      return "@" .. name
    end, require("covey.library").names())
  elseif kind == "directory" then
    return vim.fn.getcompletion(lead, "dir")
  end
  return {}
end

---@return string[]
local function starting_with(lead, candidates)
  local found, length = {}, #lead
  for _, candidate in ipairs(candidates) do -- a key press has to go through all of them, and may make no garbage
    if candidate:sub(1, length) == lead then
      table.insert(found, candidate)
    end
  end
  return found
end

--- The keys of a command that were not given yet, as `key=`.
local function unused_keys(command, given)
  local keys = {}
  for key in pairs(command.keys or {}) do
    if not given.named[key] then
      table.insert(keys, key == "env" and "env." or key .. "=")
    end
  end
  table.sort(keys)
  return keys
end

---@param command covey.Command
---@param before string The words before the one to complete.
---@param lead string
---@return string[]
local function arguments(command, before, lead)
  local options = command.options or {}
  local _, rest = words.options(before, options)
  if vim.startswith(lead, "++") and not rest:find("%S") then
    return starting_with(lead, words.spelled(options))
  end
  local given = words.sort((words.split(rest)), command.keys or {})
  local key, value = lead:match("^([%a_]+)=(.*)$")
  if given.argv then
    return {}
  elseif command.raw and #given.list >= command.raw then
    return #given.list == command.raw and starting_with(lead, values(command.text, lead)) or {}
  elseif key and (command.keys or {})[key] then
    return vim.tbl_map(function(candidate)
      return key .. "=" .. candidate
    end, starting_with(value, values(command.keys[key], value)))
  end
  local found = starting_with(lead, values((command.args or {})[#given.list + 1], lead))
  return vim.list_extend(found, starting_with(lead, unused_keys(command, given)))
end

--- As |:command-completion-customlist|.
---@param lead string
---@param line string
---@param position integer
---@return string[]
function M.complete(lead, line, position)
  local typed = line:sub(1, position):match("^.-Cov%a*!?%s+(.*)$") or ""
  local command = require("covey.command")
  if not typed:find("%s") then
    return starting_with(lead, command.names())
  end
  local verb, rest = words.first(typed)
  local known = command.verbs[(verb:gsub("!$", ""))]
  return known and arguments(known, rest:sub(1, #rest - #lead), lead) or {}
end

return M
