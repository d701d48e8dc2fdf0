--- The tour that `make try` takes without a person: each step by the public API, printed with its time.
local M = {}

local PATIENCE = 15000 -- ms a step may take
local LOOK = 5 -- ms between two looks

---@class covey.TourStep
---@field [1] string what is shown
---@field [2] fun(): any truthy when it is so

---@param text string
local function say(text)
  io.stdout:write(text .. "\n")
  io.stdout:flush()
end

--- Call a verb and wait for its answer; an error is raised with its sentence.
---@param verb string
---@param opts table
local function call(verb, opts)
  local answer
  require("covey")[verb](opts, function(err, result)
    answer = { err = err, result = result }
  end)
  vim.wait(PATIENCE, function()
    return answer
  end, LOOK)
  assert(answer, verb .. " did not answer")
  assert(not answer.err, answer.err and answer.err.message)
  return answer.result
end

---@param holds fun(): any
local function wait(holds)
  local value
  vim.wait(PATIENCE, function()
    value = holds()
    return value
  end, LOOK)
  return value
end

---@param name string
---@param state string
local function is(name, state)
  return wait(function()
    local session = require("covey").get(name)
    return session and session.state == state and session
  end)
end

--- The rows of a preview's float, as one text.
local function shown()
  local text = {}
  for _, win in ipairs(vim.api.nvim_list_wins()) do
    if vim.api.nvim_win_get_config(win).relative ~= "" then
      vim.list_extend(text, vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(win), 0, -1, false))
    end
  end
  return table.concat(text, "\n")
end

local PARTS = {
  first = {
    {
      "two agents are opened by name",
      function()
        call("open", { agent = "standin", name = "ada" })
        return call("open", { agent = "standin", name = "bob" }).pid
      end,
    },
    {
      "both are ready",
      function()
        return is("ada", "idle") and is("bob", "idle")
      end,
    },
    {
      "a preview floats over the editor and follows one of them",
      function()
        call("preview", { name = "ada" })
        return wait(function()
          return shown():find("standin · idle", 1, true)
        end)
      end,
    },
    {
      "a prompt is sent, and the receipt says that it was submitted",
      function()
        return call("send", { name = "ada", text = "hello\nfrom Neovim" }).outcome == "submitted"
      end,
    },
    {
      "the preview shows the answer",
      function()
        return wait(function()
          return shown():find("You said 17 bytes", 1, true)
        end)
      end,
    },
    {
      "an agent that is killed behind covey's back is seen to die",
      function()
        vim.uv.kill(require("covey").get("bob").pid, "sigkill")
        local session = is("bob", "exited")
        return session and session.exit.signal == 9
      end,
    },
    {
      "it is started again under its name, in its pane",
      function()
        local before = require("covey").get("bob")
        local after = call("respawn", { name = "bob" })
        return after.id == before.id and after.pane == before.pane and after.epoch == 2 and is("bob", "idle")
      end,
    },
    {
      "one ends by itself before the editor is left",
      function()
        call("send", { name = "bob", text = "/exit 0", raw = true })
        return is("bob", "exited")
      end,
    },
  },
  second = {
    {
      "the next editor finds the agent that lived on",
      function()
        local sessions
        wait(function()
          sessions = require("covey").list()
          return sessions and #sessions > 0
        end)
        return #sessions == 1 and sessions[1].name == "ada" and sessions[1].state == "idle"
      end,
    },
    {
      "and it still listens",
      function()
        return call("send", { name = "ada", text = "welcome back" }).outcome == "submitted"
      end,
    },
    {
      "it is ended, with proof",
      function()
        local killed = call("kill", { name = "ada" })
        return #killed.ended > 0 and #killed.survivors == 0
      end,
    },
  },
}

---@param step covey.TourStep
---@return boolean
local function take(step)
  local began = vim.uv.hrtime()
  local ok, value = pcall(step[2])
  local good = ok and value and true or false
  say(("%s %6.0f ms  %s"):format(good and "ok  " or "FAIL", (vim.uv.hrtime() - began) / 1e6, step[1]))
  if not good then
    say("     " .. tostring(ok and "it did not come true" or value))
  end
  return good
end

--- Walk one part of the tour and leave the editor: status 0, or 1 at the first step that fails.
---@param part "first"|"second"
function M.walk(part)
  vim.notify = function() end -- what a person would be told stands in the way of what is printed
  for _, step in ipairs(PARTS[part]) do
    if not take(step) then
      vim.cmd("cquit 1")
    end
  end
  vim.cmd("qall!")
end

return M
