"""`:Covey`: what is typed, what is asked of the helper, and what is said."""

from __future__ import annotations

import re

import pytest

from wire import session


@pytest.fixture
def amber(wire):
    """A wire with one session."""
    wire.fleet(session("aaaaaaaa", "amber"))
    return wire


RUNS = [
    ("open", "open", {"agent": "claude", "on_exit": "settled"}),
    ("open codex", "open", {"words": ["codex"], "typed": "codex", "agent": "claude", "on_exit": "settled"}),
    ("open api codex", "open", {"words": ["api", "codex"], "typed": None, "agent": "claude"}),
    ("open codx -- make", "open", {"words": ["codx"], "typed": None, "cmd": ["make"]}),
    ("open codex model=x nice=3", "open", {"options": {"model": "x", "nice": "3"}, "model": None, "nice": None}),
    ("open a+b=c", "open", {"words": ["a+b=c"]}),
    ("open api agent=codex", "open", {"name": "api", "agent": "codex", "words": None}),
    ("open codex name=api", "open", {"name": "api", "agent": "codex", "words": None}),
    ("open agent=codex name=x", "open", {"agent": "codex", "name": "x", "on_exit": "settled"}),
    (r"open shell name=a\ b", "open", {"agent": "shell", "name": "a b", "on_exit": "settled"}),
    ('open shell name="it\'s \\"x\\""', "open", {"agent": "shell", "name": 'it\'s "x"', "on_exit": "settled"}),
    ("open name=x -- make 'a b' -k", "open", {"name": "x", "cmd": ["make", "a b", "-k"], "on_exit": "settled"}),
    ("open cmd=\"make -k 'a b'\"", "open", {"cmd": ["make", "-k", "a b"], "on_exit": "settled"}),
    ("open shell env.A=1 env.B_2='x=y z'", "open", {"words": ["shell"], "env": {"A": "1", "B_2": "x=y z"}}),
    ("open shell on_exit=reap restart=always", "open", {"words": ["shell"], "on_exit": "reap", "restart": "always"}),
    ("ensure shell name=x", "ensure", {"agent": "shell", "name": "x"}),
    ("kill amber", "kill", {"name": "amber"}),
    ("kill", "kill", {"name": "aaaaaaaa"}),
    ("name amber beryl", "rename", {"name": "amber", "new": "beryl"}),
    ("name beryl", "rename", {"name": "aaaaaaaa", "new": "beryl"}),
    ("rename beryl", "rename", {"name": "aaaaaaaa", "new": "beryl"}),
    (
        "open shell model=opus nice=5 worktree=true",
        "open",
        {"options": {"model": "opus", "nice": "5"}, "worktree": True, "model": None},
    ),
    ("answer amber do not ask", "answer", {"name": "amber", "choice": "do not ask"}),
    ("answer do not ask", "answer", {"choice": "do not ask"}),
    ("open shell worktree=false", "open", {"worktree": False, "options": None}),
    ("worktree topic codex", "worktree", {"words": ["topic", "codex"], "worktree": None}),
    ("rename amber 'two words'", "rename", {"name": "amber", "new": "two words"}),
    (
        "send amber hello  there | \"x\" 'y'",
        "send",
        {"name": "amber", "text": "hello  there | \"x\" 'y'", "submit": True},
    ),
    ("send amber   indented", "send", {"name": "amber", "text": "  indented"}),
    ("send! amber draft", "send", {"name": "amber", "text": "draft", "submit": False}),
    (r"send a\ b x", "send", {"name": "a b", "text": "x"}),
    ("send amber {file} % # <cword> $HOME", "send", {"text": "{file} % # <cword> $HOME"}),
    ("send ++raw amber /clear", "send", {"name": "amber", "text": "/clear", "raw": True}),
    ("send amber ++raw is text", "send", {"name": "amber", "text": "++raw is text", "raw": None}),
    ("send ++when=ask ++force ++file amber x", "send", {"text": "x", "when": "ask", "force": True, "as_file": True}),
    ('send "++x" y', "send", {"name": "++x", "text": "y"}),
    ("respawn amber", "respawn", {"name": "amber", "fresh": False, "force": False}),
    ("respawn! amber fresh=true", "respawn", {"name": "amber", "fresh": True, "force": True}),
    ("reap", "reap", {"yes": False}),
    ("reap!", "reap", {"yes": True}),
    ("keep amber", "keep", {"name": "amber", "on": True}),
    ("keep! amber", "keep", {"name": "amber", "on": False}),
    ("settle amber", "settle", {"name": "amber", "on": True}),
    ("settle! amber", "settle", {"name": "amber", "on": False}),
    ("adopt amber", "adopt", {"name": "amber"}),
    ("interrupt", "interrupt", {"name": "aaaaaaaa"}),
    ("answer yes", "answer", {"name": "aaaaaaaa", "choice": "yes"}),
    ("answer amber 2", "answer", {"name": "amber", "choice": "2"}),
    ("queue amber", "queue", {"name": "amber"}),
    ("cancel 0a1b", "cancel", {"act": "0a1b"}),
    ("log amber", "log", {"name": "amber"}),
    ("explain amber", "explain", {"name": "amber"}),
    ("broadcast to all of you", "broadcast", {"text": "to all of you", "names": None}),
    ("agents", "agents", {}),
    ("stats", "stats", {}),
    ("restore", "restore", {"yes": False}),
    ("restore!", "restore", {"yes": True}),
    ("list", "list", {}),
]


def test_what_is_typed_is_what_is_asked(amber):
    for typed, method, expected in RUNS:
        amber.nvim.cmd(f"Covey {typed}")
        asked, params = amber.call()
        assert (typed, asked, {name: params.get(name) for name in expected}) == (typed, method, expected)


def test_what_is_to_be_the_new_name_is_asked_for(amber):
    amber.nvim.lua("vim.ui.input = function(opts, cb) cb(_G.typed) end")
    for typed in ("rename amber", "rename"):
        for given in ("nil", "''", "'two'"):
            amber.nvim.lua(f"_G.typed = {given}")
            amber.nvim.cmd(f"Covey {typed}")
        assert amber.call() == ("rename", {"name": "aaaaaaaa", "new": "two"})
        assert amber.notices() == []


def test_without_a_choice_one_chooses_of_what_the_agent_offers_and_its_text_is_the_answer(amber):
    amber.nvim.lua("vim.ui.select = function(items, opts, cb) _G.shown = { opts.prompt, items }; cb(nil, _G.nth) end")
    asked = {"name": "amber", "question": "Proceed?", "options": ["Yes", "Yes, always\tso", "No"]}
    for typed in ("answer amber", "answer"):
        for nth in ("nil", "2"):
            amber.nvim.lua(f"_G.nth = {nth}")
            amber.nvim.cmd(f"Covey {typed}")
            assert amber.call() == ("answer", {"name": "aaaaaaaa"})
            amber.reply(None, asked)
        assert amber.nvim.lua("return _G.shown") == ["Proceed?", ["Yes", "Yes, always so", "No"]]
        assert amber.call() == ("answer", {"name": "aaaaaaaa", "choice": "Yes, always\tso"})
        assert amber.notices() == []


def test_a_queue_is_of_who_has_one(amber):
    beryl = session("bbbbbbbb", "beryl")
    amber.fleet(session("aaaaaaaa", "amber", queued=0), beryl | {"queued": 0})
    amber.nvim.cmd("Covey queue")
    assert amber.notices() == ["covey: no prompt waits"]
    amber.fleet(session("aaaaaaaa", "amber", queued=0), beryl | {"queued": 2})
    amber.nvim.cmd("Covey queue")
    assert amber.call() == ("queue", {"name": "bbbbbbbb"})


def test_open_gives_the_directory_and_the_environment(wire, world):
    wire.nvim.cmd("Covey open shell cwd=~")
    _, params = wire.calls()[0]
    assert params["cwd"] == str(world.home)
    assert params["environ"]["HOME"] == str(world.home)


def test_bang_before_the_verb_is_the_same(amber):
    amber.nvim.cmd("Covey! reap")
    assert amber.call() == ("reap", {"yes": True})


MISTAKES = [
    ("opne", '"opne" is no verb; did you mean open?'),
    ("xyzzy", '"xyzzy" is no verb; :Covey <Tab> lists the verbs'),
    ("kill! amber", ":Covey kill takes no !"),
    ("open a b name=c", 'one name and one agent only, not "b"; quote a value with spaces in it'),
    ("open api restrat=always", "restrat= is no key; did you mean restart=?"),
    ("open api shell restrat=always", "restrat= is no key; did you mean restart=?"),
    ("attach amber sytle=tab", "sytle= is no key; did you mean style=?"),
    ("kill a b", "a word too many: b"),
    ("list x", "a word too many: x"),
    ("open name='x", "a quote (') is not closed"),
    ("send amber", "nothing to send: :Covey send NAME TEXT, or with a range"),
    ("cancel", "say which: :Covey cancel NAME, or NUMBER; :Covey queue lists them"),
    ("send ++loud amber x", "++loud does not fit; there is ++file ++force ++raw ++when=ask ++when=idle ++when=now"),
    (
        "send ++when=later amber x",
        "++when=later does not fit; there is ++file ++force ++raw ++when=ask ++when=idle ++when=now",
    ),
]


def test_a_mistake_is_one_sentence_that_scripts_can_catch(amber):
    nvim = amber.nvim
    for typed, sentence in MISTAKES:
        nvim.cmd(f"silent! Covey {typed}")
        nvim.cmd(f"try\nCovey {typed}\ncatch\nlet g:caught = v:exception\nendtry")
        assert (typed, nvim.eval("g:caught")) == (typed, f"Vim:covey: {sentence}")
    assert nvim.messages() == ""
    assert amber.calls() == []


def test_a_range_where_none_belongs(amber):
    amber.nvim.cmd("silent! 1Covey kill amber")
    assert amber.calls() == []


def test_a_bar_ends_the_command_unless_text_is_sent(amber):
    amber.nvim.cmd("Covey kill amber | let g:after = 1")
    assert amber.call()[0] == "kill"
    assert amber.nvim.eval("g:after") == 1
    amber.nvim.cmd("Covey open name='a | b'")
    assert amber.call()[1]["name"] == "a | b"


def test_without_a_name_and_without_sessions(wire):
    wire.fleet()
    wire.nvim.cmd("Covey kill")
    assert wire.calls() == []
    assert wire.notices() == ["covey: there is no session yet; open one with :Covey open"]


def test_without_a_name_of_several_one_is_chosen(wire):
    wire.fleet(session("aaaaaaaa", "amber"), session("bbbbbbbb", "beryl"))
    wire.nvim.lua("vim.ui.select = function(items, opts, cb) _G.kind = opts.kind; cb(items[2]) end")
    wire.nvim.cmd("Covey kill")
    assert wire.call() == ("kill", {"name": "bbbbbbbb"})
    assert wire.nvim.lua("return _G.kind") == "covey"
    wire.nvim.lua("vim.ui.select = function(_, _, cb) cb(nil) end")
    wire.nvim.cmd("Covey kill")
    assert wire.calls() == []
    assert wire.notices() == []


def test_without_a_name_before_the_helper_is_up(wire):
    wire.nvim.cmd("Covey interrupt")
    assert wire.call()[0] == "list"
    wire.reply(None, [session("aaaaaaaa", "amber")])
    assert wire.call() == ("interrupt", {"name": "aaaaaaaa"})


def test_errors_are_shown_and_results_are_said(amber):
    amber.nvim.cmd("Covey kill amber")
    amber.reply({"code": "not_found", "message": "no session is called amber", "hint": ""})
    assert amber.notices() == ["covey: no session is called amber"]
    amber.nvim.cmd("Covey kill amber")
    amber.reply(None, {"id": "aaaaaaaa", "name": "amber", "ended": [1], "survivors": []})
    assert amber.nvim.messages() == "covey: killed amber"
    amber.nvim.cmd("messages clear | Covey kill amber")
    amber.reply(None, {"id": "aaaaaaaa", "name": "amber", "ended": [], "survivors": ["12 sleep"]})
    assert amber.nvim.messages() == 'covey: killed amber, but left 1 of its processes: ["12 sleep"]'


def test_list_is_a_table(amber):
    amber.nvim.cmd("Covey list")
    rows = [session("aaaaaaaa", "größe 数", "exited", exit={"code": 3, "signal": None}), session("b", "x", queued=2)]
    rows[1] |= {"keep": True, "settled": True, "flags": ["unseen"]}
    amber.reply(None, rows)
    heading, first, second = amber.nvim.messages().splitlines()
    assert heading.split() == ["name", "agent", "state", "for", "queued", "marks", "directory"]
    assert first.startswith("größe 数  standin  exited (3)")
    assert " 2       kept settled unseen  " in second


def told(wire, typed, result):
    wire.nvim.cmd(f"messages clear | Covey {typed}")
    wire.calls()
    wire.reply(None, result)
    return wire.nvim.messages().splitlines()


def test_a_person_reads_names_and_no_ids(amber):
    receipts = [
        {"id": "a", "session": "aaaaaaaa", "outcome": "submitted", "reason": ""},
        {"id": "b", "session": "gone1234", "name": "went", "outcome": "refused", "reason": "it ended"},
    ]
    told(amber, "broadcast hello", receipts)
    assert amber.notices() == ["covey: 2 agents: 1 submitted, 1 refused (went: it ended)"]
    rows = told(amber, "stats", {"aaaaaaaa": {"name": "amber", "cpu": 1, "rss": 2**20, "count": 1}})
    assert rows[1].split()[0] == "amber"


def test_what_tmux_lost_is_told_with_the_way_back(amber):
    lost = [session("aaaaaaaa", "amber", "lost")]
    assert told(amber, "restore", lost)[-1] == "bring them back with :Covey restore!"
    failed = [{**lost[0], "error": {"code": "refused", "message": "its directory is gone"}}]
    rows = told(amber, "restore!", failed)
    assert len(rows) == 2
    assert rows[1].endswith("its directory is gone")
    assert told(amber, "restore", []) == ["covey: there is nothing to restore"]


def test_a_log_is_read_in_local_time_and_words(amber):
    amber.nvim.lua("vim.env.TZ = 'UTC-2'; os.date('%c')")
    entries = [
        {"at": "2026-01-02T03:04:05.678Z", "kind": "opened", "data": {"agent": "standin"}, "words": "standin in /tmp"},
        {"at": "2026-01-02T23:06:05.678Z", "kind": "exited", "data": {"code": 3, "screen": ["bye"]}, "words": "code 3"},
    ]
    assert told(amber, "log amber", entries)[1:] == [
        "2026-01-02 05:04:05  opened  standin in /tmp",
        "2026-01-03 01:06:05  exited  code 3",
    ]
    today = entries[0] | {"at": amber.nvim.lua("return os.date('!%Y-%m-%dT%H:%M:%S.000Z')")}
    assert re.fullmatch(r"\d\d:\d\d:\d\d  opened  standin in /tmp", told(amber, "log amber", [today])[1])
    assert told(amber, "log amber", []) == ["nothing happened yet"]


WRONG = [
    ("open", "{ name = 5 }", "open(): name: expected string, got 5"),
    ("open", "5", "open(): expected a table of options or a name, got 5"),
    ("open", "{ cmd = 'make' }", 'open(): cmd: expected a list, got "make"'),
    ("open", "{ env = { A = 's3cret', B = 1 } }", "open(): env: expected a table of string by name, got a table"),
    ("ensure", "{ options = { 'x' } }", "ensure(): options: expected a table by name, got a table"),
    ("send", "{ name = 'amber', text = {} }", "send(): text: expected string, got a table"),
    ("send", "{ name = 'amber', submit = 1 }", "send(): submit: expected boolean, got 1"),
    ("broadcast", "{ text = 'x', names = 'amber' }", 'broadcast(): names: expected a list, got "amber"'),
    ("broadcast", "nil", "there is nothing to send"),
    ("kill", "{ name = true }", "kill(): name: expected string, got true"),
    ("next", "{ count = 1.5 }", "next(): count: expected a whole number, got 1.5"),
    ("prompt", "{ text = 3 }", "prompt(): text: expected string, got 3"),
    ("board", "{ filter = 3 }", "board(): filter: expected string, got 3"),
]


def test_a_wrong_type_is_one_sentence(amber):
    for verb, opts, sentence in WRONG:
        given = f"require('covey').{verb}({opts}, function(err) _G.err = err end) return _G.err"
        err = amber.nvim.lua(given)
        assert (verb, opts, err["code"], err["message"]) == (verb, opts, "usage", sentence)
    amber.nvim.lua("require('covey').kill({ name = 5 })")
    assert amber.notices() == ["covey: kill(): name: expected string, got 5; see :help covey-lua"]
    assert amber.calls() == []


def test_a_callback_that_is_none_is_the_callers_mistake(amber):
    said = amber.nvim.lua("local _, said = pcall(require('covey').send, 'amber', 'text') return said")
    assert said == 'covey.send(): expected a function as second argument, got "text"'


def test_options_stay_the_callers_own(amber):
    amber.nvim.lua("_G.opts = { name = 'amber' } require('covey').respawn(_G.opts)")
    assert amber.call()[0] == "respawn"
    assert amber.nvim.lua("return _G.opts") == {"name": "amber"}


def test_a_receipt_is_told_once(amber):
    nvim = amber.nvim
    nvim.cmd("Covey send amber x")
    _, params = amber.call()
    receipt = {"id": params["act"], "session": "aaaaaaaa", "outcome": "failed", "reason": "the pane died"}
    amber.event("Receipt", {**receipt, "name": "amber"})
    amber.reply(None, receipt)
    assert amber.notices() == ["covey: prompt to amber failed: the pane died"]
    nvim.cmd("Covey send amber x")
    _, params = amber.call()
    amber.reply(None, {"id": params["act"], "session": "aaaaaaaa", "outcome": "submitted", "reason": ""})
    amber.event("Receipt", {"id": params["act"], "session": "aaaaaaaa", "outcome": "submitted", "name": "amber"})
    assert amber.notices() == ["covey: prompt to amber submitted"]


def test_a_prompt_that_is_taken_back_twice_is_told_twice(amber):
    receipt = {"id": "a", "session": "aaaaaaaa", "outcome": "cancelled", "reason": "", "name": "amber", "number": 5}
    amber.nvim.cmd("Covey cancel 5")
    amber.calls()
    amber.event("Receipt", receipt)
    amber.reply(None, receipt)
    assert amber.notices() == ["covey: prompt 5 to amber cancelled"]
    for _ in range(2):
        told(amber, "cancel 5", receipt | {"reason": "it was already"})
    assert amber.notices() == ["covey: prompt 5 to amber cancelled: it was already"] * 2


def test_what_became_of_each_prompt_of_a_broadcast_is_told(amber):
    amber.nvim.cmd("Covey broadcast all of you")
    act = amber.call()[1]["act"] + ".aaaaaaaa"
    amber.event("Receipt", {"id": act, "session": "aaaaaaaa", "outcome": "submitted", "reason": "", "name": "amber"})
    amber.reply(None, [{"id": act, "session": "aaaaaaaa", "outcome": "submitted", "reason": "", "name": "amber"}])
    assert amber.notices() == ["covey: prompt to amber submitted"]


def test_a_broadcast_to_several_is_one_sentence_and_what_waits_is_told_later(wire):
    wire.nvim.cmd("Covey broadcast all of you")
    act = wire.call()[1]["act"]
    rows = [("amber", "submitted", ""), ("beryl", "held", "a draft"), ("coral", "submitted", "")]
    receipts = [
        {"id": f"{act}.{name}", "session": f"id{name:a<6}", "name": name, "outcome": outcome, "reason": reason}
        for name, outcome, reason in rows
    ]
    for receipt in receipts:
        wire.event("Receipt", receipt)
    wire.reply(None, receipts)
    assert wire.notices() == ["covey: 3 agents: 2 submitted, 1 held (beryl: a draft)"]
    wire.event("Receipt", receipts[1] | {"outcome": "submitted", "reason": ""})
    assert wire.notices() == ["covey: prompt to beryl submitted"]


def test_a_broadcast_that_reaches_nobody_is_told(wire):
    wire.nvim.cmd("Covey broadcast all of you")
    assert wire.call()[0] == "broadcast"
    wire.reply(None, [])
    assert wire.notices() == ["covey: there is no agent to send to; open one with :Covey open"]


def test_who_asks_by_a_function_hears_by_it_that_all_is_well_and_else_from_us_too(amber):
    for outcome, told in (("submitted", []), ("failed", ["covey: prompt to amber failed"])):
        amber.nvim.lua("require('covey').send({ name = 'amber', text = 'x' }, function() end)")
        _, params = amber.call()
        receipt = {"id": params["act"], "session": "aaaaaaaa", "outcome": outcome, "reason": "", "name": "amber"}
        amber.event("Receipt", receipt)
        amber.reply(None, receipt)
        assert amber.notices() == told


def test_a_prompt_that_went_with_its_agent_is_told_in_the_last_word_too(amber):
    """Notices that follow each other fast overwrite each other on the screen."""
    held = {"session": "aaaaaaaa", "outcome": "held", "reason": "a draft", "name": "amber"}
    amber.nvim.cmd("Covey send amber x")
    act = amber.call()[1]["act"]
    amber.event("Receipt", {**held, "id": act})
    amber.nvim.cmd("Covey kill amber")
    amber.calls()
    lost = {**held, "id": act, "outcome": "undelivered", "reason": "it was killed"}
    amber.event("Receipt", lost)
    amber.event("Gone", {"id": "aaaaaaaa", "name": "amber", "reason": "killed"})
    amber.reply(None, {**held, "id": act})
    amber.reply(None, {"id": "aaaaaaaa", "name": "amber", "ended": [1], "survivors": [], "unsent": [lost]})
    assert "covey: prompt to amber undelivered: it was killed" in amber.notices()
    assert amber.nvim.messages() == "covey: killed amber; 1 prompt was never sent"


@pytest.mark.parametrize(
    ("index", "asked"),
    [(1, ("edit", "now")), (2, ("edit", "idle")), (3, ("cancel", None)), (9, None)],
)
def test_a_receipt_that_asks_is_asked(amber, index, asked):
    nvim = amber.nvim
    nvim.lua(
        "local at = ... vim.ui.select = function(items, o, cb) title = o.prompt; cb(items[at], items[at] and at) end",
        index,
    )
    nvim.cmd("Covey send ++when=ask amber x")
    act = amber.call()[1]["act"]
    receipt = {"id": act, "session": "aaaaaaaa", "outcome": "held", "reason": "why", "name": "amber", "asks": True}
    amber.event("Receipt", receipt)
    amber.reply(None, receipt)
    nvim.wait("title")
    assert nvim.lua("return title") == "amber is working: send now, when idle, or not at all?"
    if asked:
        method, params = amber.call()
        assert (method, params.get("when"), params["act"]) == (*asked, act)
    assert amber.calls() == []
    assert amber.notices() == []


def test_the_receipts_of_others_are_not_told(amber):
    amber.event(
        "Receipt", {"id": "somebody", "session": "aaaaaaaa", "outcome": "failed", "reason": "", "name": "amber"}
    )
    assert amber.notices() == []


SELECTIONS = [
    ("gg0lv3l", "bcde"),
    ("ggVj", "abcdef\n  ghijkl"),
    ("gg0l\x16jl", "bc\n g"),
    ("gg$vj0", "f\n "),
    ("ggVG", "abcdef\n  ghijkl\n\u00e9 \u6570\n"),
]


def test_a_range_is_the_selection(amber):
    nvim = amber.nvim
    nvim.lua("vim.api.nvim_buf_set_lines(0, 0, -1, true, { 'abcdef', '  ghijkl', 'é 数', '' })")
    for keys, sent in SELECTIONS:
        nvim.cmd(f"normal! {keys}\x1b")
        nvim.cmd("'<,'>Covey send amber")
        assert (keys, amber.call()[1]["text"]) == (keys, sent)


def test_a_range_that_is_no_selection_is_whole_lines(amber):
    nvim = amber.nvim
    nvim.lua("vim.api.nvim_buf_set_lines(0, 0, -1, true, { 'abcdef', '', 'third' })")
    for selected in ("gg0lvl", "3G0vl"):
        nvim.cmd(f"normal! {selected}\x1b")
        nvim.cmd("1,3Covey send! amber")
        _, params = amber.call()
        assert (params["text"], params["submit"]) == ("abcdef\n\nthird", False)
    nvim.cmd("1,3Covey send amber but words win")
    assert amber.call()[1]["text"] == "but words win"


COMPLETIONS = [
    ("Covey op", ["open"]),
    ("Covey re", ["reap", "rename", "reset", "respawn", "restore"]),
    ("silent! Cov kil", ["kill"]),
    ("'<,'>Covey sen", ["send"]),
    ("Covey kill ", ["amber", "beryl\\ two"]),
    ("Covey kill b", ["beryl\\ two"]),
    ("Covey kill beryl\\ t", ["beryl\\ two"]),
    ("Covey kill amber ", []),
    ("Covey send am", ["amber"]),
    ("Covey send amber am", []),
    ("Covey send ++", ["++file", "++force", "++raw", "++when=ask", "++when=idle", "++when=now"]),
    ("Covey send ++raw ++when=i", ["++when=idle"]),
    ("Covey send ++raw am", ["amber"]),
    ("Covey send amber ++r", []),
    ("Covey cancel ", ["amber", "beryl\\ two", "9", "10"]),
    ("Covey edit 1", ["10"]),
    ("Covey! respawn am", ["amber"]),
    ("Covey respawn! amber f", ["fresh="]),
    ("Covey respawn amber fresh=t", ["fresh=true"]),
    ("Covey open clau", ["claude"]),
    ("Covey open on_exit=", ["on_exit=keep", "on_exit=reap", "on_exit=settled"]),
    ("Covey open shell on_exit=reap re", ["restart="]),
    ("Covey open shell e", ["effort=", "env."]),
    ("Covey open name=x n", ["nice="]),
    ("Covey attach style=v", ["style=vsplit"]),
    ("Covey answer amber y", ["yes"]),
    ("Covey board bl", ["blocked"]),
    ("Covey nonsense x", []),
    ("Covey list ", []),
]


def test_completion(wire):
    held = [{"id": f"act-{n}", "number": n, "session": "aaaaaaaa", "outcome": "held"} for n in (10, 9)]
    gone = {"id": "act-0", "number": 1, "session": "aaaaaaaa", "outcome": "submitted"}
    wire.event(
        "Fleet",
        {"sessions": [session("aaaaaaaa", "amber"), session("bbbbbbbb", "beryl two")], "receipts": [*held, gone]},
    )
    wire.event("Receipt", gone)
    for line, expected in COMPLETIONS:
        assert (line, wire.nvim.lua("return vim.fn.getcompletion(..., 'cmdline')", line)) == (line, expected)
    assert wire.calls() == []


def test_completion_of_directories(wire, world):
    (world.home / "project").mkdir()
    assert wire.nvim.eval("getcompletion('Covey open cwd=pro', 'cmdline')") == ["cwd=project/"]


def test_completion_before_the_helper_is_up_warms_it(wire):
    assert wire.nvim.eval("getcompletion('Covey kill ', 'cmdline')") == []
    assert wire.nvim.lua("return _G.warmed") == 1


def test_without_a_verb_the_board_opens(wire):
    wire.nvim.lua("package.loaded['covey.ui.board'] = { open = function(opts) _G.opened = opts end }")
    wire.nvim.cmd("Covey")
    assert wire.nvim.lua("return vim.tbl_isempty(_G.opened)")
    wire.nvim.cmd("Covey board blocked claude")
    assert wire.nvim.lua("return _G.opened") == {"filter": "blocked claude"}


def test_windows_are_opened_with_the_session(amber):
    amber.nvim.lua("""
        _G.shown = {}
        for _, room in ipairs({ 'preview', 'attach', 'prompt' }) do
          package.loaded['covey.ui.' .. room] = { open = function(session, opts)
            table.insert(_G.shown, { room, session.id, opts.style or '' })
          end }
        end
    """)
    for words in ("preview amber", "attach style=vsplit", "prompt"):
        amber.nvim.cmd(f"Covey {words}")
    assert amber.nvim.lua("return _G.shown") == [
        ["preview", "aaaaaaaa", ""],
        ["attach", "aaaaaaaa", "vsplit"],
        ["prompt", "aaaaaaaa", ""],
    ]
    amber.nvim.cmd("Covey open! shell")
    amber.calls()
    amber.reply(None, session("aaaaaaaa", "amber"))
    assert amber.nvim.lua("return _G.shown[4]") == ["attach", "aaaaaaaa", ""]


def test_the_log_reads_in_words_and_local_time(start_nvim):
    entries = [
        {"at": "2026-01-31T23:00:00.123Z", "kind": "opened", "words": "standin as 'x', by shell 7", "data": {"by": {}}},
        {"at": "2026-02-01T00:30:00.000Z", "kind": "settled", "words": "", "data": {}},
    ]
    read = start_nvim(env={"TZ": "XXX-5"}).lua("return require('covey.report').of.log(...)", entries)
    assert read == [
        "at                   what",
        "2026-02-01 04:00:00  opened   standin as 'x', by shell 7",
        "2026-02-01 05:30:00  settled",
    ]


def test_every_verb_is_in_lua_too_and_says_what_it_does(nvim):
    missing = nvim.lua("""
        local covey, missing = require('covey'), {}
        for verb, command in pairs(require('covey.command').verbs) do
          if not covey[verb] or (command.desc or '') == '' then table.insert(missing, verb) end
        end
        return missing
    """)
    assert missing == []
