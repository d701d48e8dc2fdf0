"""The host process. `lua/covey/rpc.lua` runs this file as a script: `python -P …/__main__.py`.

The pipes of stdin and stdout are the protocol. They move to private descriptors before anything else is imported,
so that no stray print, no warning and no child process can reach them.
"""

from __future__ import annotations

import importlib
import os
import select
import sys
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from collections.abc import Callable

SWEEP_S = 10.0  # how long the host may outlive its editor
PLUGIN = Path(__file__).resolve().parent


def claim_pipes() -> tuple[TextIO, TextIO]:
    """The protocol as (in, out) on private descriptors; from now on 0 reads nothing and 1 writes to stderr."""
    source, sink = os.fdopen(os.dup(0)), os.fdopen(os.dup(1), "w")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return source, sink


def serve(source: TextIO, sink: TextIO) -> None:
    """Speak msgpack-rpc with the editor until it hangs up. pynvim takes its pipes from `sys` once, at the start."""
    import pynvim  # noqa: PLC0415  # not before the pipes are safe, and its absence is a sentence

    if has_hung_up(source):
        heed(source)
        raise EOFError
    stdin, stdout = sys.stdin, sys.stdout
    sys.stdin, sys.stdout = source, sink
    try:
        session = pynvim.stdio_session()
    finally:
        sys.stdin, sys.stdout = stdin, stdout
    # start_host() reads the plugins to load from the arguments; any that ends in .py counts as one.
    sys.argv = ["covey", str(PLUGIN)]
    pynvim.start_host(session)


def has_hung_up(source: TextIO) -> bool:
    """Whether the editor is gone already; what it said last may still be there to be read."""
    gone = select.POLLHUP | getattr(select, "POLLRDHUP", 0)
    watch = select.poll()
    watch.register(source.fileno(), gone)
    return any(event & gone for _, event in watch.poll(0))


def heed(source: TextIO) -> None:
    """Do what an editor asked for that left before this process was up: pynvim would first want an answer from it."""
    import msgpack  # noqa: PLC0415  # pynvim's own, and seldom needed

    sys.path.insert(0, str(PLUGIN.parent))
    said = msgpack.Unpacker(unicode_errors="surrogateescape", max_buffer_size=0)
    said.feed(source.buffer.raw.read())  # type: ignore[attr-defined]  # as os.fdopen makes it
    importlib.import_module(PLUGIN.name).Covey.without_editor((name, given) for _, name, given in said)


def outlive(*, hung_up: bool) -> int:
    """After the channel has ended: finish what was promised, for `SWEEP_S` at most. Returns the exit code."""
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 1)  # nobody reads any more; a write would be SIGPIPE's error in the middle of a sweep
    os.dup2(nothing, 2)
    module = sys.modules.get(PLUGIN.name)
    finish: Callable[..., bool] | None = getattr(module, "finish", None)
    return 0 if finish is None or finish(SWEEP_S, hung_up=hung_up) else 1


def main() -> None:
    """Never returns: threads of the core may hang, and must not keep the process."""
    source, sink = claim_pipes()
    hung_up = False
    try:
        serve(source, sink)
    except ImportError as error:
        sys.stderr.write(f"covey: the Python package {error.name or error} is missing from {sys.executable}\n")
        os._exit(3)
    except (EOFError, OSError):
        hung_up = True
    except Exception as error:  # noqa: BLE001  # a signal: pynvim has no type of its own for it
        sys.stderr.write(f"told to end: {error}\n")
    os._exit(outlive(hung_up=hung_up))


if __name__ == "__main__":
    main()
