--- Sessions in the picker of snacks.nvim, each with its screen beside it.
return function(entries, opts, choose)
  require("snacks").picker.pick({
    title = opts.prompt,
    items = vim.tbl_map(function(entry)
      return { text = entry.text, session = entry.session }
    end, entries),
    format = "text",
    preview = function(ctx)
      local session = ctx.item.session
      ctx.preview:reset()
      opts.screen(session, function(lines)
        if ctx.preview.item == ctx.item then
          ctx.preview:set_lines(lines)
        end
      end)
    end,
    confirm = function(picker, item)
      picker:close()
      vim.schedule(function()
        choose(item and item.session)
      end)
    end,
  })
end
