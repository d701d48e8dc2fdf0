"""outbox.py: every act is in the line once, in order, and has one truthful outcome, whoever dies when."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from covey.errors import NotFound, Refused, Usage
from covey.models import FINAL, Identity
from covey.outbox import Outbox
from covey.store import Store

HELPER = Path(__file__).parents[2] / "helper"
ME = Identity(100, 1, "here")
EDITOR = Identity(200, 2, "here")
WAITING = {"queued", "held"}
NOBODY = {ME: False}.get  # ME is gone; of others nothing is known


@pytest.fixture
def outbox(tmp_path):
    store = Store(tmp_path / "covey.db")
    yield Outbox(store, ME)
    store.close()


def put(outbox: Outbox, act: str, session: str = "s", *, epoch: int = 1, kind: str = "send", text: str = "words"):
    return outbox.put(act, session, epoch, kind, text, {}, EDITOR)


def acts(tickets) -> list[str]:
    return [ticket.act for ticket in tickets]


# Into the line


def test_a_ticket_comes_back_as_it_was_put(outbox):
    receipt = outbox.put("a", "s", 3, "send", "zwölf", {"when": "idle"}, EDITOR, stripped=2)
    assert receipt.to_json() == {
        "id": "a", "session": "s", "epoch": 3, "outcome": "queued", "reason": "", "bytes": 6, "stripped": 2,
    }  # fmt: skip
    ticket = outbox.next("s")
    assert (ticket.act, ticket.session, ticket.epoch, ticket.kind, ticket.text) == ("a", "s", 3, "send", "zwölf")
    assert (ticket.options, ticket.outcome, ticket.writer, ticket.typer) == ({"when": "idle"}, "queued", EDITOR, None)
    assert ticket.created.endswith("Z")


@pytest.mark.parametrize(
    "text", ["", "\0", "a\r\nb\n", "\ud800", "\udcff\udc80", "\U0001f426" * 3, "x" * (1 << 20), "'; DROP TABLE tickets"]
)
def test_text_is_kept_exactly(outbox, text):
    put(outbox, "a", text=text)
    assert outbox.next("s").text == text
    outbox.edit("a", text + "!")
    assert outbox.typing(outbox.next("s").row).text == text + "!"


def test_the_same_act_again_gives_the_receipt_it_has_by_now(outbox):
    first = put(outbox, "a")
    assert put(outbox, "a") == first
    assert len(outbox.pending("s")) == 1
    done = outbox.settle(outbox.next("s").row, "submitted", "seen to leave")
    assert put(outbox, "a") == done
    assert outbox.next("s") is None


@pytest.mark.parametrize("change", [{"text": "other"}, {"session": "t"}, {"kind": "answer"}])
def test_the_same_act_for_something_else_is_refused_and_changes_nothing(outbox, change):
    put(outbox, "a")
    with pytest.raises(Usage, match="used before"):
        put(outbox, "a", **change)
    assert acts(outbox.pending("s")) == ["a"]
    assert outbox.pending("t") == []
    assert outbox.next("s").text == "words"


def test_an_edited_act_is_still_the_same_act(outbox):
    put(outbox, "a")
    assert outbox.edit("a", "better words").bytes == 12
    assert put(outbox, "a").bytes == 12
    with pytest.raises(Usage):
        put(outbox, "a", text="better words")


def test_an_act_nobody_knows_is_not_found(outbox):
    for call in (lambda: outbox.receipt("x"), lambda: outbox.cancel("x"), lambda: outbox.edit("x", ""),
                 lambda: outbox.typing(9), lambda: outbox.settle(9, "failed"), lambda: outbox.hold(9, "")):  # fmt: skip
        with pytest.raises(NotFound):
            call()


# Order


def test_each_session_has_its_own_line(outbox):
    for act, session in (("a", "s"), ("b", "t"), ("c", "s")):
        put(outbox, act, session)
    assert acts(outbox.pending("s")) == ["a", "c"]
    assert outbox.next("t").act == "b"
    assert outbox.next("u") is None
    assert outbox.counts() == {"s": 2, "t": 1}


def test_a_held_send_lets_other_acts_pass_and_no_send(outbox):
    for act, kind in (("a", "send"), ("b", "send"), ("c", "interrupt"), ("d", "answer"), ("e", "send")):
        put(outbox, act, kind=kind)
    row = outbox.next("s").row
    assert outbox.hold(row, "a dialog is shown").reason == "a dialog is shown"
    order = []
    while (ticket := outbox.next("s")) is not None:
        order.append(ticket.act)
        outbox.settle(ticket.row, "pasted")
    assert order == ["c", "d"]
    assert outbox.release(row).outcome == "queued"
    while (ticket := outbox.next("s")) is not None:
        order.append(ticket.act)
        outbox.settle(ticket.row, "submitted")
    assert order == ["c", "d", "a", "b", "e"]


def test_a_queued_send_is_not_passed(outbox):
    put(outbox, "a")
    put(outbox, "b", kind="interrupt")
    assert outbox.next("s").act == "a"


def test_a_send_does_not_wait_for_a_later_one_that_is_held(outbox):
    put(outbox, "a")
    put(outbox, "b")
    outbox.hold(2, "starting")
    assert outbox.next("s").act == "a"


def test_no_send_passes_one_that_is_being_typed(outbox):
    put(outbox, "a")
    put(outbox, "b")
    outbox.typing(outbox.next("s").row)
    assert outbox.next("s") is None
    outbox.settle(1, "submitted")
    assert outbox.next("s").act == "b"


def test_rows_are_never_used_again(outbox):
    put(outbox, "a")
    outbox.settle(1, "failed")
    assert outbox.purge(-1) == 1
    put(outbox, "b")
    assert outbox.next("s").row == 2


# Before and after the first byte


def test_what_is_being_typed_cannot_be_taken_back(outbox):
    put(outbox, "a")
    assert outbox.typing(1).typer == ME
    for call in (lambda: outbox.cancel("a"), lambda: outbox.edit("a", "x"), lambda: outbox.typing(1)):
        with pytest.raises(Refused, match="being typed"):
            call()
    for receipt in (outbox.hold(1, "why"), outbox.release(1), outbox.receipt("a")):
        assert (receipt.outcome, receipt.reason) == ("queued", "being typed")
    assert outbox.drop_older("s", 9) == outbox.undelivered("s") == []
    assert outbox.settle(1, "submitted", "").outcome == "submitted"


def test_a_cancelled_act_is_not_typed(outbox):
    put(outbox, "a")
    ticket = outbox.next("s")
    assert outbox.cancel("a").outcome == "cancelled"
    assert outbox.cancel("a").outcome == "cancelled"
    with pytest.raises(Refused, match="cancelled already"):
        outbox.typing(ticket.row)
    assert outbox.next("s") is None


def test_a_held_act_is_edited_and_cancelled_and_not_typed(outbox):
    put(outbox, "a")
    outbox.hold(1, "starting")
    with pytest.raises(Refused, match="held"):
        outbox.typing(1)
    outbox.edit("a", "new")
    assert outbox.pending("s")[0].text == "new"
    assert outbox.cancel("a").outcome == "cancelled"


@pytest.mark.parametrize("outcome", sorted(FINAL))
def test_the_first_outcome_stays(outbox, outcome):
    put(outbox, "a")
    first = outbox.settle(1, outcome, "why")
    assert (first.outcome, first.reason) == (outcome, "why")
    for other in FINAL:
        assert outbox.settle(1, other, "late") == first
    assert outbox.hold(1, "late") == outbox.release(1) == outbox.receipt("a") == first
    assert outbox.recover(NOBODY, held="s") == []
    assert outbox.pending("s") == []
    assert outbox.counts() == {}


def test_an_outcome_that_is_none_is_a_bug(outbox):
    put(outbox, "a")
    with pytest.raises(AssertionError):
        outbox.settle(1, "held")


# Whole sessions


def test_acts_of_an_older_epoch_are_dropped_and_say_so(outbox):
    for act, epoch in (("a", 1), ("b", 2), ("c", 1), ("d", 3)):
        put(outbox, act, epoch=epoch)
    put(outbox, "other", session="t")
    outbox.hold(3, "starting")
    dropped = outbox.drop_older("s", 2)
    assert [(receipt.id, receipt.outcome, receipt.epoch) for receipt in dropped] == [
        ("a", "dropped", 1),
        ("c", "dropped", 1),
    ]
    assert "start 2" in dropped[0].reason
    assert acts(outbox.pending("s")) == ["b", "d"]
    assert acts(outbox.pending("t")) == ["other"]
    assert outbox.drop_older("s", 2) == []


def test_a_reaped_session_leaves_its_prompts_undelivered(outbox):
    put(outbox, "a")
    put(outbox, "b")
    outbox.hold(2, "starting")
    assert [(receipt.id, receipt.outcome) for receipt in outbox.undelivered("s")] == [
        ("a", "undelivered"),
        ("b", "undelivered"),
    ]
    assert outbox.receipt("b").reason
    assert outbox.pending("s") == []


def test_recover_settles_only_what_a_dead_process_was_typing(outbox):
    other = Outbox(outbox.store, EDITOR)
    for act, session in (("a", "s"), ("b", "t"), ("c", "u"), ("d", "s")):
        put(outbox, act, session)
    outbox.typing(1)
    other.typing(2)
    for verdict in (True, None):
        assert outbox.recover(lambda _, verdict=verdict: verdict) == []
    found = outbox.recover(NOBODY)
    assert [(receipt.id, receipt.outcome) for receipt in found] == [("a", "unconfirmed")]
    assert "may or may not" in found[0].reason
    assert outbox.next("s").act == "d"
    assert [outbox.receipt(act).outcome for act in "bcd"] == ["queued"] * 3


def test_recover_settles_what_nobody_types_in_a_lane_that_we_hold(outbox):
    for act, session in (("a", "s"), ("b", "t"), ("c", "s")):
        put(outbox, act, session)
    outbox.typing(1)
    outbox.typing(2)
    assert [receipt.id for receipt in outbox.recover(lambda _: True, held="s")] == ["a"]
    assert outbox.next("s").act == "c"
    assert outbox.receipt("b").reason == "being typed"


def test_purge_takes_only_what_is_settled_and_old(outbox):
    for act in "abc":
        put(outbox, act, text="private words")
    outbox.settle(1, "submitted")
    outbox.hold(2, "starting")
    assert outbox.purge() == 0
    assert outbox.purge(-1) == 1
    with pytest.raises(NotFound):
        outbox.receipt("a")
    assert acts(outbox.pending("s")) == ["b", "c"]
    outbox.undelivered("s")
    outbox.purge(-1)
    assert b"private" not in b"".join(file.read_bytes() for file in outbox.store.path.parent.glob("covey.db*"))


# Against a model

KINDS = st.sampled_from(["send", "send", "interrupt"])


class Line(RuleBasedStateMachine):
    """The line of one session as a plain list, beside the real one; every step is compared."""

    @initialize(kinds=st.lists(KINDS, min_size=3, max_size=6))
    def begin(self, kinds):
        self.directory = tempfile.mkdtemp(prefix="cv")
        self.store = Store(Path(self.directory) / "covey.db")
        self.store.rows("PRAGMA synchronous = OFF")  # no machine crashes here
        self.outbox = Outbox(self.store, ME)
        self.line: list[dict] = []
        for kind in kinds:
            self.put(kind, 2)

    def teardown(self):
        if hasattr(self, "store"):
            self.store.close()
            shutil.rmtree(self.directory)

    def pick(self, data):
        waiting = [act for act in self.line if act["outcome"] in WAITING]
        return data.draw(st.sampled_from(waiting or self.line) | st.sampled_from(self.line))

    def begun(self, act):
        return act["outcome"] in WAITING and act["typer"]

    def free(self, act):
        return act["outcome"] in WAITING and not act["typer"]

    def expected(self):
        for place, act in enumerate(self.line):
            sends = [e for e in self.line[:place] if e["kind"] == "send"]
            blocked = act["kind"] == "send" and any(e["outcome"] == "held" or self.begun(e) for e in sends)
            if act["outcome"] == "queued" and not act["typer"] and not blocked:
                return act["act"]
        return None

    @rule(kind=KINDS, epoch=st.integers(1, 3))
    def put(self, kind, epoch):
        act = f"act{len(self.line)}"
        put(self.outbox, act, kind=kind, epoch=epoch)
        row = self.outbox.pending("s")[-1].row
        self.line.append({"act": act, "row": row, "kind": kind, "epoch": epoch, "outcome": "queued", "typer": False})

    @rule(data=st.data())
    def again(self, data):
        act = self.pick(data)
        assert put(self.outbox, act["act"], kind=act["kind"], epoch=act["epoch"]).outcome == act["outcome"]

    @rule()
    def type_next(self):
        ticket = self.outbox.next("s")
        if ticket is not None:
            self.outbox.typing(ticket.row)
            next(act for act in self.line if act["row"] == ticket.row)["typer"] = True

    @rule(data=st.data(), outcome=st.sampled_from(sorted(FINAL)))
    def settle(self, data, outcome):
        act = self.pick(data)
        if act["outcome"] in WAITING:
            act["outcome"] = outcome
        assert self.outbox.settle(act["row"], outcome).outcome == act["outcome"]

    @rule(data=st.data(), outcome=st.sampled_from(["held", "queued"]))
    def hold_or_release(self, data, outcome):
        act = self.pick(data)
        if self.free(act):
            act["outcome"] = outcome
        call = self.outbox.hold(act["row"], "why") if outcome == "held" else self.outbox.release(act["row"])
        assert call.outcome == act["outcome"]

    @rule(data=st.data())
    def cancel(self, data):
        act = self.pick(data)
        if self.free(act):
            act["outcome"] = "cancelled"
        if act["outcome"] == "cancelled":
            self.outbox.cancel(act["act"])
        else:
            with pytest.raises(Refused):
                self.outbox.cancel(act["act"])

    @rule(epoch=st.integers(1, 4))
    def drop(self, epoch):
        old = [act for act in self.line if self.free(act) and act["epoch"] < epoch]
        assert [receipt.id for receipt in self.outbox.drop_older("s", epoch)] == [act["act"] for act in old]
        for act in old:
            act["outcome"] = "dropped"

    @rule()
    def crash_and_recover(self):
        begun = [act for act in self.line if self.begun(act)]
        assert [receipt.id for receipt in self.outbox.recover(NOBODY)] == [act["act"] for act in begun]
        for act in begun:
            act["outcome"] = "unconfirmed"

    @invariant()
    def the_same(self):
        if not hasattr(self, "line"):
            return
        turn = self.outbox.next("s")
        assert (turn.act if turn else None) == self.expected()
        waiting = [act["act"] for act in self.line if act["outcome"] in WAITING]
        assert acts(self.outbox.pending("s")) == waiting
        assert self.outbox.counts() == ({"s": len(waiting)} if waiting else {})
        assert [self.outbox.receipt(act["act"]).outcome for act in self.line] == [a["outcome"] for a in self.line]


TestLine = Line.TestCase
TestLine.settings = settings(
    max_examples=40, stateful_step_count=25, deadline=None, suppress_health_check=list(HealthCheck)
)


# Processes that die

CHILD = """
import json, os, sys
from pathlib import Path
from covey.models import Identity
from covey.outbox import Outbox
from covey.store import Store
me = Identity(os.getpid(), 1, "here")
outbox = Outbox(Store(Path(sys.argv[1])), me)
def say(*words):
    print(*words, flush=True)
def step(*words):
    say(*words)
    sys.stdin.readline()
"""

STEPS = """
step("before put")
outbox.put("a", "s", 1, "send", "words", {}, me)
step("after put")
row = outbox.next("s").row
step("after next")
outbox.typing(row)
step("after typing")
outbox.settle(row, "submitted")
step("after settle")
"""


@pytest.fixture
def child(outbox):
    """Start Python with the outbox open as ``outbox``; what is still running at the end is ended."""
    started = []

    def start(code: str, *args: str) -> subprocess.Popen:
        process = subprocess.Popen(
            [sys.executable, "-c", CHILD + code, str(outbox.store.path), *args],
            env={"PYTHONPATH": str(HELPER), "PATH": os.environ["PATH"]},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


@pytest.mark.parametrize(
    ("last", "outcome"),
    [
        ("before put", None),
        ("after put", "queued"),
        ("after next", "queued"),
        ("after typing", "unconfirmed"),
        ("after settle", "submitted"),
    ],
)
def test_P02_a_process_killed_at_each_step_leaves_the_truth(outbox, child, last, outcome):
    process = child(STEPS)
    while process.stdout.readline().strip() != last:
        process.stdin.write("on\n")
        process.stdin.flush()
    process.kill()
    process.wait()
    outbox.recover(lambda typer: typer.pid != process.pid)
    if outcome is None:
        with pytest.raises(NotFound):
            outbox.receipt("a")
    else:
        assert outbox.receipt("a").outcome == outcome
    assert (outbox.next("s") is not None) == (outcome == "queued")


STREAM = """
import itertools
for number in itertools.count():
    act = f"{sys.argv[2]}-{number}"
    outbox.put(act, "s", 1, "send", act * 50, {}, me)
    say("put", act)
    ticket = outbox.typing(outbox.next("s").row)
    say("type", ticket.act)
    outbox.settle(ticket.row, "submitted")
    say("done", ticket.act)
"""


@pytest.mark.parametrize("lines", [1, 2, 3, 7, 23, 64])
def test_P02_a_process_killed_at_any_moment_loses_and_doubles_nothing(outbox, child, lines):
    process = child(STREAM, "w")
    said = [process.stdout.readline().split() for _ in range(lines)]
    process.kill()
    said += [line.split() for line in process.communicate()[0].splitlines()]
    outbox.recover(lambda typer: typer.pid != process.pid)
    outcomes = {act: outbox.receipt(act).outcome for _, act in said}
    for word, act in said:
        allowed = {
            "put": {"queued", "unconfirmed", "submitted"},
            "type": {"unconfirmed", "submitted"},
            "done": {"submitted"},
        }
        assert outcomes[act] in allowed[word]
    assert sum(outcome != "submitted" for outcome in outcomes.values()) <= 1
    assert all(ticket.typer is None for ticket in outbox.pending("s"))
    known = outbox.store.rows("SELECT COUNT(*) FROM tickets")[0][0]
    assert len(outcomes) <= known <= len(outcomes) + 1


def test_P01_twenty_writers_keep_their_order_and_every_ticket_whole(outbox, child):
    code = """
step("ready")
for number in range(10):
    outbox.put(f"{sys.argv[2]}-{number}", "s", 1, "send", f"{sys.argv[2]}-{number} " * 300, {}, me)
"""
    writers = [child(code, f"w{number}") for number in range(20)]
    for process in writers:
        assert process.stdout.readline() == "ready\n"
    for process in writers:
        process.stdin.write("go\n")
        process.stdin.flush()
    assert [process.wait() for process in writers] == [0] * 20
    tickets = outbox.pending("s")
    assert [ticket.row for ticket in tickets] == list(range(1, 201))
    assert all(ticket.text == f"{ticket.act} " * 300 for ticket in tickets)
    for writer in range(20):
        own = [act for act in acts(tickets) if act.startswith(f"w{writer}-")]
        assert own == [f"w{writer}-{number}" for number in range(10)]


def test_one_ticket_is_typed_by_one_process_only(outbox, child):
    for number in range(60):
        put(outbox, f"a{number}", kind="interrupt")
    code = """
from covey.errors import Refused
while (ticket := outbox.next("s")) is not None:
    try:
        outbox.typing(ticket.row)
    except Refused:
        continue
    say(ticket.act)
    outbox.settle(ticket.row, "pasted")
"""
    typed = []
    for process in [child(code) for _ in range(4)]:
        typed += process.communicate()[0].split()
        assert process.returncode == 0
    assert sorted(typed) == sorted(f"a{number}" for number in range(60))


def test_what_one_covey_wrote_another_reads_by_plain_sql(outbox):
    """The columns an older or newer covey counts on."""
    put(outbox, "a")
    outbox.typing(1)
    with sqlite3.connect(outbox.store.path) as db:
        found = db.execute("SELECT act, session, epoch, kind, text, outcome, typer FROM tickets").fetchone()
    db.close()
    assert found[:6] == ("a", "s", 1, "send", b"words", "queued")
    assert json.loads(found[6]) == ME.to_json()
