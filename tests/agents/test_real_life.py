"""R*, U*: installed agents killed at rest and at work, started again, left by their own command."""

from __future__ import annotations

import contextlib
import json
import sys
from pathlib import Path

import psutil
import pytest

from brood import Brood
from covey.rehearsal import staged
from drawn import CATALOG
from world import is_alive

REHEARSED = [name for name in CATALOG.names() if CATALOG.get(name).rehearsal is not None]
SERVER = [sys.executable, "-S", str(Path(__file__).with_name("mcp.py"))]
TOOL = "tail -f /dev/null"  # runs until it is ended
PATIENCE = 120.0
JSON_SERVERS = {
    "claude": (".claude.json", "mcpServers"),
    "gemini": (".gemini/settings.json", "mcpServers"),
    "qwen": (".qwen/settings.json", "mcpServers"),
    "copilot": (".copilot/mcp-config.json", "mcpServers"),
    "opencode": (".config/opencode/opencode.json", "mcp"),
}

pytestmark = [pytest.mark.timeout(400), pytest.mark.parametrize("agent", REHEARSED)]


@pytest.fixture
def brood():
    family = Brood()
    yield family
    family.clear()


@contextlib.asynccontextmanager
async def on_stage(agent, desk, path, prompt):
    """The agent, idle after that prompt; and a way to see which processes were started in its home."""
    async with staged(agent, desk, CATALOG.get(agent), path) as stage:
        home = Path(stage.caller["HOME"])
        with_a_tool_server(agent, home)
        try:
            await stage.begin(prompt)
            yield stage, lambda: [one for one in psutil.process_iter() if lives_in(one, home)]
        finally:
            for view in await desk("list"):
                await desk("kill", name=view["name"])


def with_a_tool_server(agent, home):
    """Have the agent start a tool server, where it can: one that would outlive it."""
    if agent == "codex":
        with (home / ".codex/config.toml").open("a") as config:
            config.write(f'[mcp_servers.t]\ncommand = "{SERVER[0]}"\nargs = {json.dumps([*SERVER[1:], str(home)])}\n')
    if agent in JSON_SERVERS:
        name, key = JSON_SERVERS[agent]
        path = home / name
        config = json.loads(path.read_text()) if path.exists() else {}
        shape = {"type": "local", "command": [*SERVER, str(home)]} if agent == "opencode" else _stdio(agent, home)
        path.write_text(json.dumps({**config, key: {"t": shape}}))


def _stdio(agent, home):
    more = {"type": "local", "tools": ["*"]} if agent == "copilot" else {}
    return {"command": SERVER[0], "args": [*SERVER[1:], str(home)], **more}


def lives_in(process, home):
    try:
        return is_alive(process) and (process.environ().get("HOME") == str(home) or str(home) in process.cmdline())
    except psutil.Error:
        return False


def runs(processes, words):
    """Whether one of them runs that, or a part of it."""
    return any(words in " ".join(each) for each in told(processes))


def command(process):
    try:
        return process.cmdline()
    except psutil.Error:
        return []


def told(processes):
    return [command(one) for one in processes]


async def at_work(stage, ours):
    """The agent runs a tool that does not end by itself, allowed by a person where it asks."""
    asks = stage.profile.rehearsal.asks.replace("touch {file}", TOOL) or f"mock:run {TOOL}"
    await stage.say(asks)

    async def look():
        if (await stage.call("get", name=stage.name))["state"] == "blocked":
            await stage.call("answer", name=stage.name, choice="yes")
        return runs(ours(), TOOL)

    await stage.until(look, lambda: f"no tool in {told(ours())}", PATIENCE)


@pytest.mark.parametrize("moment", ["at rest", "at work"])
async def test_R01_R09_a_kill_leaves_nothing_and_hurts_nobody(agent, moment, path, desk, brood):
    twin = brood.bystander(f"{agent} of somebody else")
    async with on_stage(agent, desk, path, "Say hello.") as (stage, ours):
        if agent in (*JSON_SERVERS, "codex"):
            await stage.until(lambda: runs(ours(), SERVER[-1]), lambda: f"no tool server in {told(ours())}", PATIENCE)
        if moment == "at work":
            await at_work(stage, ours)
        before = {one.pid for one in ours()}
        killed = await desk("kill", name=agent)
        assert (killed["survivors"], killed["left"]) == ([], [])
        assert ours() == []
        assert before <= set(killed["ended"])
    assert [one.pid for one in brood.living()] == [twin.pid]
    assert await desk("list") == []


async def test_U03_U04_it_goes_on_or_begins_anew_as_it_is_told(agent, path, desk):
    async with on_stage(agent, desk, path, "The word is heron.") as (stage, ours):
        alone = stage.model.heard("heron")[0].before
        await known(stage)
        first = await desk("get", name=agent)
        again = await desk("respawn", name=agent, force=True, environ=dict(stage.caller))
        assert (again["id"], again["epoch"]) == (first["id"], 2)
        assert (await asked(stage, "Which word?")).before > alone

        await desk("send", name=agent, text=stage.profile.quit, raw=True)
        left = await desk.state(agent, "exited")
        assert left["exit"] == {"code": 0, "signal": None}
        resumed = await desk("respawn", name=agent, environ=dict(stage.caller))
        assert resumed["conversation"] == again["conversation"]
        assert (await asked(stage, "And now?")).before > alone

        anew = await desk("respawn", name=agent, force=True, fresh=True, environ=dict(stage.caller))
        assert anew["epoch"] == 4
        assert (await asked(stage, "Any word?")).before == alone
        assert not again["conversation"] or anew["conversation"] != again["conversation"]
        assert (await desk("kill", name=agent))["survivors"] == []
        assert ours() == []


@pytest.mark.parametrize("words", [[], ["/clear", "The word is egret."]], ids=["first", "cleared"])
async def test_U02_started_again_right_after_a_prompt_it_goes_on(agent, words, path, desk):
    """Its own id of the conversation is learnt when it is needed, and is that of the one it is in now."""
    if agent not in ("claude", "codex", "opencode") or (words and agent != "claude"):
        pytest.skip("its id is ours to choose, or it has none")
    async with on_stage(agent, desk, path, "Say hello.") as (stage, _):
        anew = await desk("respawn", name=agent, force=True, fresh=True, environ=dict(stage.caller))
        assert anew["epoch"] == 2
        for text in words or ["The word is heron."]:
            await stage.agree_to_all()
            receipt = await desk("send", name=agent, text=text, raw=True, wait=PATIENCE)
            assert receipt["outcome"] == "submitted", receipt
        await stage.until(lambda: stage.model.heard("The word"), "it was not heard", PATIENCE)
        again = await desk("respawn", name=agent, force=True, environ=dict(stage.caller))
        assert "note" not in again
        assert (await asked(stage, "Which word?")).before > stage.model.heard("The word")[0].before


async def known(stage):
    """Wait until covey knows the id of the conversation, where the agent goes on by one."""

    async def look():
        return (await stage.call("get", name=stage.name))["conversation"]

    if any("{id}" in word for word in stage.profile.resume):
        await stage.until(look, "its conversation is not known", PATIENCE)


async def asked(stage, text):
    """The request in which a newly started agent's model heard that."""
    await stage.agree_to_all()
    before = len(stage.model.requests)
    receipt = await stage.call("send", name=stage.name, text=text, wait=PATIENCE)
    request = await stage.heard(text, receipt, before, PATIENCE)
    await stage.state("idle", patience=PATIENCE)
    return request
