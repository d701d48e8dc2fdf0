--- A buffer to write a prompt in, one for each session. Nothing written in it is lost: it is a draft on disk whenever
--- the buffer is left, and it stays in the buffer until it is known to have arrived.
local draft = require("covey.ui.draft")
local gloss = require("covey.ui.gloss")
local label = require("covey.ui.label")
local placeholder = require("covey.ui.placeholder")

local M = {}

local HEIGHT = 10 -- rows of the window

---@class covey.PromptOpts
---@field text string? put into the buffer, after what is written there
---@field template string? the same, a prompt of the library
---@field selection string? what {selection} stands for (default: the selection of visual mode)

---@class covey.Prompt
---@field session covey.Session
---@field buf integer
---@field source covey.Source
---@field text string? what is written
---@field saved string the draft on disk, as this editor knows it
---@field reason string? why the text is still here
---@field told string? what became of the text before this one; a message is not seen while one types
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

--- Bring winbar and marks up to date. The buffer never counts as modified: it must not stop `:qa`, nor be sent by
--- `:wa`.
local function refresh(prompt)
  if not vim.api.nvim_buf_is_valid(prompt.buf) then
    return
  end
  vim.bo[prompt.buf].modified = false
  gloss.write(prompt.buf, prompt.source, prompt.reason or (text_of(prompt) == "" and prompt.told or nil))
  gloss.edge(prompt.buf, prompt.session, prompt.text, prompt.source)
end

--- Write the draft, if there is anything new in it: another editor may have gone on writing meanwhile.
local function save(prompt)
  local text = text_of(prompt)
  if text ~= prompt.saved then
    draft.save(prompt.session.id, text)
    prompt.saved = text
    if vim.api.nvim_buf_is_loaded(prompt.buf) then
      draft.save_undo(prompt.session.id, prompt.buf)
    end
  end
end

--- Take over what another editor wrote, where nothing was written here since.
local function catch_up(prompt)
  local text = draft.load(prompt.session.id)
  if text_of(prompt) == prompt.saved and text ~= prompt.saved then
    prompt.saved = text
    set_text(prompt, text)
  end
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
    prompt.told = receipt.outcome
    arrived(prompt, prompt.sent)
    require("covey.receipts").tell(receipt)
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
  local source = prompt.source
  placeholder.ready(written, source, function()
    placeholder.warn_unsaved(written, source)
    local text = placeholder.render(written, source)
    require("covey").send({ name = prompt.session.id, text = text, submit = submit, act = act }, function(err, receipt)
      if receipt then
        require("covey.receipts").tell(receipt)
      end
      settle(prompt, receipt or { outcome = "failed", reason = err.message })
    end)
  end)
end

local function watch(prompt)
  local group = vim.api.nvim_create_augroup("covey.prompt." .. prompt.session.id, { clear = true })
  local function on(events, buffer, act)
    vim.api.nvim_create_autocmd(events, { group = group, buffer = buffer, callback = act })
  end
  on("BufWriteCmd", prompt.buf, function()
    send(prompt, false)
  end)
  on("BufEnter", prompt.buf, function()
    catch_up(prompt)
    placeholder.forget(prompt.source)
    refresh(prompt)
  end)
  local function keep()
    save(prompt)
  end
  on({ "BufLeave", "BufHidden", "BufUnload", "FocusLost" }, prompt.buf, keep)
  on("VimLeavePre", nil, keep)
  on("WinResized", nil, function()
    refresh(prompt)
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
    require("covey.ui.restore").name(prompt.buf, "prompt", session)
    refresh(prompt)
  end
end

local function new_buffer(session)
  local buf = vim.api.nvim_create_buf(false, false)
  require("covey.ui.restore").name(buf, "prompt", session)
  vim.bo[buf].buftype = "acwrite"
  vim.bo[buf].bufhidden = "hide"
  vim.bo[buf].swapfile = false
  vim.b[buf].covey_session = session.id
  return buf
end

--- The draft there is; it cannot be undone by what comes after, but as it could be when it was written.
local function fill(prompt)
  prompt.saved = draft.load(prompt.session.id)
  local levels = vim.bo[prompt.buf].undolevels
  vim.bo[prompt.buf].undolevels = -1
  set_text(prompt, prompt.saved)
  vim.bo[prompt.buf].undolevels = levels
  text_of(prompt)
  draft.load_undo(prompt.session.id, prompt.buf)
end

local function make(session, source)
  require("covey.ui.highlight").setup()
  local prompt = { session = session, buf = new_buffer(session), source = source }
  fill(prompt)
  require("covey.ui.keys").set(
    prompt.buf,
    require("covey.ui.prompt_keys").all(prompt, {
      submit = function()
        send(prompt, true)
      end,
      text = function()
        return text_of(prompt)
      end,
      fill = function(text)
        set_text(prompt, text)
      end,
    })
  )
  prompt.forget = require("covey.fleet").subscribe(function(event)
    heard(prompt, event)
  end)
  watch(prompt)
  require("covey.ui.follow").changes(prompt.buf, function()
    text_of(prompt)
    refresh(prompt)
  end, function()
    text_of(prompt)
  end)
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
    -- after the filetype: its plugin has a completion of its own
    require("covey.ui.completion").attach(prompt.buf, function()
      return prompt.source
    end)
  end
end

local function source(session, opts)
  local visual = vim.fn.mode():find("[vV\22]") and require("covey.context").selection() or nil
  return placeholder.source(session, opts.selection or visual)
end

--- From here on placeholders stand for what is around the person now.
local function look_around(prompt, from)
  if vim.api.nvim_get_current_buf() ~= prompt.buf then
    prompt.source = from
  end
  prompt.source.changed = function()
    refresh(prompt)
  end
end

--- What was asked for goes after what is written already, and nothing twice.
local function add(prompt, text)
  local written = text_of(prompt)
  if text and not written:find(text, 1, true) then
    set_text(prompt, written == "" and text or written .. "\n" .. text)
    text_of(prompt)
  end
end

--- The text of a prompt of the library that is asked for.
local function template(opts)
  if not opts.template then
    return opts.text
  end
  local text, err = require("covey.library").read(opts.template)
  if err then
    require("covey.notify").error(err)
  end
  return text
end

--- Who opens an empty one has come to write; a draft is first read.
local function begin(prompt)
  if require("covey.config").get().prompt.insert and text_of(prompt) == "" then
    vim.cmd.startinsert()
  end
end

--- Open the prompt buffer of a session, or go to it. `:w` inserts the text, the key `submit` submits it.
---@param session covey.Session
---@param opts covey.PromptOpts?
function M.open(session, opts)
  opts = opts or {}
  local prompt = prompts[session.id]
  local from = source(session, opts)
  prompt = prompt or make(session, from)
  look_around(prompt, from)
  add(prompt, template(opts))
  show(prompt)
  refresh(prompt)
  begin(prompt)
end

return M
