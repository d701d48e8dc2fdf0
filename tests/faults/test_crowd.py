"""Many who come and go at once: tmux before 3.7 dies of news that comes while a control client introduces itself."""

from __future__ import annotations

import asyncio
import fcntl

from covey import paths, place
from covey.tmux.client import Client

VISITS = 60  # of each of the visitors; without the lock the server of 3.3a lives for about a hundred in all
VISITORS = 4


async def visit(desk):
    """A helper that only looks who is there, again and again."""
    for _ in range(VISITS):
        wire = place.local(lambda *_: None, socket=desk.socket).wire
        await wire.connect()
        await wire.close()


async def test_S08_visitors_that_come_and_go_end_no_session(desk):
    session = await desk("open", name="one", cmd=["cat"])
    server = desk.tmux("display-message", "-p", "#{pid}")
    await asyncio.gather(*(visit(desk) for _ in range(VISITORS)))
    assert desk.tmux("display-message", "-p", "#{pid}") == server
    assert (await desk("get", name="one"))["pid"] == session["pid"]


async def test_S08_nor_do_sessions_that_come_and_go_meanwhile(desk):
    session = await desk("open", name="one", cmd=["cat"])
    server = desk.tmux("display-message", "-p", "#{pid}")

    async def sessions():
        for number in range(20):
            await desk("open", name=f"s{number}", cmd=["cat"])
            await desk("kill", name=f"s{number}")

    await asyncio.gather(sessions(), sessions_seen(desk), visit(desk), visit(desk))
    assert desk.tmux("display-message", "-p", "#{pid}") == server
    assert (await desk("get", name="one"))["pid"] == session["pid"]


async def sessions_seen(desk):
    """A board whose cursor runs: each preview is shut as soon as it was asked for."""
    for number in range(VISITS):
        await desk("preview", name="one", view="v")
        await asyncio.sleep(0.004 * (number % 4))
        await desk("unpreview", view="v")


async def test_S08_nor_do_clients_that_turn_back_on_the_doorstep(desk):
    session = await desk("open", name="one", cmd=["cat"])
    wire = desk.front.helper.place.wire
    for number in range(4 * VISITS):
        async with wire.quiet.telling():
            client = Client(wire.client(), wire.env)
            await asyncio.sleep(0.0002 * (number % 20))
            await client.leave()
    assert (await desk("get", name="one"))["pid"] == session["pid"]
    await desk.until(lambda: len(desk.tmux("list-clients").splitlines()) == 1, message="all have left")


async def test_S12_a_lock_that_somebody_stopped_keeps_is_waited_for_once(desk, monkeypatch):
    await desk.standin("one")
    tried, asked = paths.try_lock, []
    held = (desk.socket.with_name("quiet.lock")).open()
    fcntl.flock(held, fcntl.LOCK_EX)

    def noted(handle, kind):
        got = tried(handle, kind)
        asked.append(got)
        return got

    with monkeypatch.context() as patch:
        patch.setattr(paths, "try_lock", noted)
        for waits in (True, False, False):
            async with desk.front.helper.place.wire.quiet.telling():
                assert (asked.count(False) > 1) is waits
            asked.clear()
    held.close()
    assert (await desk("send", name="one", text="hi"))["outcome"] == "submitted"
