"""What the agents changed: buffers are read again, the person's own text is never touched, and it is all told."""

from __future__ import annotations

import os
import subprocess
import time
from typing import TYPE_CHECKING

import pytest

from stage import Stage, session
from waiting import eventually

if TYPE_CHECKING:
    from pathlib import Path

    from editor import Editor
    from world import World

TOLD = """
    _G.told, _G.heard = {}, {}
    vim.api.nvim_create_autocmd('User', { pattern = 'CoveyFilesChanged', callback = function(event)
      table.insert(_G.told, event.data)
    end })
    vim.notify = function(message) table.insert(_G.heard, message) end
"""


@pytest.fixture
def project(world: World) -> Path:
    folder = world.home / "pro ject"
    folder.mkdir()
    for name in ("a.txt", "b.txt", "gone.txt"):
        (folder / name).write_text("one\n")
        os.utime(folder / name, (1, 1))
    return folder


@pytest.fixture(params=["git", "none"])
def any_project(project: Path, request: pytest.FixtureRequest) -> Path:
    if request.param == "git":
        make_repository(project)
    return project


def make_repository(folder: Path) -> None:
    (folder / ".gitignore").write_text("ignored*\n")
    for words in (["init"], ["add", "."], ["commit", "-m", "one"]):
        git(folder, *words)


def git(folder: Path, *words: str) -> None:
    who = ["-c", "user.name=x", "-c", "user.email=x@example.org", "-c", "init.defaultBranch=main"]
    subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True)


class Agent:
    """An agent that was prompted, and works in a directory."""

    def __init__(self, nvim: Editor, folder: Path) -> None:
        self.stage, self.folder, self.nvim = Stage(nvim), folder, nvim
        nvim.lua(TOLD)
        self.session = session("fix", cwd=str(folder))
        self.stage.fleet(self.session)

    def prompted(self, act: str = "act-1") -> None:
        for outcome in ("queued", "submitted", "submitted"):
            self.stage.emit("Receipt", {"id": act, "session": self.session["id"], "outcome": outcome, "reason": ""})
        self.stage.emit("State", self.session | {"state": "working"})
        now = time.time_ns()
        eventually(lambda: self.file_clock() > now, message="files get times after the prompt's")

    def file_clock(self) -> int:
        """The time (ns since 1970) that a file written now gets: it may be some milliseconds behind."""
        probe = self.folder.with_name("probe")
        probe.write_text("")
        return probe.stat().st_mtime_ns

    def shows(self, line: str) -> None:
        self.stage.emit("Changed", self.session | {"state": "working", "last_line": line})

    def stops(self, state: str = "idle") -> None:
        self.stage.emit("State", self.session | {"state": state})

    def told(self) -> list[str]:
        """The files told of last, by their names."""
        data = self.nvim.wait("_G.told[#_G.told]")
        assert (data["name"], data["cwd"]) == ("fix", str(self.folder))
        return [path.removeprefix(f"{self.folder}/") for path in data["files"]]

    def heard(self) -> list[str]:
        self.nvim.lua("vim.wait(20)")
        return self.nvim.lua("local said = _G.heard; _G.heard = {}; return said")


@pytest.fixture
def agent(nvim: Editor, any_project: Path) -> Agent:
    return Agent(nvim, any_project)


def test_when_an_agent_stops_its_changes_are_told(agent: Agent, any_project: Path) -> None:
    agent.prompted()
    (any_project / "a.txt").write_text("two\n")
    (any_project / "new file.txt").write_text("new\n")
    agent.stops()
    assert agent.told() == ["a.txt", "new file.txt"]


def test_changes_before_the_prompt_and_by_this_editor_are_not_the_agents(
    agent: Agent, nvim: Editor, any_project: Path
) -> None:
    (any_project / "b.txt").write_text("mine, before\n")
    os.utime(any_project / "b.txt", (2, 2))
    agent.prompted()
    nvim.cmd(f"edit {str(any_project).replace(' ', chr(92) + ' ')}/mine.txt | call setline(1, 'x') | write")
    (any_project / "a.txt").write_text("two\n")
    agent.stops("blocked")
    assert agent.told() == ["a.txt"]


def test_the_same_changes_are_told_once_and_a_prompt_begins_anew(agent: Agent, nvim: Editor, any_project: Path) -> None:
    agent.prompted()
    (any_project / "a.txt").write_text("two\n")
    agent.stops("blocked")
    assert agent.told() == ["a.txt"]
    agent.stops("idle")
    nvim.lua("vim.wait(300)")  # what must not come has its time; a slow machine only makes it easier
    assert nvim.lua("return #_G.told") == 1
    agent.prompted("act-2")
    (any_project / "b.txt").write_text("two\n")
    agent.stops()
    nvim.wait("#_G.told == 2")
    assert agent.told() == ["b.txt"]


def test_git_tells_of_commits_and_removals_and_not_of_what_is_ignored(nvim: Editor, project: Path) -> None:
    make_repository(project)
    agent = Agent(nvim, project)
    agent.prompted()
    (project / "a.txt").write_text("two\n")
    git(project, "commit", "-am", "two")
    (project / "gone.txt").unlink()
    (project / "ignored.txt").write_text("x")
    agent.stops()
    assert agent.told() == ["a.txt", "gone.txt"]


def test_buffers_are_read_again_while_the_agent_works(agent: Agent, nvim: Editor, any_project: Path) -> None:
    nvim.lua("vim.cmd.edit(...)", str(any_project / "a.txt"))
    nvim.cmd("set noautoread")
    agent.prompted()
    (any_project / "a.txt").write_text("two\nlines\n")
    agent.shows("Edited a.txt")
    nvim.wait(lambda: nvim.eval("getline(1, '$')") == ["two", "lines"])
    assert agent.heard() == []
    assert nvim.eval("&autoread") == 0


def test_a_modified_buffer_is_left_alone_and_that_is_said_once(agent: Agent, nvim: Editor, any_project: Path) -> None:
    nvim.lua("vim.cmd.edit(...)", str(any_project / "a.txt"))
    nvim.cmd("call setline(1, 'my own')")
    agent.prompted()
    (any_project / "a.txt").write_text("two\n")
    agent.shows("Edited a.txt")
    agent.stops("blocked")
    agent.stops("idle")
    assert agent.told() == ["a.txt"]
    said = [each for each in agent.heard() if "changed" in each]
    assert len(said) == 1
    assert said[0].startswith("covey: fix changed")
    assert "a.txt, which you have changed too" in said[0]
    assert nvim.eval("getline(1, '$')") == ["my own"]


def test_reloading_can_be_switched_off(agent: Agent, nvim: Editor, any_project: Path) -> None:
    nvim.lua("require('covey').setup({ reload = false })")
    nvim.lua("vim.cmd.edit(...)", str(any_project / "a.txt"))
    agent.prompted()
    (any_project / "a.txt").write_text("two\n")
    agent.stops()
    assert agent.told() == ["a.txt"]
    assert nvim.eval("getline(1)") == "one"


def test_changed_lists_them_in_the_quickfix_window(agent: Agent, nvim: Editor, any_project: Path) -> None:
    assert "no file changed" in nvim.cmd("Covey changed fix")
    assert nvim.eval("&buftype") == ""
    agent.prompted()
    (any_project / "a.txt").write_text("two\n")
    nvim.cmd("Covey changed fix")
    nvim.wait(lambda: nvim.eval("&buftype") == "quickfix")
    assert [nvim.eval(f"bufname({item['bufnr']})") for item in nvim.eval("getqflist()")] == [
        str(any_project / "a.txt").removeprefix(nvim.eval("getcwd()") + "/")
    ]
    nvim.wait(lambda: "1 file changed" in nvim.messages())


def test_nothing_is_started_for_an_agent_that_nobody_prompted(agent: Agent, nvim: Editor, any_project: Path) -> None:
    nvim.lua("vim.system = function() _G.started = true end")
    agent.stage.emit("State", agent.session | {"state": "working"})
    (any_project / "a.txt").write_text("two\n")
    agent.stops()
    nvim.lua("vim.wait(50)")
    assert nvim.lua("return _G.started") is None
    assert nvim.lua("return #_G.told") == 0


def test_a_directory_that_is_gone_hurts_nobody(agent: Agent, nvim: Editor, any_project: Path) -> None:
    agent.prompted()
    any_project.rename(f"{any_project} away")
    agent.stops()
    assert "no file changed" in nvim.cmd("Covey changed fix")
