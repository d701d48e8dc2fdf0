"""Secrets: a scanner reads all it can while sessions are opened, started again and prompted, and never finds one.

``COVEY_SCANS=200 pytest tests/faults/test_scanner.py`` for the long run.
"""

from __future__ import annotations

import os
import sys
import threading
import uuid
from pathlib import Path

import pytest

from covey.errors import CoveyError

ROUNDS = int(os.environ.get("COVEY_SCANS", "6"))
DUMP = (
    "import os, sys; open(sys.argv[1], 'w').write(os.environ['CHK_LITERAL'] + os.environ['CHK_FILE']); sys.stdin.read()"
)


class Scanner:
    """Looks for words in the arguments of all processes and the environment of all but the agents, all the time."""

    def __init__(self, *words):
        self.words = [word.encode() for word in words]
        self.hits, self.scans = set(), 0
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._over.set()
        self._thread.join()

    def _run(self):
        while not self._over.is_set():
            for process in Path("/proc").glob("[0-9]*"):
                self._look(process)
            self.scans += 1

    def _look(self, process):
        arguments, environment = _read(process / "cmdline"), _read(process / "environ")
        agent = b"\0COVEY_ID=" in b"\0" + environment
        for word in self.words:
            if word in arguments:
                self.hits.add(f"arguments of {process.name}: {arguments[:80]!r}")
            if word in environment and not agent:
                self.hits.add(f"environment of {process.name}: {arguments[:80]!r}")


def _read(path):
    try:
        return path.read_bytes()
    except OSError:
        return b""


def places(desk):
    """Name and content of everything of tmux and of every file in the world, but what the agents wrote themselves."""
    found = {
        "message log": desk.tmux("show-messages"),
        "global environment": desk.tmux("show-environment", "-g") + desk.tmux("show-environment", "-gh"),
        "global options": desk.tmux("show-options", "-g") + desk.tmux("show-options", "-s"),
    }
    for buffer in desk.tmux("list-buffers", "-F", "#{buffer_name}").split():
        found[f"buffer {buffer}"] = desk.tmux("show-buffer", "-b", buffer)
    for session in desk.tmux("list-sessions", "-F", "#{session_id}").split():
        found[f"environment of {session}"] = desk.tmux("show-environment", "-t", session)
        found[f"options of {session}"] = desk.tmux("show-options", "-t", session)
        found[f"scrollback of {session}"] = desk.tmux("capture-pane", "-p", "-S", "-", "-t", f"{session}:")
        found[f"marks of {session}"] = desk.tmux("show-options", "-p", "-t", f"{session}:")
    for path in desk.world.root.rglob("*"):
        if path.is_file() and path.suffix not in (".agent", ".source", ".jsonl"):
            found[str(path)] = _read(path).decode(errors="replace")
    return found


def hits(desk, *words):
    return [where for where, text in places(desk).items() if any(word in text for word in words)]


@pytest.mark.timeout(900)
async def test_E01_no_byte_of_a_secret_is_anywhere_but_in_the_agents(desk):
    literal, filed, prompt = (f"sk-{kind}-{uuid.uuid4().hex}" for kind in ("literal", "filed", "prompt"))
    source = desk.world.home / "token.source"
    source.write_text(filed + "\n")
    given = {"CHK_LITERAL": literal, "CHK_FILE": f"file:{source}"}
    await desk.standin("talks", env=given)
    with Scanner(literal, filed, prompt) as scanner:
        for number in range(ROUNDS):
            name, got = f"s{number % 8}", desk.world.tmp / f"s{number}.agent"
            await desk("open", name=name, cmd=[sys.executable, "-S", "-c", DUMP, str(got)], env=given)
            await desk.until(lambda got=got: got.exists() and got.read_text() == literal + filed)
            got.unlink()
            await desk("respawn", name=name, force=True)
            await desk.until(lambda got=got: got.exists() and got.read_text() == literal + filed)
            assert (await desk("send", name="talks", text=f"{number} {prompt}"))["outcome"] == "submitted"
            if number % 3 == 0:
                assert hits(desk, literal, filed) == []
            await desk("kill", name=name)
    assert scanner.scans > ROUNDS
    assert scanner.hits == set()
    assert hits(desk, literal, filed) == []
    assert all("scrollback" in where or "covey.db" in where for where in hits(desk, prompt))


async def test_E01_a_start_that_fails_tells_no_secret(desk):
    secret = f"sk-{uuid.uuid4().hex}"
    for bad in ({"cwd": "/nonexistent"}, {"cmd": ["no-such-program"]}, {"env": {"OTHER": "cmd:exit 3"}}):
        with pytest.raises(CoveyError) as error:
            await desk("open", **{"name": "one", "agent": "shell", **bad, "env": {"A": secret, **bad.get("env", {})}})
        assert secret not in str(error.value.to_json())
    assert hits(desk, secret) == []
    assert not list(desk.world.run.rglob("spool/*"))


async def test_the_scanner_sees_a_planted_leak(desk):
    await desk("open", name="one", agent="shell")
    word = f"sk-{uuid.uuid4().hex}"
    with Scanner(word) as scanner:
        desk.tmux("set-environment", "-g", "LEAK", word)
        desk.tmux("set-buffer", "-b", "leak", word)
        await desk("open", name="args", cmd=["sh", "-c", "sleep 600", word])
        await desk("open", name="env", cmd=["env", "-u", "COVEY_ID", f"LEAK={word}", "sleep", "600"])
        await desk.until(lambda: len({hit.split(" ")[0] for hit in scanner.hits}) == 2, message="both were seen")
    (desk.world.tmp / "planted").write_text(word)
    found = hits(desk, word)
    assert {"global environment", "buffer leak", str(desk.world.tmp / "planted")} <= set(found)
