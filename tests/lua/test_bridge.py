"""The way from an agent's $EDITOR back to the editor it was opened from."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

import psutil
import pytest

from stage import Stage, session
from waiting import PATIENCE, eventually

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from editor import Editor
    from world import World

FIX = session("fix")
NOBODY = 3  # exit code: there is no such editor


@pytest.fixture
def stage(nvim: Editor) -> Stage:
    made = Stage(nvim)
    made.fleet(FIX)
    nvim.lua("require('covey').setup({ editor_bridge = true })")
    return made


@pytest.fixture
def draft(world: World) -> Path:
    path = world.home / "a draft.md"
    path.write_text("from the agent\n")
    return path


def visit(world: World, nvim: Editor, path: Path, stdin: int = subprocess.DEVNULL) -> subprocess.Popen[bytes]:
    """An agent runs its editor."""
    program = nvim.lua("return require('covey.verb').environ().EDITOR")
    env = {**world.env, "COVEY_ID": FIX["id"], "NVIM_LOG_FILE": os.devnull}
    return subprocess.Popen([program, str(path)], env=env, stdin=stdin, stdout=subprocess.DEVNULL)


@pytest.mark.parametrize("leave", ["<C-s>", "<Esc>:wq<CR>", "<Esc>ZZ", "<Esc>:write<CR>:bdelete<CR>"])
def test_a_file_is_opened_here_and_the_agent_waits(
    stage: Stage, nvim: Editor, world: World, draft: Path, leave: str
) -> None:
    nvim.lua("require('covey.bridge').claim(...)", FIX["id"])
    agent = visit(world, nvim, draft)
    nvim.wait(lambda: nvim.eval("getline(1)") == "from the agent")
    assert nvim.eval("&filetype") == "markdown"
    assert agent.poll() is None
    nvim.keys("ofrom the person" + leave)
    assert agent.wait(PATIENCE) == 0
    assert draft.read_text() == "from the agent\nfrom the person\n"
    nvim.wait(lambda: len(nvim.vim.windows) == 1)


def test_placeholders_stand_for_where_the_person_was(stage: Stage, nvim: Editor, world: World, draft: Path) -> None:
    (world.home / "code.py").write_text("x\n")
    nvim.cmd(f"edit {world.home}/code.py")
    nvim.lua("require('covey.bridge').claim(...)", FIX["id"])
    agent = visit(world, nvim, draft)
    nvim.wait(lambda: nvim.eval("getline(1)") == "from the agent")
    nvim.keys("osee {file} and {else}")
    code = f"@{world.home.relative_to('/tmp')}/code.py"
    nvim.wait(lambda: f"{{else}}  {code}" in nvim.screen())
    nvim.keys("<C-s>")
    assert agent.wait(PATIENCE) == 0
    assert draft.read_text() == f"from the agent\nsee {code} and {{else}}\n"


def test_the_editor_attached_last_is_asked(
    stage: Stage, nvim: Editor, world: World, draft: Path, start_nvim: Callable[..., Editor]
) -> None:
    nvim.lua("require('covey.bridge').claim(...)", FIX["id"])
    other = start_nvim()
    Stage(other).fleet(FIX)
    other.lua("require('covey').setup({ editor_bridge = true }); require('covey').prompt({ name = 'fix' })")
    agent = visit(world, nvim, draft)
    other.wait(lambda: other.eval("getline(1)") == "from the agent")
    assert len(nvim.vim.windows) == 1
    other.keys(":quit<CR>")
    assert agent.wait(PATIENCE) == 0


def test_an_editor_that_is_gone_is_not_waited_for(stage: Stage, nvim: Editor, world: World, draft: Path) -> None:
    """What is run then is a Neovim of its own, in the agent's place."""
    nvim.lua("require('covey.bridge').claim(...)", FIX["id"])
    nvim_program = nvim.eval("v:progpath")
    own_end, terminal = os.openpty()
    agent = visit(world, nvim, draft, stdin=terminal)
    nvim.wait(lambda: nvim.eval("getline(1)") == "from the agent")
    nvim.process.kill()
    nvim.gone()
    own = [nvim_program, str(draft)]
    eventually(lambda: psutil.Process(agent.pid).cmdline() == own, message="a Neovim of its own")
    agent.kill()
    agent.wait()
    os.close(terminal)
    os.close(own_end)


def test_without_a_terminal_it_fails_in_the_end(stage: Stage, nvim: Editor, world: World, draft: Path) -> None:
    agent = visit(world, nvim, draft)
    assert agent.wait(PATIENCE) == NOBODY
    nvim.lua("require('covey.bridge').claim(...)", FIX["id"])
    agent = visit(world, nvim, draft)
    nvim.wait(lambda: nvim.eval("getline(1)") == "from the agent")
    nvim.process.kill()
    nvim.gone()
    assert agent.wait(PATIENCE) == NOBODY


def test_nothing_of_it_without_the_option(nvim: Editor, world: World) -> None:
    Stage(nvim).fleet(FIX)
    nvim.lua("require('covey').prompt({ name = 'fix' })")
    assert "covey-edit" not in str(nvim.lua("return require('covey.verb').environ().EDITOR"))
    assert not (world.state / "nvim" / "covey" / "editors").exists()
