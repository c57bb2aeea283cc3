"""Counts of legal actions (corsari.perft): a change of the rules shows as a changed count."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from services.corsari.rules import RULES
from services.kit.rules import Seat
from tests.rules.corsari.driver import Match, new_match
from tests.rules.corsari.toy import options_of


@dataclass(frozen=True)
class Count:
    """One line: from which position, how deep, how many."""

    key: int
    seats: int
    options: tuple[tuple[str, str], ...]
    turns: int
    source: str
    depth: int
    count: int

    def __str__(self) -> str:
        start = [f"key{self.key}", f"seats{self.seats}", *map("=".join, self.options)]
        return "-".join([*start, *([f"{self.turns}{self.source}"] if self.turns else []), f"depth{self.depth}"])


def counts() -> Iterator[Count]:
    """The lines of the file."""
    key, seats, turns, source = 0, 0, 0, ""
    options: tuple[tuple[str, str], ...] = ()
    for line in Path(__file__).with_name("corsari.perft").read_text().splitlines():
        match line.split():
            case ["position", number, many, *rest]:
                key, seats, turns, source = int(number), int(many), 0, ""
                options = tuple((name, value) for name, _, value in (each.partition("=") for each in rest))
            case ["turns", number, name]:
                turns, source = int(number), name
            case ["perft", depth, count]:
                yield Count(key, seats, options, turns, source, int(depth), int(count))


def perft(match: Match, depth: int) -> int:
    """Sequences of *depth* actions; a match that is over has none."""
    asked = match.state.asked()
    if depth == 0:
        return 1
    if not asked:
        return 0
    seat = Seat(asked[0].seat)
    if depth == 1:
        return len(match.state.legal(seat).actions)
    total = 0
    for action in match.state.legal(seat).actions:
        after, chance = match.state.copy(), match.chance()
        events = after.apply(seat, action, chance)
        total += perft(Match(after, match.key, events, match.spent | set(chance.used)), depth - 1)
    return total


@pytest.mark.parametrize("line", list(counts()), ids=str)
def test_perft(line: Count) -> None:
    """The count of the line."""
    match = new_match(line.key, line.seats, options_of(dict(line.options)))
    for _ in range(line.turns):
        match.act(match.state.turn, RULES.parse(f"draw {line.source}"))
        match.act(match.state.turn, match.state.legal(match.state.turn).actions[0])
    assert match.state.hand_number == 1
    assert RULES.violations(match.state) == []
    assert perft(match, line.depth) == line.count
