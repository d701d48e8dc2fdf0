--- Sessions in telescope.nvim, each with its screen beside it.
local function previewer(opts)
  return require("telescope.previewers").new_buffer_previewer({
    title = "Screen",
    define_preview = function(self, entry)
      local buf = self.state.bufnr
      opts.screen(entry.value, function(lines)
        if vim.api.nvim_buf_is_valid(buf) then
          vim.api.nvim_buf_set_lines(buf, 0, -1, false, lines)
        end
      end)
    end,
  })
end

return function(entries, opts, choose)
  local actions = require("telescope.actions")
  local finder = require("telescope.finders").new_table({
    results = entries,
    entry_maker = function(entry)
      return { value = entry.session, display = entry.text, ordinal = entry.text }
    end,
  })
  local function map(buf)
    actions.select_default:replace(function()
      local entry = require("telescope.actions.state").get_selected_entry()
      actions.close(buf)
      choose(entry and entry.value)
    end)
    return true
  end
  require("telescope.pickers")
    .new({}, {
      prompt_title = opts.prompt,
      finder = finder,
      sorter = require("telescope.config").values.generic_sorter({}),
      previewer = previewer(opts),
      attach_mappings = map,
    })
    :find()
end
