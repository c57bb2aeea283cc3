"""Match options (README.md, rule 5). Field names, order and enum numbers are those of the contract's `Options`."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Final

from services.kit.rules import InvalidOptions

MIN_SEATS: Final = 2
MAX_SEATS: Final = 4

MOST_HEAPS: Final = 5
MOST_STONES: Final = 20


class LastStone(IntEnum):
    """What taking the last stone does."""

    WINS = 1
    LOSES = 2


@dataclass(frozen=True, slots=True)
class Options:
    """What a match is played by; the defaults are the standard game's."""

    heaps: int = 3
    fewest_stones: int = 3
    most_stones: int = 9
    most_taken: int = 0
    last_stone: LastStone = LastStone.WINS
    lot_for_first: bool = True

    def check(self) -> None:
        """Refuse a value outside its range, and then what no single option shows.

        Raises:
            InvalidOptions: OPTION_RANGE with the option's name; STONES_CROSSED with both bounds.
        """
        for name, allowed in RANGES.items():
            if getattr(self, name) not in allowed:
                raise InvalidOptions("OPTION_RANGE", option=name)
        if self.fewest_stones > self.most_stones:
            raise InvalidOptions("STONES_CROSSED", fewest=self.fewest_stones, most=self.most_stones)


RANGES: Final = {
    "heaps": range(1, MOST_HEAPS + 1),
    "fewest_stones": range(1, MOST_STONES + 1),
    "most_stones": range(1, MOST_STONES + 1),
    "most_taken": range(10),
}
"""Allowed values of the numeric options; 0 as `most_taken` stands for a whole heap."""

STANDARD: Final = Options()

VARIANTS: Final[dict[str, dict[str, Any]]] = {
    "standard": {},
    "misere": {"last_stone": LastStone.LOSES},
    "subtraction": {"heaps": 1, "fewest_stones": 15, "most_stones": 20, "most_taken": 3},
}
"""Named sets of defaults: what differs from the standard game."""
