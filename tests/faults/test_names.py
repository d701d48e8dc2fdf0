"""N*: names and targets. A person's words never reach tmux; every act names a pane by an id that was read back."""

from __future__ import annotations

import pytest

from covey import naming
from covey.errors import NotFound, Refused, Usage

ODD = [
    "api.v2:main",
    "x#(touch pwned)y",
    "x#{pid}",
    "1",
    "@1",
    "%0",
    "$0",
    "{last}",
    "!",
    "+x",
    "-x",
    "=x",
    "CON|pipe",
    "é ü",
    "🙂",
    "trailing ",
    "z*1",
    "a" * 200,
    'it\'s "quoted" \\ $HOME `id`',
]


@pytest.mark.parametrize("name", ODD)
async def test_N01_N08_N09_N11_any_line_is_a_name(desk, name):
    session = await desk("open", name=name, agent="shell", cwd="/")
    assert (await desk("get", name=name))["id"] == session["id"]
    assert [each["name"] for each in await desk("list")] == [name]
    assert (await desk("send", name=name, text="echo $((6*7))"))["outcome"] == "pasted"
    await desk.shows(name, "42")
    assert (await desk("kill", name=name))["survivors"] == []
    assert await desk("list") == []
    assert not list(desk.world.root.rglob("pwned"))


async def test_N08_N09_names_that_look_like_targets_reach_their_own_session(desk):
    names = ["1", "%0", "%1", "$1", "@0", "{last}", "!", "+1", "-1", "=hub", "hub", ":0.0"]
    for number, name in enumerate(names):
        await desk("open", name=name, cmd=["sh", "-c", f"echo I am {number}.; exec cat"], cwd="/")
    for number, name in enumerate(names):
        await desk.shows(name, f"I am {number}.")
        assert (await desk("send", name=name, text=f"for {number} alone"))["outcome"] == "pasted"
    for number, name in enumerate(names):
        await desk.shows(name, f"for {number} alone")
        assert (await desk.screen(name)).count(" alone") in (1, 2)  # typed, and said again by cat
    for number, name in enumerate(names):
        assert (await desk("kill", name=name))["survivors"] == []
        assert {each["name"] for each in await desk("list")} == set(names[number + 1 :])


@pytest.mark.parametrize("name", ["", "   ", "tab\tin", "two\nlines", "nul\0", "a" * 201, "abcdefg2"])
async def test_N11_what_is_no_name_is_refused_before_tmux_hears_of_it(desk, name):
    with pytest.raises(Usage):
        await desk("rename", name="nobody", new=name)
    if name:
        with pytest.raises(Usage):
            await desk("open", name=name, agent="shell")
    assert not desk.socket.exists()


async def test_N02_a_name_never_means_another_that_begins_alike(desk):
    await desk("open", name="ag-10", agent="shell")
    await desk("open", name="zed1", agent="shell")
    first = await desk("open", name="ag-1", agent="shell")
    await desk("kill", name="ag-1")
    for method, params in (("kill", {}), ("send", {"text": "x"}), ("get", {}), ("respawn", {}), ("attach", {})):
        for gone in ("ag-1", "z*1", first["id"], "ag"):
            with pytest.raises(NotFound):
                await desk(method, name=gone, **params)
    assert {each["name"] for each in await desk("list")} == {"ag-10", "zed1"}


async def test_N03_N04_every_verb_addresses_an_id_that_was_read_back(desk):
    session = await desk("open", name="keep", agent="shell")
    argv = (await desk("attach", name="keep"))["argv"]
    assert argv[-1].startswith("$")
    assert session["pane"].startswith("%")


async def test_N05_a_pane_split_off_gets_nothing(desk):
    await desk.standin("one")
    pane = (await desk("get", name="one"))["pane"]
    other = desk.tmux("split-window", "-t", pane, "-P", "-F", "#{pane_id}", "cat")
    assert other.startswith("%")
    assert (await desk("send", name="one", text="for the agent alone"))["outcome"] == "submitted"
    assert desk.prompts("one") == ["for the agent alone"]
    assert "for the agent" not in desk.tmux("capture-pane", "-p", "-t", other)
    assert len(await desk("list")) == 1
    desk.tmux("kill-pane", "-t", pane)
    assert await desk.until(lambda: not desk.front.helper.fleet.views)
    with pytest.raises(NotFound):
        await desk("send", name="one", text="x")
    assert "for" not in desk.tmux("capture-pane", "-p", "-t", other)


async def test_N06_two_projects_of_one_name_have_two_sessions(desk):
    for project in ("a/web", "b/web"):
        directory = desk.world.home / project
        directory.mkdir(parents=True)
        await desk("open", agent="shell", cwd=str(directory))
    sessions = await desk("list")
    assert len({each["id"] for each in sessions}) == 2
    assert [each["cwd"][-5:] for each in sessions] == ["a/web", "b/web"]


async def test_N07_a_rename_changes_no_identity(desk):
    session = await desk("open", name="one", agent="shell")
    await desk("rename", name="one", new="two")
    desk.tmux("rename-session", "-t", f"=covey-{session['id']}", "something else")
    assert (await desk("get", name="two"))["pid"] == session["pid"]
    again = await desk("respawn", name="two", force=True)
    assert (again["id"], again["pane"], again["epoch"]) == (session["id"], session["pane"], 2)
    assert len(await desk("list")) == 1
    await desk("kill", name="two")
    assert await desk("list") == []


async def test_a_name_that_is_taken_is_refused(desk):
    await desk("open", name="one", agent="shell")
    await desk("open", name="two", agent="shell")
    with pytest.raises(Refused):
        await desk("rename", name="two", new="one")


async def test_N10_titles_and_directories_cannot_forge_a_row(desk):
    directory = desk.world.home / "new\nline\t|dir"
    directory.mkdir()
    title = "printf '\\033]2;a\\tb|%%9 $1 0\\007'; exec cat"
    await desk("open", name="CON|pipe", cmd=["sh", "-c", title], cwd=str(directory))
    await desk.until(lambda: "b|%9" in desk.tmux("list-panes", "-a", "-F", "#{pane_title}"))
    (session,) = await desk("list")
    assert (session["name"], session["cwd"]) == ("CON|pipe", str(directory))


def test_an_id_is_no_word_and_a_word_is_no_id():
    assert all(any(char.isdigit() for char in naming.mint()) for _ in range(200))
    assert naming.check("frontend") == "frontend"


def test_free_names_count_up():
    assert naming.free("claude", {"claude", "claude-2"}) == "claude-3"
