--- Runs what was typed after `:Covey`: finds the verb, reads the words, says what does not fit.
local command = require("covey.command")
local words = require("covey.words")

local M = {}

--- A mistake in the words, as Vim's own commands report theirs: `:silent!` hides it and `:try` catches it.
local function complain(message)
  if vim.fn.has("nvim-0.11") == 1 then
    vim.api.nvim_echo({ { "covey: " .. message } }, true, { err = true })
  else
    vim.api.nvim_err_writeln("covey: " .. message)
  end
end

local function unknown(verb)
  local near = words.near(verb, command.names())
  local hint = #near > 0 and ("did you mean %s?"):format(table.concat(near, ", ")) or ":Covey <Tab> lists the verbs"
  return ("%q is no verb; %s"):format(verb, hint)
end

--- What is wrong with a word that looks like one of the keys, mistyped.
local function mistyped(list, keys)
  for _, word in ipairs(list) do
    local key = word:match("^([%a_]+)=")
    local near = key and words.near(key, vim.tbl_keys(keys)) or {}
    if #near > 0 then
      return ("%s= is no key; did you mean %s=?"):format(key, table.concat(near, "=, "))
    end
  end
end

--- What does not go with this verb.
local function misuse(verb, known, context, open)
  if context.bang and not known.bang then
    return (":Covey %s takes no !"):format(verb)
  elseif context.range > 0 and not (known.range or known.count) then
    return (":Covey %s takes no range"):format(verb)
  elseif open then
    return ("a quote (%s) is not closed"):format(open)
  end
  local slip = mistyped(context.words.list, known.keys or {})
  if slip then
    return slip
  elseif
    not (known.raw or known.rest) and #context.words.list > math.max(#(known.args or {}), known.keys and 2 or 0)
  then
    return ("a word too many: %s"):format(context.words.list[#context.words.list])
  end
end

--- Run what was typed.
---@param given { args: string, bang: boolean, range: integer, line1: integer, line2: integer }
function M.run(given)
  require("covey.config").enter()
  local sheet = package.loaded["covey.ui.sheet"]
  if sheet then
    sheet.close()
  end
  local verb, rest = words.first(given.args)
  local name = verb:gsub("!$", "")
  local known = command.verbs[name == "" and "board" or name]
  if not known then
    return complain(unknown(name))
  end
  local list, after, open = {}, nil, nil
  if not known.raw then
    list, after, open = words.split(rest)
  end
  local context = vim.tbl_extend("force", given, {
    args = rest,
    bang = given.bang or verb ~= name,
    words = words.sort(list, known.keys or {}),
  })
  local wrong = misuse(name, known, context, open) or known.run(context)
  if wrong then
    return complain(wrong)
  end
  if after then
    vim.cmd(after)
  end
end

return M
