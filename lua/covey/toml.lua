--- As much of TOML as a project's settings need: `key = "text"`, a number, `true` or `false`, under at most one table.
--- Everything else is refused by one sentence with its line, never guessed at. Pure.
local M = {}

local KEY = "[%w_-]+"
local ESCAPES = { ['"'] = '"', ["\\"] = "\\", n = "\n", t = "\t" }

--- A basic string from after its opening quote.
---@return string? text
---@return string? rest
local function basic(text)
  local parts, at = {}, 1
  while at <= #text do
    local char = text:sub(at, at)
    if char == '"' then
      return table.concat(parts), text:sub(at + 1)
    elseif char == "\\" then
      char, at = ESCAPES[text:sub(at + 1, at + 1)], at + 1
      if not char then
        return nil
      end
    end
    table.insert(parts, char)
    at = at + 1
  end
end

--- A value, and what stands after it.
---@return string|number|boolean|nil value
---@return string? rest
local function value(text)
  if text:sub(1, 1) == '"' then
    return basic(text:sub(2))
  elseif text:sub(1, 1) == "'" then
    return text:match("^'([^']*)'(.*)$")
  end
  local word, rest = text:match("^([^%s#]+)(.*)$")
  if word == "true" or word == "false" then
    return word == "true", rest
  end
  local plain = word and (word:match("^[+-]?%d+$") or word:match("^[+-]?%d+%.%d+$"))
  return plain and tonumber(plain) or nil, rest
end

---@return boolean
local function is_over(text)
  return text:find("^%s*$") ~= nil or text:find("^%s*#") ~= nil
end

--- Take in one line; a sentence where it is none of ours.
---@return table? into where the next lines belong
---@return string? wrong
local function take(line, root, into)
  if is_over(line) then
    return into
  end
  local name, after = line:match("^%s*%[(" .. KEY .. ")%]%s*(.*)$")
  if name and is_over(after) then
    if root[name] ~= nil then
      return nil, ("%s is there twice"):format(name)
    end
    root[name] = {}
    return root[name]
  end
  local key, given = line:match("^%s*(" .. KEY .. ")%s*=%s*(.*)$")
  if not key then
    return nil, "this is neither `key = value` nor `[table]`"
  elseif into[key] ~= nil then
    return nil, ("%s is there twice"):format(key)
  end
  local found, rest = value(given)
  if found == nil or not is_over(rest or "") then
    return nil, ('%s wants a "text", a number, true or false'):format(key)
  end
  into[key] = found
  return into
end

--- Read a text.
---@param text string
---@return table? result nil where a line is refused
---@return string? wrong such as `line 3: …`
function M.parse(text)
  local root = {}
  local into = root ---@type table?
  local wrong
  for number, line in ipairs(vim.split((text:gsub("\r\n", "\n")), "\n", { plain = true })) do
    into, wrong = take(line, root, into)
    if not into then
      return nil, ("line %d: %s"):format(number, wrong)
    end
  end
  return root
end

return M
