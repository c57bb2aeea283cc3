"""Figures as the benchmarks print them: the median of the slices with its quartiles, and tables for people."""

from __future__ import annotations

import statistics
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from rich.console import Console
from rich.table import Table

_PIPE_WIDTH = 120


class Spread(NamedTuple):
    """What the slices of one figure say: the median, and the quartiles around it."""

    low: float
    median: float
    high: float

    @classmethod
    def of(cls, values: Iterable[float]) -> Spread:
        """The spread of at least one value."""
        found = sorted(values)
        if len(found) == 1:
            return cls(found[0], found[0], found[0])
        return cls(*statistics.quantiles(found, n=4, method="inclusive"))

    def text(self, digits: int = 0) -> str:
        """The median, like `5,012`."""
        return f"{self.median:,.{digits}f}"

    def quartiles(self, digits: int = 0) -> str:
        """The quartiles, like `4,950 - 5,100`."""
        return f"{self.low:,.{digits}f} - {self.high:,.{digits}f}"


def as_json(figures: Mapping[str, Spread], digits: int = 3) -> dict[str, object]:
    """The medians by name, and their quartiles under `quartiles`."""
    found: dict[str, object] = {name: round(spread.median, digits) for name, spread in figures.items()}
    quartiles = {name: [round(spread.low, digits), round(spread.high, digits)] for name, spread in figures.items()}
    return found | {"quartiles": quartiles}


def table(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table as text under its title: the first column to the left, figures to the right."""
    drawn = Table()
    for number, column in enumerate(columns):
        drawn.add_column(column, justify="right" if number else "left")
    for row in rows:
        drawn.add_row(*row)
    console = Console(width=None if sys.stdout.isatty() else _PIPE_WIDTH)
    with console.capture() as captured:
        console.print(drawn)
    return f"{title}\n{captured.get().rstrip()}"


def percentile(values: Sequence[float], share: float) -> float:
    """The value below which *share* (0 to 1) of *values* lies. At least one value."""
    ranked = sorted(values)
    return ranked[min(len(ranked) - 1, int(len(ranked) * share))]
