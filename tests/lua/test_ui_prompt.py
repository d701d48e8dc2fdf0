"""The prompt buffer: what is written is kept until it has arrived."""

from __future__ import annotations

import signal
import stat
from typing import TYPE_CHECKING, Any

import pytest

from stage import Stage, session
from waiting import eventually

if TYPE_CHECKING:
    from pathlib import Path

    from editor import Editor
    from world import World

FIX = session("fix", cwd="/tmp")


@pytest.fixture
def stage(nvim: Editor) -> Stage:
    made = Stage(nvim)
    made.fleet(FIX)
    return made


def receipt(outcome: str, reason: str = "", act: str = "act-1") -> dict[str, Any]:
    return {
        "id": act,
        "session": FIX["id"],
        "name": "fix",
        "epoch": 1,
        "outcome": outcome,
        "reason": reason,
        "bytes": 1,
    }


def write(nvim: Editor, text: str, **opts: Any) -> None:
    nvim.lua("require('covey.ui.prompt').open(...)", FIX, opts)
    assert nvim.eval("bufname()") == f"covey://prompt/{FIX['id']}/fix"
    nvim.lua("vim.api.nvim_buf_set_lines(0, 0, -1, false, vim.split(..., '\\n'))", text)


def lines(nvim: Editor) -> list[str]:
    return nvim.eval(f"getbufline('covey://prompt/{FIX['id']}', 1, '$')")


def marks(nvim: Editor, group: str) -> list[str]:
    """The texts that a highlight group covers."""
    return nvim.lua(
        """
        local found = {}
        local space = vim.api.nvim_get_namespaces()['covey.prompt']
        for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(0, space, 0, -1, { details = true })) do
          if mark[4].hl_group == ... then
            table.insert(found, vim.api.nvim_buf_get_text(0, mark[2], mark[3], mark[4].end_row, mark[4].end_col, {})[1])
          end
        end
        return found
        """,
        group,
    )


def drafts(world: World) -> Path:
    return world.state / "nvim" / "covey" / "drafts"


def test_submit_sends_what_is_written_and_clears(stage: Stage, nvim: Editor) -> None:
    stage.answer("send", receipt("submitted"))
    write(nvim, "first\n\n  second {unknown} {}\t!")
    nvim.keys("<C-s>")
    nvim.wait(lambda: len(stage.asked("send")) == 1)
    sent = stage.asked("send")[0]
    assert (sent["name"], sent["text"], sent["submit"]) == (FIX["id"], "first\n\n  second {unknown} {}\t!", True)
    nvim.wait(lambda: lines(nvim) == [""])
    assert nvim.eval("&filetype") == "markdown"


def test_submit_works_while_inserting_and_by_plug(stage: Stage, nvim: Editor) -> None:
    stage.answer("send", receipt("submitted"))
    write(nvim, "")
    nvim.keys("hello<C-s>")
    nvim.wait(lambda: [sent["text"] for sent in stage.asked("send")] == ["hello"])
    nvim.keys("<Esc>")
    nvim.wait(lambda: lines(nvim) == [""])
    write(nvim, "again")
    nvim.cmd('execute "normal \\<Plug>(CoveyPromptSubmit)"')
    nvim.wait(lambda: len(stage.asked("send")) == 2)


def test_write_inserts_without_submitting(stage: Stage, nvim: Editor) -> None:
    stage.answer("send", receipt("pasted"))
    write(nvim, "text")
    nvim.cmd("write")
    nvim.wait(lambda: lines(nvim) == [""])
    assert stage.asked("send")[0]["submit"] is False


@pytest.mark.parametrize("outcome", ["refused", "held", "failed", "unconfirmed", "dropped"])
def test_what_did_not_arrive_stays_and_says_why(stage: Stage, nvim: Editor, outcome: str) -> None:
    stage.answer("send", receipt(outcome, "a dialog is shown"))
    write(nvim, "precious")
    nvim.keys("<C-s>")
    nvim.wait(lambda: f"{outcome}: a dialog is shown" in nvim.screen())
    assert lines(nvim) == ["precious"]


def test_an_error_keeps_the_text(stage: Stage, nvim: Editor) -> None:
    stage.fail("send", "the covey helper is gone")
    write(nvim, "precious")
    nvim.keys("<C-s>")
    nvim.wait(lambda: "failed: the covey helper is gone" in nvim.screen())
    assert lines(nvim) == ["precious"]


def test_held_text_sent_again_is_the_same_act_and_clears_when_it_arrives(stage: Stage, nvim: Editor) -> None:
    stage.answer("send", receipt("held", "starting"))
    write(nvim, "wait for it")
    nvim.keys("<C-s>")
    nvim.wait(lambda: "held: starting" in nvim.screen())
    nvim.keys("<C-s>")
    nvim.wait(lambda: len(stage.asked("send")) == 2)
    assert stage.asked("send")[1]["act"] == "act-1"
    nvim.wait(lambda: "held: starting" in nvim.screen())
    stage.emit("Receipt", receipt("submitted", act="another"))
    assert lines(nvim) == ["wait for it"]
    stage.emit("Receipt", receipt("submitted"))
    nvim.wait(lambda: lines(nvim) == [""])
    assert "held" not in nvim.screen()


def test_what_was_written_meanwhile_stays(stage: Stage, nvim: Editor) -> None:
    stage.answer("send", receipt("held", "starting"))
    write(nvim, "one")
    nvim.keys("<C-s>")
    nvim.wait(lambda: "held: starting" in nvim.screen())
    write(nvim, "one and more")
    stage.emit("Receipt", receipt("submitted"))
    nvim.wait(lambda: "held" not in nvim.screen())
    assert lines(nvim) == ["one and more"]


def test_nothing_is_not_sent(stage: Stage, nvim: Editor) -> None:
    write(nvim, " \n ")
    nvim.keys("<C-s>")
    nvim.wait(lambda: "nothing to send" in nvim.messages())
    assert stage.asked("send") == []


@pytest.mark.parametrize("how", ["wincmd p", "hide", "bwipeout!", "%bdelete!", "quit"])
def test_a_draft_is_on_disk_once_the_buffer_is_left(stage: Stage, nvim: Editor, world: World, how: str) -> None:
    write(nvim, "a draft\nof two lines")
    nvim.cmd(how)
    file = drafts(world) / f"{FIX['id']}.md"
    eventually(file.exists, message="the draft is saved")
    assert file.read_text() == "a draft\nof two lines"
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    undo = file.with_suffix(".undo")
    assert {path: stat.S_IMODE(path.stat().st_mode) for path in file.parent.iterdir()} == {file: 0o600, undo: 0o600}


@pytest.mark.parametrize("how", ["qa", "wqa", "xa", "q | q", "normal! ZZZZ"])
def test_it_never_stops_the_editor_and_is_there_again(stage: Stage, nvim: Editor, start_nvim, how: str) -> None:
    write(nvim, "for tomorrow")
    assert nvim.quit(how) == 0
    assert "Error" not in nvim.stderr()
    again = start_nvim()
    Stage(again).fleet(FIX)
    again.lua("require('covey.ui.prompt').open(...)", FIX, {})
    assert lines(again) == ["for tomorrow"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_draft_survives_an_editor_that_is_ended(stage: Stage, nvim: Editor, world: World, number: int) -> None:
    write(nvim, "for tomorrow")
    nvim.process.send_signal(number)
    nvim.gone()
    assert (drafts(world) / f"{FIX['id']}.md").read_text() == "for tomorrow"


def test_wall_and_wqall_send_nothing(stage: Stage, nvim: Editor) -> None:
    write(nvim, "not yet")
    nvim.cmd("wall")
    nvim.cmd("confirm wall")
    assert stage.asked("send") == []


def test_sent_texts_can_be_called_back(stage: Stage, nvim: Editor) -> None:
    stage.answer("send", receipt("submitted"))
    for text in ("one", "two\nlines"):
        write(nvim, text)
        nvim.keys("<C-s>")
        nvim.wait(lambda: lines(nvim) == [""])
    write(nvim, "draft")
    nvim.keys("<Esc>[h")
    nvim.wait(lambda: lines(nvim) == ["two", "lines"])
    nvim.keys("[h")
    nvim.wait(lambda: lines(nvim) == ["one"])
    nvim.keys("[h]h]h]h")
    nvim.wait(lambda: lines(nvim) == ["draft"])


def test_the_winbar_says_to_whom_and_how_much(stage: Stage, nvim: Editor) -> None:
    write(nvim, "héllo")
    nvim.wait(lambda: "fix · standin · idle · 6 bytes" in nvim.screen())
    stage.emit("Renamed", FIX | {"name": "100% new", "state": "working"})
    nvim.wait(lambda: "100% new · standin · working · 6 bytes" in nvim.screen())


@pytest.mark.parametrize(
    ("columns", "shown"),
    [
        (120, "<C-s> submits · :q leaves · g? keys"),
        (64, " fix · standin · idle · 6 bytes ≈ 2 tokens        <C-s> submits"),
        (41, " fix · idle · 6 bytes ≈ 2 tokens"),
        (22, " fix · idle"),
    ],
)
def test_the_winbar_says_how_to_submit_and_leave_while_that_fits(
    stage: Stage, nvim: Editor, columns: int, shown: str
) -> None:
    write(nvim, "héllo")
    nvim.cmd(f"set columns={columns}")
    nvim.wait(lambda: any(row.endswith(shown) for row in nvim.screen().split("\n")))


def test_a_key_that_is_switched_off_is_not_told(stage: Stage, nvim: Editor) -> None:
    nvim.lua("require('covey').setup({ keys = { prompt = { submit = false } } })")
    write(nvim, "héllo")
    nvim.wait(lambda: "  :q leaves · g? keys" in nvim.screen())
    assert "submits" not in nvim.screen()


def test_placeholders_stand_for_where_the_person_came_from(stage: Stage, nvim: Editor, tmp_path: Path) -> None:
    stage.answer("send", receipt("submitted"))
    (tmp_path / "code.py").write_text("one\ntwo\nthree\n")
    nvim.cmd(f"edit {tmp_path}/code.py | 2")
    nvim.lua(
        "vim.diagnostic.set(vim.api.nvim_create_namespace('t'), 0,"
        " { { lnum = 0, col = 1, message = 'bad\\nword', severity = 1 } })"
    )
    here = FIX | {"cwd": str(tmp_path)}
    nvim.lua("require('covey.ui.prompt').open(...)", here, {"selection": "a % b"})
    text = "{file} {line} {selection} {diagnostics} {buffers} {cwd} {nothing}"
    nvim.lua("vim.api.nvim_buf_set_lines(0, 0, -1, false, { ... })", text)
    nvim.wait(lambda: len(marks(nvim, "CoveyPlaceholder")) == 6)
    nvim.keys("<C-s>")
    nvim.wait(lambda: len(stage.asked("send")) == 1)
    cwd = nvim.eval("getcwd()")
    assert stage.asked("send")[0]["text"] == (
        f"@code.py @code.py#L2 a % b code.py:1:2: error: bad word @code.py {cwd} {{nothing}}"
    )


def test_placeholders_without_a_value_stay_and_are_marked(stage: Stage, nvim: Editor) -> None:
    stage.answer("send", receipt("submitted"))
    write(nvim, "see {file} and {selection}, {literal}")
    nvim.wait(lambda: marks(nvim, "CoveyUnresolved") == ["{file}", "{selection}"])
    nvim.keys("<C-s>")
    nvim.wait(lambda: len(stage.asked("send")) == 1)
    assert stage.asked("send")[0]["text"] == "see {file} and {selection}, {literal}"


def test_the_selection_of_visual_mode_is_taken_along(stage: Stage, nvim: Editor) -> None:
    nvim.cmd("call setline(1, ['some words here'])")
    nvim.cmd("xnoremap P <Cmd>lua require('covey.ui.prompt').open(require('covey.fleet').get('fix'), {})<CR>")
    nvim.keys("wviwP")
    nvim.wait(lambda: nvim.eval("bufname()") == f"covey://prompt/{FIX['id']}/fix")
    assert nvim.eval("mode()") == "i"  # an empty one is for writing, and nothing is selected any more
    nvim.lua("vim.api.nvim_buf_set_lines(0, 0, -1, false, { '{selection}' })")
    nvim.wait(lambda: "words" in nvim.screen().split("{selection}")[1].splitlines()[0])


def test_opened_twice_is_one_window(stage: Stage, nvim: Editor) -> None:
    write(nvim, "text")
    nvim.cmd("wincmd p")
    nvim.lua("require('covey.ui.prompt').open(...)", FIX, {})
    assert nvim.eval("bufname()") == f"covey://prompt/{FIX['id']}/fix"
    assert len(nvim.vim.windows) == 2


@pytest.mark.parametrize(("there", "wished", "mode"), [("", True, "i"), ("a draft", True, "n"), ("", False, "n")])
def test_an_empty_one_is_opened_for_writing(stage: Stage, nvim: Editor, there: str, wished: bool, mode: str) -> None:
    nvim.lua("require('covey').setup({ prompt = { insert = ... } })", wished)
    nvim.lua("require('covey.ui.prompt').open(...)", FIX, {"text": there})
    nvim.lua("vim.wait(20)")
    assert nvim.eval("mode()") == mode
