"""What a session was opened with is what it runs with, and what ``list`` says of it."""

from __future__ import annotations

import asyncio
import os
import sys

import pytest

from covey.errors import Refused
from desk import Desk

PROFILE = """
name = "echo"
title = "Echo"
argv = ["sh", "-c", 'echo "given: $@"; exec cat', "echo"]
resume = ["--restore"]

[flags]
model = ["--model", "{value}"]
"""


@pytest.fixture
async def echo(world):
    folder = world.config / "covey" / "agents"
    folder.mkdir(parents=True)
    (folder / "echo.toml").write_text(PROFILE)
    desk = await Desk(world).start()
    yield desk
    await desk.close()


async def test_options_reach_the_agent_at_each_start_and_the_list(echo):
    options = {"model": "fast one", "nice": 7, "history_limit": 50}
    session = await echo("open", name="one", agent="echo", options=options)
    for _ in range(2):
        await echo.shows("one", "--model fast one")
        assert os.getpriority(os.PRIO_PROCESS, (await echo("get", name="one"))["pid"]) == 7
        await echo("respawn", name="one", force=True)
    (listed,) = await echo("list")
    assert listed["options"] == {"model": "fast one", "nice": "7", "history_limit": "50"}
    assert listed["argv"][-2:] == ["--model", "fast one"]
    assert echo.tmux("display-message", "-p", "-t", session["pane"], "#{history_limit}") == "50"


async def test_U03_an_agent_that_remembers_by_its_directory_is_told_to_once_something_was_said(echo):
    await echo("open", name="one", agent="echo")
    await echo("respawn", name="one", force=True)
    await echo("send", name="one", text="remember me")
    await echo.shows("one", "remember me")
    assert "--restore" not in await echo.screen("one")
    await echo("respawn", name="one", force=True)
    await echo.shows("one", "given: --restore")
    await echo("respawn", name="one", force=True, fresh=True)
    await echo.until(lambda: echo.front.helper.fleet.views, message="it is there")
    await echo("send", name="one", text="anew")
    await echo.shows("one", "anew")
    assert "--restore" not in await echo.screen("one")


async def test_a_history_limit_is_for_one_session_alone(echo):
    await echo("open", name="one", agent="echo", options={"history_limit": 50})
    other = await echo("open", name="two", agent="echo")
    assert echo.tmux("display-message", "-p", "-t", other["pane"], "#{history_limit}") == "20000"


async def kept(desk, name):
    """How many rows of scrollback the panes of that session keep, one that a person splits off included."""
    pane = (await desk("get", name=name))["pane"]
    desk.tmux("split-window", "-d", "-t", pane, "exec sleep 1000")
    return desk.tmux("list-panes", "-t", pane, "-F", "#{history_limit}").split()


async def test_the_fleets_rules_say_how_much_scrollback_is_kept_and_a_session_may_say_otherwise(world):
    (world.config / "covey").mkdir()
    (world.config / "covey" / "config.toml").write_text("history_limit = 70\n")
    desk = await Desk(world).start()
    await desk("open", name="one", cmd=["sleep", "1000"], options={"history_limit": 0})
    await desk("open", name="two", cmd=["sleep", "1000"])
    assert (await kept(desk, "one"), await kept(desk, "two")) == (["0", "0"], ["70", "70"])
    await desk.close()


@pytest.mark.parametrize(("asked", "rows"), [(50_000, "50000"), (100, "20000")])
async def test_an_editor_that_reads_further_back_has_more_kept(world, asked, rows):
    desk = Desk(world)
    await desk.front.hello({"config": {"history_limit": asked}})
    await desk("open", name="one", cmd=["sleep", "1000"])
    assert await kept(desk, "one") == [rows, rows]
    await desk.close()


async def test_a_session_that_is_there_keeps_its_scrollback_and_says_so(desk):
    await desk("open", name="one", cmd=["sleep", "1000"], options={"history_limit": 50})
    assert "note" not in await desk("ensure", name="one", options={"history_limit": 50})
    assert "note" not in await desk("ensure", name="one")
    again = await desk("ensure", name="one", options={"history_limit": 60})
    assert "tmux fixes it" in again["note"]
    await desk("respawn", name="one", force=True)
    assert await kept(desk, "one") == ["50", "50"]


async def test_an_option_the_agent_has_not_starts_nothing(echo):
    with pytest.raises(Refused, match="effort"):
        await echo("open", name="one", agent="echo", options={"effort": "high"})
    assert await echo("list") == []


async def test_prompts_never_delivered_are_offered_at_the_next_open_of_that_name_and_directory(desk):
    await desk.standin("one")
    await desk("send", name="one", text="ask first")
    await desk.state("one", "blocked")
    held = await desk("send", name="one", text="never typed")
    await desk("kill", name="one")
    elsewhere = await desk("open", name="one", agent="shell", cwd="/")
    assert elsewhere["undelivered"] == []
    await desk("kill", name="one")
    again = await desk.standin("one")
    assert [(each["act"], each["text"]) for each in again["undelivered"]] == [(held["id"], "never typed")]
    assert "undelivered" not in await desk("open", name="one")
    await desk("kill", name="one")
    assert (await desk.standin("one"))["undelivered"] == []


async def test_U05_what_a_dead_server_took_is_made_again_side_by_side_and_once_only(desk):
    for number in range(6):
        await desk("open", name=f"s{number}", cmd=[sys.executable, "-S", "-c", "import time; time.sleep(600)"])
    desk.tmux("kill-server")
    await desk.state("s0", "lost")
    other = await Desk(desk.world).start()
    try:
        both = await asyncio.gather(desk("restore", yes=True), other("restore", yes=True))
        assert all("error" not in each for each in [*both[0], *both[1]])
        sessions = await desk("list")
        assert [(each["name"], each["epoch"]) for each in sessions] == [(f"s{number}", 2) for number in range(6)]
        assert len(desk.tmux("list-panes", "-a", "-F", "#{@covey_id}").split()) == 6
        await desk.until(lambda: not list(desk.world.run.rglob("*.start.*")), message="start scripts go")
    finally:
        await other.close()
