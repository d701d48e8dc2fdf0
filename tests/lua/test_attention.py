"""Who waits for the person: what is counted, what is said, and where one key leads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from stage import Stage, session

if TYPE_CHECKING:
    from editor import Editor

ADA = session("ada", state="working", since="2026-01-02T03:00:00.000Z")
BOB = session("bob", state="blocked", since="2026-01-02T02:00:00.000Z")
CLU = session("clu", state="blocked", since="2026-01-02T01:00:00.000Z")
ATTACHED = """
    _G.went = {}
    package.loaded['covey.ui.attach'] = { open = function(s) table.insert(_G.went, s.name) end }
"""


@pytest.fixture
def stage(nvim: Editor) -> Stage:
    made = Stage(nvim)
    made.fleet(ADA, BOB, CLU)
    nvim.lua(ATTACHED)
    return made


def flags(nvim: Editor, name: str) -> list[str]:
    return nvim.lua("return require('covey').get(...).flags", name)


def watch(stage: Stage) -> None:
    """A preview of ada that shows her screen."""
    stage.frame(stage.preview(ADA), ["screen of ada"])
    stage.shows(["screen of ada"])


def finish(stage: Stage, **fields: Any) -> None:
    stage.emit("State", ADA | {"state": "idle", "since": "2026-01-02T04:00:00.000Z"} | fields)


def test_who_finished_while_nobody_looked_is_unseen_until_shown(stage: Stage, nvim: Editor) -> None:
    finish(stage)
    assert flags(nvim, "ada") == ["unseen"]
    assert nvim.lua("return require('covey').counts().unseen") == 1
    assert nvim.lua("return require('covey').statusline()") == "covey 2 blocked 1 unseen"
    watch(stage)
    nvim.wait(lambda: flags(nvim, "ada") == [])
    assert nvim.lua("return require('covey').statusline()") == "covey 2 blocked"


def test_the_board_shows_it_and_looking_at_the_row_is_seeing(stage: Stage, nvim: Editor) -> None:
    stage.fleet(ADA)
    finish(stage)
    nvim.lua("require('covey.ui.board').open({})")
    nvim.wait(lambda: len(stage.asked("preview")) == 1)
    stage.frame(stage.asked("preview")[0]["view"], ["screen of ada"])
    nvim.wait(lambda: flags(nvim, "ada") == [])


def test_who_finishes_on_screen_is_seen(stage: Stage, nvim: Editor) -> None:
    watch(stage)
    finish(stage)
    assert flags(nvim, "ada") == []


def test_who_finishes_on_another_tab_page_or_without_focus_is_not(stage: Stage, nvim: Editor) -> None:
    watch(stage)
    nvim.cmd("tabnew")
    finish(stage)
    assert flags(nvim, "ada") == ["unseen"]
    nvim.cmd("tabprevious")
    nvim.wait(lambda: flags(nvim, "ada") == [])
    stage.emit("State", ADA)
    nvim.cmd("doautocmd FocusLost")
    finish(stage)
    assert flags(nvim, "ada") == ["unseen"]
    nvim.cmd("doautocmd FocusGained")
    assert flags(nvim, "ada") == []


def test_who_only_gets_ready_did_not_finish(stage: Stage, nvim: Editor) -> None:
    for before in ("starting", "lost", "unknown"):
        stage.emit("State", ADA | {"state": before})
        stage.emit("State", ADA | {"state": "idle"})
        assert flags(nvim, "ada") == []


def test_it_is_known_over_a_snapshot_and_forgotten_with_work(stage: Stage, nvim: Editor) -> None:
    finish(stage)
    stage.fleet(ADA | {"state": "idle"})
    assert flags(nvim, "ada") == ["unseen"]
    stage.fleet(ADA)
    assert flags(nvim, "ada") == []
    stage.fleet(ADA | {"state": "idle"})
    assert flags(nvim, "ada") == ["unseen"]
    stage.emit("Gone", {"id": ADA["id"], "name": "ada", "reason": "killed"})
    stage.emit("Opened", ADA | {"state": "idle"})
    assert flags(nvim, "ada") == []


def test_attention_goes_to_the_longest_waiting_and_on(stage: Stage, nvim: Editor) -> None:
    finish(stage)
    for _ in range(4):
        nvim.cmd("Covey attention")
    assert nvim.lua("return _G.went") == ["clu", "bob", "ada", "clu"]
    nvim.cmd("call setline(1, ['', '', ''])")
    nvim.cmd("2Covey attention")
    assert nvim.lua("return _G.went[5]") == "ada"


def test_attention_with_a_bang_looks_only(stage: Stage, nvim: Editor) -> None:
    nvim.cmd("Covey! attention")
    nvim.wait(lambda: [asked["name"] for asked in stage.asked("preview")] == [CLU["id"]])
    assert nvim.eval("&filetype") == "covey-preview"
    assert nvim.lua("return _G.went") == []


def test_nobody_waits(stage: Stage, nvim: Editor) -> None:
    stage.fleet(ADA)
    nvim.cmd("Covey attention")
    nvim.wait(lambda: "nobody waits for you" in nvim.messages())
    assert nvim.lua("return _G.went") == []


def test_waiting_is_a_list_for_other_lua(stage: Stage, nvim: Editor) -> None:
    names = "return vim.tbl_map(function(s) return s.name end, require('covey.attention').waiting())"
    assert nvim.lua(names) == ["clu", "bob"]


HEARD = """
    vim.defer_fn = vim.schedule -- a moment is over as soon as the editor has nothing else to do
    _G.heard = {}
    vim.notify = function(message) table.insert(_G.heard, message) end
"""


def heard(nvim: Editor) -> list[str]:
    nvim.lua("vim.wait(20)")
    return nvim.lua("local said = _G.heard; _G.heard = {}; return said")


def ask(stage: Stage, **fields: Any) -> None:
    stage.emit("State", ADA | {"state": "blocked"} | fields)


def test_a_question_is_told_once_without_any_option(stage: Stage, nvim: Editor) -> None:
    nvim.lua(HEARD)
    ask(stage)
    ask(stage, evidence={"excerpt": "another line of it"})
    assert heard(nvim) == ["covey: ada is blocked and waits for you"]
    stage.emit("State", ADA)
    ask(stage)
    assert heard(nvim) == ["covey: ada is blocked and waits for you"]
    finish(stage)
    assert heard(nvim) == []


@pytest.mark.parametrize("notify", ["events = {}", "events = { 'exited' }", "level = 'off'"])
def test_a_question_is_told_only_to_who_wants_to_know(stage: Stage, nvim: Editor, notify: str) -> None:
    nvim.lua(HEARD)
    nvim.lua(f"require('covey').setup({{ notify = {{ {notify} }} }})")
    ask(stage)
    assert heard(nvim) == []


def test_a_question_that_is_on_screen_or_muted_is_not_told(stage: Stage, nvim: Editor) -> None:
    nvim.lua(HEARD)
    watch(stage)
    ask(stage)
    assert heard(nvim) == []
    nvim.cmd("tabnew")
    stage.emit("State", ADA)
    ask(stage)
    assert heard(nvim) == ["covey: ada is blocked and waits for you"]
    stage.emit("State", ADA)
    nvim.cmd("Covey mute ada")
    ask(stage)
    assert heard(nvim) == []


def test_nothing_is_said_of_what_is_on_screen_or_muted(stage: Stage, nvim: Editor) -> None:
    nvim.lua(HEARD)
    nvim.lua("require('covey').setup({ notify = { events = { 'idle' } } })")
    finish(stage)
    assert heard(nvim) == ["covey: ada is idle"]
    stage.emit("State", ADA)
    nvim.cmd("Covey mute ada")
    assert flags(nvim, "ada") == ["muted"]
    finish(stage)
    assert heard(nvim) == []
    stage.emit("State", ADA)
    nvim.cmd("Covey! mute ada")
    watch(stage)
    finish(stage)
    assert heard(nvim) == []


def test_a_start_is_not_told_as_done(stage: Stage, nvim: Editor) -> None:
    nvim.lua(HEARD)
    nvim.lua("require('covey').setup({ notify = { events = { 'idle' } } })")
    stage.emit("State", ADA | {"state": "starting"})
    stage.emit("State", ADA | {"state": "idle"})
    assert heard(nvim) == []


def test_the_session_of_the_self_test_is_no_news(stage: Stage, nvim: Editor) -> None:
    nvim.lua(HEARD)
    for name in ("selftest be5609", "selftest be5609 of mine"):
        stage.emit("Exited", session(name, state="exited", exit={"code": 1}))
    assert heard(nvim) == ["covey: selftest be5609 of mine exited (1)"]


def test_what_happens_to_many_at_one_moment_is_one_notice(stage: Stage, nvim: Editor) -> None:
    nvim.lua(HEARD)
    crew = [session(name, state="working") for name in ("ada", "bob", "clu", "dan", "eve")]
    stage.fleet(*crew)
    lost = [each | {"state": "lost"} for each in crew]
    nvim.lua("for _, session in ipairs(...) do stage.emit('Lost', session) end", lost)
    assert heard(nvim) == ["covey: ada, bob, clu and 2 more are lost; :Covey restore"]
    asked = [each | {"state": "blocked"} for each in crew[:2]]
    ended = [each | {"state": "exited", "exit": {"code": code}} for each, code in zip(crew[2:4], (0, 3), strict=True)]
    nvim.lua(
        "local asked, ended = ... for i, each in ipairs(asked) do"
        " stage.emit('State', each) stage.emit('Exited', ended[i]) end",
        asked,
        ended,
    )
    assert heard(nvim) == [
        "covey: ada, bob are blocked and wait for you",
        "covey: clu exited (0)",
        "covey: dan exited (3)",
    ]
    stage.emit("Lost", lost[4])
    assert heard(nvim) == ["covey: eve is lost; :Covey restore"]
