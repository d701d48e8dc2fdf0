"""``python -m covey.standin``: reads the options, runs the agent in the terminal, ends as it says."""

from __future__ import annotations

import os
import resource
import signal
import sys
import termios
import time
from collections.abc import Callable

from covey import standin
from covey.errors import CoveyError
from covey.standin.agent import Agent
from covey.standin.keys import Decoder
from covey.standin.options import Options, parse
from covey.standin.picture import picture
from covey.standin.terminal import Ended, Terminal
from covey.standin.worker import Ending

SHELL = "/bin/sh"


def main(argv: list[str]) -> int:
    """Run until it ends and return the code to exit with; a shell, a crash and a signal do not return."""
    if "--help" in argv:
        print(standin.__doc__)  # noqa: T201  # what it is asked for
        return 0
    try:
        options = parse(argv)
        terminal = Terminal()
        note, greeting = _journal(options)
    except CoveyError as error:
        return _complain(" · ".join(filter(None, (error.message, error.hint))), error.exit_code)
    except termios.error:
        return _complain("standin wants a terminal", 2)
    try:
        return _end(_run(Agent(options, note, greeting, time.monotonic()), terminal))
    except Ended as ended:
        return _die(ended.signum)


def _journal(options: Options) -> tuple[Callable[[str], None], str]:
    """Where prompts are noted, and what to greet with."""
    if not (options.record or options.session_id or options.resume or options.conversation):
        return lambda _text: None, ""
    from covey.standin.journal import Journal  # noqa: PLC0415  # pathlib and json: 5 ms that few starts need

    journal = Journal(options)
    return journal.note, journal.greeting


def _run(agent: Agent, terminal: Terminal) -> Ending:
    decoder = Decoder()
    with terminal:
        while True:
            now = time.monotonic()
            agent.tick(now)
            _draw(agent, terminal, now)
            if ending := agent.worker.ending:
                if ending.how == "crash":
                    _crash()
                return ending
            time.sleep(agent.deaf)
            agent.deaf = 0.0
            _listen(agent, terminal, decoder, now)


def _draw(agent: Agent, terminal: Terminal, now: float) -> None:
    output = bytes(agent.worker.output)
    agent.worker.output.clear()
    terminal.draw(output, picture(agent, *terminal.size, now), agent.title(now))


def _listen(agent: Agent, terminal: Terminal, decoder: Decoder, now: float) -> None:
    waits = [wait for wait in (agent.wait(now), decoder.wait(now)) if wait is not None]
    data = terminal.read(min(waits, default=None))
    now = time.monotonic()
    heard = data if agent.is_ready(now) else b""
    for event in decoder.feed(heard, now) if heard else decoder.expire(now):
        if not agent.worker.ending:
            agent.take(event, now)


def _end(ending: Ending) -> int:
    if ending.how == "shell":
        os.execv(SHELL, [SHELL])  # noqa: S606  # a shell is what is wanted
    return ending.code


def _crash() -> None:
    """As a real one: nothing is put in order first. It leaves no core file."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.kill(os.getpid(), signal.SIGSEGV)


def _die(signum: int) -> int:
    """End by the signal that asked for it, so that whoever waits is told the truth."""
    if signum:
        os.kill(os.getpid(), signum)
    return 1


def _complain(sentence: str, code: int) -> int:
    sys.stderr.write(f"{sentence}\n")
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
