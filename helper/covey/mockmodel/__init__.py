"""A small model of covey's own, for rehearsals: it listens on the loopback and speaks what agents speak."""

from __future__ import annotations

from covey.mockmodel.model import MockModel, Request

__all__ = ["MockModel", "Request"]
