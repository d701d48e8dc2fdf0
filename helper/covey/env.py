"""What an agent finds in its environment, and how it gets there without anybody else reading it.

The rule: an agent gets the environment of whoever opens (or respawns) it, less the names below that would make it
act on our editor, our tmux or our Python, then its profile's additions, then what was given for the session. It
crosses in a script that only we can read and that removes itself before the agent runs: never in an argument list,
never in tmux's environment.

Values given for one session are kept for later starts in two halves, each random by itself: one in the store, one
in the runtime directory, which ends with the login. References are kept as written: see ``reference.py``.
"""

from __future__ import annotations

import os
import re
import secrets
import shlex
import shutil
from collections.abc import Mapping, Sequence

from covey.errors import Refused, Usage

MAX_VALUE = 1 << 17  # bytes: Linux refuses longer strings in exec (MAX_ARG_STRLEN)

SHELLS_OWN = frozenset(  # what /bin/sh, be it dash or bash, keeps for itself: it changes them, or stops at them
    "BASHOPTS BASHPID BASH_ALIASES BASH_ARGC BASH_ARGV BASH_CMDS BASH_COMMAND BASH_LINENO BASH_SOURCE BASH_SUBSHELL "
    "BASH_VERSINFO DIRSTACK EPOCHREALTIME EPOCHSECONDS EUID FUNCNAME GROUPS HISTCMD LINENO OLDPWD OPTIND PIPESTATUS "
    "PPID PWD RANDOM SECONDS SHELLOPTS SHLVL SRANDOM UID _".split()
)
SCRUB = SHELLS_OWN | frozenset(
    "NVIM NVIM_LISTEN_ADDRESS NVIM_LOG_FILE NVIM_RPLUGIN_MANIFEST VIM VIMRUNTIME MYVIMRC MYGVIMRC "  # our editor
    "TMUX TMUX_PANE TMUX_TMPDIR STY ZELLIJ WINDOWID "  # the terminal we run in
    "TERM TERM_PROGRAM TERM_PROGRAM_VERSION TERMCAP COLORTERM COLUMNS LINES NO_COLOR "
    "VIRTUAL_ENV VIRTUAL_ENV_PROMPT PYTHONPATH PYTHONHOME PYTHONSTARTUP PYTHONSAFEPATH PYTHONWARNINGS "  # our Python
    "CLAUDECODE CLAUDE_CODE_ENTRYPOINT CLAUDE_CODE_SSE_PORT CLAUDE_CODE_SESSION_ID CLAUDE_PID "  # another agent's
    "CLAUDE_CODE_MESSAGING_TOKEN CLAUDE_CODE_EFFORT_LEVEL CODEX_SANDBOX CODEX_SANDBOX_NETWORK_DISABLED GEMINI_CLI "
    "OPENCODE QWEN_CODE AI_AGENT".split()
)
COVEYS_OWN = frozenset({"COVEY_ID", "COVEY_NAME"})
SCRUB_PREFIXES = ("COVEY_", "NVIM_SOCK", "BASH_FUNC_")
BASE = frozenset("HOME LANG LC_ALL LC_CTYPE LOGNAME PATH SHELL TZ USER".split())  # all that the tmux server gets

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")


def _umask() -> int:
    """Read by being set: at import, while no other thread makes files or asks."""
    given = os.umask(0o077)
    os.umask(given)
    return given


UMASK = _umask()  # the caller's


def base(caller: Mapping[str, str]) -> dict[str, str]:
    """The short, secret-free environment that the tmux server and its clients are started with."""
    kept = {name: value for name, value in caller.items() if name in BASE}
    return {"LANG": "C.UTF-8", "PATH": os.defpath, **kept}


def inherited(caller: Mapping[str, str]) -> dict[str, str]:
    """What crosses from the caller: everything a shell can export, less what is scrubbed."""
    return {
        name: value
        for name, value in caller.items()
        if name not in SCRUB and not name.startswith(SCRUB_PREFIXES) and _NAME.match(name)
    }


def check_name(name: str) -> None:
    """Refuse a variable that is not the caller's to set, or to take away."""
    if not _NAME.match(name):
        raise Usage(f"{name!r} cannot be the name of an environment variable", "use letters, digits and _")
    if name in SHELLS_OWN | COVEYS_OWN:
        whose = "covey" if name in COVEYS_OWN else "the shell that starts the agent"
        raise Refused(f"{name} is kept by {whose} for itself", "choose another name")


def check(name: str, value: str) -> None:
    """Refuse, by name, what could not arrive byte for byte."""
    check_name(name)
    if "\0" in value or len(value.encode("utf-8", "surrogateescape")) + len(name) + 2 > MAX_VALUE:
        raise Refused(f"the value of {name} cannot cross: it holds a NUL byte or is over 128 KiB", "give file:PATH")


def split(value: str) -> tuple[str, bytes]:
    """A literal value as two halves, each without meaning: ``half:HEX`` for the spec, and bytes to be filed."""
    data = value.encode("utf-8", "surrogateescape")
    pad = secrets.token_bytes(len(data))
    return "half:" + bytes(a ^ b for a, b in zip(data, pad, strict=True)).hex(), pad


def join(half: str, pad: bytes) -> str:
    """The value whose halves these are."""
    data = bytes.fromhex(half.removeprefix("half:"))
    return bytes(a ^ b for a, b in zip(data, pad, strict=True)).decode("utf-8", "surrogateescape")


def launcher(
    argv: Sequence[str], cwd: str, env: Mapping[str, str], unset: Sequence[str] = (), *, nice: str = ""
) -> bytes:
    """The script a pane starts with: it removes itself, sets environment and umask, and becomes the agent.

    ``nice``: by how much the agent is to give way to others.

    ``/bin/sh SCRIPT`` is all that any process list ever shows of it.
    """
    exports = [f"export {name}={shlex.quote(value)}" for name, value in env.items()]
    gone = sorted({"TMUX", "TMUX_PANE", *filter(_NAME.match, unset), *(BASE - env.keys())} - SHELLS_OWN)
    gently = [shutil.which("nice") or "nice", "-n", nice] if nice else []
    lines = [
        'rm -f -- "$0"',
        f"unset {' '.join(gone)}",
        *exports,
        f"umask {UMASK:04o}",  # else it is that of whoever happened to start the tmux server
        f"cd -- {shlex.quote(cwd)} || exit 126",
        f"exec {shlex.join([*gently, *argv])}",
    ]
    return ("\n".join(lines) + "\n").encode("utf-8", "surrogateescape")
