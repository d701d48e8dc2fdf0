--- What the helper's profiles say of agents: their names, and how each is told of a file. Until the helper was asked
--- it is what ships with covey.
local M = {}

--- Profiles that ship with covey, and how a file is written for them.
local SHIPPED = {
  aider = "{path}",
  claude = "@{path}",
  codex = "@{path}",
  custom = "{path}",
  gemini = "@{path}",
  opencode = "@{path}",
  pi = "@{path}",
  shell = "{path}",
  standin = "@{path}",
}
local USUAL = "@{path}"

local told = nil ---@type { name: string, reference?: string }[]?
local asked = false

--- Ask, once a helper runs; for the next time. Looking at every installed agent takes the helper a moment.
local function ask()
  if asked or not require("covey.rpc").status().ready then
    return
  end
  asked = true
  require("covey.rpc").call("agents", {}, function(err, result)
    asked = err == nil
    told = result
  end)
end

---@return string[]
function M.names()
  ask()
  local names = told and vim.tbl_map(function(agent)
    return agent.name
  end, told) or {}
  return #names > 0 and names or vim.fn.sort(vim.tbl_keys(SHIPPED))
end

--- How a file is written so that this agent reads it: a text with `{path}` in it.
---@param name string
---@return string
function M.reference(name)
  if not SHIPPED[name] then
    ask()
  end
  for _, agent in ipairs(told or {}) do
    if agent.name == name and (agent.reference or "") ~= "" then
      return agent.reference
    end
  end
  return SHIPPED[name] or USUAL
end

return M
