"""What a check finds: faults with a code, and where in which match, so that the seed brings them back."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

_KEPT = 3
"""Faults of one code that are told; the rest are only counted."""


class Fault(NamedTuple):
    """A broken promise: the check that found it, a code, the match and step, and what was seen there."""

    check: str
    code: str
    where: str
    detail: str

    def __str__(self) -> str:
        return f"{self.check}: {self.code} at {self.where}: {self.detail}"


class Findings:
    """Collects the faults of one check. *where* is kept up to date by whoever plays."""

    def __init__(self, check: str) -> None:
        self.check = check
        self.where = "the game as a whole"
        self.faults: list[Fault] = []
        self.counts: Counter[str] = Counter()
        """How often each code came, those left out included."""
        self.looked: Counter[str] = Counter()
        """How often each promise was looked at, kept or not: a check that looks at nothing finds nothing."""

    def add(self, code: str, detail: object = "") -> None:
        """Note a fault at the present place."""
        self.counts[code] += 1
        if self.counts[code] <= _KEPT:
            self.faults.append(Fault(self.check, code, self.where, str(detail)))

    def expect(self, kept: bool, code: str, detail: object = "") -> bool:
        """Note a fault unless the promise was *kept*; returns *kept*."""
        self.looked[code] += 1
        if not kept:
            self.add(code, detail)
        return kept
