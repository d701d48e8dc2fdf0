"""The stand-in agent: its pure half with a made-up clock, the whole of it in a real terminal, once in tmux."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path

import pyte
import pytest

from covey import cells
from covey.errors import Usage
from covey.standin.agent import HELLO, Agent
from covey.standin.answers import flood_line
from covey.standin.keys import Decoder, Event
from covey.standin.options import Options, parse
from covey.standin.picture import picture
from waiting import written

COMMAND = [sys.executable, "-P", "-m", "covey.standin"]
PASTE = b"\x1b[200~%s\x1b[201~"
PATIENCE = 20  # seconds until a condition that never comes is a failure
FRAME_ENDS = (b"\x1b[?25h", b"\x1b[?25l")
GHOST = "❯ Type a prompt"


def environment(home: Path) -> dict[str, str]:
    return {"HOME": str(home), "PATH": os.environ["PATH"], "LANG": "C.UTF-8", "PS1": "sh> "}


class Console:
    """A person at a real terminal: types bytes, reads the screen, waits for what should be on it."""

    def __init__(self, home: Path, *options: str, cols: int = 80, rows: int = 24) -> None:
        self.record = home / "record.jsonl"
        self.raw = b""
        self.screen = pyte.Screen(cols, rows)
        self.stream = pyte.ByteStream(self.screen)
        argv = [*COMMAND, "--record", str(self.record), *options]
        self.pid, self.fd = pty.fork()
        if not self.pid:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", rows, cols, 0, 0))
            os.execve(argv[0], argv, environment(home))
        self.code: int | None = None

    def type(self, data: bytes | str) -> None:
        os.write(self.fd, data.encode() if isinstance(data, str) else data)

    def lines(self) -> list[str]:
        return [line.rstrip() for line in "\n".join(self.screen.display).rstrip().split("\n")]

    def wait(self, *wanted: str) -> list[str]:
        """Until each text is somewhere on the screen, and what was drawn last is drawn to its end."""
        return self.until(lambda: self.raw.endswith(FRAME_ENDS) and self.shows(*wanted), wanted)

    def shows(self, *wanted: str) -> bool:
        return all(any(text in line for line in self.lines()) for text in wanted)

    def until(self, condition, what: object = "") -> list[str]:
        end = time.monotonic() + PATIENCE
        while not condition():
            assert time.monotonic() < end, f"never came: {what}\n" + "\n".join(self.lines())
            self.read()
        return self.lines()

    def read(self) -> bool:
        if not select.select([self.fd], [], [], 0.05)[0]:
            return True
        with contextlib.suppress(OSError):
            data = os.read(self.fd, 65536)
            self.raw += data
            self.stream.feed(data)
            return bool(data)
        return False

    def prompts(self) -> list[str]:
        return [json.loads(line)["text"] for line in written(self.record)]

    def ended(self) -> int:
        """Its exit code, minus the signal if it was killed."""
        self.until(lambda: not self.read(), "its end")
        if self.code is None:
            self.code = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        return self.code


@pytest.fixture
def console(tmp_path):
    opened: list[Console] = []

    def start(*options: str, wait: str = GHOST, **size: int) -> Console:
        opened.append(Console(tmp_path, *options, **size))
        opened[-1].wait(wait)
        return opened[-1]

    yield start
    for each in opened:
        if each.code is None:
            os.kill(each.pid, signal.SIGKILL)
            os.waitpid(each.pid, 0)
        os.close(each.fd)


class Clock:
    """An agent without a terminal, at whatever time the test says."""

    def __init__(self, **options: object) -> None:
        self.prompts: list[str] = []
        self.agent = Agent(Options(**{"work": 0.0, **options}), self.prompts.append, "", 0.0)

    def press(self, *keys: str, at: float = 0.0) -> str:
        """``paste:…`` and ``text:…`` or the name of a key; returns what the composer or the dialog shows then."""
        for key in keys:
            name, _, text = key.partition(":")
            self.agent.take(Event(name, text), at)
        return self.shown(at)

    def shown(self, at: float) -> str:
        self.agent.tick(at)
        rows = picture(self.agent, 80, 24, at).rows
        return next(row for row in rows if row.startswith("❯"))


STREAM = b"h\xc3\xa9\x1b[A\x7f\x15" + PASTE % b"a\nb\x1b[20x\r" + b"\r\x1b[I\x1b[1;5C\x1bx\n\x1bOB\x03\x04\xff\t"
EVENTS = "text:hé up backspace c-u paste-begin paste:a\nb\x1b[20x\r enter newline down c-c c-d text:\udcff\t"


@pytest.mark.parametrize("size", [1, 2, 3, 5, 7, 1000])
def test_keys_are_the_same_however_the_bytes_are_cut(size):
    decoder, events = Decoder(), []
    for at in range(0, len(STREAM), size):
        events += decoder.feed(STREAM[at : at + size], 0.0)
    joined = " ".join(f"{e.key}:{e.text}" if e.text else e.key for e in events)
    assert joined.replace(" text:é", "é").replace(" text:\t", "\t") == EVENTS


def test_a_lone_escape_is_the_key_only_after_a_silence():
    decoder = Decoder()
    assert decoder.feed(b"\x1b", 1.0) == []
    assert decoder.expire(1.01) == []
    assert decoder.wait(1.01) == pytest.approx(0.015)
    assert decoder.expire(1.03) == [Event("esc")]
    assert decoder.wait(1.03) is None


@pytest.mark.parametrize(
    ("text", "cut", "want"),
    [("漢字漢", 5, "漢字…"), ("e\u0301e\u0301e\u0301", 2, "e\u0301…"), ("abc", 3, "abc"), ("abc", 0, "")],
)
def test_rows_are_cut_by_cells_not_by_characters(text, cut, want):
    assert cells.clip(text, cut) == want


@pytest.mark.parametrize(
    "argv", [["--nope"], ["word"], ["--work"], ["--work", "x"], ["--swallow", "-1"], ["--record="]]
)
def test_options_that_make_no_sense_are_a_sentence(argv):
    with pytest.raises(Usage, match=r"standin knows no|wants a"):
        parse(argv)


def test_ignore_enter_and_swallow_keep_the_draft():
    clock = Clock(ignore_enter=2.0, swallow=2)
    assert clock.press("text:hi", "enter", at=1.9) == "❯ hi"
    clock.press("enter", at=2.0)
    assert clock.press("text:again", "enter", at=3.0) == "❯ again"
    clock.press("enter", at=4.0)
    assert clock.prompts == ["hi", "again"]


def test_an_enter_in_a_burst_is_a_new_line():
    clock = Clock(burst_gap=50.0)
    clock.press("paste:one", at=1.0)
    clock.press("enter", at=1.049)
    clock.press("enter", at=1.1)
    assert clock.prompts == ["one\n"]


def test_sticky_shows_what_was_submitted_but_holds_it_no_more():
    clock = Clock(sticky=3.0)
    assert clock.press("text:hi", "enter", "enter", at=1.0) == "❯ hi"
    assert clock.shown(3.9) == "❯ hi"
    assert clock.agent.wait(3.9) == pytest.approx(0.1)
    assert "Type a prompt" in clock.shown(4.0)
    assert clock.prompts == ["hi"]


def test_slow_echo_acts_at_once_and_shows_later():
    clock = Clock(slow_echo=100.0)
    assert "Type a prompt" in clock.press("text:hi", at=1.0)
    assert clock.shown(1.1) == "❯ hi"
    assert clock.press("enter", at=2.0) == "❯ hi"
    assert clock.prompts == ["hi"]


def test_nothing_is_begun_behind_an_open_dialog():
    clock = Clock(dialog_after_paste=True)
    clock.press("text:work 5", "enter", "text:echo later", "enter")
    assert clock.press("paste:text", at=1.0) == "❯ 1. Yes"
    assert clock.shown(6.0) == "❯ 1. Yes"
    assert b"done" in clock.agent.worker.output
    assert b"later" not in clock.agent.worker.output
    assert clock.press("paste:1", "down", "enter", at=7.0) == "❯ text"
    assert b"Answered: Yes, and do not ask again\n> echo later\nlater\n" in clock.agent.worker.output
    assert clock.press("paste:, more", at=8.0) == "❯ text, more"  # once a prompt
    assert clock.press("enter", "paste:next", at=9.0) == "❯ 1. Yes"


@pytest.mark.parametrize("cols", [80, 31])
def test_the_screen_is_laid_out_as_profiles_expect(console, cols):
    seen = console("--work", "60", cols=cols)
    rule = "─" * cols
    assert seen.lines()[-4:] == [rule, GHOST, rule, "  standin · idle"]
    assert seen.screen.buffer[len(seen.lines()) - 3][2].fg == "default"
    assert b"\x1b[2mType a prompt" in seen.raw
    assert b"\x1b[?2004h" in seen.raw
    assert b"\x1b[?1049h" not in seen.raw
    assert (seen.screen.title, seen.screen.cursor.x) == ("standin", 2)
    seen.type("go\rnext\r")
    lines = seen.wait("queued", "esc to interrupt")
    assert lines[-7:-5] == ["> go", "  queued: next"]
    assert lines[-5][0] in "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
    assert lines[-5][1:] in cells.clip("? Working… (0s · esc to interrupt)", cols).rstrip()
    assert lines[-4:] == [rule, GHOST, rule, "  standin · esc to interrupt"[:cols]]
    assert seen.screen.title == "⠋ standin"


def test_a_draft_is_edited_by_characters_and_long_pastes_by_the_piece(console):
    seen = console()
    seen.type("漢字e\u0301x\x7f\x7f\x7f\r")
    seen.wait("> 漢", GHOST)
    seen.type(b"\x1b")
    seen.type(PASTE % b"one\ntwo\nthree")
    lines = seen.wait("❯ one", "  three")
    assert lines[-4:-2] == ["  two", "  three"]
    seen.type("\x15ab" + (PASTE % (b"\nline" * 5)).decode())
    lines = seen.wait("❯ ab[Pasted text #1 +5 lines]")
    assert lines[-4:] == ["─" * 80, "❯ ab[Pasted text #1 +5 lines]", "─" * 80, "  standin · idle"]
    seen.type("\x7fc\\\rd\r")
    seen.wait("> abc", "sha256")
    assert seen.prompts() == ["漢", "abc\nd"]


def test_what_is_submitted_is_kept_byte_for_byte(console):
    seen = console("--work", "0")
    texts = [b"tab\tlf\nnul\0cr\r\xff\xfe esc\x1b[31m \xf0\x9f\xa6\x86", b"x" * 801, os.urandom(1 << 19).hex().encode()]
    for number, text in enumerate(texts, 1):
        data = memoryview(PASTE % text + b"\r")
        while data:  # a pty takes 4 KiB at a time: what it answers has to be read meanwhile
            data = data[os.write(seen.fd, data[:4096]) :]
        seen.until(lambda: len(seen.prompts()) == number, f"prompt {number}")  # noqa: B023
    assert [text.encode("utf-8", "surrogateescape") for text in seen.prompts()] == texts
    seen.wait("You said 1048576 bytes, sha256")
    notes = [json.loads(line) for line in seen.record.read_text().splitlines()]
    assert [note["n"] for note in notes] == [1, 2, 3]
    assert 0 <= time.time() - notes[-1]["at"] < PATIENCE


def test_echo_prints_the_rest_byte_for_byte(console):
    seen = console()
    seen.type(PASTE % b"echo  \x1b[31mred\xff \t.\x1b[0m" + b"\r")
    seen.until(lambda: b"\n \x1b[31mred\xff \t.\x1b[0m\r\n" in seen.raw, "the echo")


def test_what_is_submitted_while_it_works_runs_after_in_order(console):
    seen = console()
    seen.type("work 60\recho one\recho two\recho three\recho four\r")
    seen.wait("  queued: echo three", "  and 1 more", "esc to interrupt")
    seen.type("\x1b")
    lines = seen.wait("four", "standin · idle")
    assert [line for line in lines if line and line[0] not in "─❯ "][1:] == [
        "> work 60", "Interrupted",
        "> echo one", "one", "> echo two", "two", "> echo three", "three", "> echo four", "four",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("keys", "answer"),
    [
        ("\r", "Answered: Yes"),
        ("\x1b[B\r", "Answered: Yes, and do not ask again"),
        ("\x1b[A\r", "Answered: No"),
        ("93", "Answered: No"),
        ("\x1b", "Cancelled"),
        ("\x1b[200~3 please stop\x1b[201~\r", "Answered: Yes"),
    ],
)
def test_a_dialog_takes_the_place_of_the_composer(console, keys, answer):
    seen = console()
    seen.type("ask away\r")
    lines = seen.wait("Esc to cancel")
    assert lines[-7:] == [
        "> ask away", "Do you want to proceed?",
        "❯ 1. Yes", "  2. Yes, and do not ask again", "  3. No", "", "Esc to cancel",
    ]  # fmt: skip
    seen.type(keys)
    lines = seen.wait(answer, GHOST)
    assert lines[-6:-4] == ["> ask away", answer]


def test_a_flood_scrolls_and_can_be_interrupted(console):
    seen = console(rows=10)
    seen.type("flood 300\r")
    assert "flood     300" in seen.wait("flood     300", GHOST)[-5]
    seen.type("flood 100000000\r")
    seen.until(lambda: seen.screen.title == "⠋ standin", "work")
    seen.type("\x1b")
    seen.wait("Interrupted", GHOST)


@pytest.mark.parametrize(
    ("options", "keys", "code"),
    [
        ((), "/exit\r", 0),
        ((), "/exit 7\r", 7),
        ((), "\x04", 0),
        ((), "half\x03\x03", 0),
        ((), "crash\r", -signal.SIGSEGV),
        (("--exit-after", "2"), "echo one\recho two\r", 0),
        (("--exit-mid-paste",), "\x1b[200~half of", 3),
    ],
)
def test_it_ends_as_it_was_told_to(console, options, keys, code):
    seen = console(*options)
    seen.type(keys)
    assert seen.ended() == code
    restored = b"\x1b[?2004l\x1b[?25h\x1b]2;\x07"
    assert seen.raw.endswith(restored) == (code >= 0)


def test_one_ctrl_c_only_clears_and_what_is_typed_after_it_disarms_it(console):
    seen = console()
    seen.type("half\x03")
    seen.wait("Press ctrl-c again to exit", GHOST)
    seen.type("x\x03")
    seen.until(lambda: "\n".join(seen.lines()).count("Press ctrl-c") == 2, "a second warning")


def test_a_signal_restores_the_terminal_and_is_what_it_died_of(console):
    seen = console()
    assert not termios.tcgetattr(seen.fd)[3] & termios.ICANON
    os.kill(seen.pid, signal.SIGTERM)
    assert seen.ended() == -signal.SIGTERM
    assert termios.tcgetattr(seen.fd)[3] & termios.ICANON
    assert "standin" not in "\n".join(seen.lines())


def test_it_ends_when_its_terminal_is_gone():
    ours, theirs = os.openpty()
    agent = subprocess.Popen(COMMAND, stdin=theirs, stdout=theirs, stderr=subprocess.PIPE)
    os.close(theirs)
    os.read(ours, 1)
    os.close(ours)  # no SIGHUP comes: the terminal does not control it
    assert agent.communicate(timeout=PATIENCE)[1] == b""
    assert agent.returncode == 1


@pytest.mark.parametrize(("options", "prompt"), [((), "shell"), (("--shell-after", "1"), "echo done")])
def test_it_can_leave_a_shell_behind(console, options, prompt):
    seen = console(*options)
    seen.type(f"{prompt}\r")
    seen.until(lambda: seen.shows("sh>"), "the shell")
    seen.type("echo $((6*7)); exit 5\r")
    seen.until(lambda: seen.shows("42"), "the shell's answer")
    assert seen.ended() == 5


def test_before_it_is_ready_it_looks_so_but_hears_nothing(console):
    seen = console("--ready-after", "2")
    assert seen.screen.title == ""
    seen.type("lost")
    seen.until(lambda: seen.screen.title == "standin", "the title")
    assert GHOST in seen.lines()
    seen.type("heard\r")
    seen.wait("> heard")
    assert seen.prompts() == ["heard"]


def test_trust_is_asked_first_and_its_default_leaves(console):
    first = console("--trust", wait="❯ 1. No, exit")
    assert first.screen.title == ""
    assert not any("─" in line for line in first.lines())
    first.type(PASTE % b"prompt" + b"\r")
    assert first.ended() == 1
    second = console("--trust", wait="❯ 1. No, exit")
    second.type("2")
    second.wait(GHOST)
    assert second.screen.title == "standin"


def test_a_conversation_goes_on_where_it_was(console, tmp_path):
    first = console("--session-id", "abc-1")
    first.type("echo one\recho two\r/exit\r")
    assert first.ended() == 0
    kept = tmp_path / ".local/state/covey-standin/abc-1.jsonl"
    assert [json.loads(line)["text"] for line in kept.read_text().splitlines()] == ["echo one", "echo two", "/exit"]
    second = console("--resume", "abc-1", wait="Resumed abc-1, 3 prompts")
    second.type("echo three\r")
    second.wait("> echo three")
    console("--conversation", str(kept), wait="Resumed abc-1, 4 prompts")


@pytest.mark.parametrize(
    ("options", "sentence", "code"),
    [
        (("--session-id", "taken"), "conversation taken exists already · --resume taken", 3),
        (("--resume", "nobody"), "no conversation nobody", 1),
        (("--resume", "../up"), "is no conversation's id", 2),
        (("--record", "/dev/null/no"), "cannot write", 1),
        (("--bogus",), "standin knows no '--bogus'", 2),
    ],
)
def test_options_that_cannot_be_met_end_it_with_a_sentence(tmp_path, options, sentence, code):
    kept = tmp_path / ".local/state/covey-standin"
    kept.mkdir(parents=True)
    (kept / "taken.jsonl").touch()
    seen = Console(tmp_path, *options)
    assert seen.ended() == code
    os.close(seen.fd)
    assert sentence in " ".join(seen.lines())


def test_without_a_terminal_it_says_so():
    done = subprocess.run(COMMAND, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (2, "standin wants a terminal\n")


def test_in_tmux_a_buffer_arrives_whole_and_a_resize_leaves_one_composer(terminal, tmp_path):
    terminal.start([*COMMAND, "--work", "0"], cols=80, rows=24)
    terminal.wait_for(GHOST)
    terminal.keys("flood 40", "Enter")  # a full screen: what a resize pushes into the scrollback is transcript
    terminal.wait_for(r"^flood +40 *\n─")
    said = [HELLO, "> flood 40", *(re.sub(r"\x1b\S*?m", "", flood_line(n).decode()).strip() for n in range(1, 41))]
    terminal.tmux("set-buffer", "-b", "prompt", "first\n漢字 second")
    terminal.tmux("paste-buffer", "-p", "-r", "-b", "prompt", "-t", "person:")
    terminal.wait_for("^❯ first\n  漢字 second$")
    for cols, rows in ((37, 24), (100, 12), (20, 30), (80, 24)):
        terminal.resize(cols, rows)
        terminal.wait_for(f"^─{{{cols}}}\n❯ first\n  漢字 second\n─{{{cols}}}\n  standin · idle"[: cols + 40])
        everything = terminal.tmux("capture-pane", "-p", "-J", "-S", "-", "-t", "person:").split("\n")
        kept = [line.rstrip() for line in everything if line.strip()]
        assert kept == [*said, "─" * cols, "❯ first", "  漢字 second", "─" * cols, "  standin · idle"]
    terminal.keys("Enter")
    terminal.wait_for("^You said 19 bytes")
    assert terminal.tmux("display-message", "-p", "-t", "person:", "#{pane_title} #{alternate_on}") == "standin 0\n"
