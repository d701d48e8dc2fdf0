"""The wire: framing however the bytes are cut, quoting byte for byte, deadlines, and what loss looks like."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from covey.errors import NoServer, NotFound, ServerLost, TmuxRefused, TmuxTimeout, Usage
from covey.process import identify
from covey.tmux.client import Client
from covey.tmux.control import OVERSLEPT, Block, Control, Framer, Notice, line, literal, quote
from waiting import eventually

BODY = st.lists(
    st.one_of(
        st.binary(max_size=20).filter(lambda b: b"\n" not in b),
        st.sampled_from([b"%end 1 2 1", b"%error 9 9 9", b"%begin 1 1 1", b"%output %1 x", b"", b"%", b"\xff\xfe"]),
    ),
    max_size=5,
)
ITEMS = st.lists(
    st.one_of(
        st.tuples(st.just("block"), st.booleans(), st.booleans(), BODY),
        st.tuples(
            st.just("notice"), st.sampled_from(["window-renamed", "exit", "output"]), st.text("ab %", max_size=8)
        ),
    ),
    max_size=8,
)


def spoken(items):
    """The bytes tmux would write, and what must be understood."""
    out, meant = b"", []
    for number, item in enumerate(items, start=1000):
        if item[0] == "notice":
            _, name, rest = item
            out += f"%{name} {rest}\n".encode()
            meant.append(Notice(name, rest))
            continue
        _, ok, own, body = item
        numbers = f"1796031378 {number} {int(own)}".encode()
        lines = [raw for raw in body if raw.removesuffix(b"\r") not in (b"%end " + numbers, b"%error " + numbers)]
        tail = (b"%end " if ok else b"%error ") + numbers
        out += b"%begin " + numbers + b"\n" + b"".join(raw + b"\n" for raw in lines) + tail + b"\n"
        meant.append(Block(ok, tuple(lines), own))
    return out, meant


@given(ITEMS, st.lists(st.integers(0, 400), max_size=12))
def test_blocks_and_notices_are_the_same_however_the_bytes_are_cut(items, cuts):
    data, meant = spoken(items)
    framer, found, start = Framer(), [], 0
    for cut in [*sorted(cut for cut in cuts if cut <= len(data)), len(data)]:
        found += framer.feed(data[start:cut])
        start = cut
    assert found == meant


def test_a_dcs_frame_and_noise_between_blocks_are_passed_over():
    assert list(Framer().feed(b"\x1bP1000p%begin 1 2 1\nnoise\n%begin 1 3 1\nx\n%end 1 3 1\n")) == [
        Block(True, (b"x",))
    ]


@given(st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=60))
def test_a_quoted_argument_holds_nothing_that_tmux_could_take_for_its_own(text):
    quoted = quote(text)
    assert (quoted[0], quoted[-1]) == ('"', '"')
    assert not set(quoted[1:-1]) & set("\"'$#;{}~\n\r\t`*?[]()<>|&!^")


def test_a_nul_is_refused():
    with pytest.raises(Usage):
        quote("a\0b")


@pytest.fixture
def socket(world):
    path = world.run / "t.sock"
    argv = ["tmux", "-S", str(path), "-f", "/dev/null", "new-session", "-d", "-s", "hub", "cat"]
    subprocess.run(argv, check=True, env=world.env)
    return path


@pytest.fixture
async def control(socket, world):
    notices = []
    one = await Control.attach(argv(socket), world.env, lambda *notice: notices.append(notice))
    one.notices = notices
    yield one
    await one.leave()


def argv(socket, target="=hub"):
    return ["tmux", "-u", "-S", str(socket), "-C", "attach", "-t", target, "-f", "no-output,ignore-size"]


TEXTS = [
    "",
    "x",
    "a'b\"c",
    "#{pid} #(touch /tmp/x)",
    "$HOME ${HOME} ~",
    "a;b ; c\\;",
    "l1\nl2\r\n",
    "ü 漢字 👩‍💻",
    "\x1b[31m\x07\x7f",
    "-x",
    "%1",
    "}{",
]


@pytest.mark.parametrize("text", TEXTS)
async def test_arguments_arrive_byte_for_byte(control, world, text):
    kept = world.tmp / "kept"  # read from a file: tmux 3.4 and 3.5 print control bytes in other words
    await control.run(("set-buffer", "-b", "x", f"={text}"), ("save-buffer", "-b", "x", str(kept)))
    assert kept.read_bytes() == f"={text}".encode()


async def test_text_for_a_format_comes_out_as_written_and_runs_nothing(control, world):
    words = f"x#(touch {world.tmp}/ran)#{{pid}}##y"
    (block,) = await control.run(("list-panes", "-F", literal(words)))
    assert block.text == words
    assert not (world.tmp / "ran").exists()


async def test_answers_come_in_order_also_when_pipelined(control):
    texts = [f"n{number}" for number in range(300)]
    answers = await asyncio.gather(*(control.run(("list-panes", "-F", text)) for text in texts))
    assert [block.text for (block,) in answers] == texts


async def test_an_error_stops_its_line_and_no_other(control):
    bad = control.send(line(("list-panes", "-F", "a"), ("kill-pane", "-t", "%99"), ("list-panes", "-F", "never")))
    good = control.run(("list-panes", "-F", "b"))
    found, (after,) = await asyncio.gather(bad, good)
    assert [(block.ok, block.text) for block in found] == [(True, "a"), (False, "can't find pane: %99")]
    assert after.text == "b"


async def test_a_refusal_has_tmuxs_own_words(control):
    with pytest.raises(TmuxRefused, match="unknown command: nope"):
        await control.run(("nope",))


@pytest.mark.parametrize("target", ["%99", "@99", "$99", "=covey-abcdefg2:"])
async def test_what_is_there_no_more_is_said_in_our_words(control, target):
    with pytest.raises(NotFound, match="the session's pane is gone"):
        await control.run(("list-panes", "-t", target))


async def test_a_guard_answers_with_whatever_ran_inside_it(control):
    inner = line(("list-panes", "-F", "yes"), ("list-panes", "-F", "twice"))
    blocks = await control.run(("if-shell", "-F", "-t", "%0", "1", inner, "list-panes"))
    assert [block.text for block in blocks] == ["", "yes", "twice"]


async def test_what_a_hook_runs_is_no_answer_to_us(control):
    await control.run(("set-hook", "-g", "after-new-window", "run-shell -bC 'rename-window -t =hub: rung'"))
    blocks = await asyncio.gather(*(control.run(("new-window", "-d", "cat")) for _ in range(5)))
    assert [len(answer) for answer in blocks] == [1] * 5


async def test_a_stopped_server_times_out_and_the_client_is_given_up(control, socket, world):
    (block,) = await control.run(("list-sessions", "-F", "#{pid}"))
    os.kill(int(block.text), signal.SIGSTOP)
    try:
        with pytest.raises(TmuxTimeout):
            await control.run(("list-panes",), deadline=0.1)
        with pytest.raises(ServerLost):
            await control.run(("list-panes",))
    finally:
        os.kill(int(block.text), signal.SIGCONT)
    assert not control.alive


async def test_who_was_stopped_meanwhile_has_not_waited(control):
    """What came while we slept is read before anything is given up, also where the answer is still under way."""
    pause = asyncio.create_task(control.run(("run-shell", "sleep 0.3"), deadline=0.2))
    await asyncio.sleep(0)
    time.sleep(0.21 + OVERSLEPT)  # noqa: ASYNC251  # as a SIGSTOP does
    assert await pause
    assert control.alive


async def test_a_killed_server_fails_what_is_under_way_and_is_told(control):
    (block,) = await control.run(("list-sessions", "-F", "#{pid}"))
    os.kill(int(block.text), signal.SIGKILL)
    with pytest.raises(ServerLost):
        await asyncio.gather(*(control.run(("list-panes",)) for _ in range(50)))
    assert ("lost", "the tmux server went away") in control.notices


async def test_tmux_may_be_a_script_that_runs_it(socket, world):
    script = world.tmp / "tmux"
    script.write_text('#!/bin/sh\ntmux "$@"\n')
    script.chmod(0o700)
    control = await Control.attach([str(script), *argv(socket)[1:]], world.env, lambda *_: None)
    (block,) = await control.run(("list-clients", "-F", "#{client_pid}"))
    await control.leave()
    await asyncio.to_thread(eventually, lambda: identify(int(block.text)) is None)


async def test_a_script_that_hangs_is_ended_with_what_it_started(world):
    script, note = world.tmp / "tmux", world.tmp / "note"
    script.write_text(f'#!/bin/sh\nsleep 1000 & echo $! >"{note}"; wait\n')
    script.chmod(0o700)
    client = Client([str(script)], world.env)
    started = await asyncio.to_thread(eventually, lambda: note.exists() and note.read_text().strip())
    await client.leave()
    await asyncio.to_thread(eventually, lambda: identify(int(started)) is None)


async def test_without_the_session_there_is_nothing_to_attach_to(socket, world):
    with pytest.raises(NoServer):
        await Control.attach(argv(socket, "=nosuch"), world.env, lambda *_: None)
