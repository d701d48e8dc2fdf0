"""``covey`` as a program. Who interrupts it before all of it is loaded is told nothing: nothing was begun."""

from __future__ import annotations

import signal
import sys


def main() -> int:
    """Load and run ``cli``; a shell's background job that hears no interrupts goes on hearing none."""
    heard = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if heard:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from covey import cli  # noqa: PLC0415  # this is what takes its time

    if heard:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    return cli.main()


if __name__ == "__main__":
    sys.exit(main())
