"""The minute that shows what covey is: in a real Neovim, on a scratch project, with the stand-in agent.

With a terminal it opens Neovim for a person to try things. Without one it walks much the same way by itself, prints
each step with its time, and ends with status 1 if a step fails. Nothing of the person's own is read or touched: home
and XDG directories are scratch, and all that was started is ended and removed.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
STEP_DEADLINE = 60.0  # seconds one editor of the tour may live
SWEEP_DEADLINE = 12.0  # seconds the host of an editor that left may take
WELCOME = """\
# covey: try it

Everything here is scratch: press, break, leave. It is all gone when you quit.

1. Two stand-in agents:     :Covey open standin name=ada
                            :Covey open standin name=bob
2. The fleet at a glance:   :Covey
                            (g? shows the keys, q closes)
3. Give one work:           :Covey send ada work 5
                            (or: flood 200, echo hello)
4. Watch one:               :Covey preview ada
                            (CTRL-W w goes into it, q there closes it)
5. It asks; you answer:     :Covey send ada ask me
                            :Covey answer ada yes
6. An agent dies:           :Covey send bob crash
7. Start it again in place: :Covey respawn bob
8. Sit in front of one:     :Covey attach bob
                            (CTRL-\\ CTRL-N, then q, leaves it)
9. Is all well?             :checkhealth covey
10. Leave:                  :qa
    (At home, what lives stays and is there when you come back.)
"""


@contextmanager
def scratch() -> Iterator[tuple[Path, dict[str, str]]]:
    """A project and an environment of its own, removed afterwards with every session in it."""
    root = Path(tempfile.mkdtemp(prefix="covey-try-"))
    places = {name: root / name.lower() for name in ("HOME", "STATE", "CONFIG", "DATA", "CACHE", "RUNTIME")}
    for place in places.values():
        place.mkdir(mode=0o700)
    env = {key: value for key, value in os.environ.items() if key not in ("TMUX", "TMUX_PANE", "NVIM", "VIRTUAL_ENV")}
    env |= {f"XDG_{name}_{'DIR' if name == 'RUNTIME' else 'HOME'}": str(path) for name, path in places.items()}
    env |= {"HOME": str(places["HOME"]), "SHELL": "/bin/sh"}
    project = root / "project"
    project.mkdir()
    (project / "TRY.md").write_text(WELCOME, encoding="utf-8")
    try:
        yield project, env
    finally:
        for session in sessions(env):
            covey(env, "kill", str(session["id"]))
        shutil.rmtree(root, ignore_errors=True)


def covey(env: dict[str, str], *words: str) -> subprocess.CompletedProcess[str]:
    """One verb of the command line in that environment."""
    argv = [sys.executable, "-P", "-m", "covey.cli", *words]
    paths = {"PYTHONPATH": str(ROOT / "helper")}
    return subprocess.run(argv, env=env | paths, capture_output=True, text=True, timeout=STEP_DEADLINE, check=False)


def sessions(env: dict[str, str]) -> list[dict[str, object]]:
    """What is open there."""
    done = covey(env, "list", "--json")
    found: list[dict[str, object]] = json.loads(done.stdout) if done.returncode == 0 else []
    return found


def editor(env: dict[str, str], *words: str) -> list[str]:
    """How Neovim is started with covey and nothing else."""
    nvim = shutil.which("nvim", path=os.pathsep.join([str(Path(sys.executable).parent), env.get("PATH", "")]))
    if nvim is None:
        sys.exit("covey: no nvim was found; run `make setup`")
    config = f"let g:covey = {{'python': '{sys.executable}'}}"
    return [nvim, "--clean", "--cmd", f"set rtp^={str(ROOT).replace(' ', chr(92) + ' ')}", "--cmd", config, *words]


def walk(project: Path, env: dict[str, str]) -> None:
    """The tour without a person; ends the process with status 1 at the first step that fails."""
    _editor_steps("first", project, env)
    _step("what lives stays, what is over is reaped", lambda: _until(lambda: _left(env) == ["ada"]))
    _editor_steps("second", project, env)
    _step("the last session takes its tmux server along", lambda: _until(lambda: _left(env) == []))


def _editor_steps(part: str, project: Path, env: dict[str, str]) -> None:
    argv = editor(env, "--headless", "-c", f"lua require('covey.tour').walk('{part}')")
    done = subprocess.run(argv, cwd=project, env=env, stdin=subprocess.DEVNULL, timeout=STEP_DEADLINE, check=False)
    if done.returncode != 0:
        sys.exit(1)


def _left(env: dict[str, str]) -> list[object]:
    return [each["name"] for each in sessions(env)]


def _step(what: str, holds: Callable[[], bool]) -> None:
    began = time.monotonic()
    good = holds()
    sys.stdout.write(f"{'ok  ' if good else 'FAIL'} {(time.monotonic() - began) * 1000:6.0f} ms  {what}\n")
    sys.stdout.flush()
    if not good:
        sys.exit(1)


def _until(holds: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + SWEEP_DEADLINE
    while not holds():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


def main() -> None:
    """Try covey, by hand where there is a terminal, else by itself."""
    with scratch() as (project, env):
        if sys.stdin.isatty() and sys.stdout.isatty():
            subprocess.run(editor(env, "TRY.md"), cwd=project, env=env, check=False)
        else:
            began = time.monotonic()
            walk(project, env)
            sys.stdout.write(f"all well in {time.monotonic() - began:.1f} s\n")


if __name__ == "__main__":
    main()
