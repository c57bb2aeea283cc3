"""Match options (dossier section 5). The numbers of the enums are those of the contract."""

from __future__ import annotations

from dataclasses import dataclass, fields
from enum import IntEnum
from typing import Final

from services.kit.rules import InvalidOptions

MIN_SEATS: Final = 2
MAX_SEATS: Final = 4

STALL_PER_SEAT: Final = 8
"""The stall limit is this many turns per seat unless it is set (DEC-3)."""


class VoidRedeal(IntEnum):
    """Who deals after a void hand (DEC-1)."""

    NEXT = 1
    SAME = 2


class DockBetweenHands(IntEnum):
    """What happens to dock cards between hands (DEC-2)."""

    STAYS = 1
    RESHUFFLED = 2


class PartitionMode(IntEnum):
    """Who splits the twelve cards, closer and opponents alike: the players, or the optimum of R26 (DEC-6)."""

    CHOSEN = 1
    AUTO = 2


class SentUnderCards(IntEnum):
    """Which stowaways a sender hands over (DEC-6): those declared, or the fewest that any split of his leaves."""

    AS_DECLARED = 1
    MINIMISED = 2


class FinalTie(IntEnum):
    """What a tie for the win does (DEC-8): all tied seats win, or one extra hand a match is played first."""

    SHARED = 1
    EXTRA_HAND = 2


class VoidLast(IntEnum):
    """What a void last hand does (DEC-9): it is replayed, or the match ends by count."""

    REPLAY = 1
    ENDS = 2


@dataclass(frozen=True, slots=True)
class Options:
    """What a match is played by. Field names and order are those of the contract's `Options`."""

    void_redeal: VoidRedeal = VoidRedeal.NEXT
    dock_between_hands: DockBetweenHands = DockBetweenHands.STAYS
    stall_limit: int = 0
    no_null_discard: bool = False
    crew_may_use_dock_colour: bool = True
    partition: PartitionMode = PartitionMode.CHOSEN
    sent_under_cards: SentUnderCards = SentUnderCards.AS_DECLARED
    cappotto_with_attachments: bool = True
    final_tie: FinalTie = FinalTie.SHARED
    void_last: VoidLast = VoidLast.REPLAY
    max_void: int = 5

    def stall_turns(self, seats: int) -> int:
        """Turns in a row drawn from the discard pile that void a hand of *seats* players (DEC-3)."""
        return self.stall_limit or STALL_PER_SEAT * seats

    def check(self) -> None:
        """Refuse a value outside its range.

        Raises:
            InvalidOptions: OPTION_RANGE with the option's name.
        """
        for name, allowed in RANGES.items():
            if getattr(self, name) not in allowed:
                raise InvalidOptions("OPTION_RANGE", option=name)


RANGES: Final = {
    "stall_limit": frozenset({0, *range(8, 65)}),
    "max_void": frozenset(range(1, 21)),
}
"""Allowed values of the numeric options; 0 as stall limit stands for `STALL_PER_SEAT` turns a seat."""

NAMES: Final = tuple(field.name for field in fields(Options))
"""Option names in the contract's order."""

STANDARD: Final = Options()
"""The dossier's defaults."""
