--- What was written to a session and not sent yet, and what was sent: files that only the person can read.
local M = {}

local MODE_FILE, MODE_DIR = 384, "0700" -- 0600 in decimal, as libuv takes it
local REMEMBERED = 100 -- sent prompts kept for each session

local function path(id, kind)
  local state = vim.fn.stdpath("state") --[[@as string]]
  return vim.fs.joinpath(state, "covey", "drafts", id .. kind)
end

local function read(file)
  local handle = io.open(file, "r")
  local text = handle and handle:read("*a")
  if handle then
    handle:close()
  end
  return text
end

--- Write a whole file, so that a reader sees the old text or the new one. No text: no file.
local function write(file, text)
  if text == "" then
    os.remove(file)
    return
  end
  vim.fn.mkdir(vim.fs.dirname(file), "p", MODE_DIR)
  local fresh = file .. ".new"
  local handle = assert(vim.uv.fs_open(fresh, "w", MODE_FILE))
  assert(vim.uv.fs_write(handle, text))
  vim.uv.fs_close(handle)
  assert(vim.uv.fs_rename(fresh, file))
end

--- The text written for a session and not sent; empty where there is none.
---@param id string
---@return string
function M.load(id)
  return read(path(id, ".md")) or ""
end

---@param id string
---@param text string
function M.save(id, text)
  write(path(id, ".md"), text)
end

--- Keep what a buffer can undo, beside its draft.
---@param id string
---@param buf integer holds the draft as it was saved
function M.save_undo(id, buf)
  local file = path(id, ".undo")
  vim.fn.mkdir(vim.fs.dirname(file), "p", MODE_DIR)
  vim.api.nvim_buf_call(buf, function()
    vim.cmd("silent! wundo! " .. vim.fn.fnameescape(file))
  end)
  vim.uv.fs_chmod(file, MODE_FILE)
end

--- Let a buffer undo what an earlier editor could; nothing happens where its text is another one by now.
---@param id string
---@param buf integer
function M.load_undo(id, buf)
  local file = path(id, ".undo")
  if vim.fn.filereadable(file) == 1 then
    vim.api.nvim_buf_call(buf, function()
      vim.cmd("silent! rundo " .. vim.fn.fnameescape(file))
    end)
  end
end

--- What was sent to a session, oldest first.
---@param id string
---@return string[]
function M.sent(id)
  local lines = vim.split(read(path(id, ".sent")) or "", "\n", { trimempty = true })
  return vim.tbl_map(vim.json.decode, lines)
end

--- Remember a text that was sent; the same one twice in a row counts once.
---@param id string
---@param text string
function M.remember(id, text)
  local sent = M.sent(id)
  if sent[#sent] ~= text then
    table.insert(sent, text)
  end
  local kept = vim.list_slice(sent, math.max(1, #sent - REMEMBERED + 1))
  write(path(id, ".sent"), table.concat(vim.tbl_map(vim.json.encode, kept), "\n"))
end

return M
