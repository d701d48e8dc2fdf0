--- Which commit is checked out, read from git's own files (gitrepository-layout(5)): no process, so it may be asked on
--- the main loop at any time.
local M = {}

local MOST = 4 * 1024 * 1024 -- bytes of packed-refs that are looked through

---@param path string
---@return string?
local function read(path)
  local file = io.open(path, "r")
  if not file then
    return nil
  end
  local text = file:read(MOST)
  file:close()
  return text
end

--- The directory that git keeps for this working tree, which may be a linked one.
local function directory(root)
  local path = vim.fs.joinpath(root, ".git")
  local link = (read(path) or ""):match("^gitdir: ([^\n]+)")
  if not link then
    return path
  end
  return link:sub(1, 1) == "/" and link or vim.fs.joinpath(root, link)
end

--- The commit that is checked out where a directory lies, or nil: no repository, or nothing committed yet.
---@param cwd string
---@return string?
function M.head(cwd)
  local root = vim.fs.root(cwd, ".git")
  local own = root and directory(root)
  local head = own and read(vim.fs.joinpath(own, "HEAD"))
  local ref = head and head:match("^ref: ([^\n]+)")
  if not ref then
    return head and vim.trim(head)
  end
  local common = vim.trim(read(vim.fs.joinpath(own, "commondir")) or "")
  local shared = common == "" and own or common:sub(1, 1) == "/" and common or vim.fs.joinpath(own, common)
  local loose = read(vim.fs.joinpath(own, ref)) or read(vim.fs.joinpath(shared, ref))
  if loose then
    return vim.trim(loose)
  end
  return ("\n" .. (read(vim.fs.joinpath(shared, "packed-refs")) or "")):match("\n(%x+) " .. vim.pesc(ref) .. "\n")
end

return M
