"""What sailing is worth, and with which crew: the standing after it, over guesses at the other hands."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Final, NamedTuple

from services.corsari.bot_guess import Guesses
from services.corsari.bot_sight import Seen, dock_colour
from services.corsari.bot_standing import share
from services.corsari.cards import BIT, COLOUR, Cards, in_order
from services.corsari.optimum import best_crew, best_split
from services.corsari.options import PartitionMode
from services.corsari.scoring import OVER_AT
from services.corsari.splits import OF_COLOUR, Split, divide, mask
from services.kit.rules import Seat

_GUESSES: Final = 48
"""Guesses at the other hands that a decision rests on; with three opponents as much work as with one."""

_FEWEST_GUESSES: Final = 20

_OTHER_CREWS: Final = 2
"""Crews that are tried besides the automatic one."""

_DEARER: Final = 6
"""By how much such a crew's limit may be higher."""


class Choice(NamedTuple):
    """A crew for the closer, its worth, and the limit that it leaves; no *crew* stands for the automatic one."""

    worth: float
    limit: int
    crew: Cards | None = None


class Sailing:
    """Sailing from one sight; all crews are compared over the same guesses."""

    def __init__(self, sight: Seen, luck: Random) -> None:
        view = sight.view
        self._seat = sight.seat
        self._last = view.last_hand
        self._counts = [len(pile) for pile in view.penalty]
        self._colour = dock_colour(view)
        self._options = sight.options
        guesses = Guesses(view, sight.seat)
        opponents = max(1, len(self._counts) - 1)
        self._guesses = [guesses.draw(luck) for _ in range(max(_FEWEST_GUESSES, _GUESSES // opponents))]

    def automatic(self, hand: Cards) -> Choice:
        """The worth of sailing with these twelve cards and the automatic crew: the part of the win to expect."""
        closer = divide(self._seat, hand, self._colour, best_crew(hand, self._colour))
        return Choice(self._worth(closer), closer.limit)

    def better(self, hand: Cards, automatic: Choice) -> Choice:
        """The best crew found: the automatic one, or one that gives the others less to attach."""
        if self._options.partition is PartitionMode.AUTO:
            return automatic
        best = automatic
        for closer in self._others(hand, automatic.limit):
            worth = self._worth(closer)
            if worth > best.worth:
                best = Choice(worth, closer.limit, closer.crew)
        return best

    def _worth(self, closer: Split) -> float:
        """The part of the win to expect from sailing with this split."""
        if not closer.stowaways:
            return 1.0
        return sum([self._worth_against(closer, hands) for hands in self._guesses]) / len(self._guesses)

    def _worth_against(self, closer: Split, hands: dict[Seat, Cards]) -> float:
        """The share after scoring (R22, R23), every opponent splitting by the optimum."""
        counts = self._counts.copy()
        attachments_win = self._options.cappotto_with_attachments
        sent_under = False
        for other, hand in hands.items():
            fit = best_split(hand, self._colour, closer.crew, closer.limit, attachments_win)
            split = divide(other, hand, self._colour, *fit)
            if not split.stowaways and (attachments_win or not split.attached):
                return 0.0
            loser = other
            if split.limit <= closer.limit:
                loser, sent_under = self._seat, True
            counts[loser] += len(split.stowaways)
        if sent_under:
            counts[self._seat] += len(closer.stowaways)
        return share(counts, self._seat, over=self._last or sum(counts) >= OVER_AT)

    def _others(self, hand: Cards, limit: int) -> list[Split]:
        """Splits with full crews of one or two colours whose limits are the lowest, if not much above *limit*."""
        splits = [divide(self._seat, hand, self._colour, crew) for crew in self._crews(hand)]
        near = [split for split in splits if split.limit <= limit + _DEARER]
        return sorted(near, key=lambda split: split.limit)[:_OTHER_CREWS]

    def _crews(self, hand: Cards) -> Iterator[Cards]:
        """All but the automatic one; a single colour is filled up from the dock's, which blocks those numbers."""
        automatic = best_crew(hand, self._colour)
        colours = sorted({COLOUR[card] for card in hand} - {self._colour})
        fill = OF_COLOUR[self._colour] if self._options.crew_may_use_dock_colour else b""
        of = {colour: bytes([card for card in hand if COLOUR[card] == colour]) for colour in colours}
        fillers = bytes([card for card in hand if card in fill])
        for place, colour in enumerate(colours):
            partners = [fillers, *(of[other] for other in colours[place + 1 :])]
            yield from (crew for crew in (_joined(of[colour], partner) for partner in partners) if crew != automatic)


def _joined(first: Cards, second: Cards) -> Cards:
    """*first*, and of *second* the numbers that it lacks; ascending."""
    numbers = mask(first)
    return in_order(first + bytes([card for card in second if not numbers & BIT[card]]))
