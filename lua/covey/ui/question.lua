--- What a person is asked of one session: its new name, or which answer the agent gets.
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

--- The options as the agent words them, below its question; the one that is chosen goes by its whole text.
---@param session covey.Session
function M.answer(session)
  require("covey").answer({ name = session.id }, function(err, asked)
    if err then
      return require("covey.notify").error(err)
    end
    local options = vim.tbl_map(require("covey.ui.label").line, asked.options)
    vim.ui.select(options, { prompt = asked.question, kind = "covey-answer" }, function(_, index)
      if index then
        require("covey.recipe").act("answer", { name = session.id, choice = asked.options[index] })
      end
    end)
  end)
end

return M
