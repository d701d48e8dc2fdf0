"""A wire that leads nowhere: what the editor's side asks of Python is written down, and the test answers."""

from __future__ import annotations

from typing import Any

STUB = """
    _G.calls, _G.notices, _G.printed = {}, {}, {}
    vim.notify = function(message, level) table.insert(_G.notices, { message, level }) end
    local answers = {}
    package.loaded['covey.rpc'] = {
      call = function(method, params, cb)
        table.insert(_G.calls, { method, params })
        table.insert(answers, cb or package.loaded['covey.rpc'].tell)
      end,
      tell = function(err) if err then require('covey.notify').error(err) end end,
      warm = function() _G.warmed = (_G.warmed or 0) + 1 end,
      status = function() return { ready = false } end,
    }
    _G.reply = function(err, result) table.remove(answers, 1)(err, result) end
    _G.apply = function(event) require('covey.fleet').apply(event) end
"""


def _plain(value: Any) -> Any:
    """As the wire hands it over: what is None is absent."""
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items() if item is not None}
    return value


def session(id_: str, name: str, state: str = "idle", **more: Any) -> dict[str, Any]:
    """A session as events carry it."""
    return {
        "id": id_,
        "name": name,
        "agent": "standin",
        "state": state,
        "since": "2026-01-01T00:00:00.000Z",
        "evidence": {},
        "cwd": "/tmp",
        "epoch": 1,
        "queued": 0,
        "flags": [],
        **more,
    }


class Wire:
    """The stub inside one nvim."""

    def __init__(self, nvim: Any) -> None:
        self.nvim = nvim
        nvim.lua(STUB)

    def calls(self) -> list[list[Any]]:
        """What was asked since the last look, as [method, params]."""
        return self.nvim.lua("local calls = _G.calls; _G.calls = {}; return calls")

    def call(self) -> tuple[str, dict[str, Any]]:
        """The one thing that was asked; its parameters without the editor's environment."""
        calls = self.calls()
        assert len(calls) == 1, calls
        method, params = (*calls[0], {})[:2]
        return method, {name: value for name, value in (params or {}).items() if name != "environ"}

    def reply(self, error: dict[str, str] | None = None, result: Any = None) -> None:
        """Answer the oldest call that has none."""
        self.nvim.lua("local e, r = ...; if e == vim.NIL then e = nil end; _G.reply(e, r)", error, _plain(result))

    def event(self, event: str, data: dict[str, Any]) -> None:
        self.nvim.lua("_G.apply({ event = select(1, ...), data = select(2, ...), seq = 0 })", event, data)

    def fleet(self, *sessions: dict[str, Any]) -> None:
        self.event("Fleet", {"sessions": list(sessions)})

    def notices(self) -> list[str]:
        """What was notified since the last look."""
        self.nvim.lua("vim.wait(20)")
        return self.nvim.lua(
            "local said = vim.tbl_map(function(n) return n[1] end, _G.notices); _G.notices = {}; return said"
        )
