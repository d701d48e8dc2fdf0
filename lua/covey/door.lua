--- The door of the Lua API: what a caller gives is looked at here, once; what is wrong with it is one sentence.
local expect = require("covey.expect")

local M = {}

local TEXT, YES_OR_NO = expect.of_type("string"), expect.of_type("boolean")

--- What an option of any verb has to be, and which options are that.
---@type { [1]: covey.Check, [2]: string }[]
local KINDS = {
  { TEXT, "name agent cwd prompt on_exit restart text template selection when act register new choice style filter" },
  { YES_OR_NO, "submit workspace force raw as_file fresh on yes ansi focus preview" },
  { expect.whole, "count history limit" },
  { expect.list_of(TEXT), "cmd names unset words" },
  { expect.table_of(TEXT), "env" },
  { expect.table_of(expect.anything), "options" },
}

local checks = {} ---@type table<string, covey.Check>
for _, kind in ipairs(KINDS) do
  for option in kind[2]:gmatch("%S+") do
    checks[option] = kind[1]
  end
end

--- A value as a sentence may say it: what stands in a table may be a secret.
local function shown(value)
  return type(value) == "table" and "a table" or vim.inspect(value)
end

--- What is wrong with the options of a verb, as a sentence; nil where nothing is.
---@param verb string
---@param opts any
---@return string?
local function wrong(verb, opts)
  if type(opts) ~= "table" then
    return ("%s(): expected a table of options or a name, got %s"):format(verb, shown(opts))
  end
  for option, value in vim.spairs(opts) do
    local expected = checks[option] and checks[option](value)
    if expected then
      return ("%s(): %s: expected %s, got %s"):format(verb, option, expected, shown(value))
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
      error(("covey.%s(): expected a function as second argument, got %s"):format(name, shown(cb)), 2)
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
