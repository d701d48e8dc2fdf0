"""Profiles: the shipped ones hold together, and a person's file is read or refused with one sentence."""

from __future__ import annotations

import errno
import os
import re
from pathlib import Path

import pytest

from covey import agents, errors
from covey.agents import load
from covey.agents.pattern import BadPattern, compile_pattern

EXPECTED = (
    "aider amp antigravity claude codex copilot cursor custom deepseek gemini grok omp opencode pi qwen shell standin"
).split()
UNTESTED = {"amp", "antigravity", "cursor", "deepseek", "grok", "omp"}
MINIMAL = 'name = "mine"\nargv = ["mine"]\n'


def put(folder: Path, name: str, text: str) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(text, encoding="utf-8")
    return folder


def test_every_shipped_profile_can_be_read() -> None:
    catalog = load()
    assert catalog.problems == ()
    assert catalog.names() == EXPECTED


def test_a_shipped_file_bears_the_name_of_its_agent() -> None:
    assert list(load().profiles) == EXPECTED


def test_no_file_is_read_before_it_is_asked_for(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    taken: list[str] = []
    real = agents.read
    monkeypatch.setattr(agents, "read", lambda text, known: taken.append(text) or real(text, known))
    catalog = load([tmp_path])
    assert catalog.names() == EXPECTED
    assert taken == []
    assert catalog.get("claude") is catalog.get("claude")
    assert len(taken) == 1
    assert catalog.problems == ()
    assert len(taken) == len(EXPECTED)


@pytest.mark.parametrize("name", [name for name in EXPECTED if load().get(name).rehearsal])
def test_a_rehearsal_reaches_its_own_model_and_no_other(name: str) -> None:
    rehearsal = load().get(name).rehearsal
    assert rehearsal is not None
    told = " ".join([*rehearsal.env.values(), *rehearsal.files.values()])
    assert "{url}" in told
    assert "http" not in told


def test_what_was_not_tried_says_so() -> None:
    profiles = load().profiles.values()
    assert {profile.name for profile in profiles if profile.untested} == UNTESTED
    generic = {"shell", "custom", "standin"}
    assert all(profile.verified_version for profile in profiles if profile.name not in UNTESTED | generic)


@pytest.mark.parametrize("name", EXPECTED)
def test_a_shipped_profile_says_what_the_prompt_driver_needs(name: str) -> None:
    profile = load().get(name)
    assert profile.title
    assert profile.interrupt
    assert 0 < profile.grace <= 10
    assert (0.1 if profile.verified_version else 0) <= profile.enter_delay <= 1
    assert profile.paste_limit > 0
    assert "{path}" in profile.reference
    assert profile.has_composer == (profile.composer is not None)
    assert all("{id}" in " ".join(arguments) for arguments in (profile.new_id,) if arguments)


def test_argv_of_the_stand_in_is_for_the_caller_to_complete() -> None:
    assert load().get("standin").argv == ("{python}", "-m", "covey.standin")


def test_claude_starts_without_tmux_in_its_environment() -> None:
    assert {"TMUX", "TMUX_PANE", "CLAUDECODE"} <= set(load().get("claude").env_unset)


def test_codex_starts_without_its_daemon() -> None:
    assert "--no-daemon" in load().get("codex").argv


def test_U06_an_id_is_either_new_or_resumed_never_both() -> None:
    for profile in load().profiles.values():
        assert not set(profile.new_id) & set(profile.resume) - {"{id}"}


def test_an_unknown_agent_is_answered_with_those_there_are() -> None:
    with pytest.raises(errors.Usage, match="no agent 'gpt'") as caught:
        load().get("gpt")
    assert "claude" in caught.value.hint


def test_a_person_adds_an_agent(tmp_path: Path) -> None:
    catalog = load([put(tmp_path / "a", "mine.toml", MINIMAL)])
    assert catalog.get("mine").argv == ("mine",)
    assert catalog.get("mine").title == "mine"
    assert catalog.problems == ()


def test_a_person_replaces_a_shipped_agent_and_the_later_folder_wins(tmp_path: Path) -> None:
    first = put(tmp_path / "a", "pi.toml", 'name = "pi"\nargv = ["one"]\n')
    second = put(tmp_path / "b", "other-name.toml", 'name = "pi"\nargv = ["two"]\n')
    assert load([first, second]).get("pi").argv == ("two",)


def test_a_person_changes_one_thing_of_a_shipped_agent(tmp_path: Path) -> None:
    text = 'like = "claude"\nargv = ["claude", "--model", "big"]\n'
    changed, shipped = load([put(tmp_path, "mine.toml", text)]).get("claude"), load().get("claude")
    assert changed.argv == ("claude", "--model", "big")
    assert changed.quit == shipped.quit
    assert changed.composer == shipped.composer


def test_a_person_makes_a_second_agent_out_of_a_shipped_one(tmp_path: Path) -> None:
    catalog = load([put(tmp_path, "mine.toml", 'like = "pi"\nname = "tau"\n')])
    assert catalog.get("tau").argv == catalog.get("pi").argv == ("pi",)


def test_a_missing_folder_is_no_problem(tmp_path: Path) -> None:
    assert load([tmp_path / "none"]).problems == ()


BAD = {
    "toml": ("name = 'x'\nargv = \n", r"mine\.toml cannot be read: it is not TOML: .*line 2"),
    "unknown-key": (MINIMAL + 'colour = "red"\n', r"mine\.toml, line 3: colour: is unknown; known are argv, "),
    "unknown-key-inside": (MINIMAL + "[ready]\nsoon = true\n", r"line 4: ready\.soon: is unknown"),
    "missing-name": ('argv = ["x"]\n', r"mine\.toml: name: is missing"),
    "bad-name": ('name = "No Good"\nargv = []\n', r"line 1: name: must be lower-case"),
    "like-nothing": ('like = "gpt"\n', r"line 1: like: there is no agent 'gpt'"),
    "type": ('name = "mine"\nargv = "mine"\n', r"line 2: argv: must be a list"),
    "bool": (MINIMAL + "queues_itself = 1\n", r"line 3: queues_itself: must be true or false"),
    "bool-as-seconds": (MINIMAL + "grace = true\n", r"line 3: grace: must be a number of seconds"),
    "far-too-long": (MINIMAL + "grace = 1e9\n", r"line 3: grace: must be a number of seconds from 0 to 600"),
    "negative": (MINIMAL + "paste_limit = -1\n", r"line 3: paste_limit: must be a whole number"),
    "lead": (MINIMAL + '[leading]\n"/" = "drop"\n', r"leading: must be one of refuse, space"),
    "pattern": (MINIMAL + "own_title = '('\n", r"line 3: own_title: the pattern is not a regular expression"),
    "second-rule": (
        MINIMAL
        + "[[idle]]\nname = 'a'\nwhere = 'last'\nmatch = 'x'\n\n[[idle]]\nname = 'b'\nwhere = 'top'\nmatch = 'x'\n",
        r"line 10: idle\[1\]\.where: must be one of title, last",
    ),
    "rule-without-match": (
        MINIMAL + "[[working]]\nname = 'a'\nwhere = 'last'\n",
        r"line 3: working\[0\]\.match: is missing",
    ),
    "runaway": (
        MINIMAL + "[[working]]\nname = 'a'\nwhere = 'last'\nmatch = '(a+)+$'\n",
        r"line 6: working\[0\]\.match: the pattern repeats a group",
    ),
    "too-many-rules": (
        MINIMAL + "[[idle]]\nname = 'a'\nwhere = 'last'\nmatch = 'x'\n" * 65,
        r"idle: must be at most 64",
    ),
    "rules-of-all-kinds": (
        MINIMAL
        + "".join(f"[[{kind}]]\nname = 'a'\nwhere = 'last'\nmatch = 'x'\n" * 33 for kind in ("idle", "blocked")),
        r"rules: are more than 64",
    ),
    "binary": ("\0", r"mine\.toml cannot be read: it is not TOML"),
    "deep": (
        f"name = 'mine'\nargv = {'[' * 5_000}{']' * 5_000}\n",
        r"mine\.toml cannot be read: it is nested too deeply",
    ),
    "session-file": (
        MINIMAL + "[session_file]\nfolder = '~'\nfile = 'x'\nstart = 's'\nstate = 't'\nstates = { x = 'dead' }\n",
        r"line 8: session_file\.states: must be one of working, blocked, idle",
    ),
    "session-file-short": (MINIMAL + "[session_file]\nfolder = '~'\n", r"session_file\.file: is missing"),
    "composer-kind": (
        MINIMAL + "[composer]\nkind = 'round'\nprompt = '>'\n",
        r"line 4: composer\.kind: must be one of",
    ),
}


@pytest.mark.parametrize(("text", "sentence"), BAD.values(), ids=BAD.keys())
def test_a_bad_file_is_one_sentence_and_the_rest_works(tmp_path: Path, text: str, sentence: str) -> None:
    put(tmp_path, "good.toml", MINIMAL.replace("mine", "good"))
    catalog = load([put(tmp_path, "mine.toml", text)])
    assert len(catalog.problems) == 1
    assert re.search(sentence, catalog.problems[0]), catalog.problems[0]
    assert "\n" not in catalog.problems[0]
    assert catalog.names() == sorted([*EXPECTED, "good"])


def test_a_bad_file_leaves_the_shipped_one_in_place(tmp_path: Path) -> None:
    catalog = load([put(tmp_path, "pi.toml", 'name = "pi"\nargv = [3]\n')])
    assert catalog.get("pi").argv == ("pi",)
    assert len(catalog.problems) == 1


def test_a_file_that_is_not_text(tmp_path: Path) -> None:
    (tmp_path / "latin.toml").write_bytes(b'name = "\xe9"\n')
    (problem,) = load([tmp_path]).problems
    assert problem.endswith("latin.toml cannot be read: it is not UTF-8 text")


def test_what_is_no_file_is_not_opened(tmp_path: Path) -> None:
    (tmp_path / "folder.toml").mkdir()
    (tmp_path / "loop.toml").symlink_to("loop.toml")
    (tmp_path / "nowhere.toml").symlink_to("nothing")
    (tmp_path / "endless.toml").symlink_to("/dev/zero")
    os.mkfifo(tmp_path / "pipe.toml")
    put(tmp_path, "good.toml", MINIMAL)
    catalog = load([tmp_path])
    said = [problem.rpartition(": ")[2] for problem in catalog.problems]
    odd = "it is no regular file"
    assert said == [odd, odd, "Too many levels of symbolic links", "No such file or directory", odd]
    assert catalog.get("mine").argv == ("mine",)


def test_a_file_that_is_kept_from_us(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.open

    def refuse(path: Path, *how: int) -> int:
        if Path(path).name == "mine.toml":
            raise PermissionError(errno.EACCES, "Permission denied")
        return real(path, *how)

    put(tmp_path, "mine.toml", MINIMAL)
    monkeypatch.setattr(os, "open", refuse)
    (problem,) = load([tmp_path]).problems
    assert problem.endswith("mine.toml cannot be read: Permission denied")


def test_a_file_may_begin_with_a_byte_order_mark(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_bytes(b"\xef\xbb\xbf" + MINIMAL.encode())
    assert load([tmp_path]).get("mine").argv == ("mine",)


def test_a_huge_file_is_refused(tmp_path: Path) -> None:
    catalog = load([put(tmp_path, "mine.toml", MINIMAL + "# " + "x" * 70_000)])
    assert "it holds more than 64 KiB" in catalog.problems[0]


RUNAWAY = [
    "(a+)+",
    "(a*)*b",
    "(a|aa)+$",
    "((ab)*c)*",
    "(?:x{2,})+",
    ".*.*x",
    ".*a.*b",
    r"\s+\s+x",
    r"(a)\1",
    "x" * 301,
    "(",
    "[^a]*b[^c]*d",
]
TAME = [
    "^[⠁-⣿] \\S",
    "(?i)esc to interrupt",
    r"\((?:\d+h )?(?:\d+m )?\d+s",
    "a{2,40}",
    r"^\s*[⏸⏵].{0,60}\besc",
    r"(?:yes|no)\b",
    r"[\]\w]+x",
    r"\\+",
]


@pytest.mark.parametrize("pattern", RUNAWAY)
def test_a_pattern_that_could_run_away_is_refused(pattern: str) -> None:
    with pytest.raises(BadPattern):
        compile_pattern(pattern)


@pytest.mark.parametrize("pattern", TAME)
def test_an_ordinary_pattern_is_compiled(pattern: str) -> None:
    assert compile_pattern(pattern).pattern == pattern
