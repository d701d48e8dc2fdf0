--- What the keys of a prompt buffer do.
local draft = require("covey.ui.draft")

local M = {}

---@class covey.PromptHands What the keys need of the buffer.
---@field submit fun()
---@field text fun(): string
---@field fill fun(text: string)

--- Put what was sent `step` texts before into the buffer, or after; the draft comes last.
local function recall(prompt, hands, step)
  local sent = draft.sent(prompt.session.id)
  local back = math.max(0, math.min(#sent, (prompt.recalled or 0) + step))
  if back == (prompt.recalled or 0) then
    return
  end
  prompt.kept = prompt.recalled and prompt.kept or hands.text()
  prompt.recalled = back > 0 and back or nil
  hands.fill(back > 0 and sent[#sent - back + 1] or prompt.kept)
end

--- How to submit, how to leave, and where to read on, as the person has set the keys and as far as that fits.
---@param room number cells
---@return string
function M.hint(room)
  local key = require("covey.config").get().keys.prompt
  local parts = { ":q leaves" }
  if key.submit then
    table.insert(parts, 1, key.submit .. " submits")
  end
  table.insert(parts, key.help and key.help .. " keys" or nil)
  return require("covey.ui.edge").hint("", parts, room)
end

--- All keys of a prompt buffer.
---@param prompt covey.Prompt
---@param hands covey.PromptHands
---@return covey.Key[]
function M.all(prompt, hands)
  local both = { "n", "i" }
  vim.keymap.set(both, "<Plug>(CoveyPromptSubmit)", hands.submit, { buffer = prompt.buf, desc = "submit the prompt" })
  local function by(step)
    return function()
      recall(prompt, hands, step)
    end
  end
  return require("covey.ui.keys").chosen("prompt", {
    { name = "submit", mode = both, desc = "submit the prompt", run = hands.submit },
    { name = "older", desc = "what was sent before", run = by(1) },
    { name = "newer", desc = "what was sent after, and back to the draft", run = by(-1) },
  })
end

return M
