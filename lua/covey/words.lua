--- How the words of a command line are read. Pure.
local M = {}

---@class covey.Words
---@field list string[] Words that are no `name=value`, in order.
---@field named table<string, string>
---@field env table<string, string> From `env.K=V`.
---@field argv? string[] What stands after `--`.
---@field rest? string What stands after an unquoted `|`, for Vim to run.

local QUOTES = { ['"'] = true, ["'"] = true }

--- The character that a backslash stands before: itself where it is special, else with its backslash.
local function escaped(text, at)
  local char = text:sub(at + 1, at + 1)
  local special = char == " " or char == "\\" or char == "|" or QUOTES[char]
  return special and char or "\\" .. char
end

--- One word from `at`, without its quotes: in "…" and outside of quotes a backslash takes away the meaning of a space,
--- a quote, a bar or a backslash; in '…' nothing has one.
---@return string word
---@return integer next
---@return string? open the quote that was never closed
local function word(text, at)
  local parts, quote = {}, nil
  while at <= #text do
    local char = text:sub(at, at)
    if not quote and char:find("%s") then
      break
    elseif char == "\\" and quote ~= "'" then
      table.insert(parts, escaped(text, at))
      at = at + 1
    elseif char == quote then
      quote = nil
    elseif not quote and QUOTES[char] then
      quote = char
    else
      table.insert(parts, char)
    end
    at = at + 1
  end
  return table.concat(parts), at, quote
end

--- Split a command line as a shell would, without expanding anything.
---@param text string
---@return string[]
---@return string? rest after an unquoted `|` that stands alone
---@return string? open a quote that was never closed
function M.split(text)
  local words, at = {}, text:find("%S")
  while at do
    if text:find("^|%s", at) or text:sub(at) == "|" then
      return words, vim.trim(text:sub(at + 1))
    end
    local found, next_at, open = word(text, at)
    table.insert(words, found)
    if open then
      return words, nil, open
    end
    at = text:find("%S", next_at)
  end
  return words
end

--- Everything up to `--` by kind, everything after it as it is.
---@param words string[]
---@param keys table<string, any> The names that `name=value` may have; other words with a `=` are plain words.
---@return covey.Words
function M.sort(words, keys)
  local sorted = { list = {}, named = {}, env = {} }
  for index, one in ipairs(words) do
    if one == "--" then
      sorted.argv = vim.list_slice(words, index + 1)
      break
    end
    local variable, setting = one:match("^env%.([%a_][%w_]*)=(.*)$")
    local key, value = one:match("^([%a_]+)=(.*)$")
    if variable and keys.env then
      sorted.env[variable] = setting
    elseif key and keys[key] then
      sorted.named[key] = value
    else
      table.insert(sorted.list, one)
    end
  end
  return sorted
end

--- The verb, and everything after it.
---@param text string
---@return string verb
---@return string rest
function M.first(text)
  return text:match("^%s*(%S*)%s*(.*)$")
end

--- The first word without its quotes, and everything after it and one space as it was typed.
---@param text string
---@return string word
---@return string rest
function M.head(text)
  local found, next_at = word(text, text:find("%S") or 1)
  return found, text:sub(next_at + 1)
end

--- The options before everything else, as Vim's own commands have them: `++raw`, `++when=idle`.
---@param text string
---@param known table<string, true|string[]> What there is: a flag, or the values of a key.
---@return table<string, true|string> options
---@return string rest what follows them
---@return string? wrong a sentence if one of them does not fit
function M.options(text, known)
  local options = {}
  while text:find("^%s*%+%+") do
    local given, rest = text:match("^%s*%+%+(%S*)%s?(.*)$")
    local key, value = given:match("^(%a+)=?(.*)$")
    local values = known[key]
    if not values or (values == true and value ~= "") or (values ~= true and not vim.tbl_contains(values, value)) then
      return options, text, ("++%s does not fit; there is %s"):format(given, table.concat(M.spelled(known), " "))
    end
    options[key], text = values == true or value, rest
  end
  return options, text
end

--- All that options may be, as they are typed.
---@param known table<string, true|string[]>
---@return string[]
function M.spelled(known)
  local all = {}
  for key, values in pairs(known) do
    for _, value in ipairs(values == true and { "" } or values) do
      table.insert(all, "++" .. key .. (value ~= "" and "=" .. value or ""))
    end
  end
  table.sort(all)
  return all
end

--- A word as it has to be typed to be read as itself.
---@param text string
---@return string
function M.quote(text)
  return (text:gsub("[%s\\|\"']", "\\%0"))
end

--- The words of `known` that `given` may have been meant for: it begins them, or a typing error leads to them.
---@param given string
---@param known string[]
---@return string[]
function M.near(given, known)
  return vim.tbl_filter(function(candidate)
    return vim.startswith(candidate, given) or M.distance(given, candidate) <= (#candidate > 3 and 2 or 1)
  end, known)
end

--- How many insertions, deletions and replacements lead from `a` to `b`.
---@param a string
---@param b string
---@return integer
function M.distance(a, b)
  local row = {}
  for column = 0, #b do
    row[column] = column
  end
  for line = 1, #a do
    local corner = row[0]
    row[0] = line
    for column = 1, #b do
      local same = a:byte(line) == b:byte(column)
      local best = math.min(row[column] + 1, row[column - 1] + 1, corner + (same and 0 or 1))
      corner, row[column] = row[column], best
    end
  end
  return row[#b]
end

return M
