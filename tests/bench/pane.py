"""What runs in the panes: ``python pane.py read FILE | tick SECONDS | flood LINES_A_SECOND``.

It imports little, for fifty may be started in one run. Times are nanoseconds since 1970.
"""

from __future__ import annotations

import itertools
import os
import sys
import time
import tty
from pathlib import Path

READ_SIZE = 1 << 16
STEP = 0.01  # seconds between two bursts of a flood


def read(path: str) -> None:
    """Note the moment and the number of the bytes of each read, as soon as there are some."""
    tty.setraw(0)
    os.write(1, b"\x1b[?2004h")
    with Path(path).open("a", encoding="ascii", buffering=1) as file:
        file.write("0 0\n")
        while data := os.read(0, READ_SIZE):
            file.write(f"{time.time_ns()} {len(data)}\n")


def tick(pause: str) -> None:
    """Write a line with its number and the moment, again and again."""
    for number in itertools.count(1):
        time.sleep(float(pause))
        os.write(1, f"@{number} {time.time_ns()}@\r\n".encode())


def flood(rate: str) -> None:
    """Write coloured lines; ``0`` is as many as there can be."""
    lines = [_line(number) for number in range(97)]
    burst = int(float(rate) * STEP) or 400
    for first in itertools.count(0, burst):
        data = b"".join(lines[(first + each) % len(lines)] for each in range(burst))
        while data:
            data = data[os.write(1, data) :]
        if float(rate):
            time.sleep(STEP)


def _line(number: int) -> bytes:
    words = (f"\x1b[3{1 + (number + place) % 6}mword{number * 7 + place:05d}" for place in range(11))
    return (" ".join(words) + "\x1b[0m\r\n").encode()


if __name__ == "__main__":
    {"read": read, "tick": tick, "flood": flood}[sys.argv[1]](sys.argv[2])
