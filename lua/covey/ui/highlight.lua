--- The highlight groups of every covey window: default links, so that a colorscheme or a person can change them.
local M = {}

---@type table<string, string>
local LINKS = {
  CoveyNormal = "NormalFloat",
  CoveyBorder = "FloatBorder",
  CoveyTitle = "FloatTitle",
  CoveyFooter = "FloatFooter",
  CoveyName = "Title",
  CoveyAgent = "Type",
  CoveyCwd = "Directory",
  CoveyDim = "Comment",
  CoveyHeading = "Comment",
  CoveyKey = "Special",
  CoveyQueued = "Number",
  CoveyStarting = "DiagnosticHint",
  CoveyWorking = "DiagnosticInfo",
  CoveyBlocked = "DiagnosticWarn",
  CoveyIdle = "DiagnosticOk",
  CoveyExited = "DiagnosticError",
  CoveyLost = "DiagnosticError",
  CoveyUnknown = "Comment",
  CoveyPlaceholder = "Special",
  CoveyUnresolved = "DiagnosticWarn",
  CoveyReason = "DiagnosticWarn",
}

local done = false

local function apply()
  for name, target in pairs(LINKS) do
    vim.api.nvim_set_hl(0, name, { link = target, default = true })
  end
end

--- Define the groups, once; from then on they survive every `:colorscheme`.
function M.setup()
  if done then
    return
  end
  done = true
  apply()
  local group = vim.api.nvim_create_augroup("covey.highlight", { clear = true })
  vim.api.nvim_create_autocmd("ColorScheme", { group = group, callback = apply })
end

--- The group for a session's state; `CoveyUnknown` for a state this version has never heard of.
---@param state string?
---@return string
function M.state(state)
  local name = "Covey" .. (state or ""):gsub("^%l", string.upper)
  return LINKS[name] and name or "CoveyUnknown"
end

--- Every group and what it links to by default.
---@return table<string, string>
function M.links()
  return vim.deepcopy(LINKS)
end

return M
