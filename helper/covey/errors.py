"""What can go wrong, as values. This file imports nothing, so that every room may use it."""

from __future__ import annotations


class CoveyError(Exception):
    """A failure that a person can act on: one sentence, and where there is one, the fix.

    ``code`` is stable and documented in ``doc/covey.txt`` (``covey-error-CODE``); ``exit_code`` is what the
    command line ends with: 1 failed, 2 usage, 3 refused.
    """

    code = "failed"
    exit_code = 1

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def to_json(self) -> dict[str, str]:
        return {"code": self.code, "message": self.message, "hint": self.hint}


class Usage(CoveyError):
    """The caller's words are off: an unknown verb, a bad name, a missing argument."""

    code = "usage"
    exit_code = 2


class Refused(CoveyError):
    """covey could do it and will not: it would be unsafe, or policy forbids it."""

    code = "refused"
    exit_code = 3


class NotFound(CoveyError):
    """No session of ours has that name or id."""

    code = "not_found"


class Unavailable(CoveyError):
    """Something covey needs on this machine is missing: tmux, a program, a directory."""

    code = "unavailable"


class NoServer(CoveyError):
    """There is no tmux server on our socket. Where a list was asked for this is an empty list."""

    code = "no_server"


class ServerLost(CoveyError):
    """The tmux server went away while we were talking to it; what was under way is unknown."""

    code = "server_lost"


class TmuxTimeout(CoveyError):
    """tmux did not answer within the deadline. Nothing is known of what it did."""

    code = "timeout"


class TmuxRefused(CoveyError):
    """tmux answered with an error; its words are in the message."""

    code = "tmux"


class Unknown(CoveyError):
    """The outside gave no clear answer. Unknown never kills, never types, never overwrites."""

    code = "unknown"


class StoreBroken(CoveyError):
    """The store cannot be read or written; it was left as it is, or set aside under another name.

    ``path`` is the store; ``aside`` is where it lies now, and empty where it was left as it is.
    """

    code = "store"

    def __init__(self, message: str, hint: str = "", path: str = "", aside: str = "") -> None:
        super().__init__(message, hint)
        self.path = path
        self.aside = aside


class StoreBusy(StoreBroken):
    """Another program kept the store locked for longer than we would wait. It was left as it is."""


class StoreShut(StoreBroken):
    """Nothing can be written into the store now: its disk is full, read-only or gone. It was left as it is."""


class LaneBusy(CoveyError):
    """Somebody else held a lane, or the fleet's lock, for longer than the caller would wait. Nothing was done."""

    code = "busy"
