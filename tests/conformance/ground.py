"""What a check works on: the game, how much effort to make, matches to play, and the findings."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random
from typing import TypeAlias

from services.kit.game import AnyGame
from services.kit.rules import RuleError, Viewer
from services.kit.step import Step
from tests.conformance.faults import Findings
from tests.conformance.match import Match, play
from tests.conformance.table import Table, every_table, random_tables, spread


@dataclass(frozen=True)
class Effort:
    """How much is played and looked at; the promises are the same whatever it is."""

    tables: int
    """Tables that a check plays at, of all variants and numbers of seats, and of random options as many again."""
    matches: int
    """Matches of each table."""
    steps: int
    """Steps after which a match is left, where the check does not ask for its end."""
    look: float
    """Part of the positions that is looked at closely."""
    redeals: int
    """Redealt positions compared for each viewer of a position that is looked at."""
    longest: int = 20_000
    """Entries after which a match of random play, or of silence, counts as endless."""
    viewers: int = 6
    """Viewers compared at a position; where a match has more, they are drawn anew at each."""


QUICK = Effort(tables=4, matches=2, steps=300, look=0.1, redeals=2)
DEEP = Effort(tables=12, matches=4, steps=1500, look=0.15, redeals=4, viewers=12)


class Line:
    """A match that a check plays, and the luck of all its choices."""

    def __init__(self, table: Table, seed: str, ground: Ground) -> None:
        self.match = Match(table, seed)
        self.luck = Random(seed)
        self.seed = seed
        self.name = f"{table}, seed {seed}"
        self._ground = ground

    def play(self, *, manner: str = "", rare: float = 0.03, most: int | None = None) -> Iterator[Step]:
        """`begin` and every step after it; ends with a finding if what was sampled or listed as legal is refused."""
        findings = self._ground.findings
        steps = play(self.match, self.luck, manner=manner, rare=rare, most=most or self._ground.effort.steps)
        try:
            for step in steps:
                findings.where = f"{self.name}, revision {step.revision}"
                yield step
        except RuleError as refusal:
            findings.add("PLAY_STOPPED", f"{type(refusal).__name__} {refusal.reason} {refusal.params}")

    def look(self, step: Step, times: int = 1) -> bool:
        """Whether to look at *step* closely: always at the first, else by luck, *times* as often as usual."""
        return step.shows_view() or self.luck.random() < times * self._ground.effort.look

    def viewers(self) -> list[Viewer]:
        """The viewers to compare: all if they are few, else the spectator and some seats."""
        everyone, most = self.match.table.everyone, self._ground.effort.viewers
        return [None, *(everyone if len(everyone) <= most else self.luck.sample(everyone, most))]


class Ground:
    """One check's ground. Matches and choices come from *seed* and the check's name."""

    def __init__(self, game: AnyGame, check: str, effort: Effort, seed: str, reference: str = "") -> None:
        self.game = game
        self.effort = effort
        self.findings = Findings(check)
        self.seed = f"{seed}/{check}"
        self.reference = reference
        """How another process finds the game; empty if it cannot."""
        self.luck = Random(self.seed)

    def tables(self, count: int | None = None) -> list[Table]:
        """*count* tables spread over variants and seats, and as many with random options."""
        count = count or self.effort.tables
        random = random_tables(self.game, count, self.luck, self.findings)
        return [*spread(list(every_table(self.game)), count, self.luck), *random]

    def lines(self, tables: list[Table] | None = None, matches: int | None = None) -> Iterator[Line]:
        """The matches to play."""
        for place, table in enumerate(tables or self.tables()):
            for number in range(matches or self.effort.matches):
                line = Line(table, f"{self.seed}/{place}/{number}", self)
                self.findings.where = line.name
                yield line


Check: TypeAlias = Callable[[Ground], None]
"""A check plays on its ground and leaves what it found in the findings."""
