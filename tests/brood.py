"""Families of real processes for one test, all of them known by a stamp and gone at its end."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import uuid

from covey import process
from covey.process import identify, snapshot

STAMP = "BROOD"
PRELUDE = """
import ctypes, json, os, signal, subprocess, sys, threading, time

def tell(**facts):
    print(json.dumps(facts), flush=True)

def rest():
    while True:
        signal.pause()

def child(work=rest, before=None):
    pid = os.fork()
    if pid:
        return pid
    try:
        before and before()
        work()
    finally:
        os._exit(0)

def daemon(before=None):
    # fork, new session, fork again; the pid comes back through a pipe, the middle one is waited for
    r, w = os.pipe()
    def middle():
        os.setsid()
        os.write(w, str(child(before=before)).encode())
    os.waitpid(child(middle), 0)
    return int(os.read(r, 32))

def deaf():
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
"""


class Brood:
    """Starts processes that carry a stamp of this test, and can tell which of them are still there."""

    def __init__(self):
        self.stamp, self.mark = uuid.uuid4().hex, uuid.uuid4().hex[:8]
        self.started = []

    def environ(self, mark):
        bare = {key: value for key, value in os.environ.items() if key != process.MARK}
        return {**bare, STAMP: self.stamp, **({process.MARK: mark} if mark else {})}

    def popen(self, argv, mark, **options):
        options = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "start_new_session": True, **options}
        one = subprocess.Popen(argv, env=self.environ(mark), **options)
        self.started.append(one)
        return one

    def run(self, script, mark=None, **options):
        """Run a script as a session's root; give back its identity and what it told."""
        argv = [sys.executable, "-S", "-E", "-c", PRELUDE + script]
        one = self.popen(argv, self.mark if mark is None else mark, **options)
        told = json.loads(one.stdout.readline())
        return identify(one.pid), told

    def bystander(self, name, mark=""):
        """Something that sleeps, has nothing to do with the session, and says so when it is there."""
        one = self.popen([sys.executable, "-S", "-E", "-c", PRELUDE + f"# {name}\ntell()\nrest()"], mark)
        one.stdout.readline()
        return identify(one.pid)

    def living(self):
        return [one for one in snapshot() if self.stamped(one.pid) and not one.dead]

    def stamped(self, pid):
        return (process.environment(pid) or {}).get(STAMP) == self.stamp

    def clear(self):
        while found := self.living() or self.living():  # one that is just executing shows no environment
            for one in found:
                process.send(one.identity, signal.SIGKILL)
        for one in self.started:
            one.kill()
            one.wait()
            if one.stdout:
                one.stdout.close()


def gone(*pids):
    return all(identify(pid) is None for pid in pids)


def pids(processes):
    return {one.pid for one in processes}
