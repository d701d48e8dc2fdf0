--- Sessions in fzf-lua, each with its screen beside it. fzf hands lines back, so each begins with its number.
local function number(line)
  return tonumber((line or ""):match("^%d+"))
end

local function previewer(entries, opts)
  local Screen = require("fzf-lua.previewer.builtin").base:extend()

  function Screen:populate_preview_buf(line)
    local entry, buf = entries[number(line)], self:get_tmp_buffer()
    self:set_preview_buf(buf)
    opts.screen(entry.session, function(lines)
      if vim.api.nvim_buf_is_valid(buf) then
        vim.api.nvim_buf_set_lines(buf, 0, -1, false, lines)
      end
    end)
  end

  return Screen
end

return function(entries, opts, choose)
  local lines = {}
  for index, entry in ipairs(entries) do
    table.insert(lines, ("%d\t%s"):format(index, entry.text))
  end
  require("fzf-lua").fzf_exec(lines, {
    prompt = opts.prompt .. "> ",
    fzf_opts = { ["--delimiter"] = "\t", ["--with-nth"] = "2.." },
    previewer = {
      _ctor = function()
        return previewer(entries, opts)
      end,
    },
    actions = {
      ["default"] = function(selected)
        local entry = entries[number(selected[1])]
        choose(entry and entry.session)
      end,
    },
  })
end
