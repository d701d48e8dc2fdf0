"""Recordings on disk: how they are read, judged and scored."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from covey import errors
from covey.agents import load
from covey.explain import explain_file, score

CATALOG = load()
RAIL = "─" * 60
IDLE = f"● Done.\n\n{RAIL}\n❯ \n{RAIL}\n  ⏸ manual mode on · ? for shortcuts\n"
WORKING = f"✻ Musing… (3s)\n\n{RAIL}\n❯ \n{RAIL}\n  ⏸ manual mode on\n"
ASKING = "Sure?\n❯ 1. Yes\n  2. No\n\nEnter to confirm\n"


def record(folder: Path, *rows: tuple[str, str, str, str, dict[str, object]]) -> Path:
    labels = []
    for name, cli, state, text, more in rows:
        file = folder / cli / f"{name}-60x24.txt"
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, encoding="utf-8")
        labels.append({"file": f"{cli}/{file.name}", "cli": cli, "state": state, "cols": 60, **more})
    (folder / "labels.jsonl").write_text("".join(json.dumps(label) + "\n" for label in labels), encoding="utf-8")
    return folder


def test_a_file_is_explained(tmp_path: Path) -> None:
    path = tmp_path / "screen.txt"
    path.write_text(WORKING, encoding="utf-8")
    verdict = explain_file(path, CATALOG, "claude")
    assert verdict.to_json() == {
        "state": "working",
        "rule": "spinner-row",
        "excerpt": "✻ Musing… (3s)",
        "background": 0,
    }
    assert explain_file(path, CATALOG, "claude", title="◐ x").rule == "title-spins"


def test_a_file_is_explained_without_an_agent_by_general_signs(tmp_path: Path) -> None:
    path = tmp_path / "screen.txt"
    path.write_text(ASKING, encoding="utf-8")
    assert explain_file(path, CATALOG).state == "blocked"
    path.write_text(IDLE, encoding="utf-8")
    assert explain_file(path, CATALOG).state == "unknown"


def test_the_coloured_twin_is_read_where_there_is_one(tmp_path: Path) -> None:
    (tmp_path / "screen.txt").write_text(ASKING, encoding="utf-8")
    (tmp_path / "screen.ansi").write_text(IDLE, encoding="utf-8")
    assert explain_file(tmp_path / "screen.txt", CATALOG, "claude").state == "idle"


def test_a_missing_file_or_agent_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(errors.NotFound, match=r"screen\.txt cannot be read"):
        explain_file(tmp_path / "screen.txt", CATALOG)
    with pytest.raises(errors.Usage, match="no agent 'x'"):
        explain_file(tmp_path / "screen.txt", CATALOG, "x")


def test_labels_are_mapped_to_states(tmp_path: Path) -> None:
    folder = record(
        tmp_path,
        ("idle", "claude", "idle", IDLE, {"title": "✳ x"}),
        ("settled", "claude", "error:settled", IDLE, {"title": "✳ x"}),
        ("retrying", "claude", "error:retrying", WORKING, {"title": "✳ x"}),
        ("permission", "claude", "permission", ASKING, {"title": "✳ x"}),
        ("dialog", "claude", "dialog", ASKING, {"title": ""}),
        ("change-1", "claude", "transition", IDLE, {"title": "✳ x"}),
        ("change-2", "claude", "transition", WORKING, {"title": "✳ x"}),
        ("exited", "claude", "exited", IDLE, {"dead": True}),
        ("starting", "claude", "starting", IDLE, {"title": "box"}),
    )
    found = score(folder, CATALOG)
    assert (found.total, found.right, found.misses) == (9, 9, ())
    assert found.to_json()["matrix"]["idle"] == {"idle": 2}


def test_a_miss_names_the_file_and_the_rule(tmp_path: Path) -> None:
    folder = record(
        tmp_path,
        ("one", "claude", "idle", WORKING, {"title": "✳ x"}),
        ("two", "claude", "transition", IDLE, {"title": "✳ x", "dead": True}),
    )
    found = score(folder, CATALOG).to_json()
    assert found == {
        "total": 2,
        "right": 0,
        "matrix": {"idle": {"working": 1}, "transition": {"exited": 1}},
        "misses": [
            {
                "file": "claude/one-60x24.txt",
                "want": "idle",
                "got": "working",
                "rule": "spinner-row",
                "excerpt": "✻ Musing… (3s)",
            },
            {
                "file": "claude/two-60x24.txt",
                "want": "transition",
                "got": "exited",
                "rule": "process",
                "excerpt": "status not known",
            },
        ],
    }


def test_a_title_that_several_programs_bear_is_the_machines(tmp_path: Path) -> None:
    codex = "› x\n\n  gpt · ~/p\n"
    folder = record(
        tmp_path,
        ("one", "standin", "starting", f"{RAIL}\n❯ \n{RAIL}\n", {"title": "standin"}),
        ("two", "codex", "idle", codex, {"title": "standin"}),
    )
    assert score(folder, CATALOG).misses == ()


def test_a_program_without_a_profile_is_judged_by_general_signs(tmp_path: Path) -> None:
    folder = record(tmp_path, ("one", "newcomer", "permission", ASKING, {}))
    assert score(folder, CATALOG).right == 1


@pytest.mark.parametrize(
    ("text", "sentence"),
    [("{", "not one JSON object a line"), ("3\n", "needs file, cli and state"), ('{"file": "x"}', "needs file, cli")],
)
def test_labels_that_cannot_be_used_are_one_sentence(tmp_path: Path, text: str, sentence: str) -> None:
    (tmp_path / "labels.jsonl").write_text(text, encoding="utf-8")
    with pytest.raises(errors.Usage, match=sentence):
        score(tmp_path, CATALOG)


def test_a_folder_without_labels_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(errors.NotFound, match=r"labels\.jsonl cannot be read"):
        score(tmp_path, CATALOG)
