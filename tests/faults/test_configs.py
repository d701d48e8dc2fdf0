"""C*, N04: what a person's tmux, or somebody with a tmux command at hand, does to covey; and covey to that tmux."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from asyncio.subprocess import PIPE

import pytest

from covey.errors import NotFound, Refused
from desk import Desk
from waiting import eventually_async
from world import tmux, words

TABLES = (("show-options", "-g"), ("show-options", "-gw"), ("show-options", "-s"), ("show-hooks", "-g"), ("list-keys",))
SUICIDAL = "set -g exit-unattached on\nset -g exit-empty off\nset -g destroy-unattached on\n"


async def test_C10_a_persons_own_server_is_the_same_after_a_whole_run(world, terminal):
    terminal.start(["cat"])
    terminal.tmux("set-environment", "-g", "MINE", "1")
    before = [terminal.tmux(*words) for words in (*TABLES, ("show-environment", "-g"), ("list-buffers",))]
    world.env["TMUX"] = os.environ["TMUX"] = f"{terminal.socket},{terminal.pid},0"
    desk = await Desk(world).start()
    try:
        await desk.standin("one")
        await desk("send", name="one", text="hello\nthere")
        await desk("preview", name="one", view="v")
        await desk("attach", name="one")
        await desk("respawn", name="one", force=True)
        await desk("kill", name="one")
    finally:
        await desk.close()
    assert [terminal.tmux(*words) for words in (*TABLES, ("show-environment", "-g"), ("list-buffers",))] == before
    assert terminal.tmux("list-sessions", "-F", "#{session_name}").split() == ["person"]


async def test_C12_settings_that_end_a_server_are_not_ours_to_have(world):
    (world.home / ".tmux.conf").write_text(SUICIDAL)
    (world.config / "tmux").mkdir()
    (world.config / "tmux" / "tmux.conf").write_text(SUICIDAL)
    first = await Desk(world).start()
    session = await first.standin("one")
    await first.close()
    second = await Desk(world).start()
    try:
        (seen,) = await second("list")
        assert (seen["id"], seen["pid"]) == (session["id"], session["pid"])
    finally:
        await second.close()


async def test_C12_a_server_without_sessions_is_an_empty_list(desk):
    await desk("open", name="one", agent="shell")
    desk.tmux("set-option", "-s", "exit-empty", "off")
    await desk.close()
    for name in desk.tmux("list-sessions", "-F", "#{session_id}").split():
        desk.tmux("kill-session", "-t", name)
    assert tmux(desk.socket, "list-sessions", "-F", "x") == ""
    other = await Desk(desk.world).start()
    try:
        assert await other("list") == []
        assert (await other("open", name="two", agent="shell"))["opened"]
    finally:
        await other.close()


async def test_C03_a_hook_that_ends_each_new_session_is_told_and_leaves_nothing(desk):
    await desk.standin("one")
    desk.tmux("set-hook", "-g", "session-created", "kill-session")
    with pytest.raises(Refused, match="two was closed right after it was made"):
        await desk("open", name="two", cmd=["sleep", "1000"])
    desk.tmux("set-hook", "-gu", "session-created")
    await eventually_async(lambda: not sleepers(desk.world), message="nothing of it runs on")
    assert [each["name"] for each in await desk("list")] == ["one"]
    assert (await desk("send", name="one", text="still here"))["outcome"] == "submitted"
    assert (await desk("open", name="two", agent="shell"))["opened"]


def sleepers(world):
    return [one for one in world.processes() if words(one) == ["sleep", "1000"]]


async def test_C03_a_hook_that_splits_each_window_changes_no_target(desk):
    await desk.standin("one")
    desk.tmux("set-hook", "-g", "session-created", "split-window")
    desk.tmux("set-hook", "-g", "after-split-window", "select-pane -t +1")
    await desk.standin("two")
    assert (await desk("send", name="two", text="for the agent"))["outcome"] == "submitted"
    assert desk.prompts("two") == ["for the agent"]
    assert (await desk("kill", name="two"))["survivors"] == []
    assert [each["name"] for each in await desk("list")] == ["one"]


TITLES = r"printf '\033]0;#(touch pwned) #{pid} two\007\033kwindow\033\\'; exec cat"


async def test_C14_N08_titles_and_window_names_an_agent_chooses_are_words(desk, terminal):
    session = await desk("open", name="x#(touch pwned)", cmd=["sh", "-c", TITLES], cwd=str(desk.world.home))
    desk.tmux("set-option", "-g", "automatic-rename", "on")
    desk.tmux("set-option", "-wg", "allow-rename", "on")
    desk.tmux("set-option", "-g", "status", "on")
    desk.tmux("set-option", "-g", "set-titles", "on")
    await desk.until(lambda: "#(touch pwned)" in desk.tmux("list-panes", "-a", "-F", "#{pane_title}"))
    terminal.start((await desk("attach", name=session["id"]))["argv"])
    await desk("send", name=session["id"], text="reaches it")
    await asyncio.to_thread(terminal.wait_for, "reaches it")
    await desk("rename", name=session["id"], new="y#(touch pwned)#{pid}")
    assert [each["name"] for each in await desk("list")] == ["y#(touch pwned)#{pid}"]
    assert not list(desk.world.root.rglob("pwned"))


async def test_N04_a_target_that_is_gone_is_never_another(desk):
    await desk.standin("one")
    await desk.standin("two")
    pane = (await desk("get", name="one"))["pane"]
    desk.tmux("split-window", "-t", pane, "cat")
    desk.tmux("kill-pane", "-t", pane)
    for method, params in (("capture", {}), ("interrupt", {}), ("answer", {"choice": "yes"}), ("attach", {})):
        with pytest.raises(NotFound):
            await desk(method, name="one", **params)
    with contextlib.suppress(NotFound):  # it may have been noticed by now
        sent = await desk("send", name="one", text="x")
        outcome = (await desk("wait", act=sent["id"]))["outcome"]
        assert outcome in ("undelivered", "unconfirmed")  # the latter where it was claimed to be typed just then
    assert (desk.prompts("one"), desk.prompts("two")) == ([], [])


async def test_C12_a_server_kept_alive_by_somebodys_own_session_is_of_use(desk):
    await desk("open", name="one", agent="shell")
    desk.tmux("new-session", "-d", "-s", "mine", "cat")
    await desk("kill", name="one")
    assert "hub" not in desk.tmux("list-sessions", "-F", "#{session_name}").split()
    assert await desk("list") == []
    assert (await desk("open", name="two", agent="shell"))["opened"]
    assert "mine" in desk.tmux("list-sessions", "-F", "#{session_name}").split()


async def test_C11_a_control_client_nobody_reads_holds_up_nothing_and_leaves_no_size(desk):
    session = await desk.standin("one")
    argv = desk.front.helper.place.wire.client(f"=covey-{session['id']}", "pause-after=1")
    client = await asyncio.create_subprocess_exec(*argv, stdin=PIPE, stdout=PIPE, env=desk.world.env)
    await desk.until(lambda: len(desk.tmux("list-clients").splitlines()) == 2, message="it is attached")
    client.stdin.write(b"refresh-client -C 20,5\n")
    await desk.until(lambda: desk.tmux("list-clients", "-F", "#{client_width}").split().count("20"), message="its size")
    client.send_signal(signal.SIGSTOP)
    for number in range(2):
        await desk("send", name="one", text=f"flood 300 {number}")
        await desk("respawn", name="one", force=True)
        await desk.state("one", "idle")
    client.kill()
    await client.communicate()
    await desk.until(lambda: len(desk.tmux("list-clients").splitlines()) == 1, message="it is gone")
    assert (await desk("send", name="one", text="still here"))["outcome"] == "submitted"
    assert desk.prompts("one")[-1] == "still here"
    other = await desk("open", name="two", agent="shell")
    assert desk.tmux("display-message", "-p", "-t", other["pane"], "#{pane_width}x#{pane_height}") == "120x40"
