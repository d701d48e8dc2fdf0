--- One floating window that owns its buffer, keys and autocommands, and takes them along however it is closed.
local geometry = require("covey.ui.geometry")

local M = {}

---@class covey.FloatSpec
---@field buf integer? a buffer to take over (default: a new scratch buffer)
---@field place fun(area: covey.Area): covey.Placement
---@field focus boolean?
---@field title (string|[string, string][])?
---@field footer (string|[string, string][])?
---@field keys covey.Key[]?
---@field wo table<string, any>? window options
---@field filetype string?
---@field zindex integer?
---@field on_close fun()? runs once, whoever closes the window; may itself close none (`:fclose!` would crash Neovim)
---@field on_layout fun()? runs after the window got a new size

---@class covey.Float
---@field win integer
---@field buf integer
---@field spec covey.FloatSpec
---@field zoomed boolean
---@field closed boolean
local Float = {}
Float.__index = Float

---@param spec covey.FloatSpec
---@param zoomed boolean
local function layout(spec, zoomed)
  local area = geometry.now()
  local placement = spec.place(area)
  if zoomed then
    placement = { width = 1, height = 1, border = placement.border }
  end
  return geometry.fit(area, placement)
end

local function config(spec, place)
  local framed = place.border ~= "none"
  return vim.tbl_extend("force", place, {
    relative = "editor",
    title = framed and spec.title or nil,
    footer = framed and spec.footer or nil,
    zindex = spec.zindex,
  })
end

local function scratch()
  local buf = vim.api.nvim_create_buf(false, true)
  vim.bo[buf].swapfile = false
  return buf
end

local function too_small()
  vim.notify("the editor is too small for this window", vim.log.levels.WARN, { title = "covey" })
end

--- Open a float. Nil, with a note to the person, where the editor has no room for it.
---@param spec covey.FloatSpec
---@return covey.Float?
function M.open(spec)
  require("covey.ui.highlight").setup()
  local place = layout(spec, false)
  if not place then
    return too_small()
  end
  local self = setmetatable({ spec = spec, zoomed = false, closed = false }, Float)
  local shape = vim.tbl_extend("force", config(spec, place), { style = "minimal" })
  self.buf = spec.buf or scratch()
  self.win = vim.api.nvim_open_win(self.buf, spec.focus or false, shape)
  self.group = vim.api.nvim_create_augroup("covey.float." .. self.win, { clear = true })
  self:_dress()
  self:_adopt(self.buf)
  self:_watch()
  return self
end

function Float:_dress()
  local options = {
    winhighlight = "NormalFloat:CoveyNormal,FloatBorder:CoveyBorder,FloatTitle:CoveyTitle,FloatFooter:CoveyFooter"
      .. ",WinBar:CoveyHeading,WinBarNC:CoveyHeading",
    winfixbuf = true,
    wrap = false,
  }
  for name, value in pairs(vim.tbl_extend("force", options, self.spec.wo or {})) do
    vim.api.nvim_set_option_value(name, value, { win = self.win, scope = "local" })
  end
end

--- Give the buffer its filetype, in a turn of the loop of its own: for it Neovim looks through the whole 'runtimepath',
--- which takes longer than all else that opens a window. It looks for no syntax, for there is none.
local function give_type(buf, filetype)
  vim.schedule(function()
    if vim.api.nvim_buf_is_valid(buf) then
      vim.b[buf].ts_highlight = true
      vim.bo[buf].filetype = filetype
      vim.b[buf].ts_highlight = nil
    end
  end)
end

--- Make a buffer ours: it goes with the window, has our keys, and its end is the window's end.
function Float:_adopt(buf)
  self.buf = buf
  vim.bo[buf].bufhidden = "wipe"
  require("covey.ui.keys").set(buf, self.spec.keys or {})
  vim.api.nvim_create_autocmd("BufWipeout", {
    group = self.group,
    buffer = buf,
    callback = function()
      if self.buf == buf then
        self:_gone()
      end
    end,
  })
  if self.spec.filetype then
    give_type(buf, self.spec.filetype)
  end
end

function Float:_watch()
  local function on(events, pattern, act)
    vim.api.nvim_create_autocmd(events, { group = self.group, pattern = pattern, callback = act })
  end
  local function relayout()
    self:layout()
  end
  on("VimResized", nil, relayout)
  on("OptionSet", { "cmdheight", "laststatus", "showtabline" }, relayout)
  on("WinClosed", tostring(self.win), function()
    self:_gone()
  end)
  on("QuitPre", nil, function()
    self:_step_aside()
  end)
end

--- A float must never be what keeps a tab page's last window from closing (E5601).
function Float:_step_aside()
  local function is_plain(win)
    return vim.api.nvim_win_get_config(win).relative == ""
  end
  local current = vim.api.nvim_get_current_win()
  local plain = vim.tbl_filter(is_plain, vim.api.nvim_tabpage_list_wins(0))
  if #plain == 1 and plain[1] == current and self:tab() == vim.api.nvim_get_current_tabpage() then
    self:close()
  end
end

function Float:_gone()
  if self.closed then
    return
  end
  self.closed = true
  vim.api.nvim_del_augroup_by_id(self.group)
  local buf = self.buf
  vim.schedule(function()
    if vim.api.nvim_buf_is_valid(buf) then
      vim.api.nvim_buf_delete(buf, { force = true })
    end
  end)
  if self.spec.on_close then
    self.spec.on_close()
  end
end

--- Whether the window is there.
---@return boolean
function Float:valid()
  return not self.closed and vim.api.nvim_win_is_valid(self.win)
end

--- The tab page the window is on; nil when it is closed.
---@return integer?
function Float:tab()
  return self:valid() and vim.api.nvim_win_get_tabpage(self.win) or nil
end

--- Close the window. Closing twice is the same as once.
function Float:close()
  if vim.api.nvim_win_is_valid(self.win) then
    -- refused only in the command-line window and from inside autocommands that lock windows
    pcall(vim.api.nvim_win_close, self.win, true)
  end
  self:_gone()
end

--- Move the cursor into the window.
function Float:focus()
  if self:valid() then
    vim.api.nvim_set_current_win(self.win)
  end
end

--- Fit the window to the editor again; where there is no room left it closes, with a note.
function Float:layout()
  if not self:valid() then
    return
  end
  local place = layout(self.spec, self.zoomed)
  if not place then
    self:close()
    return too_small()
  end
  vim.api.nvim_win_set_config(self.win, config(self.spec, place))
  if self.spec.on_layout then
    self.spec.on_layout()
  end
end

--- Toggle between its place and the whole editor.
function Float:zoom()
  self.zoomed = not self.zoomed
  self:layout()
end

--- Change title and footer (nil leaves one as it is).
---@param title (string|[string, string][])?
---@param footer (string|[string, string][])?
function Float:caption(title, footer)
  local spec = self.spec
  local wanted = { title or spec.title, footer or spec.footer }
  if vim.deep_equal(wanted, { spec.title, spec.footer }) then
    return
  end
  spec.title, spec.footer = wanted[1], wanted[2]
  if self:valid() and vim.api.nvim_win_get_config(self.win).border then
    vim.api.nvim_win_set_config(self.win, { title = spec.title, footer = spec.footer })
  end
end

--- Show another buffer; the one before is wiped.
---@param buf integer
function Float:show(buf)
  vim.wo[self.win].winfixbuf = false
  self.buf = buf
  vim.api.nvim_win_set_buf(self.win, buf)
  self:_dress()
  self:_adopt(buf)
end

return M
