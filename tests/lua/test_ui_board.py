"""The board: who needs you, what they say, and a key for everything."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from stage import Stage, session

if TYPE_CHECKING:
    from editor import Editor
    from world import World

ALPHA = session("alpha", state="working", last_line="running tests")
BETA = session("beta", state="blocked", evidence={"excerpt": "Do you want to proceed?"}, queued=2)
GAMMA = session("gamma", state="exited", exit={"code": 3, "signal": None}, flags=["unseen"], keep=True)
DELTA = session("delta", state="idle", cwd="/tmp/delta")
OVER = session("omega", state="exited", exit={"code": 0, "signal": None})
ORDER = ["beta", "gamma", "omega", "delta", "alpha"]


@pytest.fixture
def stage(nvim: Editor) -> Stage:
    made = Stage(nvim)
    made.fleet(ALPHA, BETA, GAMMA, DELTA, OVER)
    return made


def open_board(nvim: Editor) -> None:
    nvim.lua("require('covey.ui.board').open({})")
    nvim.wait("vim.bo.filetype == 'covey-board'")


def rows(nvim: Editor) -> list[str]:
    return nvim.lua(
        "for _, buf in ipairs(vim.api.nvim_list_bufs()) do"
        " if vim.bo[buf].filetype == 'covey-board' then return vim.api.nvim_buf_get_lines(buf, 0, -1, false) end end"
    )


def names(nvim: Editor) -> list[str]:
    return [row.split()[0] for row in rows(nvim)]


def test_who_needs_you_comes_first(stage: Stage, nvim: Editor) -> None:
    nvim.cmd("set columns=160")
    open_board(nvim)
    assert names(nvim) == ORDER
    assert "2 exited" in nvim.screen()
    assert " Ku " in rows(nvim)[1]  # kept, and not looked at
    assert "Do you want to proceed?" in rows(nvim)[0]
    assert "+2" in rows(nvim)[0]
    assert "exited (3)" in rows(nvim)[1]
    assert "K" in rows(nvim)[1]
    assert "running tests" in rows(nvim)[4]


@pytest.mark.parametrize("columns", [40, 60, 80, 100, 109, 110, 120, 200, 300])
def test_rows_fit_at_every_width(stage: Stage, nvim: Editor, columns: int) -> None:
    nvim.cmd(f"set columns={columns}")
    open_board(nvim)
    width = nvim.eval("winwidth(0)")
    for row in rows(nvim):
        assert nvim.lua("return vim.api.nvim_strwidth(...)", row.rstrip()) <= width, row
    assert names(nvim) == ORDER
    if columns >= 60:
        assert all(state in "\n".join(rows(nvim)) for state in ("working", "blocked", "exited (3)", "idle"))


def test_it_follows_the_fleet_and_the_cursor_stays_on_its_session(stage: Stage, nvim: Editor) -> None:
    open_board(nvim)
    nvim.keys("3G")
    nvim.wait(lambda: nvim.eval("line('.')") == 3)
    stage.emit("State", ALPHA | {"state": "blocked"})
    nvim.wait(lambda: names(nvim) == ["alpha", "beta", "gamma", "omega", "delta"])
    assert nvim.eval("line('.')") == 4
    stage.emit("Gone", {"id": DELTA["id"], "name": "delta", "reason": "killed"})
    nvim.wait(lambda: names(nvim) == ["alpha", "beta", "gamma", "omega"])


def under_cursor(nvim: Editor) -> str:
    return nvim.eval("getline('.')").split()[0]


def test_the_cursor_comes_back_to_its_session_after_a_fold_or_a_filter(
    stage: Stage, nvim: Editor, world: World
) -> None:
    one = world.home / "one"
    (one / ".git").mkdir(parents=True)
    stage.fleet(*({**each, "cwd": str(one)} for each in (ALPHA, BETA | {"state": "idle"}, GAMMA)), DELTA | {"cwd": "/"})
    open_board(nvim)
    nvim.keys("gp/<C-u>zzz<CR><Esc>")
    nvim.keys("/<C-u><CR>3G")
    nvim.wait(lambda: under_cursor(nvim) == "beta")
    nvim.keys("za")
    nvim.wait(lambda: rows(nvim) == ["▸ ~/one  3", "▾ /  1", rows(nvim)[2]] and nvim.eval("line('.')") == 1)
    stage.emit("State", DELTA | {"cwd": "/", "state": "blocked"})
    nvim.wait(lambda: rows(nvim)[0] == "▾ /  1" and rows(nvim)[2] == "▸ ~/one  3")
    assert nvim.eval("line('.')") == 3
    nvim.keys("za")
    nvim.wait(lambda: under_cursor(nvim) == "beta")
    nvim.keys("gp/delta<CR>")
    nvim.wait(lambda: under_cursor(nvim) == "delta" and len(rows(nvim)) == 1)
    nvim.keys("<Esc>")
    nvim.wait(lambda: len(rows(nvim)) == 4 and under_cursor(nvim) == "beta")


def test_a_session_that_is_looked_at_stays_where_it_was_found(stage: Stage, nvim: Editor) -> None:
    """Else who goes down the rows loses the next one each time."""
    later = session("later", state="idle", flags=[])
    stage.fleet(ALPHA | {"state": "working"}, DELTA, later | {"state": "working"}, BETA)
    stage.emit("State", later)
    open_board(nvim)
    assert names(nvim) == ["beta", "later", "delta", "alpha"]
    nvim.keys("j")
    nvim.wait(lambda: [ask["name"] for ask in stage.asked("preview")][1:] == [later["id"]])
    stage.frame(stage.asked("preview")[-1]["view"], ["screen of later"])
    nvim.wait(lambda: nvim.lua("return require('covey').get('later').flags") == [])
    stage.emit("State", ALPHA | {"last_line": "still running"})
    nvim.wait(lambda: "still running" in rows(nvim)[3])
    assert names(nvim) == ["beta", "later", "delta", "alpha"]
    nvim.keys("j")
    nvim.wait(lambda: under_cursor(nvim) == "delta")
    stage.emit("State", ALPHA)
    nvim.wait(lambda: names(nvim) == ["beta", "delta", "later", "alpha"] and under_cursor(nvim) == "delta")


def test_the_cursor_is_on_the_first_session_until_the_person_has_moved_it(stage: Stage, nvim: Editor) -> None:
    """A fresh editor hears of its sessions one by one, and then of how they are."""
    stage.fleet()
    open_board(nvim)
    stage.emit("State", ALPHA)
    nvim.wait(lambda: names(nvim) == ["alpha"])
    stage.fleet(ALPHA, BETA, GAMMA, DELTA, OVER)
    nvim.wait(lambda: names(nvim) == ORDER and nvim.eval("line('.')") == 1)
    nvim.keys("m")
    nvim.wait(lambda: nvim.lua("return require('covey.attention').muted(...)", BETA["id"]))
    stage.emit("State", ALPHA | {"state": "blocked"})
    nvim.wait(lambda: names(nvim)[:2] == ["alpha", "beta"] and under_cursor(nvim) == "beta")


def test_settled_work_comes_last(stage: Stage, nvim: Editor) -> None:
    stage.fleet(ALPHA, DELTA | {"settled": True}, GAMMA | {"settled": True, "keep": False, "flags": []})
    open_board(nvim)
    assert names(nvim) == ["alpha", "delta", "gamma"]
    assert " S " in rows(nvim)[1]


def test_the_preview_beside_it_follows_the_cursor(stage: Stage, nvim: Editor) -> None:
    open_board(nvim)
    nvim.wait(lambda: [ask["name"] for ask in stage.asked("preview")] == [BETA["id"]])
    stage.frame(stage.asked("preview")[0]["view"], ["screen of beta"])
    nvim.wait(lambda: "screen of beta" in nvim.screen())
    nvim.keys("j")
    nvim.wait(lambda: [ask["name"] for ask in stage.asked("preview")][1:] == [GAMMA["id"]])
    stage.frame(stage.asked("preview")[1]["view"], ["screen of gamma"])
    nvim.wait(lambda: "screen of gamma" in nvim.screen())
    assert nvim.eval("&filetype") == "covey-board"
    nvim.keys("q")
    nvim.wait(lambda: len(stage.asked("unpreview")) == 2)
    nvim.wait(lambda: len(nvim.vim.windows) == 1)


def test_the_preview_goes_where_there_is_no_room_and_comes_back(stage: Stage, nvim: Editor) -> None:
    open_board(nvim)
    nvim.wait(lambda: len(stage.asked("preview")) == 1)
    assert nvim.cmd("set columns=60") == ""
    nvim.wait(lambda: len(stage.asked("unpreview")) == 1)
    nvim.wait(lambda: nvim.eval("winwidth(0)") == 58)
    nvim.cmd("set columns=140")
    nvim.wait(lambda: len(stage.asked("preview")) == 2)
    assert nvim.messages() == ""


@pytest.mark.parametrize(("columns", "shown"), [(57, ""), (60, " name     agent   state")])
def test_there_are_headings_where_the_board_is_wide_enough(
    stage: Stage, nvim: Editor, columns: int, shown: str
) -> None:
    nvim.cmd(f"set columns={columns}")
    open_board(nvim)
    assert nvim.eval("&l:winbar").startswith(shown)
    assert (nvim.eval("&l:winbar") == "") == (shown == "")


def test_headings_stand_above_their_columns_and_cost_a_low_board_nothing(stage: Stage, nvim: Editor) -> None:
    nvim.cmd("set columns=250")
    open_board(nvim)
    heading, row = nvim.eval("&l:winbar"), rows(nvim)[0]
    assert (heading.index("agent"), heading.index("state")) == (row.index("standin"), row.index("blocked"))
    assert heading.index("last line") == row.index("Do you want")
    assert heading.index("directory") == row.index("/tmp")
    nvim.cmd("set lines=5")
    nvim.wait(lambda: nvim.eval("&l:winbar") == "")
    assert nvim.messages() == ""


def test_below_stands_what_it_wants_and_the_directory_that_no_column_shows(stage: Stage, nvim: Editor) -> None:
    open_board(nvim)
    nvim.wait(lambda: " /tmp · a answers · g? help " in nvim.screen())
    nvim.keys("2G")
    nvim.wait(lambda: " /tmp · R respawns · g? help " in nvim.screen())
    nvim.keys("4G")
    nvim.wait(lambda: " /tmp/delta · g? help " in nvim.screen())
    nvim.cmd("set columns=250")
    nvim.wait(lambda: "╰ g? help " in nvim.screen())


@pytest.mark.parametrize(
    ("keys", "answer", "word"),
    [
        ("S", ("settle", {"name": "beta"}), "beta is settled"),
        ("K", ("keep", {"name": "beta"}), "beta is kept"),
        ("I", ("interrupt", {"name": "beta", "keys": ["C-c"], "state": "idle"}), "pressed C-c in beta, which was idle"),
        ("a", ("answer", {"name": "beta", "question": "", "options": ["x"], "chosen": "Yes"}), "answered beta: Yes"),
        ("rzoe<CR>", ("rename", {"name": "zoe", "agent": "standin"}), "renamed to zoe"),
        ("R", ("respawn", {"name": "beta", "agent": "standin"}), "respawned beta"),
        ("A", ("adopt", {"name": "beta", "agent": "standin"}), "adopted beta"),
        ("m", ("", {}), "beta is muted"),
    ],
)
def test_what_was_done_is_said_in_a_quiet_word(
    stage: Stage, nvim: Editor, keys: str, answer: tuple[str, Any], word: str
) -> None:
    nvim.lua("vim.notify = function(message) error(message) end")
    nvim.lua("vim.ui.select = function(items, _, cb) cb(items[1], 1) end")
    stage.answer(*answer)
    open_board(nvim)
    nvim.keys(keys)
    nvim.wait(lambda: word in nvim.messages())
    assert nvim.eval("&filetype") == "covey-board"


def test_without_changed_files_the_board_stays_and_says_so(stage: Stage, nvim: Editor) -> None:
    open_board(nvim)
    nvim.keys("c")
    nvim.wait(lambda: "no file changed since the last prompt" in nvim.messages())
    assert nvim.eval("&filetype") == "covey-board"
    nvim.lua("require('covey.changes').find = function(_, done) done({ '/tmp/x' }) end")
    nvim.keys("c")
    nvim.wait(lambda: nvim.eval("&filetype") == "qf" and stage.floats() == 0)
    assert "1 file changed" in nvim.messages()


@pytest.mark.parametrize(
    ("keys", "method", "params"),
    [
        ("R", "respawn", {}),
        ("K", "keep", {"on": True}),
        ("S", "settle", {"on": True}),
        ("I", "interrupt", {}),
        ("r<C-u>new name<CR>", "rename", {"new": "new name"}),
        ("a", "answer", {}),
    ],
)
def test_keys_act_on_the_session_under_the_cursor(
    stage: Stage, nvim: Editor, keys: str, method: str, params: dict[str, Any]
) -> None:
    open_board(nvim)
    nvim.keys(keys)
    nvim.wait(lambda: len(stage.asked(method)) == 1)
    asked = stage.asked(method)[0]
    asked.pop("environ", None)
    assert asked == {"name": BETA["id"]} | params


@pytest.mark.parametrize(("key", "verb", "field"), [("K", "keep", "keep"), ("S", "settle", "settled")])
def test_what_was_decided_already_is_taken_back(stage: Stage, nvim: Editor, key: str, verb: str, field: str) -> None:
    stage.fleet(BETA | {field: True})
    open_board(nvim)
    nvim.keys(key)
    nvim.wait(lambda: [each["on"] for each in stage.asked(verb)] == [False])


def test_kill_asks_first(stage: Stage, nvim: Editor) -> None:
    """In a headless editor the question answers itself, with no."""
    open_board(nvim)
    nvim.keys("xI")
    nvim.wait(lambda: len(stage.asked("interrupt")) == 1)
    assert stage.asked("kill") == []


def test_attach_and_prompt_leave_the_board(stage: Stage, nvim: Editor) -> None:
    stage.answer("attach", {"argv": ["sh", "-c", "echo ready; cat"], "env": {}})
    open_board(nvim)
    nvim.keys("<CR>")
    nvim.wait(lambda: "ready" in nvim.screen() and nvim.eval("&filetype") == "covey-attach")
    nvim.keys("<C-\\><C-n>q")
    nvim.wait(lambda: len(nvim.vim.windows) == 1)
    open_board(nvim)
    nvim.keys("s")
    nvim.wait(lambda: nvim.eval("bufname()") == f"covey://prompt/{BETA['id']}/beta")


def test_filter(stage: Stage, nvim: Editor) -> None:
    open_board(nvim)
    nvim.keys("/stand exited<CR>")
    nvim.wait(lambda: names(nvim) == ["gamma", "omega"])
    assert "filter: stand exited · <Esc> clears it" in nvim.screen()
    nvim.keys("/<C-u>zzz<CR>")
    nvim.wait(lambda: "nothing matches" in nvim.screen())
    nvim.keys("<Esc>")
    nvim.wait(lambda: names(nvim) == ORDER)
    assert "filter:" not in nvim.screen()
    nvim.lua("require('covey').board({ filter = 'gam' })")
    nvim.wait(lambda: names(nvim) == ["gamma"])


def test_help_lists_every_key(stage: Stage, nvim: Editor) -> None:
    open_board(nvim)
    nvim.keys("g?")
    nvim.wait("vim.bo.filetype == 'covey-help'")
    text = "\n".join(nvim.lua("return vim.api.nvim_buf_get_lines(0, 0, -1, false)"))
    chosen = nvim.lua("return require('covey.config').get().keys.board")
    assert all(f" {key} " in text for key in chosen.values())
    assert all(mark in text for mark in ("2 prompts wait", "K kept", "S settled", "u unseen", "m muted"))


@pytest.mark.parametrize("lines", [24, 30])
def test_help_that_does_not_fit_says_so_and_scrolls(stage: Stage, nvim: Editor, lines: int) -> None:
    nvim.cmd(f"set lines={lines}")
    open_board(nvim)
    nvim.keys("g?")
    nvim.wait(lambda: " more below: <C-d> " in nvim.screen())
    below = int(nvim.screen().split(" more below")[0].split()[-1].strip("─"))
    assert below == nvim.eval("line('$') - line('w$')") > 0
    nvim.keys("<C-d>")
    nvim.wait(lambda: "more below" not in nvim.screen() or f" {below} more" not in nvim.screen())
    assert nvim.eval("line('w0')") > 1
    nvim.cmd("set lines=60")
    nvim.wait(lambda: "more below" not in nvim.screen())


def test_opened_twice_is_one_board(stage: Stage, nvim: Editor) -> None:
    open_board(nvim)
    there = nvim.eval("win_getid()")
    nvim.cmd("wincmd p")
    open_board(nvim)
    assert nvim.eval("win_getid()") == there


def test_an_empty_fleet_says_what_to_do(nvim: Editor) -> None:
    stage = Stage(nvim)
    open_board(nvim)
    assert "connecting" in nvim.screen()
    stage.fleet()
    nvim.wait(lambda: ":Covey open starts one" in nvim.screen())
    nvim.keys("RxKSIa<CR>")
    nvim.lua("vim.wait(20)")
    assert nvim.messages() == ""


def test_V07_names_of_any_script_keep_the_columns(nvim: Editor) -> None:
    stage = Stage(nvim)
    stage.fleet(session("가나다 👩‍💻", state="idle"), session("plain", state="idle"))
    open_board(nvim)
    columns = {nvim.lua("return vim.api.nvim_strwidth(...)", row.split("standin")[0]) for row in rows(nvim)}
    assert len(columns) == 1


@pytest.mark.parametrize("how", ["q", "qa", "wqa", "only | q", "%bdelete! | q"])
def test_X02_the_board_never_stops_the_editor_from_leaving(stage: Stage, nvim: Editor, how: str) -> None:
    open_board(nvim)
    nvim.cmd("wincmd p")
    assert nvim.quit(how) == 0
    assert "Error" not in nvim.stderr()


@pytest.mark.parametrize("how", ["fclose!", "only", "tabnew | tabonly", "%bdelete!"])
def test_V03_the_board_closes_cleanly(stage: Stage, nvim: Editor, how: str) -> None:
    open_board(nvim)
    nvim.wait(lambda: len(stage.asked("preview")) == 1)
    nvim.cmd("wincmd p | vnew")
    nvim.cmd(how)
    nvim.cmd("silent! fclose!")
    nvim.wait(lambda: len(stage.asked("unpreview")) == 1)
    stage.emit("State", ALPHA | {"state": "idle"})
    nvim.lua("vim.wait(20)")
    assert nvim.messages() == ""
    open_board(nvim)
    assert len(rows(nvim)) == 5


def test_costs_are_asked_for_only_while_they_are_shown(stage: Stage, nvim: Editor) -> None:
    stage.answer("stats", {ALPHA["id"]: {"cpu": 3.5, "rss": 200 * 1024 * 1024, "count": 3}})
    open_board(nvim)
    assert stage.asked("stats") == []
    nvim.keys("C")
    nvim.wait(lambda: "200M" in rows(nvim)[4])
    assert "200M" not in rows(nvim)[0]
    nvim.keys("C")
    nvim.wait(lambda: "200M" not in rows(nvim)[4])
    nvim.keys("C")
    nvim.wait(lambda: "200M" in rows(nvim)[4])
    if not nvim.eval("has('nvim-0.11')"):
        return  # `vim.uv.walk` aborts that Neovim
    active = "(function() local n = 0; vim.uv.walk(function(h) n = n + (h:is_active() and 1 or 0) end); return n end)()"
    assert nvim.lua(f"return {active}") >= 2
    nvim.keys("q")
    nvim.wait(f"{active} == 0")


@pytest.mark.parametrize(("cpu", "text"), [(0.0, "0%"), (0.1, "5%"), (2.0, "100%"), (8.0, "400%")])
def test_cpu_is_what_was_used_between_two_looks(stage: Stage, nvim: Editor, cpu: float, text: str) -> None:
    """At the speed of a test two seconds are a moment: the clock is ours."""
    nvim.lua("clock = 0; vim.uv.hrtime = function() return clock end")
    stage.answer("stats", {ALPHA["id"]: {"cpu": 1.0, "rss": 2048, "count": 1}})
    shown = f"costs:of({{ id = '{ALPHA['id']}', state = 'working' }})"
    start = "costs = require('covey.ui.costs').start(function() end)"
    assert nvim.lua(f"{start} return {shown}") == "   …     …"
    nvim.wait(f"{shown} == '   …    2K'")
    stage.answer("stats", {ALPHA["id"]: {"cpu": 1.0 + cpu, "rss": 2048, "count": 1}})
    nvim.lua("clock = 2e9")
    nvim.wait(f"vim.startswith(vim.trim({shown}), '{text}')")
    nvim.lua("costs:stop()")


def test_projects_can_be_folded(stage: Stage, nvim: Editor, world: World) -> None:
    one, two = world.home / "one", world.home / "two"
    (one / ".git").mkdir(parents=True)
    (one / "below").mkdir()
    two.mkdir()
    (world.home / "tree").mkdir()
    (world.home / "tree" / ".git").write_text(f"gitdir: {one}/.git/worktrees/tree\n")
    stage.fleet(
        ALPHA | {"cwd": str(one / "below")},
        BETA | {"cwd": str(two)},
        GAMMA | {"cwd": str(world.home / "tree")},
        DELTA | {"cwd": "/"},
    )
    open_board(nvim)
    nvim.keys("gp")
    heads = ["▾ ~/two  1", "▾ ~/one  2", "▾ /  1"]
    nvim.wait(lambda: [row for row in rows(nvim) if row.startswith("▾")] == heads)
    assert [row.split()[0] for row in rows(nvim)] == ["▾", "beta", "▾", "gamma", "alpha", "▾", "delta"]
    nvim.keys("ggzaR")
    nvim.wait(lambda: rows(nvim)[0] == "▸ ~/two  1" and rows(nvim)[1] == "▾ ~/one  2")
    nvim.keys("4Gza")
    nvim.wait(lambda: rows(nvim)[1] == "▸ ~/one  2" and nvim.eval("line('.')") == 2)
    nvim.keys("zagp")
    nvim.wait(lambda: names(nvim) == ["beta", "gamma", "delta", "alpha"])
    assert stage.asked("respawn") == []


@pytest.mark.parametrize(
    ("keys", "asked", "shown"),
    [
        ("e", ("explain", {"state": "blocked", "rule": "menu", "excerpt": "Proceed?"}), "Proceed?"),
        ("L", ("log", [{"at": "2026", "kind": "opened", "data": {}}]), "opened"),
        ("Q", ("queue", [{"act": "x1", "outcome": "held", "reason": "busy", "text": "do it"}]), "do it"),
    ],
)
def test_answers_are_sheets(stage: Stage, nvim: Editor, keys: str, asked: tuple[str, Any], shown: str) -> None:
    stage.answer(*asked)
    open_board(nvim)
    nvim.keys(keys)
    nvim.wait(lambda: nvim.eval("&filetype") == "covey-help" and shown in nvim.screen())
    assert stage.asked(asked[0]) == [{"name": BETA["id"]}]
    nvim.keys("q")
    nvim.wait(lambda: nvim.eval("&filetype") == "covey-board")


SHEETS = """
    return #vim.tbl_filter(function(win)
      return vim.bo[vim.api.nvim_win_get_buf(win)].filetype == "covey-help"
    end, vim.api.nvim_list_wins())
"""


@pytest.mark.parametrize("does", ["<C-w>p", ":Covey settle beta<CR>", "<Cmd>tabnew<CR>"])
def test_a_sheet_goes_with_whatever_is_done_next(stage: Stage, nvim: Editor, does: str) -> None:
    """What it says was so when it was asked for, and it would lie over what comes."""
    stage.answer("log", [{"at": "2026", "kind": "opened", "data": {}}])
    open_board(nvim)
    nvim.keys("L")
    nvim.wait(lambda: nvim.lua(SHEETS) == 1)
    nvim.keys(does)
    nvim.wait(lambda: nvim.lua(SHEETS) == 0)


def test_mute_and_open(stage: Stage, nvim: Editor) -> None:
    stage.answer("open", DELTA)
    open_board(nvim)
    nvim.keys("m")
    nvim.wait(lambda: "+2m" in rows(nvim)[0])
    nvim.keys("mo<C-u>codex<CR>")
    nvim.wait(lambda: "+2m" not in rows(nvim)[0])
    nvim.wait(lambda: [asked["agent"] for asked in stage.asked("open")] == ["codex"])


WAITS = {"act": "x1", "number": 5, "outcome": "held", "reason": "busy", "text": "do it"}


@pytest.mark.parametrize(
    ("keys", "verb", "params", "told"),
    [
        ("X", "cancel", {"act": "x1"}, "prompt 5 to beta cancelled"),
        ("E!<CR>", "edit", {"act": "x1", "text": "do it!"}, "prompt 5 to beta changed; held: busy"),
    ],
)
def test_a_prompt_that_waits_is_taken_back_or_written_anew(  # noqa: PLR0917  # a case has four values
    stage: Stage, nvim: Editor, keys: str, verb: str, params: dict[str, Any], told: str
) -> None:
    look = "_G.shown = { opts.kind, opts.format_item(items[1]) }"
    nvim.lua(f"vim.ui.select = function(items, opts, cb) {look} cb(items[1]) end")
    stage.answer("queue", [])
    open_board(nvim)
    nvim.keys(keys[0])
    nvim.wait(lambda: "nothing waits" in nvim.messages())
    assert stage.asked(verb) == []
    stage.answer("queue", [WAITS])
    became = {"outcome": "cancelled", "reason": ""} if verb == "cancel" else {"outcome": "held", "reason": "busy"}
    stage.answer(verb, {"id": "x1", "number": 5, "session": BETA["id"], **became})
    nvim.keys(keys[0])
    nvim.wait("_G.shown ~= nil")
    nvim.keys(keys[1:])
    nvim.wait(lambda: stage.asked(verb) == [params])
    assert nvim.lua("return _G.shown") == ["covey-waiting", "prompt 5  held  do it"]
    nvim.wait(lambda: f"covey: {told}" in nvim.messages())


@pytest.mark.parametrize(
    ("keys", "verb", "params"),
    [
        ("Otidy up<CR>", "run", {"prompt": "tidy up", "agent": "claude"}),
        ("Bhello<CR>", "broadcast", {"text": "hello"}),
    ],
)
def test_what_is_meant_for_no_single_session_is_asked_for(
    stage: Stage, nvim: Editor, keys: str, verb: str, params: dict[str, Any]
) -> None:
    open_board(nvim)
    nvim.keys(keys[0] + "<CR>")
    nvim.keys(keys)
    nvim.wait(lambda: len(stage.asked(verb)) == 1)
    assert {name: stage.asked(verb)[0][name] for name in params} == params


@pytest.mark.parametrize(
    ("keys", "verb", "found", "nothing"),
    [
        ("gx", "reap", {"decisions": [{"name": "omega", "act": "end", "reason": "it exited"}]}, {"decisions": []}),
        ("gl", "restore", [{"name": "omega", "agent": "standin", "state": "lost"}], []),
    ],
)
def test_a_sweep_is_shown_before_it_is_done(  # noqa: PLR0917  # a case has four values
    stage: Stage, nvim: Editor, keys: str, verb: str, found: Any, nothing: Any
) -> None:
    nvim.lua("answer = 2; vim.fn.confirm = function(text) _G.asked = text return answer end")
    stage.answer(verb, nothing)
    open_board(nvim)
    nvim.keys(keys)
    nvim.wait(lambda: "nothing to" in nvim.messages())
    stage.answer(verb, found)
    nvim.keys(keys)
    nvim.wait(lambda: "omega" in nvim.lua("return _G.asked or ''"))
    assert all(not asked.get("yes") for asked in stage.asked(verb))
    nvim.lua("answer = 1")
    nvim.keys(keys)
    nvim.wait(lambda: stage.asked(verb)[-1].get("yes") is True)


def test_a_helper_that_goes_leaves_the_rows_and_a_preview_that_says_so(stage: Stage, nvim: Editor) -> None:
    nvim.cmd("set columns=200")
    open_board(nvim)
    nvim.wait(lambda: len(stage.asked("preview")) == 1)
    stage.frame(stage.asked("preview")[0]["view"], ["screen of beta"])
    nvim.lua("require('covey.fleet').disconnect('the covey helper was ended by signal 9')")
    nvim.wait(lambda: "not connected: the covey helper was ended by signal 9" in nvim.screen())
    assert names(nvim) == ORDER
    stage.frame(stage.asked("preview")[0]["view"], ["screen of beta again"])
    nvim.wait(lambda: "not connected" not in nvim.screen() and "screen of beta again" in nvim.screen())


@pytest.mark.parametrize(
    ("excerpt", "shown"),
    [
        ("a hello?\n\n Do you want to proceed?\n> 1. Yes\n  2. No", "Do you want to proceed?"),
        ("\n  Choose one:\n  1. Yes", "Choose one:"),
        ("", "the last line"),
    ],
)
def test_a_blocked_row_says_what_is_asked(stage: Stage, nvim: Editor, excerpt: str, shown: str) -> None:
    nvim.cmd("set columns=90")
    stage.fleet(BETA | {"evidence": {"excerpt": excerpt}, "last_line": "the last line"})
    open_board(nvim)
    assert rows(nvim)[0].split("+2")[1].strip() == shown
