"""``covey VERB``: what the shell gets. The verbs' work is tested elsewhere; here words, statuses and streams are."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shlex
import signal
import subprocess
import sys
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from covey import cli, render
from covey.verbs import METHODS
from waiting import eventually

EDITORS_OWN = {"preview", "unpreview", "snapshot", "adopt"}  # what only an editor can be shown, or own
INNER = {"wait", "idle", "purge", "rehearse"}  # parts of `send --wait`, `log --purge` and `agents test`


@pytest.fixture
def covey(world):
    def run(*words, stdin="", **env):
        argv = [sys.executable, "-m", "covey.cli", *words]
        return subprocess.run(
            argv,
            env=world.env | env,
            cwd=world.home,
            input=stdin,
            capture_output=True,
            text=True,
            check=False,
        )

    return run


def test_every_method_has_its_verb():
    assert METHODS.keys() - EDITORS_OWN - INNER == cli.VERBS.keys()


def test_the_contract_from_open_to_kill(covey):
    opened = json.loads(covey("open", "one", "--agent", "standin", "--prompt", "hi", "--json").stdout)
    assert (opened["name"], opened["opened"], opened["receipt"]["outcome"]) == ("one", True, "submitted")
    keys = (
        "id name agent state since evidence exit pid pane cwd epoch created owner on_exit keep settled queued guessed"
    )
    assert set(keys.split()) <= opened.keys()
    receipt = json.loads(covey("send", "one", "-", "--wait", "idle", "--json", stdin="from a pipe\n").stdout)
    assert {"id", "session", "epoch", "outcome", "reason", "bytes", "stripped"} <= receipt.keys()
    assert (receipt["outcome"], receipt["bytes"]) == ("submitted", 11)
    assert "You said 11 bytes" in covey("capture", "one").stdout
    assert json.loads(covey("list", "--json").stdout)[0]["id"] == opened["id"]
    assert covey("rename", "one", "two").returncode == 0
    assert json.loads(covey("get", "two", "--json").stdout)["id"] == opened["id"]
    assert covey("kill", "two").returncode == 0
    assert json.loads(covey("list", "--json").stdout) == []


def test_a_command_behind_two_dashes_is_nobodys_business(covey, world):
    done = covey("open", "one", "--cwd", str(world.tmp), "--", "sh", "-c", "echo --json; exit 7")
    assert done.returncode == 0
    assert "one (" in done.stdout
    session = json.loads(covey("get", "one", "--json").stdout)
    assert (session["agent"], session["cwd"]) == ("custom", str(world.tmp))


@pytest.mark.parametrize(
    ("words", "status", "says"),
    [
        (["get", "nobody"], 1, "no session 'nobody'"),
        (["kill", "nobody"], 1, "no session 'nobody'"),
        ([], 2, "wants a verb"),
        (["frob"], 2, "there is no verb 'frob'"),
        (["lst"], 2, "did you mean list?"),
        (["list", "x"], 2, "list has no use for 'x'"),
        (["get", "x", "--frob"], 2, "get has no option --frob"),
        (["send", "x", "-hello"], 2, "put -- before"),
        (["send", "x", "hi", "--act"], 2, "--act wants a value"),
        (["send", "x", "hi", "--timeout", "nan"], 2, "'nan'"),
        (["send", "x", "hi", "--timeout", "-1"], 2, "'-1'"),
        (["capture", "x", "--history", "-5"], 2, "'-5'"),
        (["get"], 2, "NAME"),
        (["open", "x", "--agent", "nosuch"], 2, "nosuch"),
        (["open", "x", "--env", "NOVALUE"], 2, "NAME=VALUE"),
        (["open", "x", "--cwd", "/nonexistent", "--agent", "shell"], 3, "not a directory"),
        (["open", "x", "--", "no-such-program"], 3, "no-such-program was not found"),
        (["open", "r", "restart=always"], 2, "here it is --restart always"),
        (["run", "on_exit=keep"], 2, "here it is --on-exit keep"),
        (["open", "env.A=1 2"], 2, "here it is --env 'A=1 2'"),
        (["explain"], 2, "explain wants"),
        (["explain", "--file", "/nonexistent"], 2, "does not exist"),
    ],
)
def test_a_mistake_is_one_sentence_and_a_status(covey, words, status, says):
    done = covey(*words)
    assert (done.returncode, done.stdout) == (status, "")
    assert says in done.stderr
    assert "Traceback" not in done.stderr
    as_json = covey(*words[:1], "--json", *words[1:])
    assert (as_json.returncode, "error" in json.loads(as_json.stdout)) == (status, True)


@pytest.fixture
def person(world):
    """A covey whose standard input and errors are a terminal: the status, and what was said there."""

    def run(*words):
        ours, theirs = os.openpty()
        argv = [sys.executable, "-m", "covey.cli", *words]
        streams = {"stdin": theirs, "stderr": theirs, "stdout": subprocess.DEVNULL}
        done = subprocess.run(argv, env=world.env, cwd=world.home, timeout=60, check=False, **streams)
        os.close(theirs)
        said = b""
        with contextlib.suppress(OSError):  # a terminal that nobody has any more
            said = os.read(ours, 10_000)
        os.close(ours)
        return done.returncode, said.decode()

    return run


def test_a_person_who_mistypes_an_agent_is_asked_what_was_meant_and_a_script_is_not(covey, person):
    status, said = person("open", "standim")
    assert (status, said.strip()) == (
        2,
        "covey: no agent 'standim' (did you mean standin? Else: open standim AGENT)",
    )
    assert json.loads(covey("list", "--json").stdout) == []
    assert person("open", "standim", "standin") == (0, "")
    assert person("open", "standim") == (0, "")
    assert covey("open", "shel", "--", "cat").returncode == 0
    assert person("open", "shelll", "--", "cat") == (0, "")
    for name in ("standim", "shel", "shelll"):
        assert covey("kill", name).returncode == 0


@pytest.mark.parametrize("env", [{"LC_ALL": "C", "PYTHONUTF8": "0"}, {"PYTHONIOENCODING": "ascii"}])
def test_words_and_answers_are_utf8_whatever_the_locale_says(covey, world, env):
    cwd = world.tmp / "verzeichnis ä"
    cwd.mkdir()
    assert covey("open", "ü 你", "--agent", "standin", "--cwd", str(cwd), **env).returncode == 0
    receipt = json.loads(covey("send", "ü 你", "tä😀xt", "--json", **env).stdout)
    assert (receipt["outcome"], receipt["bytes"]) == ("submitted", len("tä😀xt".encode()))
    assert "> tä😀xt" in covey("capture", "ü 你", **env).stdout
    assert "ü 你" in covey("list", **env).stdout
    assert "no session 'ö'" in covey("get", "ö", **env).stderr


@pytest.mark.parametrize("words", ["list", "list --json", "--help"])
def test_an_answer_that_cannot_be_written_is_a_sentence(world, words):
    command = f"{shlex.quote(sys.executable)} -m covey.cli {words} > /dev/full"
    done = subprocess.run(command, shell=True, env=world.env, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (1, "covey: the answer could not be written: No space left on device\n")


def test_an_input_without_end_is_refused_and_not_waited_for(world):
    with Path("/dev/zero").open("rb") as endless:
        argv = [sys.executable, "-m", "covey.cli", "send", "one", "-"]
        done = subprocess.run(argv, stdin=endless, env=world.env, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr.startswith("covey: standard input holds more than 16 MiB")) == (2, True)


def test_a_prompt_comes_from_a_pipe_wherever_a_text_stands(covey):
    opened = json.loads(covey("open", "one", "--agent", "standin", "--prompt", "-", "--json", stdin="to open").stdout)
    assert (opened["receipt"]["outcome"], opened["receipt"]["bytes"]) == ("submitted", len("to open"))
    (receipt,) = json.loads(covey("broadcast", "one", "--text", "-", "--json", stdin="to all").stdout)
    assert (receipt["outcome"], receipt["bytes"]) == ("submitted", len("to all"))
    covey("send", "one", "ask may I", "--wait", "idle")
    receipt = json.loads(covey("send", "one", "later", "--json", "--timeout", "0").stdout)
    assert json.loads(covey("edit", receipt["id"], "-", "--json", stdin="to edit").stdout)["bytes"] == len("to edit")


def test_verbs_answer_to_what_the_editor_calls_them(covey):
    covey("open", "one", "--agent", "shell")
    assert covey("name", "one", "two").stdout.startswith("two (")
    assert "covey needs" in covey("health").stdout
    assert covey("keep", "two").stdout.count("kept") == 1


def test_the_selftest_says_what_it_saw(covey):
    done = covey("selftest")
    assert (done.returncode, done.stdout.startswith("all is well, "), "FAIL" in done.stdout) == (0, True, False)


def test_columns_stand_below_each_other_whatever_a_name_holds(covey):
    covey("open", "你😀", "--agent", "shell")
    head, row = covey("list").stdout.splitlines()
    assert head.index("AGENT") == row.index("shell") + len("你😀")  # each takes two cells


def test_a_refused_prompt_has_a_status_of_its_own(covey):
    covey("open", "one", "--", "true")
    eventually(lambda: json.loads(covey("get", "one", "--json").stdout)["state"] == "exited")
    done = covey("send", "one", "too late")
    assert (done.returncode, "refused: the agent has exited" in done.stdout) == (3, True)


def test_attach_without_a_terminal_says_so(covey):
    covey("open", "one", "--agent", "shell")
    done = covey("attach", "one")
    assert (done.returncode, "needs a terminal" in done.stderr) == (1, True)


def test_a_held_prompt_says_what_it_waits_for(covey):
    covey("open", "one", "--agent", "standin", "--prompt", "ask may I")
    eventually(lambda: json.loads(covey("get", "one", "--json").stdout)["state"] == "blocked")
    done = covey("send", "one", "after it", "--timeout", "5")
    assert (done.returncode, done.stdout.startswith("held: the agent is blocked: ")) == (0, True)
    assert covey("send", "one", "never", "--wait", "submitted", "--timeout", "0.5").returncode == 1


def test_who_waits_behind_a_question_is_told_at_once_why(covey):
    covey("open", "one", "--agent", "standin", "--prompt", "ask may I", "--wait", "idle")
    done = covey("send", "one", "after it", "--wait", "submitted", "--timeout", "4")
    assert (done.returncode, done.stdout.startswith("held: the agent is blocked: ")) == (1, True)
    assert done.stderr.startswith(
        "covey: prompt 2 is held: the agent is blocked: Do you want to proceed?; waiting for up"
    )
    assert done.stderr.count("\n") == 1  # once for each reason


@pytest.mark.parametrize("words", [["api", "standin"], ["standin", "api"], ["api", "--agent", "standin"]])
def test_name_and_agent_may_stand_in_the_order_of_the_editor_too(covey, words):
    assert covey("open", *words).stdout.startswith("api (")
    (session,) = json.loads(covey("list", "--json").stdout)
    assert (session["name"], session["agent"]) == ("api", "standin")


def test_an_agents_name_alone_is_that_agent_and_twice_is_too_often(covey):
    opened = json.loads(covey("open", "standin", "--json").stdout)
    assert (opened["name"], opened["agent"]) == ("standin", "standin")
    done = covey("open", "api", "standin", "--agent", "shell")
    assert (done.returncode, "the agent is given twice" in done.stderr) == (2, True)


def test_the_list_tells_what_was_decided_and_no_time_that_nobody_knows(covey):
    covey("open", "one", "--agent", "standin")
    covey("keep", "one")
    covey("settle", "one")
    eventually(lambda: json.loads(covey("get", "one", "--json").stdout)["state"] == "idle")
    _, row = covey("list").stdout.splitlines()
    assert "  kept settled  " in row
    assert re.search(r" idle +\d+s +0 ", row)
    sessions = json.loads(covey("list", "--json").stdout)
    first_seen = datetime.fromisoformat(sessions[0]["since"])
    assert re.search(r" idle +- +0 ", render.answer("list", sessions, began=first_seen - timedelta(milliseconds=1)))
    assert "settled" not in covey("settle", "one", "--off").stdout


def test_an_act_is_never_sent_twice(covey):
    covey("open", "one", "--agent", "standin", "--prompt", "hi")
    first = covey("send", "one", "once", "--act", "a1", "--json").stdout
    assert covey("send", "one", "once", "--act", "a1", "--json").stdout == first
    assert covey("capture", "one", "--history", "100").stdout.count("> once") == 1


def test_explain_reads_a_screen_from_a_file(covey, tmp_path):
    screen = tmp_path / "screen.txt"
    screen.write_text("Do you want to proceed?\n❯ 1. Yes\n  2. No\n\nEsc to cancel\n")
    done = json.loads(covey("explain", "--file", str(screen), "--agent", "claude", "--json").stdout)
    assert done["state"] == "blocked"


def test_agents_says_which_profiles_cannot_be_read(covey, world):
    folder = world.config / "covey" / "agents"
    folder.mkdir(parents=True)
    (folder / "mine.toml").write_text('name = "mine"\nargv = ["mine"]\ngrace = "long"\n')
    sentence = f"{folder}/mine.toml, line 3: grace: must be a number of seconds from 0 to 600"
    assert covey("agents").stdout.splitlines()[-1] == f"WRONG {sentence}"
    assert json.loads(covey("agents", "--json").stdout)[-1] == {"problem": sentence}


def test_doctor_and_agents_know_this_machine(covey):
    report = json.loads(covey("doctor", "--json").stdout)
    assert report["tmux"]["ok"] is True
    agents = {each["name"]: each for each in json.loads(covey("agents", "--json").stdout)}
    assert agents["standin"]["installed"]
    assert not agents["amp"]["installed"]


@pytest.mark.parametrize(
    ("version", "ok", "says"),
    [("2.9", False, "WRONG tmux 2.9"), ("3.2a", True, "note  tmux 3.2a does not tell which signal"), ("3.9", True, "")],
)
def test_doctor_knows_what_a_tmux_cannot_do(covey, world, version, ok, says):
    tmux = world.tmp / "tmux"
    tmux.write_text(f"#!/bin/sh\necho tmux {version}\n")
    tmux.chmod(0o700)
    done = covey("doctor", PATH=f"{world.tmp}:{world.env['PATH']}")
    assert (done.returncode, says in done.stdout, "note" in done.stdout) == (int(not ok), True, version == "3.2a")


def test_a_closed_pipe_is_no_traceback(world):
    done = subprocess.run(
        f"{shlex.quote(sys.executable)} -m covey.cli --help | head -c 1",
        shell=True, env=world.env, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert "Traceback" not in done.stderr


def hears():
    """What is started in the background of a script hears no interrupt, nor does what that starts."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def test_who_stops_waiting_is_told_how_the_prompt_stands(world, covey):
    covey("open", "one", "--agent", "standin", "--prompt", "ask may I", "--wait", "idle")
    argv = [sys.executable, "-m", "covey.cli", "send", "one", "later", "--wait", "submitted"]
    pipe = {"stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(argv, env=world.env, preexec_fn=hears, **pipe) as sending:  # noqa: PLW1509  # one thread
        assert "waiting for up to" in sending.stderr.readline()
        sending.send_signal(signal.SIGINT)
        assert "covey: held: the agent is blocked" in sending.stderr.read()
    assert sending.returncode == 130
    assert [each["text"] for each in json.loads(covey("queue", "one", "--json").stdout)] == ["later"]


INTERRUPTED = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.{handler})
class Interrupt:
    def find_spec(self, name, *_):
        if name == "covey.cli":
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Interrupt())
sys.argv = ["covey", "list", "--json"]
from covey.__main__ import main
sys.exit(main())
"""


@pytest.mark.parametrize(
    ("handler", "status", "said"), [("default_int_handler", -signal.SIGINT, ""), ("SIG_IGN", 0, "[]")]
)
def test_an_interrupt_before_it_has_begun_is_no_traceback(world, handler, status, said):
    """Nor is it heard where the shell wants it not to be."""
    argv = [sys.executable, "-c", INTERRUPTED.replace("{handler}", handler)]
    done = subprocess.run(argv, env=world.env, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout.strip(), done.stderr) == (status, said, "")


def test_bytes_that_are_no_utf8_are_taken_out_and_counted(world, covey):
    covey("open", "one", "--agent", "standin", "--prompt", "hi")
    argv = [sys.executable, "-m", "covey.cli", "send", "one", "-", "--json"]
    done = subprocess.run(argv, env=world.env, input=b"a\xff\xfeb", capture_output=True, check=False)
    receipt = json.loads(done.stdout)
    assert (receipt["outcome"], receipt["bytes"], receipt["stripped"] > 0) == ("submitted", 2, True)


def test_options_may_stand_anywhere_and_a_prompt_may_look_like_one(covey):
    covey("open", "one", "--agent", "standin", "--prompt", "hi")
    for words in (["one", "--json", "plain"], ["--json", "one", "- an item"], ["one", "--json", "--", "--help"]):
        receipt = json.loads(covey("send", *words).stdout)
        assert (receipt["outcome"], receipt["bytes"]) == ("submitted", len(words[-1]))


def test_without_standard_input_send_says_so(world, covey):
    covey("open", "one", "--agent", "shell")
    command = f"{shlex.quote(sys.executable)} -m covey.cli send one <&-"
    done = subprocess.run(command, shell=True, env=world.env, capture_output=True, text=True, check=False)
    assert (done.returncode, "Traceback" in done.stderr) == (2, False)


def test_a_directory_that_is_no_utf8_is_shown_as_it_is(world, covey):
    odd = world.tmp / "b\udcffd"
    odd.mkdir()
    argv = [sys.executable, "-m", "covey.cli", "open", "one", "--agent", "shell", "--cwd", str(odd)]
    done = subprocess.run(argv, env=world.env, capture_output=True, check=False)
    assert (done.returncode, b"b\xffd" in done.stdout) == (0, True)


def test_wait_idle_waits_for_the_work_to_begin_and_end(covey):
    covey("open", "one", "--agent", "standin", "--prompt", "hi")
    done = json.loads(covey("send", "one", "work 1", "--wait", "idle", "--json").stdout)
    assert done["session_state"] == "idle"
    assert "done" in covey("capture", "one").stdout


def test_a_broadcast_without_a_name_is_for_every_agent_that_runs_and_kill_tells_what_went_along(covey):
    for name, agent in (("one", "standin"), ("two", "standin"), ("no", "shell"), ("over", "standin")):
        assert covey("open", name, "--agent", agent).returncode == 0
    assert covey("settle", "over").returncode == 0
    assert covey("send", "two", "ask", "--wait", "submitted").returncode == 0
    eventually(lambda: json.loads(covey("get", "two", "--json").stdout)["state"] == "blocked")
    told = covey("broadcast", "--text", "to all").stdout.splitlines()
    assert [line.split(" ")[0] for line in told] == ["one:", "two:"]
    assert covey("kill", "two").stdout.startswith("two: ended 1 process; 1 prompt was never sent")


def test_a_question_is_shown_with_its_options_and_nothing_chosen(covey):
    covey("open", "one", "--agent", "standin", "--prompt", "ask")
    eventually(lambda: json.loads(covey("get", "one", "--json").stdout)["state"] == "blocked")
    shown = covey("answer", "one").stdout.splitlines()
    assert (shown[0], shown[1]) == ("Do you want to proceed?", "- Yes")
    assert json.loads(covey("get", "one", "--json").stdout)["state"] == "blocked"
    assert "answered" not in covey("log", "one").stdout
    assert covey("answer", "one", shown[-1][2:]).stdout == f"one: {shown[-1][2:]}\n"


def test_what_is_taken_back_twice_was_taken_back_already(covey):
    covey("open", "one", "--agent", "standin", "--prompt", "ask")
    eventually(lambda: json.loads(covey("get", "one", "--json").stdout)["state"] == "blocked")
    held = json.loads(covey("send", "one", "later", "--json").stdout)
    told = [covey("cancel", str(held["number"])).stdout.partition(" [")[0] for _ in range(2)]
    assert told == ["cancelled", "cancelled: it was already"]


def test_a_broadcast_with_a_bad_name_sends_none_and_to_each_once(covey):
    covey("open", "one", "--agent", "standin", "--prompt", "hi")
    assert covey("broadcast", "--text", "to all", "one", "nobody").returncode == 1
    assert "to all" not in covey("capture", "one").stdout
    assert len(json.loads(covey("broadcast", "--text", "to all", "one", "one", "--json").stdout)) == 1


def test_the_log_is_in_words_and_local_time(covey):
    covey("open", "one", "--agent", "standin", "--prompt", "hi")
    covey("send", "one", "two\nlines")
    (opened, *_, sent, submitted) = covey("log", "one", TZ="XXX-5").stdout.splitlines()
    at = datetime.fromisoformat(json.loads(covey("log", "one", "--json").stdout)[0]["at"])
    assert opened.startswith((at + timedelta(hours=5)).strftime("%Y-%m-%d %H:%M:%S  opened     standin as 'one' in "))
    assert sent.endswith(f"send       2: 'two' …, by shell {os.getpid()}")
    assert submitted.endswith("submitted  2")
    assert f"by shell {os.getpid()}\n    two\n    lines\n" in covey("log", "one", "--full").stdout


@pytest.mark.parametrize("act", ["../../x", "a" * 400, "a b"])
def test_the_id_of_an_act_is_a_plain_word(covey, act):
    covey("open", "one", "--agent", "standin", "--prompt", "hi")
    assert covey("send", "one", "x", "--act", act).returncode == 2
    assert covey("send", "one", "still works").returncode == 0


def test_the_log_outlives_its_session_and_json_is_utf8(covey, world):
    odd = world.tmp / "b\udcffd"
    odd.mkdir()
    covey("open", "one", "--agent", "shell", "--cwd", str(world.tmp))
    covey("kill", "one")
    assert "ended" in covey("log", "one").stdout
    argv = [sys.executable, "-m", "covey.cli", "open", "two", "--agent", "shell", "--cwd", str(odd), "--json"]
    done = subprocess.run(argv, env=world.env, capture_output=True, check=False)
    assert json.loads(done.stdout.decode())["cwd"].endswith("d")


def test_run_waits_for_the_finish_and_settles(covey):
    words = ["run", "one", "--agent", "standin", "--prompt", "work 1", "--wait", "idle", "--json"]
    done = json.loads(covey(*words).stdout)
    assert (done["receipt"]["outcome"], done["state"]) == ("submitted", "idle")
    assert (done["settled"], done["opened"]) == (True, True)
    assert "done" in covey("capture", "one").stdout
    kinds = [each["kind"] for each in json.loads(covey("log", "one", "--json").stdout)]
    assert (kinds[0], kinds[-1], kinds.count("settled")) == ("opened", "settled", 1)
    asked = covey("open", "two", "--agent", "standin", "--prompt", "ask may I", "--wait", "idle", "--json")
    assert (asked.returncode, json.loads(asked.stdout)["state"]) == (1, "blocked")
    assert asked.stderr.endswith("covey: two is blocked: Do you want to proceed?\n")
    late = covey("send", "one", "work 9", "--wait", "idle", "--timeout", "4")
    assert (late.returncode, late.stderr) == (1, "covey: one is working: the time is up\n")
    late = covey("run", "three", "--agent", "standin", "--prompt", "work 9", "--wait", "idle", "--timeout", "0.5")
    assert late.returncode == 1
