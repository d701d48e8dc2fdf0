--- A buffer to write a prompt in, one for each session. Nothing written in it is lost: it is a draft on disk whenever
--- the buffer is left, and it stays in the buffer until it is known to have arrived.
local draft = require("covey.ui.draft")
local label = require("covey.ui.label")
local placeholder = require("covey.ui.placeholder")

local M = {}

local HEIGHT = 10 -- rows of the window
local NAMESPACE = vim.api.nvim_create_namespace("covey.prompt")

---@class covey.PromptOpts
---@field text string? put into an empty buffer
---@field selection string? what {selection} stands for (default: the selection of visual mode)

---@class covey.Prompt
---@field session covey.Session
---@field buf integer
---@field source covey.Source
---@field text string? what is written
---@field reason string? why the text is still here
---@field act string? the act of the text that was sent and has not arrived
---@field sent string? that text
---@field recalled integer? how far back in what was sent the buffer is

local prompts = {} ---@type table<string, covey.Prompt>
local ARRIVED = { submitted = true, pasted = true }

--- What is written. An editor that is ended by a signal closes its buffers before `VimLeavePre`: then it is what was
--- seen last.
local function text_of(prompt)
  if vim.api.nvim_buf_is_loaded(prompt.buf) then
    prompt.text = table.concat(vim.api.nvim_buf_get_lines(prompt.buf, 0, -1, false), "\n")
  end
  return prompt.text
end

local function set_text(prompt, text)
  vim.api.nvim_buf_set_lines(prompt.buf, 0, -1, false, vim.split(text, "\n", { plain = true }))
end

local function escaped(text)
  return (label.line(text):gsub("%%", "%%%%"))
end

local function winbar(prompt)
  local session = prompt.session
  local state = "%#"
    .. require("covey.ui.highlight").state(session.state)
    .. "#"
    .. escaped(label.state(session))
    .. "%*"
  local bytes = #prompt.text
  return (" %s · %s · %s · %d bytes"):format(escaped(session.name), escaped(session.agent), state, bytes)
end

local function mark_placeholders(prompt)
  for _, mark in ipairs(placeholder.marks(vim.api.nvim_buf_get_lines(prompt.buf, 0, -1, false), prompt.source)) do
    local note = mark.value and label.cut(label.line(mark.value), 40) or "no value: stays as it stands"
    local group = mark.value and "CoveyPlaceholder" or "CoveyUnresolved"
    vim.api.nvim_buf_set_extmark(prompt.buf, NAMESPACE, mark.row, mark.col, {
      end_col = mark.end_col,
      hl_group = group,
      virt_text = { { "  " .. note, mark.value and "CoveyDim" or group } },
    })
  end
end

--- Bring winbar and marks up to date. The buffer never counts as modified: it must not stop `:qa`, nor be sent by
--- `:wa`.
local function refresh(prompt)
  if not vim.api.nvim_buf_is_valid(prompt.buf) then
    return
  end
  vim.bo[prompt.buf].modified = false
  vim.api.nvim_buf_clear_namespace(prompt.buf, NAMESPACE, 0, -1)
  mark_placeholders(prompt)
  if prompt.reason then
    vim.api.nvim_buf_set_extmark(prompt.buf, NAMESPACE, 0, 0, {
      virt_lines = { { { prompt.reason, "CoveyReason" } } },
    })
  end
  for _, win in ipairs(vim.fn.win_findbuf(prompt.buf)) do
    vim.wo[win][0].winbar = winbar(prompt)
  end
end

local function save(prompt)
  draft.save(prompt.session.id, text_of(prompt))
end

--- It arrived: it is history now, and the buffer is empty, unless the person went on writing.
local function arrived(prompt, written)
  draft.remember(prompt.session.id, written)
  prompt.reason, prompt.act, prompt.sent, prompt.recalled = nil, nil, nil, nil
  if vim.api.nvim_buf_is_loaded(prompt.buf) and text_of(prompt) == written then
    set_text(prompt, "")
  end
  save(prompt)
end

local function settle(prompt, receipt)
  if receipt.outcome == "queued" or receipt.outcome == "held" then
    prompt.act = receipt.id
  elseif ARRIVED[receipt.outcome] then
    arrived(prompt, prompt.sent)
    return refresh(prompt)
  else
    prompt.act = nil
  end
  local why = receipt.reason ~= "" and (": " .. label.line(receipt.reason)) or ""
  prompt.reason = receipt.outcome .. why
  refresh(prompt)
end

--- Send what is written. The same text again, while it waits, is the same act: it arrives once.
local function send(prompt, submit)
  local written = text_of(prompt)
  if not written:find("%S") then
    return require("covey.notify").say("covey: there is nothing to send")
  end
  local act = written == prompt.sent and prompt.act or nil
  prompt.sent, prompt.reason = written, "sending…"
  refresh(prompt)
  local text = placeholder.render(written, prompt.source)
  require("covey").send({ name = prompt.session.id, text = text, submit = submit, act = act }, function(err, receipt)
    settle(prompt, receipt or { outcome = "failed", reason = err.message })
  end)
end

local function recall(prompt, step)
  local sent = draft.sent(prompt.session.id)
  local back = math.max(0, math.min(#sent, (prompt.recalled or 0) + step))
  if back == (prompt.recalled or 0) then
    return
  end
  prompt.kept = prompt.recalled and prompt.kept or text_of(prompt)
  prompt.recalled = back > 0 and back or nil
  set_text(prompt, back > 0 and sent[#sent - back + 1] or prompt.kept)
end

local function keys(prompt)
  local function submit()
    send(prompt, true)
  end
  local both = { "n", "i" }
  vim.keymap.set(both, "<Plug>(CoveyPromptSubmit)", submit, { buffer = prompt.buf, desc = "submit the prompt" })
  return require("covey.ui.keys").chosen("prompt", {
    { name = "submit", mode = both, desc = "submit the prompt", run = submit },
    {
      name = "older",
      lhs = "[h",
      desc = "what was sent before",
      run = function()
        recall(prompt, 1)
      end,
    },
    {
      name = "newer",
      lhs = "]h",
      desc = "what was sent after, and back to the draft",
      run = function()
        recall(prompt, -1)
      end,
    },
  })
end

local function watch(prompt)
  local group = vim.api.nvim_create_augroup("covey.prompt." .. prompt.session.id, { clear = true })
  local function on(events, buffer, act)
    vim.api.nvim_create_autocmd(events, { group = group, buffer = buffer, callback = act })
  end
  on("BufWriteCmd", prompt.buf, function()
    send(prompt, false)
  end)
  on({ "BufLeave", "BufHidden", "BufUnload", "FocusLost" }, prompt.buf, function()
    save(prompt)
  end)
  on({ "VimLeavePre" }, nil, function()
    save(prompt)
  end)
  on({ "QuitPre", "ExitPre" }, nil, function()
    vim.bo[prompt.buf].modified = false
  end)
  on("BufWipeout", prompt.buf, function()
    vim.api.nvim_del_augroup_by_id(group)
    prompt.forget()
    prompts[prompt.session.id] = nil
  end)
end

--- Take in each change as it is made, and refresh once after any number of them.
local function follow_changes(prompt)
  local due = false
  vim.api.nvim_buf_attach(prompt.buf, false, {
    on_lines = function()
      text_of(prompt)
      if not due then
        due = true
        vim.schedule(function()
          due = false
          refresh(prompt)
        end)
      end
    end,
  })
end

local function heard(prompt, event)
  if event.event == "Receipt" then
    if prompt.act and event.data.id == prompt.act then
      settle(prompt, event.data)
    end
    return
  end
  local session = require("covey.fleet").get(prompt.session.id)
  if session then
    prompt.session = session
    refresh(prompt)
  end
end

local function new_buffer(session)
  local buf = vim.api.nvim_create_buf(false, false)
  vim.api.nvim_buf_set_name(buf, "covey://prompt/" .. session.id)
  vim.bo[buf].buftype = "acwrite"
  vim.bo[buf].bufhidden = "hide"
  vim.bo[buf].swapfile = false
  vim.b[buf].covey_session = session.id
  return buf
end

local function make(session, opts)
  require("covey.ui.highlight").setup()
  local prompt = { session = session, buf = new_buffer(session) }
  local saved = draft.load(session.id)
  set_text(prompt, saved ~= "" and saved or opts.text or "")
  text_of(prompt)
  require("covey.ui.keys").set(prompt.buf, keys(prompt))
  prompt.forget = require("covey.fleet").subscribe(function(event)
    heard(prompt, event)
  end)
  watch(prompt)
  follow_changes(prompt)
  prompts[session.id] = prompt
  return prompt
end

local function show(prompt)
  local win = vim.fn.win_findbuf(prompt.buf)[1]
  if win then
    return vim.api.nvim_set_current_win(win)
  end
  vim.cmd(("botright %dsplit"):format(HEIGHT))
  vim.api.nvim_win_set_buf(0, prompt.buf)
  vim.wo[0][0].winfixheight = true
  if vim.bo[prompt.buf].filetype == "" then
    vim.bo[prompt.buf].filetype = "markdown"
  end
end

local function source(session, opts)
  local visual = vim.fn.mode():find("[vV\22]") and require("covey.context").selection() or nil
  return { win = vim.api.nvim_get_current_win(), cwd = session.cwd, selection = opts.selection or visual }
end

--- Open the prompt buffer of a session, or go to it. `:w` inserts the text, the key `submit` submits it.
---@param session covey.Session
---@param opts covey.PromptOpts?
function M.open(session, opts)
  opts = opts or {}
  local prompt = prompts[session.id]
  local from = source(session, opts)
  prompt = prompt or make(session, opts)
  if vim.api.nvim_get_current_buf() ~= prompt.buf then
    prompt.source = from
  end
  show(prompt)
  refresh(prompt)
end

return M
