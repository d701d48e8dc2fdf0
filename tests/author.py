"""What agents leave in a home: of themselves while they run, and of what was said."""

from __future__ import annotations

import json
import os
import subprocess
from typing import TYPE_CHECKING, Any

from covey import process
from covey.agents.published import Files, Published
from covey.models import stamp
from drawn import CATALOG
from waiting import eventually

if TYPE_CHECKING:
    from pathlib import Path

RULE = CATALOG.get("claude").session_file
assert RULE is not None


class Author:
    """A process that has a home, and what stands there in its name."""

    def __init__(self, home: Path, **env: str) -> None:
        self.running = subprocess.Popen(["sleep", "60"], env={"HOME": str(home), "PATH": os.environ["PATH"], **env})
        self.pid = self.running.pid
        eventually(lambda: "HOME" in (process.environment(self.pid) or {}), 5, "it runs")
        self.folder = home / ".claude" / "sessions"
        self.folder.mkdir(parents=True, exist_ok=True)
        self.file = self.folder / f"{self.pid}.json"
        self.files = Files()

    def write(self, **facts: Any) -> None:
        owner = process.identify(self.pid)
        assert owner is not None
        self.file.write_text(json.dumps({"procStart": str(owner.start), "kind": "interactive", **facts}))

    def says(self) -> Published | None:
        assert RULE is not None
        return self.files.read([("ab234567", self.pid, RULE)]).get("ab234567")

    def end(self) -> None:
        self.running.kill()
        self.running.wait()


def rollout(home: Path, conversation: str, at: float, cwd: str = "/project") -> None:
    """A conversation as codex keeps it."""
    folder = home / ".codex/sessions/2027/01/15"
    folder.mkdir(parents=True, exist_ok=True)
    head = {"timestamp": stamp(at), "type": "session_meta", "payload": {"id": conversation, "cwd": cwd}}
    text = json.dumps(head, separators=(",", ":")) + "\n"
    (folder / f"rollout-2027-01-15T08-00-05-{conversation}.jsonl").write_text(text)
