--- Buffers of covey that are opened by name, as a session file does (|:mksession|). Nothing is started by that: there
--- is a line to press a key on, and below it the draft where there is one.
local M = {}

--- Show lines that one key makes into what was there.
local function offer(buf, lines, act)
  vim.bo[buf].buftype = "nofile"
  vim.bo[buf].bufhidden = "wipe"
  vim.bo[buf].swapfile = false
  vim.bo[buf].modifiable = true
  vim.api.nvim_buf_set_lines(buf, 0, -1, false, lines)
  vim.bo[buf].modified = false
  vim.bo[buf].modifiable = false
  vim.keymap.set("n", "<CR>", act, { buffer = buf, desc = "covey: open it again" })
end

--- Once the fleet is known, open something of a session in place of a buffer.
local function reopen(buf, kind, id)
  require("covey").list({}, function(err)
    if err then
      return require("covey.notify").error(err)
    elseif not require("covey.fleet").get(id) then
      return require("covey.notify").warn("covey: that session is gone")
    end
    if vim.api.nvim_buf_is_valid(buf) then
      vim.api.nvim_buf_delete(buf, { force = true })
    end
    require("covey")[kind]({ name = id })
  end)
end

--- Fill a buffer by its name.
---@param buf integer
---@param name string as `M.name` gives it
function M.read(buf, name)
  if vim.bo[buf].buftype == "terminal" then
    return
  end
  local kind, id = name:match("^covey://(%l+)/(%w+)")
  if kind ~= "prompt" and kind ~= "attach" then
    return offer(buf, { "covey: nothing is kept under this name" }, function() end)
  end
  local draft = kind == "prompt" and require("covey.ui.draft").load(id) or ""
  if vim.bo[buf].buftype == "acwrite" then -- `:edit` in a living prompt buffer, which was saved a moment ago
    return vim.api.nvim_buf_set_lines(buf, 0, -1, false, vim.split(draft, "\n", { plain = true }))
  end
  local lines = { ("covey: press <CR> to open this session's %s again"):format(kind == "prompt" and kind or "view") }
  if draft ~= "" then
    vim.list_extend(lines, vim.list_extend({ "" }, vim.split(draft, "\n", { plain = true })))
  end
  offer(buf, lines, function()
    reopen(buf, kind, id)
  end)
end

--- Call a buffer by its session: a session file finds it again by the id, a person by the name that stands last.
---@param buf integer
---@param kind "prompt"|"attach"
---@param session covey.Session
function M.name(buf, kind, session)
  local before = vim.api.nvim_buf_get_name(buf)
  local name = ("covey://%s/%s/%s"):format(
    kind,
    session.id,
    (require("covey.ui.label").line(session.name):gsub("/", "∕"))
  )
  if name == before or not pcall(vim.api.nvim_buf_set_name, buf, name) then
    return
  end
  for _, other in ipairs(vim.api.nvim_list_bufs()) do -- Neovim keeps a buffer of the name before
    if other ~= buf and before ~= "" and vim.api.nvim_buf_get_name(other) == before then
      vim.api.nvim_buf_delete(other, { force = true })
    end
  end
end

return M
