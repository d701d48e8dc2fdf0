"""What a prompt makes the agent do, by its first word. Pure: prompt -> plan."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple

Deed = Literal["say", "ask", "flood", "exit", "shell", "crash"]


PONDER = 0.1  # seconds between a prompt and the question it leads to, at least: the composer is seen to empty


class Plan(NamedTuple):
    """Work for ``seconds``, then do ``deed``; ``number`` is lines of a flood or the code of an exit."""

    deed: Deed
    seconds: float = 0.0
    output: bytes = b""
    number: int = 0


def plan(text: str, work: float) -> Plan:
    """``work`` is how long an ordinary prompt takes, in seconds. Words that do not fit are an ordinary prompt."""
    word, _, rest = text.partition(" ")
    try:
        make = SCRIPT[word.strip()]
        return make(rest, work)
    except (KeyError, ValueError, OverflowError):
        return said(text, work)


def said(text: str, work: float) -> Plan:
    from hashlib import sha256  # noqa: PLC0415  # it loads OpenSSL, 8 ms that the first paint need not wait for

    data = encode(text)
    return Plan("say", work, f"You said {len(data)} bytes, sha256 {sha256(data).hexdigest()}\n".encode())


def encode(text: str) -> bytes:
    """The very bytes that came from the terminal."""
    return text.encode("utf-8", "surrogateescape")


def flood_line(number: int) -> bytes:
    return f"\x1b[3{1 + number % 6}mflood {number:>7} {'▇' * (number % 40)}\x1b[0m\n".encode()


def _work(rest: str, work: float) -> Plan:
    seconds = float(rest) if rest.strip() else work
    if not 0 <= seconds < float("inf"):
        raise ValueError(rest)
    return Plan("say", seconds, b"done\n")


def _echo(rest: str, _work: float) -> Plan:
    return Plan("say", 0.0, encode(rest) + b"\n")


def _flood(rest: str, _work: float) -> Plan:
    return Plan("flood", number=max(int(rest), 0))


def _exit(rest: str, _work: float) -> Plan:
    return Plan("exit", number=int(rest or 0) & 0xFF)


SCRIPT: dict[str, Callable[[str, float], Plan]] = {
    "work": _work,
    "ask": lambda _rest, work: Plan("ask", max(work, PONDER)),
    "echo": _echo,
    "flood": _flood,
    "/exit": _exit,
    "crash": lambda _rest, _work: Plan("crash"),
    "shell": lambda _rest, _work: Plan("shell"),
}
