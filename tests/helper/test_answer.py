"""Which option is meant: by its words, or nobody's."""

from __future__ import annotations

import asyncio
import time

import pytest

import covey.answer
from covey.agents import dialog
from covey.agents.dialog import Dialog, Option
from covey.answer import REDRAW, Desk, pick, standing
from covey.errors import Refused, Usage
from covey.models import Verdict
from covey.tmux import panes, screen
from drawn import CATALOG, MENU
from waiting import PATIENCE


def ask(*labels):
    return Dialog("Proceed?", tuple(Option(label) for label in labels), 0)


@pytest.mark.parametrize(
    ("labels", "choice", "chosen"),
    [
        (["Yes", "Yes, and do not ask again", "No"], "yes", 0),
        (["Yes", "Yes, and do not ask again", "No"], "no", 2),
        (["Yes", "Yes, and do not ask again", "No"], "ask again", 1),
        (["No, exit", "Yes, I trust this folder"], "yes", 1),
        (["No, exit", "Yes, I trust this folder"], "NO", 0),
        (["Allow once", "Allow always", "Reject"], "yes", 0),
        (["Allow once", "Allow always", "Reject"], "no", 2),
        (["Allow once", "Allow always", "Reject"], "always", 1),
        (["Trust folder", "Don't trust"], "no", 1),
    ],
)
def test_an_option_is_found_by_its_words(labels, choice, chosen):
    assert pick(ask(*labels), choice) == chosen


@pytest.mark.parametrize("choice", ["", "maybe", "a", "1"])
def test_what_names_no_option_or_several_is_refused_with_the_list(choice):
    with pytest.raises(Usage) as refusal:
        pick(ask("Allow once", "Allow always", "Reject"), choice)
    assert "Allow once; Allow always; Reject" in refusal.value.hint


LABELS = ["#{pid} %H $HOME `x` \\", "'quoted' \"twice\"", "a, b} and {c: 50%", "漢字 é e\u0301 👩‍💻", "(.*) [a-z]+ ^$|"]


@pytest.mark.parametrize("label", LABELS)
@pytest.mark.parametrize("count", [2, 30])
async def test_tmux_finds_the_dialog_that_was_read_and_no_other(desk, label, count):
    """Whatever an agent writes: nothing of it means anything to tmux."""
    options = [f"{'❯' if at == 1 else ' '} {at}. {label} for {at}" for at in range(1, count + 1)]
    text = "\n".join(["Run `rm` on #{pid}, or %Y?", "", *options, "", "Enter to select"])
    code = f"import sys; print({text!r}); sys.stdin.read()"
    pane = (await desk("open", name="one", cmd=["{python}", "-c", code]))["pane"]
    await desk.shows("one", "Enter to select")
    seen = screen.Screen.plain(await desk.screen("one"), 120)
    found = dialog.find(seen)
    assert len(found.options) == count
    condition = standing(seen, found)
    assert desk.tmux("display-message", "-p", "-t", pane, condition) == "1"
    for now, then in (("rm", "ls"), ("❯", "›"), (f"{count}", "999")):
        other = screen.Screen.plain("\n".join(seen.lines).replace(now, then), 120)
        assert desk.tmux("display-message", "-p", "-t", pane, standing(other, found)) == "0"


def reading(*shown, left_unread=0):
    """A desk whose pane shows these, one after the other, and the last for good."""
    left = [screen.Screen.plain(text, 120) for text in shown]

    async def read():
        return left.pop(0) if len(left) > 1 else left[0]

    async def unread():
        return left_unread

    return Desk(None, None, CATALOG.get("claude"), read, unread)


async def test_a_question_that_is_drawn_anew_is_still_the_question():
    menu = "\n".join(MENU)
    assert (await reading(menu, menu, "", menu).still()).question == "Do you want to proceed?"


async def test_where_nothing_is_asked_that_is_said_soon():
    began = time.monotonic()
    with pytest.raises(Refused, match="no question"):
        await reading("").still()
    assert time.monotonic() - began < REDRAW + PATIENCE


async def test_no_key_is_pressed_behind_one_that_waits(monkeypatch):
    monkeypatch.setattr(covey.answer, "SETTLE", 0.1)
    desk = reading("\n".join(MENU), left_unread=1)
    with pytest.raises(Refused, match="does not read"):
        await desk.press(await desk.dialog(), "Enter")


async def asked(desk) -> str:
    """A question, with a draft behind it that a stray Enter would submit: typed in one go, before it is asked."""
    pane = (await desk.standin("one", "--work", "1"))["pane"]
    typed = ["send-keys", "-t", pane]
    desk.tmux(*typed, "-l", "ask may I", ";", *typed, "Enter", ";", *typed, "-l", "a draft")
    await desk.state("one", "blocked")
    return pane


@pytest.mark.parametrize(("choice", "keys_before"), [("Yes", 0), ("No", 2)])
async def test_a_key_for_a_dialog_that_closes_meanwhile_is_not_pressed(desk, monkeypatch, choice, keys_before):
    """Between the reading and the key a person closes it: the Enter would submit what he was writing."""
    pane, press, pressed = await asked(desk), panes.keys, []

    async def late(server, where, *names, **options):
        if len(pressed) == keys_before:
            desk.tmux("send-keys", "-t", pane, "Escape")
            await desk.shows("one", "Cancelled")
        pressed.append(names)
        await press(server, where, *names, **options)

    monkeypatch.setattr(panes, "keys", late)
    with pytest.raises(Refused):
        await desk("answer", name="one", choice=choice)
    assert len(pressed) > keys_before
    await desk.shows("one", "a draft")
    assert desk.prompts("one") == ["ask may I"]


async def test_a_question_that_is_told_of_before_it_is_drawn_is_waited_for(desk, monkeypatch):
    """Claude writes into its file that it waits up to a third of a second before it shows for what."""
    pane, looks, find = (await desk.standin("one"))["pane"], [], covey.answer.state.dialog
    monkeypatch.setattr(desk.front.helper.eyes, "judge", lambda *_: Verdict("blocked", "session-file"))
    monkeypatch.setattr(covey.answer, "REDRAW", 0.0)
    monkeypatch.setattr(covey.answer.state, "dialog", lambda *what: looks.append(what) or find(*what))
    await desk.state("one", "blocked")
    answering = asyncio.create_task(desk("answer", name="one", choice="yes"))
    await desk.until(lambda: len(looks) > 1)
    desk.tmux("send-keys", "-t", pane, "-l", "ask may I")
    await desk.shows("one", "ask may I")
    desk.tmux("send-keys", "-t", pane, "Enter")
    assert (await answering)["chosen"] == "Yes"


async def test_a_dialog_that_is_not_hindered_is_answered(desk):
    await asked(desk)
    await desk("answer", name="one", choice="no")
    await desk.shows("one", "Answered: No")
