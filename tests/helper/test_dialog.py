"""Questions that wait, found by their shape."""

from __future__ import annotations

import pytest

from covey.state import Dialog, Option, composer, dialog
from covey.tmux.screen import Screen, parse
from drawn import CATALOG, MENU, look

DIALOGS = {
    "claude": ("claude", "● Bash(rm -r x)\n" + "─" * 60 + "\n Bash command\n   rm -r x\n " + "\n ".join(MENU)),
    "claude-asks-for-one-of": (
        "claude",
        "─" * 60
        + "\n ☐ Library\n\nWhich one?\n\n❯ 1. Alpha\n     A small one.\n  2. Beta\n     A big one.\n  3. Other.\n"
        + "─" * 60
        + "\n  4. Chat about this\n\nEnter to select · ↑/↓ to navigate · Esc to cancel",
    ),
    "claude-options-between-rails": (
        "claude",
        "─" * 60 + "\n❯ 1. Alpha\n  2. Beta\n" + "─" * 60 + "\n  3. Chat about this\n\nEnter to select · Esc to cancel",
    ),
    "claude-unnumbered": (
        "claude",
        " Do you trust it?\n\n ❯ No, exit\n   Yes, I trust this folder\n\n Enter to confirm",
    ),
    "claude-unnumbered-without-a-hint": (
        "claude",
        "─" * 60 + "\n  Make auto mode your default?\n\n  ❯ Yes, set auto mode\n    No, keep manual mode\n",
    ),
    "codex-second-option": ("codex", "  Would you like to?\n\n  1. Yes (y)\n› 2. No (esc)\n\n  Press enter to confirm"),
    "codex": ("codex", "  Would you like to run it?\n\n› 1. Yes (y)\n  2. No (esc)\n\n  Press enter to confirm"),
    "codex-wrapped": (
        "codex",
        "  Run?\n\n› 1. Yes, go\n     on (y)\n  2. No, tell\n     it why (esc)\n\n  Press enter to\n  confirm or esc",
    ),
    "gemini": ("gemini", "╭────╮\n│ Allow execution of [Shell]?  │\n│ ● 1. Allow once │\n│   2. No (esc)   │\n╰────╯"),
    "opencode": (
        "opencode",
        "     $ rm\n\n  ┃\n  ┃  △ Permission required\n  ┃   Allow once   Allow always   Reject    enter confirm\n  ┃",
    ),
    "qwen": ("qwen", "   Allow it?\n\n   › 1. Yes, once\n     2. No (esc)\n\n\n  ⠏ Waiting for user confirmation..."),
    "copilot": (
        "copilot",
        "╭────╮\n│ Run it?  │\n│ ❯ 1. Yes │\n│   2. No (Esc) │\n│ ↑/↓ to navigate · enter to select │\n╰────╯",
    ),
    "standin": ("standin", "Done.\nDo you want to proceed?\n  1. Yes\n❯ 2. No\n\nEsc to cancel"),
    "custom-without-a-hint": ("custom", "Do you want to proceed?\n❯ 1. Yes\n  2. Yes, always\n  3. No\n"),
    "custom": ("custom", "Pick:\n > 1) one\n   2) two\n arrow keys, enter to select"),
}


@pytest.mark.parametrize(("agent", "text"), DIALOGS.values(), ids=DIALOGS.keys())
def test_T07_I08_a_question_is_blocked_whatever_the_title_says(agent: str, text: str) -> None:
    for title in (None, "box", "⠋ busy"):
        assert look(agent, text, title, title_is_set=title is None)[0] == "blocked"
    assert dialog(Screen.plain(text, 60), CATALOG.get(agent)) is not None
    assert composer(Screen.plain(text, 60), CATALOG.get(agent)) is None


@pytest.mark.parametrize(
    ("agent", "text"),
    [
        ("codex", "  Update available! 1 -> 2\n  Release notes\n  x\n  y\n  Press enter to continue"),
        ("claude", " Theme\n a\n b\n c\n\n Enter to confirm · Esc to cancel"),
        ("custom", "some pages\n\nPress ENTER to continue"),
        (
            "qwen",
            "╭────────╮\n│ Set │\n│ on │\n│ off │\n│ (Use Enter to select, Tab to go on) │\n│    │\n╰────────╯",
        ),
        ("gemini", "one\ntwo\nthree\nfour\n  enter to select, esc\n  to cancel"),
    ],
)
def test_T07_a_hint_how_to_answer_is_enough_where_no_composer_is(agent: str, text: str) -> None:
    assert look(agent, text)[0] == "blocked"


def test_I08_options_are_told_by_their_words() -> None:
    found = dialog(Screen.plain("\n".join(MENU), 60), CATALOG.get("claude"))
    assert found == Dialog(
        "Do you want to proceed?",
        (Option("Yes", "1"), Option("Yes, always", "2"), Option("No", "3")),
        selected=0,
        row=1,
        end=3,
    )


def test_I08_colours_and_spacing_do_not_matter() -> None:
    text = "\x1b[1m Sure ?\x1b[0m\n\n \x1b[36m❯  1.  Yes, delete\n\x1b[0m    2.  No\n\n \x1b[2mEnter to confirm\x1b[0m"
    found = dialog(parse(text, 60), CATALOG.get("claude"))
    assert found is not None
    assert found.question == "Sure ?"
    assert [option.label for option in found.options] == ["Yes, delete", "No"]


def test_a_wrapped_option_and_question_are_joined() -> None:
    text = "  Do you want\n  to go on?\n\n❯ 1. Yes, and never\n     ask again\n  2. No\n\n  Enter to confirm"
    found = dialog(Screen.plain(text, 24), CATALOG.get("claude"))
    assert found is not None
    assert found.question == "Do you want to go on?"
    assert found.options[0].label == "Yes, and never ask again"


def test_the_question_is_the_paragraph_that_asks() -> None:
    text = (
        "Trust it? It can run\nfiles, see https://e.org/?a=b.\n\nIt is saved.\n\n❯ 1. Yes\n  2. No\n\nEnter to confirm"
    )
    found = dialog(Screen.plain(text, 40), CATALOG.get("claude"))
    assert found is not None
    assert found.question == "Trust it?"


def test_a_wrapped_last_option_is_whole() -> None:
    text = (
        "╭────╮\n│ Run it?   │\n│ ❯ 1. Yes  │\n│  2. No, and │\n│  say why │\n│          │\n│ enter to select │\n╰────╯"
    )
    found = dialog(Screen.plain(text, 20), CATALOG.get("copilot"))
    assert found is not None
    assert [option.label for option in found.options] == ["Yes", "No, and say why"]


def test_options_without_numbers_have_no_key() -> None:
    found = dialog(Screen.plain(DIALOGS["claude-unnumbered"][1], 60), CATALOG.get("claude"))
    assert found is not None
    assert found.options == (Option("No, exit"), Option("Yes, I trust this folder"))
    assert found.selected == 0


def test_a_row_of_choices_is_selected_by_its_ground() -> None:
    row = "\x1b[48;5;234m  ┃   \x1b[48;5;215m Allow once \x1b[48;5;234m  Allow always   Reject      enter confirm"
    found = dialog(parse(f"  ┃  △ Permission required\n{row}", 60), CATALOG.get("opencode"))
    assert found is not None
    assert [option.label for option in found.options] == ["Allow once", "Allow always", "Reject"]
    assert found.selected == 0


def test_letters_of_a_yes_no_question_are_its_keys() -> None:
    found = dialog(Screen.plain("Run it? (Y)es/(N)o/(D)on't ask again [Yes]: ", 80), CATALOG.get("aider"))
    assert found is not None
    assert found.question == "Run it?"
    assert [option.key for option in found.options] == ["y", "n", "d"]


def test_all_options_are_seen_whichever_is_pointed_at() -> None:
    """A composer that is one line with a pointer must not take the pointed option for itself."""
    for at in range(3):
        rows = [f"{'›' if row == at else ' '} {row + 1}. {label}" for row, label in enumerate(("Yes", "Always", "No"))]
        text = "  Would you like to?\n\n" + "\n".join(rows) + "\n\n  Press enter to confirm"
        found = dialog(Screen.plain(text, 60), CATALOG.get("codex"))
        assert found is not None
        assert [option.label for option in found.options] == ["Yes", "Always", "No"]
        assert found.selected == at


def test_a_scroll_bar_is_no_part_of_an_option() -> None:
    text = "   Allow it?\n\n   › 1. Yes, once     █\n     2. No (esc)      │\n\n  ⠏ Waiting for user confirmation...  █"
    found = dialog(Screen.plain(text, 40), CATALOG.get("qwen"))
    assert found is not None
    assert [option.label for option in found.options] == ["Yes, once", "No (esc)"]
