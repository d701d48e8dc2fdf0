"""What a capture means, row by row."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from covey.tmux import reading
from covey.tmux.control import Block
from covey.tmux.screen import Screen, parse

DIM = "\x1b[2m"
OFF = "\x1b[0m"


def test_rows_are_plain_and_cut_at_the_right() -> None:
    screen = parse("\x1b[1mone  \x1b[0m\ntwo\n\n", 20)
    assert screen.lines == ("one", "two", "")
    assert screen.text == "one\ntwo\n"
    assert screen.cols == 20


@pytest.mark.parametrize(
    "grey",
    ["\x1b[2m", "\x1b[90m", "\x1b[38;5;8m", "\x1b[38;5;244m", "\x1b[38;2;128;128;130m", "\x1b[38:2:128:128:130m"],
    ids=["dim", "bright-black", "palette-8", "palette-grey", "true-grey", "colons"],
)
def test_hints_are_blank_in_the_bright_rows(grey: str) -> None:
    screen = parse(f"> {grey}Type here{OFF} x", 40)
    assert screen.lines == ("> Type here x",)
    assert screen.bright == (">           x",)


@pytest.mark.parametrize(
    "colour", ["\x1b[31m", "\x1b[38;5;255m", "\x1b[38;5;183m", "\x1b[38;5;130m", "\x1b[38;2;40;40;40m", "\x1b[39m"]
)
def test_text_in_a_colour_is_no_hint(colour: str) -> None:
    assert parse(f"{colour}text", 40).bright == ("text",)


def test_attributes_carry_over_to_the_next_row() -> None:
    screen = parse(f"{DIM}first\nsecond\n{OFF}third", 40)
    assert screen.bright == ("", "", "third")


def test_a_cursor_drawn_on_a_hint_belongs_to_the_hint() -> None:
    assert parse(f"> \x1b[7mT\x1b[0;2mry it{OFF}", 40).bright == (">",)
    assert parse(f"> \x1b[4mT{OFF}\x1b[38;5;103mry it{OFF}", 40).bright == (">",)
    assert parse(f"> \x1b[48;5;252mT{OFF}\x1b[38;5;103mry it{OFF}", 40).bright == (">",)


def test_a_cursor_drawn_on_text_does_not_hide_it() -> None:
    assert parse("> \x1b[7mT\x1b[27mry it", 40).bright == ("> Try it",)
    assert parse(f"> \x1b[7mab{OFF}{DIM} hint", 40).bright == ("> ab",)


def test_links_and_other_strings_are_taken_out() -> None:
    assert parse("\x1b]8;;https://e.org\x1b\\link\x1b]8;;\x1b\\ \x1b]0;title\x07end\x1b(B", 40).lines == ("link end",)


def test_line_drawing_letters_become_lines() -> None:
    assert parse("\x0elqqk\x0f lq", 40).lines == ("┌──┐ lq",)


def test_a_different_ground_is_a_mark() -> None:
    screen = parse("\x1b[48;5;234m  \x1b[48;5;215mAllow\x1b[48;5;234m  Reject     ", 40)
    assert screen.marks == (((2, 7),),)


def test_plain_text_has_no_hints() -> None:
    screen = Screen.plain("a  \n b", 10)
    assert screen.lines == screen.bright == ("a", " b")
    assert screen.marks == ((), ())


@given(st.text(alphabet=st.sampled_from("ab \n\r\x1b[]0;1238m\x07\\─❯\x0e\x0f\x9b"), max_size=200))
def test_anything_can_be_read(text: str) -> None:
    screen = parse(text, 80)
    assert len(screen.lines) == len(screen.bright) == len(screen.marks)
    assert all(
        len(bright) <= len(row) or not bright.strip() for row, bright in zip(screen.lines, screen.bright, strict=True)
    )


@pytest.mark.parametrize(("dead", "last"), [(b"1", b""), (b"0", b"Pane is dead (status 1, today)")])
def test_what_an_old_tmux_writes_on_a_dead_pane_is_no_word_of_the_agent(dead, last):
    shown = Block(ok=True, lines=(b"please log in", b"Pane is dead (status 1, today)"))
    shot = reading._shot([shown, Block(ok=True, lines=(b"80 2 0 1 1 " + dead,))])
    assert shot.ansi == "please log in\n" + last.decode()
