--- The prompt library: Markdown files that a person dropped into a directory, by the name before `.md`.
local M = {}

--- Where prompts are looked for, in order: the option `prompts_dir`, then `prompts` beside the person's own config.
---@return string[]
function M.dirs()
  local own = require("covey.config").get().prompts_dir
  local usual = vim.fs.joinpath(vim.fn.stdpath("config") --[[@as string]], "covey", "prompts")
  return own ~= "" and { vim.fs.normalize(own), usual } or { usual }
end

--- The names of all prompts, sorted.
---@return string[]
function M.names()
  local found = {}
  for _, dir in ipairs(M.dirs()) do
    for name in vim.fs.dir(dir) do
      found[name:match("^(.+)%.md$") or false] = true
    end
  end
  found[false] = nil
  return vim.fn.sort(vim.tbl_keys(found))
end

local function path(name)
  for _, dir in ipairs(M.dirs()) do
    local file = vim.fs.joinpath(dir, name .. ".md")
    if not name:find("/", 1, true) and vim.fn.filereadable(file) == 1 then
      return file
    end
  end
end

---@param name string
---@return boolean
function M.has(name)
  return path(name) ~= nil
end

--- The text of a prompt, without the line ends at its end.
---@param name string
---@return string?
---@return covey.Error?
function M.read(name)
  local file = path(name)
  local handle = file and io.open(file, "r")
  if not handle then
    local where = "prompts are Markdown files in " .. table.concat(M.dirs(), " and ")
    return nil, { code = "not_found", message = ("there is no prompt %q"):format(name), hint = where }
  end
  local text = handle:read("*a")
  handle:close()
  return (text:gsub("\r\n", "\n"):gsub("\n+$", ""))
end

return M
