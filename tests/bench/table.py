"""The table of figures: each with its spread, its bare floor from the same run, and what it is allowed."""

from __future__ import annotations

import json
import statistics
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

HEADS = ("figure", "unit", "n", "p50", "p95", "p99", "floor", "ratio", "budget", "")
SHARES = {"p50": 0.50, "p95": 0.95, "p99": 0.99, "": 1.0}  # "": the only sample there is


@dataclass(frozen=True)
class Budget:
    """What a figure may be: ``most`` or ``least`` of its statistic ``at``, and ``ratio`` times its floor.

    The ratio is one of medians: on a machine that others use, tails of two things measured in turn say little.
    """

    at: str = "p95"
    most: float | None = None
    least: float | None = None
    ratio: float | None = None

    def __str__(self) -> str:
        parts = [f"{self.at} ≤ {_number(self.most)}".strip()] if self.most is not None else []
        parts += [f"{self.at} ≥ {_number(self.least)}".strip()] if self.least is not None else []
        parts += [f"≤ {_number(self.ratio)} × floor"] if self.ratio is not None else []
        return ", ".join(parts)


@dataclass(frozen=True)
class Row:
    """One figure. ``floor`` are samples of the same thing done bare."""

    name: str
    unit: str
    samples: Sequence[float]
    floor: Sequence[float] = ()
    budget: Budget | None = None

    def at(self, statistic: str) -> float:
        return quantile(self.samples, SHARES[statistic])

    @property
    def ratio(self) -> float | None:
        """Median over the floor's median."""
        below = statistics.median(self.floor) if self.floor else 0.0
        return statistics.median(self.samples) / below if below else None

    @property
    def verdict(self) -> str:
        """``ok``, ``OVER``, or nothing where nothing was promised."""
        if self.budget is None:
            return ""
        value = self.at(self.budget.at)
        over = (
            (self.budget.most is not None and value > self.budget.most)
            or (self.budget.least is not None and value < self.budget.least)
            or (self.budget.ratio is not None and self.ratio is not None and self.ratio > self.budget.ratio)
        )
        return "OVER" if over else "ok"

    def cells(self) -> tuple[str, ...]:
        """As ``HEADS``."""
        spread = [_number(self.at(share)) for share in ("p50", "p95", "p99")]
        spread[1:] = spread[1:] if len(self.samples) > 1 else ["", ""]
        ratio = f"{self.ratio:.2f}" if self.ratio is not None else "-"
        return (
            self.name,
            self.unit,
            str(len(self.samples)),
            *spread,
            self._below(),
            ratio,
            self._promise(),
            self.verdict,
        )

    def _below(self) -> str:
        """The floor's median, and where a tail is promised the floor's own: what of it is the machine's."""
        if not self.floor:
            return "-"
        at = self.budget.at if self.budget else ""
        tail = f" ({at} {_number(quantile(self.floor, SHARES[at]))})" if at not in ("", "p50") else ""
        return _number(statistics.median(self.floor)) + tail

    def _promise(self) -> str:
        return str(self.budget) if self.budget else "-"

    def to_json(self, group: str) -> dict[str, Any]:
        """``group`` is the name of the figure that an indented one belongs to."""
        return {
            "name": f"{group}: {self.name.strip()}" if group else self.name,
            "unit": self.unit,
            "n": len(self.samples),
            **_spread(self.samples),
            "floor": _spread(self.floor) if self.floor else None,
            "ratio": self.ratio,
            "budget": self._promise(),
            "verdict": self.verdict,
        }


@dataclass
class Report:
    """The rows of one run."""

    rows: list[Row] = field(default_factory=list)

    def add(
        self,
        name: str,
        unit: str,
        samples: Sequence[float],
        *,
        floor: Sequence[float] = (),
        budget: Budget | None = None,
    ) -> None:
        """Take in a figure. One without a sample is an error of the bench, never a good figure."""
        assert samples, f"nothing was measured: {name}"
        self.rows.append(Row(name, unit, list(samples), list(floor), budget))

    def lines(self) -> list[str]:
        """The table, aligned."""
        cells = [HEADS, *(row.cells() for row in self.rows)]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        left = {0, 1, 8, 9}
        return [
            "  ".join(
                cell.ljust(width) if index in left else cell.rjust(width)
                for index, (cell, width) in enumerate(zip(line, widths, strict=True))
            ).rstrip()
            for line in cells
        ]

    def write(self, path: Path) -> None:
        """The rows as a JSON list, each under a name of its own."""
        rows, group = [], ""
        for row in self.rows:
            inside = row.name.startswith(" ")
            group = group if inside else row.name
            rows.append(row.to_json(group if inside else ""))
        path.write_text(json.dumps(rows, indent=1, ensure_ascii=False))


def quantile(samples: Sequence[float], share: float) -> float:
    """The smallest sample that this share of all does not exceed."""
    ordered = sorted(samples)
    return ordered[min(len(ordered) - 1, max(0, -(-int(share * 1000) * len(ordered) // 1000) - 1))]


def _spread(samples: Sequence[float]) -> dict[str, float]:
    return {share or "max": quantile(samples, of_all) for share, of_all in SHARES.items()}


def _number(value: float) -> str:
    if value == int(value) and abs(value) < 100_000:
        return str(int(value))
    return f"{value:.{max(0, 2 if abs(value) >= 1 else 3)}f}"
