"""I*: what is typed is what was written, once, to a living agent that listens; or a receipt says why not."""

from __future__ import annotations

import asyncio
import sys

import pytest

from covey import agents, courier, prompt
from covey.errors import Refused, Usage
from covey.tmux import panes

TEXTS = [
    "--help",
    "-l",
    "- item one",
    "-----BEGIN-----",
    "Enter",
    "Space",
    "Up",
    "C-c",
    "Escape",
    ";",
    "trailing ;",
    "tab\tinside\t",
    "line1\nline2\nline3",
    "\n\nblank lines\n\n\nbetween",
    "  leading blanks",
    "👩‍💻 ❤️ 한국어 你好 e\u0301 \u200b",
    "#{pid} #(touch pwned) ## %% $HOME `id` 'x' \"y\" \\n",
    "%end 1 2 1",
    "x" * 4000,
]


@pytest.mark.parametrize("text", TEXTS)
async def test_I02_I03_I04_every_printable_text_arrives_byte_for_byte(desk, text):
    await desk.standin("one")
    receipt = await desk("send", name="one", text=text)
    assert (receipt["outcome"], receipt["reason"]) == ("submitted", "")
    assert receipt["bytes"] == len(text.encode())
    assert desk.prompts("one") == [text]
    assert desk.tmux("list-buffers") == ""
    assert not list(desk.world.root.rglob("pwned"))


@pytest.mark.parametrize("size", [20_000, 100_000, 1 << 20])
async def test_I05_I06_long_prompts_arrive_whole(desk, size):
    await desk.standin("one")
    text = ("0123456789 äöü 漢字\n" * size)[: size // 2]
    text = text.strip() + "." * (size - len(text.strip().encode()))
    assert (await desk("send", name="one", text=text))["outcome"] == "submitted"
    assert desk.prompts("one") == [text]


async def test_over_a_mebibyte_is_refused_by_name(desk):
    await desk.standin("one")
    receipt = await desk("send", name="one", text="x" * ((1 << 20) + 1))
    assert receipt["outcome"] == "refused"
    assert "1048577 bytes" in receipt["reason"]
    assert desk.prompts("one") == []


async def test_I01_an_enter_in_the_same_burst_is_not_relied_on(desk):
    await desk.standin("one", "--burst-gap", "120")
    assert (await desk("send", name="one", text="x" * 3000))["outcome"] == "submitted"
    (said,) = desk.prompts("one")
    assert said in ("x" * 3000, "x" * 3000 + "\n")  # an Enter that comes too early is a line feed to it


async def test_I01_a_slow_agent_is_given_time_before_enter_is_pressed_again(desk, monkeypatch):
    pressed = []
    press = panes.keys
    monkeypatch.setattr(panes, "keys", lambda *words, **more: pressed.append(words[2:]) or press(*words, **more))
    await desk.standin("one", "--slow-echo", "700")
    assert (await desk("send", name="one", text="a suggestion may follow"))["outcome"] == "submitted"
    assert pressed == [("Enter",)]


LINGERS = r"""
import os, sys, time, tty
tty.setraw(0)
def draw(draft):
    rail = "─" * 40
    print(f"\x1b[H\x1b[J{rail}\r\n❯ {draft}\r\n{rail}\r\n  standin · idle", end="\x1b]2;standin\x07", flush=True)
print("\x1b[?2004h", end="")
draw("")
while (given := os.read(0, 4096)):
    if given != b"\r":
        draw("a draft")
        continue
    time.sleep(0.2)
    draw("a dra")
    time.sleep(1.0)
    draw("")
"""


async def test_a_composer_that_is_drawn_anew_after_enter_is_looked_at_again(desk):
    await desk("open", name="one", agent="standin", cmd=[sys.executable, "-S", "-c", LINGERS])
    await desk.state("one", "idle")
    receipt = await desk("send", name="one", text="a draft")
    assert (receipt["outcome"], receipt["reason"]) == ("submitted", "")


@pytest.mark.parametrize("mode", [["copy-mode"], ["copy-mode", "-u"], ["clock-mode"], ["choose-tree"]])
async def test_I07_a_pane_in_a_mode_swallows_nothing(desk, mode):
    await desk.standin("one")
    pane = (await desk("get", name="one"))["pane"]
    desk.tmux(*mode, "-t", pane)
    receipt = await desk("send", name="one", text="in a mode")
    if receipt["outcome"] == "submitted":
        assert desk.prompts("one") == ["in a mode"]
    else:
        assert (receipt["outcome"], desk.prompts("one")) == ("refused", [])
    desk.tmux("send-keys", "-t", pane, "-X", "cancel")
    await desk.state("one", "idle")
    assert (await desk("send", name="one", text="after it"))["outcome"] == "submitted"
    assert desk.prompts("one")[-1] == "after it"


async def test_I08_a_dialog_is_never_answered_by_a_prompt(desk):
    await desk.standin("one")
    await desk("send", name="one", text="ask may I")
    await desk.state("one", "blocked")
    receipt = await desk("send", name="one", text="please stop")
    assert receipt["outcome"] == "held"
    assert receipt["reason"].startswith("the agent is blocked: ")
    assert [each["text"] for each in await desk("queue", name="one")] == ["please stop"]
    answered = await desk("answer", name="one", choice="no")
    assert answered["chosen"] == "No"
    assert (await desk("wait", act=receipt["id"]))["outcome"] == "submitted"
    assert desk.prompts("one") == ["ask may I", "please stop"]


async def test_I08_an_answer_names_an_option_or_is_refused(desk):
    await desk.standin("one")
    await desk("send", name="one", text="ask may I")
    await desk.state("one", "blocked")
    with pytest.raises(Usage) as refusal:
        await desk("answer", name="one", choice="perhaps")
    assert refusal.value.hint.startswith("options: Yes;")
    assert (await desk("answer", name="one", choice="do not ask again"))["chosen"] == "Yes, and do not ask again"


async def test_I10_a_prompt_waits_until_the_agent_reads(desk):
    session = await desk.standin("one", "--ready-after", "1", wait=False, prompt="first words")
    receipt = await desk("wait", act=session["receipt"]["id"])
    assert receipt["outcome"] in ("submitted", "unconfirmed")
    if receipt["outcome"] == "submitted":
        assert desk.prompts("one") == ["first words"]


async def test_I11_a_first_prompt_goes_out_once_and_only_by_the_one_that_opens(desk):
    first = await desk.standin("one", wait=False, prompt="hello")
    second = await desk.standin("one", wait=False, prompt="hello")
    assert (second["opened"], second["receipt"]["outcome"]) == (False, "refused")
    assert "exists" in second["receipt"]["reason"]
    assert (await desk("wait", act=first["receipt"]["id"]))["outcome"] == "submitted"
    assert desk.prompts("one") == ["hello"]


async def test_I12_the_agent_is_the_panes_own_first_process(desk):
    session = await desk.standin("one")
    assert desk.front.helper.place.processes.environment(session["pid"])["COVEY_ID"] == session["id"]


async def test_I13_a_paste_cannot_break_out_of_its_frame(desk):
    await desk.standin("one")
    receipt = await desk("send", name="one", text="safe \x1b[201~\rINJECTED\x00\x07\x9b")
    assert receipt["outcome"] == "submitted"
    assert receipt["stripped"] > 0
    assert desk.prompts("one") == ["safe \nINJECTED"]


@pytest.mark.parametrize(
    ("given", "typed"), [("a\r\nb\r\n", "a\nb"), ("two\n\n", "two"), ("old\rmac", "old\nmac"), ("\ttab\t", "\ttab\t")]
)
async def test_I14_line_ends(desk, given, typed):
    await desk.standin("one")
    assert (await desk("send", name="one", text=given))["outcome"] == "submitted"
    assert desk.prompts("one") == [typed]


@pytest.mark.parametrize("text", ["", "   ", "\n\n", "\x1b\x07"])
async def test_I14_an_empty_prompt_is_refused(desk, text):
    await desk.standin("one")
    assert (await desk("send", name="one", text=text))["outcome"] == "refused"
    assert desk.prompts("one") == []


async def test_I15_a_pane_that_does_not_listen_gets_nothing(desk):
    await desk.standin("one")
    pane = (await desk("get", name="one"))["pane"]
    desk.tmux("select-pane", "-d", "-t", pane)
    receipt = await desk("send", name="one", text="to nobody")
    assert receipt["outcome"] == "refused"
    assert "switched off" in receipt["reason"]
    assert desk.prompts("one") == []


async def test_I16_S11_a_dead_pane_gets_nothing_and_the_server_lives(desk):
    await desk.standin("other")
    await desk("open", name="dead", cmd=[sys.executable, "-c", "raise SystemExit(3)"])
    await desk.state("dead", "exited")
    receipt = await desk("send", name="dead", text="anybody there")
    assert (receipt["outcome"], "exited" in receipt["reason"]) == ("refused", True)
    assert (await desk("send", name="other", text="still here"))["outcome"] == "submitted"


async def test_C07_synchronized_panes_are_refused_before_enter(desk):
    await desk.standin("one")
    pane = (await desk("get", name="one"))["pane"]
    other = desk.tmux("split-window", "-t", pane, "-P", "-F", "#{pane_id}", "cat")
    desk.tmux("set-option", "-w", "-t", pane, "synchronize-panes", "on")
    receipt = await desk("send", name="one", text="for one alone")
    assert (receipt["outcome"], "every pane" in receipt["reason"]) == ("refused", True)
    assert "alone" not in desk.tmux("capture-pane", "-p", "-t", other)
    assert desk.prompts("one") == []


async def test_E09_the_persons_own_paste_buffer_stays(desk):
    await desk.standin("one")
    desk.tmux("set-buffer", "mine")
    await desk("send", name="one", text="not mine")
    assert desk.tmux("show-buffer") == "mine"
    assert len(desk.tmux("list-buffers").splitlines()) == 1


async def test_order_is_kept_and_nothing_is_lost(desk):
    await desk.standin("one")
    texts = [f"number {i} " + "x" * (i * 37 % 900) for i in range(30)]
    receipts = await asyncio.gather(*(desk("send", name="one", text=text) for text in texts))
    assert {each["outcome"] for each in receipts} == {"submitted"}
    assert sorted(desk.prompts("one")) == sorted(texts)


async def test_the_same_act_is_sent_once(desk):
    await desk.standin("one")
    first = await desk("send", name="one", text="once", act="act-1")
    second = await desk("send", name="one", text="once", act="act-1")
    assert first == second
    assert desk.prompts("one") == ["once"]


async def test_a_draft_somebody_left_holds_a_prompt(desk):
    await desk.standin("one")
    pane = (await desk("get", name="one"))["pane"]
    desk.tmux("send-keys", "-t", pane, "-l", "half a thought")
    await desk.shows("one", "half a thought")
    receipt = await desk("send", name="one", text="mine")
    assert (receipt["outcome"], "draft" in receipt["reason"]) == ("held", True)
    desk.tmux("send-keys", "-t", pane, "C-u")
    assert (await desk("wait", act=receipt["id"]))["outcome"] == "submitted"
    assert desk.prompts("one") == ["mine"]


async def test_a_prompt_can_be_pasted_without_enter(desk):
    await desk.standin("one")
    receipt = await desk("send", name="one", text="just a draft", submit=False)
    assert receipt["outcome"] == "pasted"
    await desk.shows("one", "just a draft")
    assert desk.prompts("one") == []


async def test_words_that_are_orders_are_refused_by_name(desk):
    await desk.standin("one")
    receipt = await desk("send", name="one", text="/exit 4")
    assert (receipt["outcome"], "begins with '/'" in receipt["reason"]) == ("refused", True)
    await desk("send", name="one", text="/exit 4", raw=True)
    assert (await desk.state("one", "exited"))["exit"]["code"] == 4


def test_sanitise_says_how_much_it_took_out():
    assert prompt.sanitise("a\x1b[31mb\x7f\n") == prompt.Clean("a[31mb", 2)
    assert prompt.sanitise("ok\n") == prompt.Clean("ok", 0)


async def test_a_line_that_a_line_buffered_program_would_cut_is_refused(desk):
    await desk("open", name="one", cmd=["cat"])
    await desk.until(lambda: "cat" in desk.tmux("list-panes", "-a", "-F", "#{pane_current_command}"))
    receipt = await desk("send", name="one", text="x" * 5000)
    assert (receipt["outcome"], "4095" in receipt["reason"]) == ("refused", True)
    assert "xxx" not in await desk.screen("one")
    assert (await desk("send", name="one", text="short"))["outcome"] == "pasted"
    await desk.shows("one", "short")


async def test_I06_what_cannot_be_loaded_is_not_replaced_by_what_was_loaded_before(desk, monkeypatch):
    await desk.standin("one")
    desk.tmux("set-buffer", "an older text")
    monkeypatch.setattr(courier.Courier, "_stage", lambda *_: desk.world.tmp / "not there")
    receipt = await desk("send", name="one", text="x" * 200_000)
    assert receipt["outcome"] not in ("submitted", "pasted")
    assert "older" not in await desk.screen("one")
    assert desk.prompts("one") == []
    assert desk.tmux("show-buffer") == "an older text"


TAKE_A_SLASH_AS_TEXT = {"shell", "custom"}


@pytest.mark.parametrize("agent", sorted(agents.load().profiles))
@pytest.mark.parametrize("order", ["/clear", "/model fast"])
def test_I09_an_order_is_refused_by_name_where_it_would_be_one(agent, order):
    profile, clean = agents.load().get(agent), prompt.sanitise(order)
    assert prompt.typed(clean, profile, raw=True).text == order
    if agent in TAKE_A_SLASH_AS_TEXT:
        assert prompt.typed(clean, profile, raw=False).text == order
    else:
        with pytest.raises(Refused, match="begins with '/'"):
            prompt.typed(clean, profile, raw=False)


READER = r"""
import os, sys, tty
tty.setraw(0)
os.write(1, b"\x1b[>4;2m\x1b[>1u\x1b[?2004hready")  # keys with their modifiers, please, in either way
with open(sys.argv[1], "ab", buffering=0) as record:
    while data := os.read(0, 65536):
        record.write(data)
"""


@pytest.mark.parametrize("extended", ["off", "on", "always"])
async def test_C09_enter_is_one_plain_carriage_return(desk, extended):
    record = desk.world.tmp / "bytes"
    await desk.standin("other")  # the server runs
    desk.tmux("set-option", "-s", "extended-keys", extended)
    desk.tmux("set-option", "-s", "extended-keys-format", "csi-u")  # newer ones have it
    await desk("open", name="one", cmd=[sys.executable, "-c", READER, str(record)])
    await desk.shows("one", "ready")
    assert (await desk("send", name="one", text="hello"))["outcome"] == "pasted"
    await desk.until(lambda: record.exists() and record.read_bytes().endswith(b"\r"))
    assert record.read_bytes() == b"\x1b[200~hello\x1b[201~\r"


async def test_what_is_not_to_be_submitted_goes_beside_a_draft(desk):
    await desk.standin("one")
    for text in ("@a.txt", "@b.txt"):
        receipt = await desk("send", name="one", text=text, submit=False)
        assert receipt["outcome"] == "pasted"
    await desk.shows("one", "@a.txt @b.txt")
    held = await desk("send", name="one", text="and now")
    assert (held["outcome"], "'@a.txt @b.txt'" in held["reason"]) == ("held", True)
