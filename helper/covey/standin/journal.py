"""What outlives the process: the record that tests compare with, and the conversation that a resume proves."""

from __future__ import annotations

import json
import os
import re
import time
from pathlib import Path
from typing import TextIO

from covey.errors import CoveyError, NotFound, Refused, Usage
from covey.standin.options import Options

ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")


class Journal:
    """Opens its files at once, so that an option that cannot be met ends the agent before it draws anything."""

    def __init__(self, options: Options) -> None:
        self.greeting = ""
        self.count = 0
        try:
            self._files = [file for file in (_record(options), self._conversation(options)) if file]
        except OSError as error:
            raise CoveyError(f"cannot write {error.filename}: {error.strerror}") from error

    def note(self, text: str) -> None:
        """A prompt was submitted: it is in the files when this returns."""
        self.count += 1
        line = json.dumps({"n": self.count, "text": text, "at": time.time()})
        for file in self._files:
            file.write(line + "\n")
            file.flush()

    def _conversation(self, options: Options) -> TextIO | None:
        known = options.resume or options.session_id
        if not known and not options.conversation:
            return None
        path = Path(options.conversation) if options.conversation else _home() / f"{_id(known)}.jsonl"
        is_there = path.exists()
        if options.resume and not is_there:
            raise NotFound(f"no conversation {known}")
        if options.session_id and is_there:
            raise Refused(f"conversation {known} exists already", f"--resume {known}")
        if is_there:
            self.greeting = f"Resumed {known or path.stem}, {_prompts(path)} prompts"
        path.parent.mkdir(parents=True, exist_ok=True)
        return path.open("a", encoding="ascii")


def _record(options: Options) -> TextIO | None:
    return Path(options.record).open("a", encoding="ascii") if options.record else None


def _prompts(path: Path) -> int:
    with path.open("rb") as file:
        return sum(1 for _ in file)


def _home() -> Path:
    state = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(state) / "covey-standin"


def _id(text: str) -> str:
    if not ID.fullmatch(text):
        raise Usage(f"{text!r} is no conversation's id")
    return text
