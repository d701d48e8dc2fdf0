"""Previews: a screen as it is, live and in colour."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from stage import Stage, session
from waiting import eventually

if TYPE_CHECKING:
    from editor import Editor

FIX = session("fix")
NUMBERED = [f"row {number}" for number in range(1, 40)]  # what an editor of 40 lines has room for


@pytest.fixture
def stage(nvim: Editor) -> Stage:
    made = Stage(nvim)
    made.fleet(FIX)
    return made


def test_a_frame_is_shown_and_the_next_replaces_it(stage: Stage) -> None:
    view = stage.preview(FIX)
    stage.frame(view, NUMBERED)
    stage.shows(NUMBERED)
    stage.frame(view, ["short", *[""] * 38])
    stage.shows(["short"])


def test_the_first_frame_is_painted_into_the_buffer_that_is_there(stage: Stage, nvim: Editor) -> None:
    nvim.cmd("let g:dressed = 0 | autocmd FileType covey-preview let g:dressed += 1")
    view = stage.preview(FIX)
    assert nvim.lua("return vim.b[view.float.buf].covey_session") == FIX["id"]
    stage.frame(view, NUMBERED)
    stage.shows(NUMBERED)
    assert nvim.eval("g:dressed") == 1


def test_where_no_window_may_be_opened_nothing_is_left_of_the_attempt(stage: Stage, nvim: Editor) -> None:
    attempt = "nnoremap <expr> X luaeval(\"tostring(pcall(require('covey.ui.preview').open, _A))\", g:fix)"
    nvim.lua("vim.g.fix = ...", FIX)
    nvim.cmd(attempt)
    nvim.keys("X")
    assert stage.floats() == 0
    view = stage.preview(FIX)
    stage.frame(view, NUMBERED)
    stage.shows(NUMBERED)


def test_dead_pane_keeps_its_screen_and_says_how_it_ended(stage: Stage, nvim: Editor) -> None:
    view = stage.preview(FIX)
    stage.frame(view, ["last words"], dead=True, exit={"code": 3})
    nvim.wait(lambda: "exited (3)" in nvim.screen() and "last words" in nvim.screen())


def test_a_lost_server_is_said(stage: Stage, nvim: Editor) -> None:
    view = stage.preview(FIX)
    stage.frame(view, ["as it was"])
    stage.emit("Lost", FIX | {"state": "lost"})
    nvim.wait(lambda: "tmux server was lost" in nvim.screen() and "as it was" in nvim.screen())


def test_a_frame_without_a_screen_says_why_it_stands_still(stage: Stage, nvim: Editor) -> None:
    view = stage.preview(FIX)
    stage.emit("Frame", {"view": view, "note": "too early", "dead": True})
    nvim.wait(lambda: "too early" in nvim.screen())
    stage.frame(view, ["as it was"])
    stage.emit("Frame", {"view": view, "note": "the server went away", "dead": True})
    nvim.wait(lambda: "the server went away" in nvim.screen() and "as it was" in nvim.screen())
    stage.frame(view, ["as it is"])
    nvim.wait(lambda: "the server went away" not in nvim.screen() and "as it is" in nvim.screen())


def test_frames_are_asked_for_again_after_the_server_or_the_helper_came_back(stage: Stage, nvim: Editor) -> None:
    view = stage.preview(FIX)
    stage.frame(view, ["one"])
    stage.emit("Lost", FIX | {"state": "lost"})
    stage.emit("State", FIX | {"state": "idle"})
    assert [ask["view"] for ask in stage.asked("preview")] == [view, view]
    nvim.lua("require('covey.fleet').disconnect('it died')")
    stage.emit("Changed", FIX | {"last_line": "the first word of a new helper"})
    assert [ask["view"] for ask in stage.asked("preview")] == [view] * 3
    stage.fleet(FIX)
    assert len(stage.asked("preview")) == 3


def test_a_session_that_is_gone_leaves_its_last_screen(stage: Stage, nvim: Editor) -> None:
    view = stage.preview(FIX)
    stage.frame(view, ["last screen"])
    stage.emit("Reaped", {"id": FIX["id"], "name": "fix", "reason": "settled and its editor left"})
    stage.frame(view, ["last screen"], note="no tmux server of covey is running", dead=True)
    nvim.wait(lambda: "settled and its editor left" in nvim.screen() and "last screen" in nvim.screen())
    nvim.wait(lambda: "fix · standin · gone" in nvim.screen())
    assert "no tmux server" not in nvim.screen()


def test_an_error_of_the_helper_is_said(stage: Stage, nvim: Editor) -> None:
    stage.fail("preview", "no session is called fix")
    stage.preview(FIX)
    nvim.wait(lambda: "no session is called fix" in nvim.screen())


def test_V04_full_last_line_keeps_its_end_and_colours_stop_at_theirs(stage: Stage, nvim: Editor) -> None:
    rows = ["\x1b[41mred", "still red\x1b[0m", *[f"{n:03d}" * 40 for n in range(3, 40)]]
    view = stage.preview(FIX)
    stage.frame(view, rows)
    stage.shows(["red", "still red", *rows[2:]])
    stage.frame(view, rows)
    stage.frame(view, [*rows[:-1], "x" * 120])
    eventually(lambda: stage.text()[-1:] == ["x" * 120], message=lambda: str(stage.text()[-2:]))
    assert len(stage.text()) == 39


def test_V07_wide_characters_do_not_push_rows_down(stage: Stage) -> None:
    rows = ["[가][😀][❤️][⚠️][✅][👩‍💻]", "│ next │", "가" * 60, "below"]
    stage.frame(stage.preview(FIX), rows)
    eventually(lambda: len(stage.text()) == 4, message=lambda: str(stage.text()))
    assert stage.text()[1] == "│ next │"
    assert stage.text()[3] == "below"
    stage.frame(stage.asked("preview")[0]["view"], ["가" * 70, "below"])
    eventually(lambda: stage.text()[1:] == ["below"], message=lambda: str(stage.text()))


def test_V09_output_is_inert(stage: Stage, nvim: Editor) -> None:
    rows = ["a\x1b]52;c;aGVsbG8=\x07b", "\x1b]2;evil #(id)\x1b\\c", "d\x1bPq#0\x1b\\e"]
    stage.frame(stage.preview(FIX), rows)
    stage.shows(["ab", "c", "de"])
    assert nvim.lua("return vim.b[view.float.buf].term_title") != "evil #(id)"


def test_line_drawing_is_drawn(stage: Stage) -> None:
    stage.frame(stage.preview(FIX), ["\x0elqqk\x0f end"])
    stage.shows(["┌──┐ end"])


def test_a_pane_larger_than_the_window_shows_its_bottom_and_keeps_its_lines_whole(stage: Stage, nvim: Editor) -> None:
    rows = [f"{number:03d}" * 40 for number in range(1, 36)]
    stage.frame(stage.preview(FIX), rows)
    stage.shows(rows)
    assert nvim.lua("return vim.api.nvim_win_get_width(view.float.win)") < 120
    eventually(lambda: "035035" in nvim.screen(), message=nvim.screen)
    assert "001001" not in nvim.screen()


def test_the_cursor_row_is_in_sight(stage: Stage) -> None:
    stage.frame(stage.preview(FIX), NUMBERED, cursor=(0, 4))
    eventually(lambda: stage.first_row() == "row 5", message=stage.first_row)


def test_what_is_in_use_is_shown_rather_than_the_blank_rows_below(stage: Stage, nvim: Editor) -> None:
    rows = ["said before", *["\x1b[2m│\x1b[0m"] * 3, "❯ ", "  \x1b[2mfooter\x1b[0m", *["\x1b[0m  "] * 34]
    stage.frame(stage.preview(FIX), rows, cursor=(2, 4))
    nvim.wait(lambda: "footer" in nvim.screen())
    assert stage.first_row() == "said before"


def test_a_pane_larger_than_the_editor_shows_its_bottom(stage: Stage, nvim: Editor) -> None:
    rows = ["\x1b[31mred from here", *[f"line {number}" for number in range(2, 101)]]
    stage.frame(stage.preview(FIX), rows, cols=300)
    eventually(lambda: "line 100" in nvim.screen(), message=nvim.screen)
    assert stage.text()[-1] == "line 100"
    assert stage.text()[0] in ("line 61", "line 62")  # 40 rows, or 39 from nvim 0.12 on


def test_the_cursor_row_of_a_pane_larger_than_the_editor_is_in_sight(stage: Stage, nvim: Editor) -> None:
    stage.frame(stage.preview(FIX), [f"line {number}" for number in range(1, 101)], cursor=(0, 6))
    eventually(lambda: stage.first_row() == "line 7", message=stage.first_row)


def test_V05_reading_back_keeps_its_place(stage: Stage, nvim: Editor) -> None:
    view = stage.preview(FIX, focus=True)
    stage.frame(view, NUMBERED)
    eventually(lambda: NUMBERED[-1] in nvim.screen(), message=nvim.screen)
    nvim.keys("gg")
    nvim.wait(lambda: nvim.eval("line('w0')") == 1)
    stage.frame(view, [*NUMBERED[:-1], "new"])
    eventually(lambda: "new" in stage.text(), message=lambda: str(stage.text()))
    nvim.wait(lambda: "reading" in nvim.screen())
    assert nvim.eval("line('w0')") == 1
    nvim.keys("G")
    stage.frame(view, [*NUMBERED[:-1], "newer"])
    nvim.wait(lambda: "newer" in nvim.screen())
    assert "reading" not in nvim.screen()


def test_an_unchanged_screen_is_not_painted_again(stage: Stage, nvim: Editor) -> None:
    view = stage.preview(FIX)
    stage.frame(view, NUMBERED)
    stage.shows(NUMBERED)
    nvim.lua(
        "painted = 0; local c = getmetatable(view.canvas).__index; local write = c.write;"
        "c.write = function(...) painted = painted + 1; return write(...) end"
    )
    for _ in range(5):
        stage.frame(view, NUMBERED)
    stage.frame(view, ["other"])
    stage.shows(["other"])
    assert nvim.lua("return painted") == 1


def test_frames_in_a_burst_are_painted_once(stage: Stage, nvim: Editor) -> None:
    view = stage.preview(FIX)
    stage.frame(view, NUMBERED)
    stage.shows(NUMBERED)
    nvim.lua(
        "painted = 0; local c = getmetatable(view.canvas).__index; local write = c.write;"
        "c.write = function(...) painted = painted + 1; return write(...) end"
    )
    nvim.lua(
        "for n = 1, 100 do stage.emit('Frame', { view = ..., ansi = 'frame ' .. n, cols = 120, rows = 1,"
        " cursor = { x = 0, y = 0, visible = true } }) end",
        view,
    )
    stage.shows(["frame 100"])
    assert nvim.lua("return painted") <= 2


def test_frames_wait_while_the_person_is_on_another_tab(stage: Stage, nvim: Editor) -> None:
    view = stage.preview(FIX)
    stage.frame(view, ["one"])
    stage.shows(["one"])
    nvim.cmd("tabnew")
    stage.frame(view, ["two"])
    nvim.lua("vim.wait(50)")
    assert stage.text() == ["one"]
    nvim.cmd("tabprevious")
    stage.shows(["two"])


def test_text_can_be_yanked(stage: Stage, nvim: Editor) -> None:
    stage.frame(stage.preview(FIX, focus=True), ["first", "second"])
    stage.shows(["first", "second"])
    nvim.keys("ggyy")
    nvim.wait(lambda: nvim.eval("trim(getreg('\"'))") == "first")


def test_history_and_back(stage: Stage, nvim: Editor) -> None:
    lines = [f"old {number}" for number in range(1, 901)]
    stage.answer("capture", {"lines": lines, "ansi": "\n".join(lines), "cols": 120, "rows": 40})
    view = stage.preview(FIX, focus=True)
    stage.frame(view, NUMBERED)
    stage.shows(NUMBERED)
    nvim.keys("gh")
    eventually(lambda: len(stage.text()) == 900, message=lambda: str(len(stage.text())))
    stage.frame(view, ["live"])
    nvim.wait(lambda: nvim.eval("line('.')") == 900)
    assert stage.asked("capture")[0] == {"name": FIX["id"], "ansi": True, "history": 1000}
    nvim.keys("q")
    stage.shows(["live"])


def test_gf_goes_to_the_file_and_line(stage: Stage, nvim: Editor, tmp_path) -> None:
    (tmp_path / "code.py").write_text("one\ntwo\nthree\n")
    here = session("here", cwd=str(tmp_path))
    stage.fleet(here)
    stage.frame(stage.preview(here, focus=True), ["see code.py:2:3 for it"])
    eventually(lambda: stage.text() != [], message="painted")
    nvim.keys("gg0fc")
    nvim.keys("gf")
    nvim.wait(lambda: nvim.eval("expand('%:t')") == "code.py")
    assert nvim.eval("getpos('.')[1:2]") == [2, 3]


@pytest.mark.parametrize("row", [1, 2, 3])
def test_V10_gf_reads_a_path_that_the_screen_broke(stage: Stage, nvim: Editor, tmp_path, row: int) -> None:
    file = tmp_path / "a-rather-long-name-of-a-file.py"
    file.write_text("text\n" * 30)
    here = session("here", cwd=str(tmp_path))
    stage.fleet(here)
    word = f"@{file.name}:27"
    rows = ["see it:", word[:14], word[14:28], word[28:]]
    stage.frame(stage.preview(here, focus=True), rows, cols=14)
    stage.shows(rows)
    nvim.cmd(f"call cursor({row} + 1, 2)")
    nvim.keys("gf")
    nvim.wait(lambda: nvim.eval("expand('%:t')") == file.name)
    assert nvim.eval("line('.')") == 27


def test_gf_on_a_row_that_only_looks_broken(stage: Stage, nvim: Editor, tmp_path) -> None:
    (tmp_path / "code.py").write_text("one\ntwo\n")
    here = session("here", cwd=str(tmp_path))
    stage.fleet(here)
    stage.frame(stage.preview(here, focus=True), ["fourteen-wide-", "code.py:2"], cols=14)
    stage.shows(["fourteen-wide-", "code.py:2"])
    nvim.cmd("call cursor(2, 2)")
    nvim.keys("gf")
    nvim.wait(lambda: nvim.eval("expand('%:t')") == "code.py" and nvim.eval("line('.')") == 2)
