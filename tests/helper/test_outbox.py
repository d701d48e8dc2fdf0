"""outbox.py: every act is in the line once, in order, and has one truthful outcome, whoever dies when."""

from __future__ import annotations

import json
import shutil
import sqlite3
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
from covey.tickets import Ticket
from offspring import offspring

ME = Identity(100, 1, "here")
EDITOR = Identity(200, 2, "here")
WAITING = {"queued", "held"}


@pytest.fixture
def outbox(tmp_path):
    store = Store(tmp_path / "covey.db")
    yield Outbox(store, ME)
    store.close()


def put(outbox: Outbox, act: str, session: str = "s", *, epoch: int = 1, kind: str = "send", text: str = "words"):
    return outbox.put(act, session, epoch, kind, text, {}, EDITOR)


def turn(outbox: Outbox, session: str) -> Ticket | None:
    """The act that is to be typed now, if one is."""
    head = outbox.head(session)
    return head if head and head.outcome == "queued" and head.typer is None else None


def settle_orphans(outbox: Outbox) -> None:
    """What a successor does who cannot tell whether it was typed."""
    for ticket in outbox.pending("s"):
        if ticket.typer:
            outbox.settle(ticket.row, "unconfirmed")


def acts(tickets) -> list[str]:
    return [ticket.act for ticket in tickets]


# Into the line


def test_a_ticket_comes_back_as_it_was_put(outbox):
    receipt = outbox.put("a", "s", 3, "send", "zwölf", {"when": "idle"}, EDITOR, stripped=2)
    assert receipt.to_json() == {
        "id": "a", "session": "s", "epoch": 3, "outcome": "queued", "reason": "", "bytes": 6, "stripped": 2,
        "number": 1,
    }  # fmt: skip
    ticket = turn(outbox, "s")
    assert (ticket.act, ticket.session, ticket.epoch, ticket.kind, ticket.text) == ("a", "s", 3, "send", "zwölf")
    assert (ticket.options, ticket.outcome, ticket.writer, ticket.typer) == ({"when": "idle"}, "queued", EDITOR, None)
    assert ticket.created.endswith("Z")


@pytest.mark.parametrize(
    "text", ["", "\0", "a\r\nb\n", "\ud800", "\udcff\udc80", "\U0001f426" * 3, "x" * (1 << 20), "'; DROP TABLE tickets"]
)
def test_text_is_kept_exactly(outbox, text):
    put(outbox, "a", text=text)
    assert turn(outbox, "s").text == text
    outbox.edit("a", text + "!")
    assert outbox.typing(turn(outbox, "s").row).text == text + "!"


def test_the_same_act_again_gives_the_receipt_it_has_by_now(outbox):
    first = put(outbox, "a")
    assert put(outbox, "a") == first
    assert len(outbox.pending("s")) == 1
    done = outbox.settle(turn(outbox, "s").row, "submitted", "seen to leave")
    assert put(outbox, "a") == done
    assert turn(outbox, "s") is None


@pytest.mark.parametrize("change", [{"text": "other"}, {"session": "t"}, {"kind": "answer"}])
def test_the_same_act_for_something_else_is_refused_and_changes_nothing(outbox, change):
    put(outbox, "a")
    with pytest.raises(Usage, match="used before"):
        put(outbox, "a", **change)
    assert acts(outbox.pending("s")) == ["a"]
    assert outbox.pending("t") == []
    assert turn(outbox, "s").text == "words"


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
    assert turn(outbox, "t").act == "b"
    assert turn(outbox, "u") is None
    assert outbox.counts() == {"s": 2, "t": 1}


def test_a_held_send_keeps_its_place_and_nothing_passes_it(outbox):
    for act in "abc":
        put(outbox, act)
    row = outbox.head("s").row
    assert outbox.hold(row, "a dialog is shown").reason == "a dialog is shown"
    assert [(each.id, each.reason) for each in outbox.hold_behind("s", "behind it")] == [
        ("b", "behind it"),
        ("c", "behind it"),
    ]
    assert outbox.hold_behind("s", "behind it") == []
    assert outbox.head("s").act == "a"
    for wanted in "abc":
        assert outbox.typing(outbox.head("s").row).act == wanted
        outbox.settle(outbox.head("s").row, "submitted")


def test_what_was_typed_can_be_set_down_and_gone_on_with_by_another(outbox):
    put(outbox, "a")
    put(outbox, "b")
    assert outbox.set_down(1, "too early", {"shown": "x"}).outcome == "queued"  # nobody began it
    outbox.typing(1)
    assert outbox.set_down(1, "a dialog", {"shown": "x", "presses": 1}).reason == "a dialog"
    found = outbox.head("s")
    assert (found.outcome, found.options["draft"], found.typer) == ("held", {"shown": "x", "presses": 1}, ME)
    for call in (lambda: outbox.cancel("a"), lambda: outbox.edit("a", "x"), lambda: outbox.typing(1)):
        with pytest.raises(Refused):
            call()
    assert outbox.hold(1, "why").reason == "a dialog"
    other = Outbox(outbox.store, EDITOR)
    assert other.resume(1).outcome == "queued"
    assert outbox.ticket("a").typer == EDITOR
    assert other.put_back(1).outcome == "queued"
    assert outbox.ticket("a").typer is None
    assert other.resume(1) == outbox.receipt("a")  # there is nothing to go on with


def test_a_queued_send_is_not_passed(outbox):
    put(outbox, "a")
    put(outbox, "b", kind="interrupt")
    assert turn(outbox, "s").act == "a"


def test_a_send_does_not_wait_for_a_later_one_that_is_held(outbox):
    put(outbox, "a")
    put(outbox, "b")
    outbox.hold(2, "starting")
    assert turn(outbox, "s").act == "a"


def test_no_send_passes_one_that_is_being_typed(outbox):
    put(outbox, "a")
    put(outbox, "b")
    outbox.typing(turn(outbox, "s").row)
    assert turn(outbox, "s") is None
    outbox.settle(1, "submitted")
    assert turn(outbox, "s").act == "b"


def test_rows_are_never_used_again(outbox):
    put(outbox, "a")
    outbox.settle(1, "failed")
    assert outbox.purge(-1) == 1
    put(outbox, "b")
    assert turn(outbox, "s").row == 2


# Before and after the first byte


def test_what_is_being_typed_cannot_be_taken_back(outbox):
    put(outbox, "a")
    assert outbox.typing(1).typer == ME
    for call in (lambda: outbox.cancel("a"), lambda: outbox.edit("a", "x"), lambda: outbox.typing(1)):
        with pytest.raises(Refused, match="being typed"):
            call()
    for receipt in (outbox.hold(1, "why"), outbox.receipt("a")):
        assert (receipt.outcome, receipt.reason) == ("queued", "being typed")
    assert outbox.drop_older("s", 9) == []
    assert outbox.settle(1, "submitted", "").outcome == "submitted"


def test_a_cancelled_act_is_not_typed(outbox):
    put(outbox, "a")
    ticket = turn(outbox, "s")
    took = [outbox.cancel("a") for _ in range(2)]
    assert [(each.outcome, each.reason) for each in took] == [("cancelled", ""), ("cancelled", "it was already")]
    with pytest.raises(Refused, match="cancelled already"):
        outbox.typing(ticket.row)
    assert turn(outbox, "s") is None


def test_who_holds_the_lane_types_what_another_holds_in_that_moment(outbox):
    put(outbox, "a")
    ticket = turn(outbox, "s")
    other = Outbox(outbox.store, EDITOR)
    assert other.hold_behind("s", "the lane is busy")[0].outcome == "held"
    assert outbox.typing(ticket.row).outcome == "queued"
    assert outbox.ticket("a").typer == ME


def test_a_held_act_is_edited_and_cancelled(outbox):
    put(outbox, "a")
    outbox.hold(1, "starting")
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
    assert outbox.hold(1, "late") == outbox.receipt("a") == first
    assert outbox.put_back(1) == outbox.set_down(1, "late", {}) == outbox.resume(1) == first
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


def test_what_was_typed_into_a_session_that_is_gone_is_unconfirmed(outbox):
    for act in "abc":
        put(outbox, act)
    outbox.typing(1)
    outbox.set_down(1, "a dialog", {})
    outbox.typing(2)
    ended = {each.id: each.outcome for each in outbox.undelivered("s")}
    assert ended == {"a": "unconfirmed", "b": "unconfirmed", "c": "undelivered"}
    assert outbox.counts() == {}


def test_purge_takes_only_what_is_settled_and_old(outbox):
    for act in "abc":
        put(outbox, act, text="private words")
    outbox.settle(1, "submitted")
    outbox.hold(2, "starting")
    assert outbox.purge() == 0
    assert outbox.purge(-1) == 2  # and one entry of the log
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
        first = next((act for act in self.line if act["outcome"] in WAITING), None)
        return first["act"] if first and first["outcome"] == "queued" and not first["typer"] else None

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
        ticket = turn(self.outbox, "s")
        if ticket is not None:
            self.outbox.typing(ticket.row)
            next(act for act in self.line if act["row"] == ticket.row)["typer"] = True

    @rule(data=st.data(), outcome=st.sampled_from(sorted(FINAL)))
    def settle(self, data, outcome):
        act = self.pick(data)
        if act["outcome"] in WAITING:
            act["outcome"] = outcome
        assert self.outbox.settle(act["row"], outcome).outcome == act["outcome"]

    @rule(data=st.data())
    def hold(self, data):
        act = self.pick(data)
        if self.free(act):
            act["outcome"] = "held"
        assert self.outbox.hold(act["row"], "why").outcome == act["outcome"]

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

    @rule(data=st.data())
    def put_back(self, data):
        act = self.pick(data)
        if act["outcome"] in WAITING:
            act |= {"outcome": "queued", "typer": False}
        assert self.outbox.put_back(act["row"]).outcome == act["outcome"]

    @rule(data=st.data())
    def set_down(self, data):
        act = self.pick(data)
        if self.begun(act):
            act["outcome"] = "held"
        assert self.outbox.set_down(act["row"], "why", {"shown": "x"}).outcome == act["outcome"]

    @rule(data=st.data())
    def resume(self, data):
        act = self.pick(data)
        if self.begun(act):
            act["outcome"] = "queued"
        assert self.outbox.resume(act["row"]).outcome == act["outcome"]

    @invariant()
    def the_same(self):
        if not hasattr(self, "line"):
            return
        first = turn(self.outbox, "s")
        assert (first.act if first else None) == self.expected()
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
from covey import database
from covey.models import Identity
from covey.outbox import Outbox
from covey.store import Store
database.BUSY_S = 60.0  # who is slow among many is not to fail
me = Identity(os.getpid(), 1, "here")
outbox = Outbox(Store(Path(sys.argv[1])), me)
def turn(outbox, session):
    head = outbox.head(session)
    return head if head and head.outcome == "queued" and head.typer is None else None
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
row = turn(outbox, "s").row
step("after next")
outbox.typing(row)
step("after typing")
outbox.settle(row, "submitted")
step("after settle")
"""


@pytest.fixture
def child(outbox):
    """Start Python with the outbox open as ``outbox``; what is still running at the end is ended."""
    with offspring(CHILD, outbox.store.path) as start:
        yield start


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
    settle_orphans(outbox)
    if outcome is None:
        with pytest.raises(NotFound):
            outbox.receipt("a")
    else:
        assert outbox.receipt("a").outcome == outcome
    assert (turn(outbox, "s") is not None) == (outcome == "queued")


STREAM = """
import itertools
for number in itertools.count():
    act = f"{sys.argv[2]}-{number}"
    outbox.put(act, "s", 1, "send", act * 50, {}, me)
    say("put", act)
    ticket = outbox.typing(turn(outbox, "s").row)
    say("type", ticket.act)
    outbox.settle(ticket.row, "submitted")
    say("done", ticket.act)
"""


@pytest.mark.parametrize("lines", [1, 2, 3, 7, 23, 64])
def test_P02_a_process_killed_at_any_moment_loses_and_doubles_nothing(outbox, child, lines):
    process = child(STREAM, "w")
    said = [process.stdout.readline().split() for _ in range(lines)]
    process.kill()
    said += [line.split() for line in process.stdout.read().splitlines()]  # what was read ahead is in that buffer
    process.wait()
    settle_orphans(outbox)
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
while (ticket := turn(outbox, "s")) is not None:
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
