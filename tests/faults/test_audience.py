"""Control clients that do not read what they are told: iTerm2's, a stopped editor's. No session may pay for them."""

from __future__ import annotations

import subprocess

import pytest

FLOOD = ["sh", "-c", 'test -e again && exec cat; touch again; while :; do printf "%0720d\\n" 0; done']
UNREAD = 500  # rows of the flood, far more than a pipe holds


@pytest.fixture
def deaf(desk):
    """``deaf(tmux_session)``: a control client that never reads."""
    clients = []

    def attach(tmux_session):
        argv = ["tmux", "-S", str(desk.socket), "-C", "attach", "-t", tmux_session]
        clients.append(subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE))

    yield attach
    for client in clients:
        client.kill()
        client.communicate()


async def test_C11_a_control_client_that_does_not_read_costs_no_session(desk, deaf):
    session = await desk("open", name="one", cmd=FLOOD, cwd=str(desk.world.tmp))
    deaf(f"covey-{session['id']}")
    server = desk.tmux("display-message", "-p", "#{pid}")

    def unread():
        return int(desk.tmux("display-message", "-p", "-t", session["pane"], "#{history_size}")) > UNREAD

    await desk.until(lambda: desk.tmux("list-clients", "-t", f"covey-{session['id']}"), message="the client came")
    await desk.until(unread, message="it lags")
    again = await desk("respawn", name="one", force=True)
    desk.tmux("send-keys", "-t", session["pane"], "-l", "first words")
    await desk.shows("one", "first words")
    assert (again["epoch"], desk.tmux("display-message", "-p", "#{pid}")) == (2, server)
    flags = desk.tmux("list-clients", "-t", f"covey-{session['id']}", "-F", "#{client_flags}")
    assert "no-output" not in flags  # it is told again what happens
