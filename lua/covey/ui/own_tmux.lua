--- A session in the person's own tmux, where the editor runs in one: in a popup, or in a window of its own. Nothing of
--- that tmux is set; what is opened there is a plain client of covey's server.
local M = {}

local OLDEST = { 3, 2 } -- has `display-popup -E` and `new-window -S`
local TITLED = { 3, 3 } -- has titles of popups

local function warn(message)
  require("covey.notify").warn("covey: " .. message)
end

--- Run a command of the person's tmux.
---@param words string[]
---@param cb fun(output: string)
local function tmux(words, cb)
  local started, problem = pcall(vim.system, { "tmux", unpack(words) }, { text = true }, function(done)
    vim.schedule(function()
      if done.code == 0 then
        return cb(vim.trim(done.stdout))
      end
      local said = vim.trim(done.stderr)
      warn(said ~= "" and ("your tmux says: %s"):format(said) or ("its client ended with code %d"):format(done.code))
    end)
  end)
  if not started then
    warn("tmux does not start: " .. tostring(problem))
  end
end

--- A person's text where tmux would expand a format.
local function literal(text)
  return (require("covey.ui.label").line(text):gsub("#", "##"))
end

local function quoted(word)
  return "'" .. word:gsub("'", "'\\''") .. "'"
end

local function cells(size)
  return size <= 1 and ("%d%%"):format(math.floor(size * 100)) or tostring(math.floor(size))
end

--- Words that run `argv` with variables added, outside of the person's tmux; and first show there how one gets out, for
--- this window has no edge that says it.
local function command(plan)
  local words = { "env", "-u", "TMUX", "-u", "TMUX_PANE" }
  for name, value in pairs(plan.env or {}) do
    table.insert(words, ("%s=%s"):format(name, value))
  end
  vim.list_extend(words, plan.argv)
  return plan.way_out and vim.list_extend(vim.list_extend(words, { ";" }), plan.way_out) or words
end

--- Words for the person's tmux, to which a semicolon would be the end of its own command.
local function passed(words)
  return vim.tbl_map(function(word)
    return (word:gsub(";$", "\\;"))
  end, words)
end

local OPEN = {
  popup = function(session, plan, version)
    local size = require("covey.config").get().float
    local words = { "display-popup", "-E", "-w", cells(size.width), "-h", cells(size.height) }
    if not vim.version.lt(version, TITLED) then
      vim.list_extend(words, { "-T", (" %s "):format(literal(session.name)) })
    end
    return vim.list_extend(words, { table.concat(vim.tbl_map(quoted, command(plan)), " ") })
  end,
  tmux = function(session, plan)
    local name = require("covey.ui.label").line(session.name):gsub("#", "＃") -- `-S` fails to find a name with this sign
    local words = { "new-window", "-S", "-n", "covey: " .. name }
    return vim.list_extend(words, passed(command(plan)))
  end,
}

--- Whether a style of attach is one of these.
---@param style string
---@return boolean
function M.has(style)
  return OPEN[style] ~= nil
end

--- Open a session in the person's tmux; a sentence where there is none, or an old one.
---@param session covey.Session
---@param plan { argv: string[], env: table<string, string>?, way_out: string[]? } as the helper's `attach` answers
---@param style "popup"|"tmux"
function M.open(session, plan, style)
  if (vim.env.TMUX or "") == "" then
    return warn(("style=%s needs an editor that runs in tmux; try style=float"):format(style))
  end
  tmux({ "display-message", "-p", "#{version}" }, function(answer)
    local major, minor = answer:match("(%d+)%.(%d+)")
    local version = { tonumber(major) or 0, tonumber(minor) or 0 }
    if vim.version.lt(version, OLDEST) then
      return warn(("style=%s needs tmux %s; yours is %s"):format(style, table.concat(OLDEST, "."), answer))
    end
    tmux(OPEN[style](session, plan, version), function()
      if style == "popup" then -- its client ended; a window's has only begun
        require("covey.ui.farewell").closed(session)
      end
    end)
  end)
end

return M
