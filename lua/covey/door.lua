--- The door of the Lua API: what a caller gives is looked at here, once; what is wrong with it is one sentence.
local M = {}

---@alias covey.Fits fun(value: any): boolean

local function text(value)
  return type(value) == "string"
end

local function yes_or_no(value)
  return type(value) == "boolean"
end

local function whole(value)
  return type(value) == "number" and value % 1 == 0
end

local function texts(value)
  return type(value) == "table" and vim.islist(value) and vim.iter(value):all(text)
end

local function by_name(value)
  return type(value) == "table" and vim.iter(vim.tbl_keys(value)):all(text)
end

local function variables(value)
  return by_name(value) and vim.iter(vim.tbl_values(value)):all(text)
end

--- What an option of any verb has to be, how that is seen, and which options are that.
---@type { [1]: string, [2]: covey.Fits, [3]: string }[]
local KINDS = {
  { "a string", text, "name agent cwd prompt on_exit restart text template selection when act register new choice" },
  { "a string", text, "style filter" },
  { "true or false", yes_or_no, "submit force raw as_file fresh on yes ansi focus preview" },
  { "a whole number", whole, "count history limit" },
  { "a list of strings", texts, "cmd names unset" },
  { "a table of strings by name", variables, "env" },
  { "a table by name", by_name, "options" },
}

local kinds = {} ---@type table<string, { [1]: string, [2]: covey.Fits }>
for _, kind in ipairs(KINDS) do
  for option in kind[3]:gmatch("%S+") do
    kinds[option] = kind
  end
end

--- What is wrong with the options of a verb, as a sentence; nil where nothing is.
---@param verb string
---@param opts any
---@return string?
local function wrong(verb, opts)
  if type(opts) ~= "table" then
    return ("%s() takes a table of options or a name, not %s"):format(verb, vim.inspect(opts))
  end
  for option, value in vim.spairs(opts) do
    local kind = kinds[option]
    if kind and not kind[2](value) then
      return ("%s of %s() is %s, not %s"):format(option, verb, kind[1], vim.inspect(value))
    end
  end
end

--- A verb behind the door: it gets a table of its own, in which a string stands as the name.
---@param name string
---@param run fun(opts: table, cb?: covey.Callback): any
---@return covey.Verb
function M.verb(name, run)
  return function(opts, cb)
    if cb ~= nil and not vim.is_callable(cb) then
      error(("covey.%s(): the second argument is a function, not %s"):format(name, vim.inspect(cb)), 2)
    end
    opts = opts == nil and {} or type(opts) == "string" and { name = opts } or opts
    local sentence = wrong(name, opts)
    if sentence then
      return require("covey.verb").fail(cb, "usage", sentence, "see :help covey-lua")
    end
    return run(vim.deepcopy(opts), cb)
  end
end

return M
