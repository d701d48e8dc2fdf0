"""A stage for the windows: the real nvim, cache and config, and a helper that only writes down what it is asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from waiting import eventually

if TYPE_CHECKING:
    from editor import Editor

HELPER = """
    stage = { calls = {}, answers = {}, errors = {}, seq = 0 }
    package.loaded['covey.rpc'] = {
      call = function(method, params, cb)
        table.insert(stage.calls, { method = method, params = params })
        local err, answer = stage.errors[method], stage.answers[method]
        vim.schedule(function() if cb then cb(err, answer) end end)
      end,
      warm = function() end,
      tell = function(err) if err then require('covey.notify').error(err) end end,
      status = function() return { ready = true } end,
    }
    function stage.emit(event, data)
      stage.seq = stage.seq + 1
      local message = { event = event, session = data.id, data = data, seq = stage.seq }
      if event == 'Frame' then require('covey.ui.preview').frame(message) else require('covey.fleet').apply(message) end
    end
    function stage.paramsof(method)
      local found = {}
      for _, call in ipairs(stage.calls) do
        if call.method == method then table.insert(found, call.params) end
      end
      return found
    end
"""


def session(name: str = "fix", **fields: Any) -> dict[str, Any]:
    """A session's JSON."""
    return {
        "id": f"id{name:a<6}"[:8],
        "name": name,
        "agent": "standin",
        "state": "idle",
        "since": "2026-01-02T03:04:05.678Z",
        "evidence": {},
        "cwd": "/tmp",
        "epoch": 1,
        "on_exit": "settled",
        "keep": False,
        "settled": False,
        "queued": 0,
        "guessed": False,
        "attached": 0,
        "flags": [],
        "title": "",
        "last_line": "",
        "argv": [],
        "conversation": "",
    } | fields


class Stage:
    """The fake helper's side: ``fleet`` and ``frame`` are what it tells, ``asked`` is what it was told."""

    def __init__(self, nvim: Editor) -> None:
        self.nvim = nvim
        nvim.lua(HELPER)

    def fleet(self, *sessions: dict[str, Any]) -> None:
        self.emit("Fleet", {"sessions": list(sessions)})

    def emit(self, event: str, data: dict[str, Any]) -> None:
        self.nvim.lua("stage.emit(...)", event, _plain(data))

    def answer(self, method: str, result: Any) -> None:
        self.nvim.lua("local method, result = ... stage.answers[method] = result", method, result)

    def fail(self, method: str, message: str) -> None:
        error = {"code": "failed", "message": message, "hint": ""}
        self.nvim.lua("local method, err = ... stage.errors[method] = err", method, error)

    def asked(self, method: str) -> list[dict[str, Any]]:
        return self.nvim.lua("return stage.paramsof(...)", method)

    def preview(self, shown: dict[str, Any], **opts: Any) -> str:
        """Open a preview; its view id."""
        self.nvim.lua("view = require('covey.ui.preview').open(...)", shown, opts)
        return self.asked("preview")[-1]["view"]

    def frame(self, view: str, rows: list[str], cols: int = 120, **fields: Any) -> None:
        cursor = fields.pop("cursor", (0, len(rows) - 1))
        data = {"view": view, "ansi": "\n".join(rows), "cols": cols, "rows": len(rows), "dead": False, "note": ""}
        data |= {"cursor": {"x": cursor[0], "y": cursor[1], "visible": True}}
        self.emit("Frame", data | fields)

    def text(self) -> list[str]:
        """The lines of the view opened last, right-stripped, without blank ones at the end."""
        lines = [
            line.rstrip() for line in self.nvim.lua("return vim.api.nvim_buf_get_lines(view.float.buf, 0, -1, false)")
        ]
        while lines and not lines[-1]:
            lines.pop()
        return lines

    def shows(self, rows: list[str]) -> None:
        """Wait until these are the lines of the view opened last."""
        eventually(lambda: self.text() == rows, message=lambda: f"{self.text()}\n{self.nvim.messages()}")

    def first_row(self) -> str:
        """The text of the first row that its window shows."""
        row = "function() return vim.fn.getline(vim.fn.line('w0')) end"
        return self.nvim.lua(f"return vim.api.nvim_win_call(view.float.win, {row})").rstrip()

    def floats(self) -> int:
        """How many floating windows there are."""
        floating = "function(win) return vim.api.nvim_win_get_config(win).relative ~= '' end"
        return self.nvim.lua(f"return #vim.tbl_filter({floating}, vim.api.nvim_list_wins())")


def _plain(value: Any) -> Any:
    """Without JSON's nulls, which never come past ``covey.rpc``."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items() if item is not None}
    return [_plain(item) for item in value] if isinstance(value, list) else value
