--- What a person is asked of one session: its new name, or what to answer the agent.
local M = {}

local function ask(prompt, default, use)
  vim.ui.input({ prompt = prompt, default = default }, function(given)
    if given and given ~= "" and given ~= default then
      use(given)
    end
  end)
end

---@param session covey.Session
function M.rename(session)
  ask("New name: ", session.name, function(new)
    require("covey.recipe").act("rename", { name = session.id, new = new })
  end)
end

--- With the agent's question above, as it stands on its screen.
---@param session covey.Session
function M.answer(session)
  if session.state ~= "blocked" then
    return require("covey.notify").say(("covey: %s is not blocked: it asks nothing"):format(session.name))
  end
  local question = vim.trim((session.evidence or {}).excerpt or "")
  local above = question ~= "" and question .. "\n" or ""
  ask(above .. "Answer (yes, no, or words of an option): ", "", function(choice)
    require("covey.recipe").act("answer", { name = session.id, choice = choice })
  end)
end

return M
