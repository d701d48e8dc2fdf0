"""Live previews: what the pane shows, when it changed, and nothing else; nothing typed, nothing resized."""

from __future__ import annotations

import asyncio
import os
import signal


def frames(desk, view):
    return [each["data"] for each in desk.events if each["event"] == "Frame" and each["data"]["view"] == view]


async def test_a_change_in_the_pane_comes_as_a_frame(desk):
    await desk.standin("one")
    await desk("preview", name="one", view="v")
    (first, *_) = await desk.until(lambda: frames(desk, "v"))
    assert (first["cols"], first["rows"], first["dead"]) == (120, 40, False)
    await desk("send", name="one", text="echo look at me")
    await desk.until(lambda: "look at me" in frames(desk, "v")[-1]["ansi"])


async def test_nothing_is_sent_while_nothing_changes(desk):
    await desk.standin("one")
    await desk("preview", name="one", view="v")
    await desk.until(lambda: frames(desk, "v"))
    seen = len(frames(desk, "v"))
    for _ in range(5):
        await desk("list")
    assert len(frames(desk, "v")) - seen <= 1


async def test_a_view_that_was_shut_is_silent_and_its_client_is_gone(desk):
    await desk.standin("one")
    await desk("preview", name="one", view="v")
    await desk.until(lambda: frames(desk, "v"))
    await desk("unpreview", view="v")
    seen = len(frames(desk, "v"))
    await desk("send", name="one", text="echo unseen")
    assert len(frames(desk, "v")) == seen
    await desk.until(lambda: len(desk.tmux("list-clients").splitlines()) == 1)


async def test_several_views_of_several_sessions(desk):
    for name in ("one", "two"):
        await desk.standin(name)
        await desk("preview", name=name, view=f"v-{name}")
    await desk("preview", name="one", view="again")
    await desk("send", name="one", text="echo only one")
    await desk.until(lambda: "only one" in frames(desk, "v-one")[-1]["ansi"])
    await desk.until(lambda: "only one" in frames(desk, "again")[-1]["ansi"])
    assert "only one" not in frames(desk, "v-two")[-1]["ansi"]


async def test_a_dying_pane_keeps_its_last_screen_and_says_how_it_ended(desk):
    session = await desk.standin("one")
    await desk("preview", name="one", view="v")
    await desk.until(lambda: frames(desk, "v"))
    os.kill(session["pid"], signal.SIGKILL)
    last = await desk.until(lambda: next((f for f in frames(desk, "v") if f["exit"]), None))
    assert (last["dead"], last["exit"]) == (True, {"code": None, "signal": 9})
    assert "standin" in last["ansi"]


async def test_a_lost_server_is_said_and_the_screen_stays(desk):
    await desk.standin("one")
    await desk("preview", name="one", view="v")
    await desk.until(lambda: frames(desk, "v"))
    desk.tmux("kill-server")
    last = await desk.until(lambda: next((f for f in frames(desk, "v") if f["note"]), None))
    assert "standin" in last["ansi"]


async def test_a_preview_neither_resizes_nor_types(desk):
    await desk.standin("one")
    pane = (await desk("get", name="one"))["pane"]
    size = desk.tmux("display-message", "-p", "-t", pane, "#{pane_width}x#{pane_height}")
    for number in range(3):
        await desk("preview", name="one", view=f"v{number}", cols=20, rows=5)
    await desk.until(lambda: all(frames(desk, f"v{number}") for number in range(3)))
    assert desk.tmux("display-message", "-p", "-t", pane, "#{pane_width}x#{pane_height}") == size
    assert desk.prompts("one") == []


async def test_a_flood_does_not_grow_the_server(desk):
    await desk("open", name="flood", cmd=["sh", "-c", "yes covey | head -c 30000000; exec cat"])
    await desk("preview", name="flood", view="v")
    await desk.until(lambda: frames(desk, "v"))
    pid = int(desk.tmux("display-message", "-p", "#{pid}"))
    with open(f"/proc/{pid}/status") as status:  # noqa: ASYNC230, PTH123
        rss = next(int(row.split()[1]) for row in status if row.startswith("VmRSS"))
    assert rss < 60_000
    await asyncio.sleep(0)


async def test_a_preview_that_fell_behind_goes_on(desk):
    await desk("open", name="flood", cmd=["sh", "-c", "yes covey | head -c 20000000; echo the end; exec cat"])
    await desk("preview", name="flood", view="v")
    await desk.until(lambda: frames(desk, "v"))
    (client,) = desk.world.running("pause-after")
    client.suspend()
    await desk.shows("flood", "the end")
    client.resume()
    await desk.until(lambda: "the end" in frames(desk, "v")[-1]["ansi"])
    await desk("send", name="flood", text="after it")
    await desk.until(lambda: "after it" in frames(desk, "v")[-1]["ansi"])
