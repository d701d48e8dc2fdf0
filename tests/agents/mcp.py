"""A tool server of the kind agents start beside them, and a bad one: alone in its session, deaf to TERM and HUP."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys

with contextlib.suppress(PermissionError):  # some agents make it the first of a group
    os.setsid()
for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
    signal.signal(number, signal.SIG_IGN)
ANSWERS = {
    "initialize": {
        "protocolVersion": "2024-11-05",
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "t", "version": "1"},
    },
    "tools/list": {"tools": []},
}
for line in sys.stdin:
    asked = json.loads(line)
    if "id" in asked:
        result = ANSWERS.get(asked["method"], {})
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}), flush=True)
while True:
    signal.pause()
