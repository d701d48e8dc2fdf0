"""What placeholders stand for, how they are completed and shown, and prompts of the library."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from stage import Stage, session

if TYPE_CHECKING:
    from pathlib import Path

    from editor import Editor
    from world import World

CODE = """local function outer()
  return 1
end
-- see https://example.org/a_(b)?q=1, and http://two.example.
"""
TAKEN = {"id": "act-1", "session": "idfixaaa", "epoch": 1, "outcome": "submitted", "reason": "", "bytes": 1}


@pytest.fixture
def project(world: World) -> Path:
    folder = world.home / "project"
    folder.mkdir()
    (folder / "code.lua").write_text(CODE)
    return folder


@pytest.fixture
def stage(nvim: Editor, project: Path) -> Stage:
    made = Stage(nvim)
    made.answer("send", TAKEN)
    made.fleet(session("fix", cwd=str(project)))
    nvim.cmd(f"edit {project}/code.lua")
    return made


def fix(nvim: Editor) -> dict[str, Any]:
    return nvim.lua("return require('covey').get('fix')")


def sent(stage: Stage, text: str) -> str:
    """What arrives of a text that is written in the prompt buffer."""
    nvim = stage.nvim
    before = len(stage.asked("send"))
    nvim.lua("require('covey').prompt({ name = 'fix' })")
    nvim.lua("vim.api.nvim_buf_set_lines(0, 0, -1, false, { ... })", text)
    nvim.keys("<C-s>")
    nvim.wait(lambda: len(stage.asked("send")) > before)
    nvim.wait(lambda: nvim.eval("getline(1, '$')") == [""])
    nvim.cmd("close")
    return stage.asked("send")[-1]["text"]


def test_lists_are_places_with_their_text(stage: Stage, nvim: Editor) -> None:
    nvim.lua("""
        local item = { filename = vim.fn.expand('%'), lnum = 2, col = 3, text = '  odd' }
        vim.fn.setqflist({ item, { text = 'a note' } })
        item.text = 'here'
        vim.fn.setloclist(0, { item })
    """)
    assert sent(stage, "{quickfix} | {loclist}") == "code.lua:2:3: odd\na note | code.lua:2:3: here"


@pytest.mark.parametrize(
    ("line", "column", "name"), [(2, 3, "outer"), (1, 18, "outer"), (4, 4, "see")], ids=["inside", "on it", "word"]
)
def test_symbol_is_what_is_around_the_cursor(stage: Stage, nvim: Editor, line: int, column: int, name: str) -> None:
    nvim.cmd("set filetype=lua")
    nvim.cmd(f"call cursor({line}, {column})")
    assert sent(stage, "{symbol}") == name


@pytest.mark.parametrize(("column", "url"), [(1, "https://example.org/a_(b)?q=1"), (45, "http://two.example")])
def test_url_is_the_one_under_the_cursor_or_the_first(stage: Stage, nvim: Editor, column: int, url: str) -> None:
    nvim.cmd(f"call cursor(4, {column})")
    assert sent(stage, "{url}") == url


def test_term_is_the_end_of_the_last_terminal_of_the_persons(stage: Stage, nvim: Editor) -> None:
    nvim.cmd("terminal printf 'one\\ntwo\\n'; cat")
    nvim.wait("vim.fn.getline(2) == 'two'")
    nvim.cmd("buffer code.lua")
    assert sent(stage, "{term}") == "one\ntwo"


def git(folder: Path, *words: str) -> None:
    who = ["-c", "user.name=x", "-c", "user.email=x@example.org", "-c", "init.defaultBranch=main"]
    subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True)


def test_diff_is_what_git_says_and_a_send_waits_for_it(stage: Stage, nvim: Editor, project: Path) -> None:
    git(project, "init")
    git(project, "add", ".")
    git(project, "commit", "-m", "one")
    (project / "code.lua").write_text(CODE.replace("return 1", "return 2"))
    text = sent(stage, "look: {diff}")
    assert text.startswith("look: diff --git a/code.lua b/code.lua")
    assert "-  return 1\n+  return 2" in text


def test_diff_without_git_or_changes_has_no_value(stage: Stage) -> None:
    assert sent(stage, "look: {diff}") == "look: {diff}"


def test_file_is_written_as_the_agent_reads_it(stage: Stage, nvim: Editor, project: Path) -> None:
    assert sent(stage, "{file} {line}") == "@code.lua @code.lua#L1"
    stage.fleet(session("fix", cwd=str(project), agent="aider"))
    assert sent(stage, "{file} {line} {buffers}") == "code.lua code.lua:1 code.lua"
    stage.answer("agents", [{"name": "mine", "reference": "<{path}>"}])
    stage.fleet(session("fix", cwd=str(project), agent="mine"))
    nvim.lua("require('covey.agents').reference('mine')")
    nvim.wait("require('covey.agents').reference('mine') == '<{path}>'")
    assert sent(stage, "{file}") == "<code.lua>"


def test_literal_text_stays_literal(stage: Stage) -> None:
    text = "{ file } {File} {nothing} {} % \\{x} @code.lua $HOME `id`"
    assert sent(stage, text) == text


def test_values_and_the_size_of_all_are_shown(stage: Stage, nvim: Editor) -> None:
    nvim.lua("vim.fn.setqflist({ { text = 'one' }, { text = 'two' } })")
    nvim.lua("require('covey').prompt({ name = 'fix' })")
    nvim.lua("vim.api.nvim_buf_set_lines(0, 0, -1, false, { 'see {file}', '{quickfix}', '{url}' })")
    nvim.wait(lambda: "see {file}  @code.lua" in nvim.screen())
    assert "{quickfix}  one two … 2 lines" in nvim.screen()
    assert "{url}  no value: stays as it stands" in nvim.screen()
    assert "27 bytes ≈ 7 tokens" in nvim.screen()


def test_a_file_that_is_not_saved_is_told_before_and_when_it_is_sent(stage: Stage, nvim: Editor) -> None:
    nvim.cmd("call setline(1, 'changed')")
    nvim.lua("require('covey').prompt({ name = 'fix' })")
    nvim.lua("vim.api.nvim_buf_set_lines(0, 0, -1, false, { 'see {file}' })")
    nvim.wait(lambda: "not saved: code.lua" in nvim.screen())
    nvim.keys("<C-s>")
    nvim.wait(lambda: "code.lua is not saved; the agent reads what is on disk" in nvim.messages())
    nvim.cmd("wincmd p | write | wincmd p")
    nvim.lua("vim.api.nvim_buf_set_lines(0, 0, -1, false, { 'see {file} and no more' })")
    nvim.wait(lambda: "not saved" not in nvim.screen().split("fix · standin")[1].splitlines()[0])


def test_placeholders_are_completed_with_their_values(stage: Stage, nvim: Editor) -> None:
    nvim.cmd("set completeopt=menuone,noselect,noinsert")  # from 0.11 on the buffer's own
    nvim.lua("require('covey').prompt({ name = 'fix' })")
    nvim.keys("{fi<C-x><C-o>")
    nvim.wait(lambda: nvim.eval("mode()") == "i" and "{file}" in nvim.screen())
    assert nvim.lua("return vim.tbl_map(function(i) return i.word end, vim.fn.complete_info().items)") == ["{file}"]
    assert "@code.lua" in nvim.screen()
    nvim.keys("<C-n><C-y><Esc>")
    nvim.wait(lambda: nvim.eval("getline(1)") == "{file}")


def test_completion_comes_by_itself_and_inserts_nothing(stage: Stage, nvim: Editor) -> None:
    if not nvim.eval("has('nvim-0.11')"):
        pytest.skip("'completeopt' is no option of a buffer there")
    nvim.lua("require('covey').prompt({ name = 'fix' })")
    nvim.keys("see {")
    nvim.wait(lambda: nvim.eval("pumvisible()"))
    names = nvim.lua("return require('covey.ui.placeholder').names()")
    assert [item["word"] for item in nvim.eval("complete_info().items")] == [f"{{{name}}}" for name in names]
    nvim.keys("diff}<Esc>")
    nvim.wait(lambda: nvim.eval("getline(1)") == "see {diff}")


def test_a_closing_brace_that_is_there_is_not_doubled(stage: Stage, nvim: Editor) -> None:
    nvim.cmd("set completeopt=menuone,noselect,noinsert")  # from 0.11 on the buffer's own
    nvim.lua("require('covey').prompt({ name = 'fix' })")
    nvim.lua("vim.api.nvim_buf_set_lines(0, 0, -1, false, { '{cw}' })")
    nvim.keys("<Esc>$i<C-x><C-o><C-n><C-y><Esc>")
    nvim.wait(lambda: nvim.eval("getline(1)") == "{cwd}")


@pytest.fixture
def library(world: World) -> Path:
    folder = world.config / "nvim" / "covey" / "prompts"
    folder.mkdir(parents=True)
    (folder / "review.md").write_text("Review {file}.\n\n- be {kind}\n\n")
    (folder / "select.md").write_text("Explain {selection}")
    (folder / "notes.txt").write_text("no prompt")
    return folder


def test_a_prompt_of_the_library_is_filled_in_and_sent(stage: Stage, nvim: Editor, library: Path) -> None:
    nvim.cmd("Covey send fix @review")
    nvim.wait(lambda: len(stage.asked("send")) == 1)
    assert stage.asked("send")[0]["text"] == "Review @code.lua.\n\n- be {kind}"
    assert stage.asked("send")[0]["submit"] is True
    nvim.cmd("1,2Covey! send fix @select")
    nvim.wait(lambda: len(stage.asked("send")) == 2)
    assert stage.asked("send")[1]["text"] == "Explain local function outer()\n  return 1"
    assert stage.asked("send")[1]["submit"] is False


@pytest.mark.parametrize("text", ["@nothing", "@code.lua", "see @review", "@review please", "{file}"])
def test_any_other_text_is_literal(stage: Stage, nvim: Editor, library: Path, text: str) -> None:
    nvim.cmd(f"Covey send fix {text}")
    nvim.wait(lambda: len(stage.asked("send")) == 1)
    assert stage.asked("send")[0]["text"] == text


def test_without_a_value_it_is_not_sent_but_kept(stage: Stage, nvim: Editor, library: Path) -> None:
    nvim.cmd("Covey send fix @select")
    nvim.wait(lambda: "a placeholder has no value here" in nvim.messages())
    assert stage.asked("send") == []
    assert nvim.eval("getline(1)") == "Explain {selection}"
    assert nvim.eval("bufname()").startswith("covey://prompt/")


def test_a_prompt_of_the_library_can_be_written_on(stage: Stage, nvim: Editor, library: Path) -> None:
    for _ in range(2):
        nvim.cmd("Covey prompt fix @review")
        assert nvim.eval("getline(1, '$')") == ["Review {file}.", "", "- be {kind}"]
    nvim.cmd("Covey prompt fix @nothing")
    nvim.wait(lambda: 'there is no prompt "nothing"' in nvim.messages())


def test_names_of_the_library_are_completed(stage: Stage, nvim: Editor, library: Path, tmp_path: Path) -> None:
    assert nvim.eval("getcompletion('Covey send fix @', 'cmdline')") == ["@review", "@select"]
    assert nvim.eval("getcompletion('Covey prompt fix @r', 'cmdline')") == ["@review"]
    assert nvim.eval("getcompletion('Covey send fix say @', 'cmdline')") == []
    (tmp_path / "own.md").write_text("mine")
    (tmp_path / "review.md").write_text("my own review")
    nvim.lua("require('covey').setup({ prompts_dir = ... })", str(tmp_path))
    assert nvim.eval("getcompletion('Covey send fix @', 'cmdline')") == ["@own", "@review", "@select"]
    nvim.lua("require('covey').send({ name = 'fix', template = 'review' })")
    nvim.wait(lambda: [asked["text"] for asked in stage.asked("send")] == ["my own review"])


def test_paste_takes_a_register_or_a_range_and_no_enter(stage: Stage, nvim: Editor) -> None:
    nvim.cmd("call setreg('a', 'from a') | call setreg('\"', 'from none')")
    for command, text in [
        ("Covey paste fix", "from none"),
        ("Covey paste fix a", "from a"),
        ("2Covey paste fix", "  return 1"),
    ]:
        before = len(stage.asked("send"))
        nvim.cmd(command)
        nvim.wait(lambda want=before: len(stage.asked("send")) > want)
        assert (stage.asked("send")[-1]["text"], stage.asked("send")[-1]["submit"]) == (text, False)


def test_undo_survives_the_editor(stage: Stage, nvim: Editor, start_nvim, project: Path) -> None:
    nvim.lua("require('covey').prompt({ name = 'fix' })")
    nvim.keys("one<Esc>otwo<Esc>")
    nvim.wait(lambda: nvim.eval("getline(1, '$')") == ["one", "two"])
    assert nvim.quit("qa") == 0
    again = start_nvim()
    Stage(again).fleet(session("fix", cwd=str(project)))
    again.lua("require('covey').prompt({ name = 'fix' })")
    assert again.eval("getline(1, '$')") == ["one", "two"]
    again.keys("u")
    again.wait(lambda: again.eval("getline(1, '$')") == ["one"])
    again.keys("uuu")
    again.wait(lambda: again.eval("getline(1, '$')") == [""])


def test_what_arrived_can_be_brought_back_by_undo(stage: Stage, nvim: Editor) -> None:
    nvim.lua("require('covey').prompt({ name = 'fix' })")
    nvim.keys("precious<Esc><C-s>")
    nvim.wait(lambda: nvim.eval("getline(1, '$')") == [""])
    nvim.keys("u")
    nvim.wait(lambda: nvim.eval("getline(1, '$')") == ["precious"])


def test_two_editors_share_drafts_and_history(stage: Stage, nvim: Editor, start_nvim, project: Path) -> None:
    other = start_nvim()
    theirs = Stage(other)
    theirs.answer("send", TAKEN)
    theirs.fleet(session("fix", cwd=str(project)))
    nvim.lua("require('covey').prompt({ name = 'fix' })")
    nvim.keys("mine<Esc>")
    nvim.wait(lambda: nvim.eval("getline(1)") == "mine")
    nvim.cmd("wincmd p")
    other.lua("require('covey').prompt({ name = 'fix' })")
    assert other.eval("getline(1)") == "mine"
    other.keys("A and theirs<Esc>")
    other.wait(lambda: other.eval("getline(1)") == "mine and theirs")
    other.cmd("wincmd p")
    nvim.cmd("wincmd p")
    assert nvim.eval("getline(1)") == "mine and theirs"
    other.cmd("wincmd p")
    other.keys("<C-s>")
    other.wait(lambda: other.eval("getline(1, '$')") == [""])
    nvim.cmd("wincmd p | wincmd p")
    assert nvim.eval("getline(1)") == ""
    nvim.keys("[h")
    nvim.wait(lambda: nvim.eval("getline(1)") == "mine and theirs")
