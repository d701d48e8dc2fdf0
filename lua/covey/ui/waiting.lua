--- Prompts that wait, to choose one of: to take it back, or to write it anew.
local M = {}

--- With its own number, by which |:Covey-cancel| and |:Covey-edit| know it.
local function written(each)
  local number = each.number and ("prompt %d  "):format(each.number) or ""
  return ("%s%s  %s"):format(number, each.outcome, require("covey.ui.label").line(each.text))
end

--- Let the person choose one of the prompts of a session that wait; where there is none that is said.
local function choose(session, prompt, use)
  require("covey").queue({ name = session.id }, function(err, waiting)
    if err then
      return require("covey.notify").error(err)
    elseif #waiting == 0 then
      return require("covey.notify").print(require("covey.report").of.queue(waiting, {}))
    end
    vim.ui.select(waiting, { prompt = prompt, kind = "covey-waiting", format_item = written }, function(each)
      if each then
        use(each)
      end
    end)
  end)
end

---@param session covey.Session
function M.cancel(session)
  choose(session, "Take back", function(each)
    require("covey.recipe").act("cancel", { act = each.act })
  end)
end

---@param session covey.Session
function M.edit(session)
  choose(session, "Write anew", function(each)
    vim.ui.input({ prompt = "Prompt: ", default = each.text }, function(text)
      if text and text ~= "" and text ~= each.text then
        require("covey.recipe").act("edit", { act = each.act, text = text })
      end
    end)
  end)
end

return M
