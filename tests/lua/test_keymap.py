"""The maps: what a press sends."""

from __future__ import annotations

from unittest.mock import ANY

import pytest

from wire import session

TEXT = ["local x = 1", "  y()", "", "z"]


@pytest.fixture
def mapped(wire, world):
    """One session, and a file of some lines with the maps on keys."""
    wire.fleet(session("aaaaaaaa", "amber"), session("bbbbbbbb", "beryl"))
    wire.fleet(session("aaaaaaaa", "amber", cwd=str(world.home)))
    (world.home / "lua").mkdir()
    (world.home / "lua" / "x.lua").write_text("\n".join(TEXT) + "\n")
    nvim = wire.nvim
    nvim.cmd("edit lua/x.lua")
    nvim.cmd("nmap gs <Plug>(CoveySend)")
    nvim.cmd("xmap gs <Plug>(CoveySend)")
    nvim.cmd("nmap gf <Plug>(CoveySendFile)")
    nvim.cmd("xmap gf <Plug>(CoveySendFile)")
    return wire


@pytest.mark.parametrize(
    ("keys", "text"),
    [
        ("gsiw", "local"),
        ("gsj", "local x = 1\n  y()"),
        ("wvegs", "x ="),
        ("Vjgs", "local x = 1\n  y()"),
        ("vj$gs", "local x = 1\n  y()"),
        ("l<C-v>jlgs", "oc\n y"),
    ],
)
def test_what_is_covered_is_sent(mapped, keys, text):
    mapped.nvim.keys(keys)
    mapped.nvim.wait("#_G.calls > 0")
    method, params = mapped.call()
    assert (method, params["name"], params["text"], params["submit"]) == ("send", "aaaaaaaa", text, True)
    assert mapped.nvim.eval("mode()") == "n"


def test_a_motion_can_be_repeated(mapped):
    mapped.nvim.keys("gsiwj.")
    mapped.nvim.wait("#_G.calls == 2")
    assert [params["text"] for _, params in mapped.calls()] == ["local", "  "]


def test_a_file_is_sent_as_a_reference_without_enter(mapped):
    mapped.nvim.keys("gf")
    mapped.nvim.wait("#_G.calls > 0")
    _, params = mapped.call()
    assert (params["text"], params["submit"]) == ("@lua/x.lua ", False)
    mapped.nvim.keys("jVjgf")
    mapped.nvim.wait("#_G.calls > 0")
    assert mapped.call()[1]["text"] == "@lua/x.lua#L2-L3 "
    assert mapped.notices() == []
    mapped.nvim.keys("Axx<Esc>gf")
    mapped.nvim.wait("#_G.calls > 0")
    assert mapped.notices() == ["covey: this buffer is not saved; the agent reads the file"]


@pytest.mark.parametrize(
    ("cwd", "agent", "text"),
    [
        ("{home}/lua", "standin", "@x.lua "),
        ("/", "standin", "@{home[1:]}/lua/x.lua "),
        ("{home}/lu", "standin", "@{home}/lua/x.lua "),
        ("{home}", "aider", "lua/x.lua "),
    ],
)
def test_a_reference_is_seen_from_the_agent_and_written_as_it_reads(mapped, world, cwd, agent, text):
    home = str(world.home)
    mapped.fleet(session("aaaaaaaa", "amber", cwd=cwd.format(home=home), agent=agent))
    mapped.nvim.keys("gf")
    mapped.nvim.wait("#_G.calls > 0")
    assert mapped.call()[1]["text"] == text.replace("{home[1:]}", home[1:]).format(home=home)
    mapped.nvim.keys("jVjgf")
    mapped.nvim.wait("#_G.calls > 0")
    lines = ":2-3 " if agent == "aider" else "#L2-L3 "
    assert mapped.call()[1]["text"].endswith("x.lua" + lines)


def test_a_buffer_that_is_no_file_is_not_sent(mapped):
    mapped.nvim.cmd("enew")
    mapped.nvim.keys("gf")
    mapped.nvim.wait("#_G.notices > 0")
    assert mapped.calls() == []


def test_a_verb_has_its_map(mapped):
    mapped.nvim.cmd("nmap gk <Plug>(CoveyKill)")
    mapped.nvim.keys("gk")
    mapped.nvim.wait("#_G.calls > 0")
    assert mapped.call() == ("kill", {"name": "aaaaaaaa"})


@pytest.mark.parametrize(
    ("name", "typed", "expected"),
    [
        ("Answer", "", ("answer", {"name": "aaaaaaaa"})),
        ("Broadcast", "hello", ("broadcast", {"text": "hello", "act": ANY})),
        ("Explain", "", ("explain", {"name": "aaaaaaaa"})),
        ("Stats", "", ("stats", {})),
    ],
)
def test_maps_ask_for_what_their_verb_wants(mapped, name, typed, expected):
    mapped.fleet(session("aaaaaaaa", "amber", "blocked"))
    mapped.nvim.lua("local typed = ... vim.ui.input = function(_, cb) cb(typed) end", typed)
    mapped.nvim.cmd(f"nmap gk <Plug>(Covey{name})")
    mapped.nvim.keys("gk")
    mapped.nvim.wait("#_G.calls > 0")
    assert mapped.call() == expected


@pytest.mark.parametrize(("keys", "text"), [("gpiw", "local"), ("wvegp", "x =")])
def test_what_is_covered_is_pasted_without_enter(mapped, keys, text):
    mapped.nvim.cmd("map gp <Plug>(CoveyPaste)")
    mapped.nvim.keys(keys)
    mapped.nvim.wait("#_G.calls > 0")
    method, params = mapped.call()
    assert (method, params["text"], params["submit"]) == ("send", text, False)


def test_a_selection_goes_to_everyone_or_into_the_prompt(mapped):
    mapped.nvim.cmd("xmap gb <Plug>(CoveyBroadcast)")
    mapped.nvim.cmd("xmap gp <Plug>(CoveyPrompt)")
    mapped.nvim.keys("wviwgb")
    mapped.nvim.wait("#_G.calls > 0")
    assert mapped.call() == ("broadcast", {"text": "x", "act": ANY})
    mapped.nvim.keys("viwgp")
    mapped.nvim.wait("vim.fn.bufname():find('covey://prompt') ~= nil")
    mapped.nvim.lua("vim.api.nvim_buf_set_lines(0, 0, -1, false, { '{selection}' })")
    mapped.nvim.wait(lambda: "{selection}  x" in mapped.nvim.screen())


def test_rename_asks_for_the_name(mapped):
    mapped.nvim.lua("vim.ui.input = function(opts, cb) _G.default = opts.default; cb('beryl') end")
    mapped.nvim.cmd("nmap gn <Plug>(CoveyRename)")
    mapped.nvim.keys("gn")
    mapped.nvim.wait("#_G.calls > 0")
    assert mapped.call() == ("rename", {"name": "aaaaaaaa", "new": "beryl"})
    assert mapped.nvim.lua("return _G.default") == "amber"


@pytest.mark.parametrize(("name", "asked"), [("Cancel", "cancel"), ("Edit", "edit")])
def test_a_prompt_that_waits_is_chosen(mapped, name, asked):
    mapped.nvim.lua("vim.ui.input = function(opts, cb) cb(opts.default .. ' now') end")
    mapped.nvim.lua("vim.ui.select = function(items, _, cb) cb(items[2]) end")
    mapped.nvim.cmd(f"nmap gn <Plug>(Covey{name})")
    mapped.nvim.keys("gn")
    mapped.nvim.wait("#_G.calls > 0")
    assert mapped.call() == ("queue", {"name": "aaaaaaaa"})
    mapped.reply(None, [{"act": act, "outcome": "held", "reason": "", "text": f"do {act}"} for act in ("x1", "x2")])
    method, params = mapped.call()
    assert (method, params["act"], params.get("text", "do x2 now")) == (asked, "x2", "do x2 now")
