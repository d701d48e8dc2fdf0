--- What a value has to be. Pure.
local M = {}

---@alias covey.Check fun(value: any): string? What was expected instead, or nil.

---@return covey.Check
function M.of_type(...)
  local kinds = { ... }
  return function(value)
    return not vim.tbl_contains(kinds, type(value)) and table.concat(kinds, " or ") or nil
  end
end

---@return covey.Check
function M.one_of(...)
  local values = { ... }
  return function(value)
    return not vim.tbl_contains(values, value) and "one of " .. table.concat(values, ", ") or nil
  end
end

---@param min number
---@param max number
---@return covey.Check
function M.between(min, max)
  return function(value)
    local fits = type(value) == "number" and value >= min and value <= max
    return not fits and ("a number from %s to %s"):format(min, max) or nil
  end
end

---@param check covey.Check
---@return covey.Check
function M.list_of(check)
  return function(value)
    if type(value) ~= "table" or not vim.islist(value) then
      return "a list"
    end
    for _, item in ipairs(value) do
      if check(item) then
        return "a list of " .. check(item)
      end
    end
  end
end

---@param check covey.Check
---@return covey.Check
function M.table_of(check)
  return function(value)
    local named = type(value) == "table"
      and vim.iter(vim.tbl_keys(value)):all(function(key)
        return type(key) == "string"
      end)
    for _, item in pairs(named and value or {}) do
      if check(item) then
        return "a table of " .. check(item) .. " by name"
      end
    end
    return not named and "a table by name" or nil
  end
end

---@return string?
function M.whole(value)
  return (type(value) ~= "number" or value % 1 ~= 0) and "a whole number" or nil
end

---@return string?
function M.anything()
  return nil
end

return M
