"""Which option is meant: by its words, or nobody's."""

from __future__ import annotations

import pytest

from covey.agents.dialog import Dialog, Option
from covey.answer import pick
from covey.errors import Usage


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
