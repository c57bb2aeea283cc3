"""How good twelve cards are while the hand goes on: their limit now, and the limit to expect after the next draw.

Everything is counted over the 45 pairs of the nine colours that are not the dock's, as the automatic optimum is (R26).
For a pair, what a further card does is simple: it joins the crew or is a prisoner, and the highest stowaway goes; or
it is one more stowaway, and the highest of all goes.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from services.corsari.cards import BIT, COLOUR, COLOURS, NUMBER, NUMBERS, Cards, value, without
from services.corsari.splits import OF_COLOUR

_MASKS: Final = 1 << NUMBERS
_NUMBERS: Final = range(1, NUMBERS + 1)
_SUM: Final = [sum(bit + 1 for bit in range(NUMBERS) if numbers >> bit & 1) for numbers in range(_MASKS)]
_COLOURS: Final = range(len(COLOURS))
_ABOVE_ALL: Final = 1 << 9
"""More than any limit."""


class Shape(NamedTuple):
    """A hand by pairs: the best *limit* it has, and the *least* that it has once one more card is let go."""

    limit: int
    least: int
    after: tuple[tuple[int, ...], ...]
    """By colour and number - 1: the least limit with that card drawn and one card discarded."""

    def expected(self, cards: Cards) -> float:
        """The mean of the least limit after a draw from *cards*; as it is, if there are none."""
        if not cards:
            return float(self.limit)
        after = self.after
        return sum([after[COLOUR[card]][NUMBER[card] - 1] for card in cards]) / len(cards)


def least_limit(hand: Cards, dock_colour: int) -> int:
    """The lowest limit of *hand* after one discard from it."""
    return _pairs(hand, dock_colour).least


def shape(hand: Cards, dock_colour: int) -> Shape:
    """What *hand* may come to with its next card."""
    limit, least, pairs = _pairs(hand, dock_colour)
    apart = _apart(pairs)
    joins = _joins(pairs)
    after = [(least,) * NUMBERS if of == dock_colour else _joining(joins[of], apart) for of in _COLOURS]
    return Shape(limit, least, tuple(after))


class _Pair(NamedTuple):
    """A pair of colours: the limit that its crew leaves, the highest stowaway, and the numbers of the crew."""

    left: int
    top: int
    numbers: int
    a: int
    b: int


class _Pairs(NamedTuple):
    limit: int
    least: int
    pairs: list[_Pair]


def _apart(pairs: list[_Pair]) -> list[int]:
    """By number: the least limit if the drawn card joins no crew."""
    lowest: dict[int, int] = {}
    for left, top, _, _, _ in pairs:
        if left < lowest.get(top, _ABOVE_ALL):
            lowest[top] = left
    tops = lowest.items()
    return [min([left - top + number if top > number else left for top, left in tops]) for number in _NUMBERS]


def _joins(pairs: list[_Pair]) -> list[list[tuple[int, int]]]:
    """By colour: of each pair with it the limit if the drawn card joins, and the numbers that cannot, lowest first."""
    joins: list[list[tuple[int, int]]] = [[] for _ in COLOURS]
    for left, top, numbers, a, b in pairs:
        joins[a].append((left - top, numbers))
        if a != b:
            joins[b].append((left - top, numbers))
    for each in joins:
        each.sort()
    return joins


def _joining(joins: list[tuple[int, int]], apart: list[int]) -> tuple[int, ...]:
    """By number: the least limit with a card of a colour, which joins the best crew that lacks it, or none."""
    limits = apart.copy()
    waiting = _MASKS - 1
    for low, numbers in joins:
        free = waiting & ~numbers
        waiting &= numbers
        while free:
            place = (free & -free).bit_length() - 1
            limits[place] = min(limits[place], low)
            free &= free - 1
        if not waiting:
            break
    return tuple(limits)


def _pairs(hand: Cards, dock_colour: int) -> _Pairs:
    """All pairs of which the hand holds a colour; all pairs, if it holds none but the dock's."""
    rest = without(hand, OF_COLOUR[dock_colour])
    masks = [0] * len(COLOURS)
    once = twice = 0
    for card in rest:
        bit = BIT[card]
        masks[COLOUR[card]] |= bit
        twice |= once & bit
        once |= bit
    total = value(rest)
    pairs = []
    limit = least = total
    for a in _COLOURS:
        mine = masks[a]
        for b in range(a, len(COLOURS)):
            if dock_colour in (a, b) or (rest and not mine and not masks[b]):
                continue
            numbers = mine | masks[b]
            left = total - _SUM[numbers]
            top = (twice | once & ~numbers).bit_length()
            pairs.append(_Pair(left, top, numbers, a, b))
            limit = min(limit, left)
            least = min(least, left - top)
    return _Pairs(limit, least, pairs)
