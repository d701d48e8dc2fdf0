"""The editor's picture of the fleet: fed by events, read by everybody, at once."""

from __future__ import annotations

import pytest

from wire import session

NAMES = "return require('covey').names()"


@pytest.fixture
def three(wire):
    wire.fleet(
        session("bbbbbbbb", "beryl", "working"),
        session("aaaaaaaa", "amber", "blocked", queued=2),
        session("cccccccc", "coral", "idle", flags=["unseen"]),
    )
    return wire


def test_before_the_helper_is_up_list_warms_it(wire):
    assert wire.nvim.lua("local s, why = require('covey').list(); return { s == nil, why }") == [True, "not connected"]
    assert wire.nvim.lua("return _G.warmed") == 1
    assert wire.calls() == []


def test_a_snapshot_replaces_everything(three):
    assert three.nvim.lua(NAMES) == ["amber", "beryl", "coral"]
    three.fleet(session("dddddddd", "dawn"))
    assert three.nvim.lua(NAMES) == ["dawn"]
    assert three.nvim.lua("return require('covey').get('amber')") is None


def test_sessions_are_found_by_name_first_and_by_id(three):
    three.event("Opened", session("dddddddd", "aaaaaaaa"))
    assert three.nvim.lua("return require('covey').get('aaaaaaaa').id") == "dddddddd"
    assert three.nvim.lua("return require('covey').get('bbbbbbbb').name") == "beryl"


def test_events_change_the_picture_and_are_passed_on(three):
    nvim = three.nvim
    nvim.lua("""
        _G.heard, _G.told = {}, {}
        vim.api.nvim_create_autocmd('User', { pattern = 'Covey*', callback = function(event)
          table.insert(_G.heard, { event.match, event.data.name or '' })
        end })
        _G.stop = require('covey.fleet').subscribe(function(event) table.insert(_G.told, event.event) end)
    """)
    three.event("Opened", session("dddddddd", "dawn", "starting"))
    three.event("State", session("dddddddd", "dawn", "working"))
    three.event("Renamed", session("dddddddd", "dusk", "working"))
    three.event("Changed", session("dddddddd", "dusk", "working", last_line="x"))
    three.event("Exited", session("dddddddd", "dusk", "exited", exit={"code": 0}))
    three.event("Lost", session("aaaaaaaa", "amber", "lost"))
    three.event("Reaped", {"id": "dddddddd", "name": "dusk", "reason": "settled"})
    three.event("Gone", {"id": "aaaaaaaa", "name": "amber", "reason": "closed outside"})
    three.event("Receipt", {"id": "x", "session": "bbbbbbbb", "name": "beryl", "outcome": "submitted", "reason": ""})
    assert nvim.lua("return _G.heard") == [
        ["CoveyOpened", "dawn"],
        ["CoveyState", "dawn"],
        ["CoveyRenamed", "dusk"],
        ["CoveyExited", "dusk"],
        ["CoveyLost", "amber"],
        ["CoveyReaped", "dusk"],
        ["CoveyGone", "amber"],
        ["CoveyReceipt", "beryl"],
    ]
    assert nvim.lua("return _G.told[4]") == "Changed"
    assert nvim.lua(NAMES) == ["beryl", "coral"]
    nvim.lua("_G.stop(); _G.told = {}")
    three.fleet()
    assert nvim.lua("return _G.told") == []


def test_an_autocommand_that_fails_stops_nothing(three):
    three.nvim.cmd("autocmd User CoveyState throw 'mine'")
    three.nvim.lua("require('covey.fleet').subscribe(function() error('mine too') end)")
    three.event("State", session("bbbbbbbb", "beryl", "idle"))
    assert three.nvim.lua("return require('covey').get('beryl').state") == "idle"
    assert any("mine too" in notice for notice in three.notices())


def test_a_reader_keeps_the_list_it_was_given(three):
    three.nvim.lua("_G.mine = require('covey').list()")
    three.event("Gone", {"id": "aaaaaaaa", "name": "amber", "reason": ""})
    assert three.nvim.lua("return #_G.mine") == 3
    assert three.nvim.lua("return #require('covey').list()") == 2


def test_counts_and_statusline(three):
    nvim = three.nvim
    assert nvim.lua("return require('covey').counts()") == {
        "total": 3,
        "queued": 2,
        "unseen": 1,
        "ended": 0,
        "working": 1,
        "blocked": 1,
        "idle": 1,
    }
    assert nvim.lua("return require('covey').statusline()") == "covey 1 blocked 1 unseen 1 working 2 queued"
    crashed = session("a", "x", "exited", flags=["unseen"], exit={"code": 3, "signal": None})
    three.fleet(crashed, session("b", "y", flags=["unseen"]))
    assert nvim.lua("return require('covey').statusline()") == "covey 1 exited 1 unseen"
    three.fleet(session("a", "x"), session("b", "y"))
    assert nvim.lua("return require('covey').statusline()") == "covey 2"
    three.fleet()
    assert nvim.lua("return require('covey').statusline()") == ""


def test_a_hundred_sessions_are_read_without_a_call(wire):
    wire.fleet(*(session(f"{number:08}", f"s{number}") for number in range(100)))
    wire.nvim.lua("""
        local covey = require('covey')
        for _ = 1, 100 do
          covey.list(); covey.names(); covey.counts(); covey.statusline(); covey.get('s42')
          vim.fn.getcompletion('Covey kill s4', 'cmdline')
        end
    """)
    assert wire.calls() == []
    assert wire.nvim.lua("return _G.warmed") is None


def test_the_statusline_is_redrawn_when_it_changes(three):
    nvim = three.nvim
    nvim.lua("vim.o.laststatus = 2; vim.o.statusline = \"%{%v:lua.require'covey'.statusline()%}\"")
    assert "covey 1 blocked" in nvim.screen()
    three.event("State", session("aaaaaaaa", "amber", "idle"))
    nvim.wait(lambda: "waiting" not in nvim.screen())


def test_next_prev_and_last_go_round(three):
    nvim = three.nvim
    nvim.lua("""
        _G.went = {}
        package.loaded['covey.ui.attach'] = { open = function(s) table.insert(_G.went, s.name) end }
    """)
    for command in ("next", "next", "next", "next", "prev", "next 2", "last", "last"):
        nvim.cmd(f"Covey {command}")
    assert nvim.lua("return _G.went") == ["amber", "beryl", "coral", "amber", "coral", "beryl", "coral", "beryl"]
    nvim.lua("vim.api.nvim_buf_set_lines(0, 0, -1, true, { '', '', '' })")
    nvim.cmd("2Covey next")
    assert nvim.lua("return _G.went[9]") == "amber"
    three.fleet()
    nvim.cmd("Covey next")
    assert three.notices() == ["covey: there is no session to go to; open one with :Covey open"]


def test_notices_are_for_what_the_person_asked_to_hear(three):
    three.nvim.lua("vim.defer_fn = vim.schedule")
    three.event("State", session("bbbbbbbb", "beryl", "idle"))
    assert three.notices() == []
    three.event("Exited", session("bbbbbbbb", "beryl", "exited", exit={"code": 3}))
    three.event("Exited", session("cccccccc", "coral", "exited", exit={"signal": 9}))
    assert three.notices() == ["covey: beryl exited (3)", "covey: coral exited (signal 9)"]
    three.nvim.lua("require('covey').setup({ notify = { events = { 'blocked', 'idle' } } })")
    three.event("Exited", session("bbbbbbbb", "beryl", "exited", exit={"code": 3}))
    three.event("State", session("aaaaaaaa", "amber", "working"))
    three.event("State", session("aaaaaaaa", "amber", "blocked"))
    three.event("State", session("aaaaaaaa", "amber", "idle"))
    assert three.notices() == ["covey: amber is blocked and waits for you", "covey: amber is idle"]


def test_what_is_held_for_a_moment_is_no_news(three):
    nvim = three.nvim
    held = {"session": "aaaaaaaa", "name": "amber", "outcome": "held", "reason": "a dialog is shown"}
    nvim.lua("require('covey.receipts').expect('one', true); require('covey.receipts').expect('two')")
    three.event("Receipt", {**held, "id": "one"})
    three.event("Receipt", {**held, "id": "two"})
    three.event("Receipt", {**held, "id": "one", "outcome": "submitted"})
    assert three.notices() == []
    nvim.wait("#_G.notices > 0")
    assert three.notices() == ["covey: prompt to amber held: a dialog is shown"]


def test_names_are_the_same_table_until_one_changes_and_completion_follows(three):
    nvim = three.nvim
    nvim.lua("names = require('covey').names()")
    three.event("State", session("bbbbbbbb", "beryl", "working"))
    assert nvim.lua("return rawequal(names, require('covey').names())")
    complete = "getcompletion('Covey kill ', 'cmdline')"
    assert nvim.eval(complete) == ["amber", "beryl", "coral"]
    three.event("Renamed", session("bbbbbbbb", "a b"))
    assert not nvim.lua("return rawequal(names, require('covey').names())")
    assert nvim.eval(complete) == ["a\\ b", "amber", "coral"]
