"""Everything that knows tmux. ``control`` is the wire, ``server`` the verbs, ``screen`` reads what a pane shows."""
