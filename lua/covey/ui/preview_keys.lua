--- What the keys of a preview do.
local M = {}

--- All keys of one view; `preview` is the module that owns it.
---@param preview table
---@param view covey.View
---@return covey.Key[]
function M.all(preview, view)
  local function close()
    if view.history then
      preview.live(view)
    else
      preview.close(view)
    end
  end
  local function attach()
    local session = view.session
    preview.close(view)
    require("covey.ui.attach").open(session)
  end
  return {
    { name = "close", desc = "close, or leave the history", run = close },
    { name = "attach", desc = "attach: type into the agent", run = attach },
    { name = "insert", lhs = "i", desc = "attach", run = attach },
    { name = "append", lhs = "a", desc = "attach", run = attach },
    {
      name = "zoom",
      desc = "zoom: the whole editor and back",
      run = function()
        view.float:zoom()
      end,
    },
    {
      name = "respawn",
      desc = "start the agent again",
      run = function()
        require("covey").respawn({ name = view.session.id })
      end,
    },
    {
      name = "file",
      desc = "go to the file and line under the cursor",
      run = function()
        require("covey.ui.reference").jump(view.session.cwd, (view.screen or {}).cols)
      end,
    },
    {
      name = "history",
      desc = "history; again for an earlier page",
      run = function()
        require("covey.ui.history").open(preview, view)
      end,
    },
  }
end

return M
