"""The deck (R1): 110 cards, ten colours by eleven numbers; a card is its id, 11 * colour + number - 1.

Sets and piles of cards are `bytes` of ids throughout the game: hands, crews and penalty piles ascending, the dock, the
discard pile and the stock in order with the end card or top last. Ids are below 128, so such bytes are at once the
content of a packed protobuf field.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterable
from typing import Final, TypeAlias

Cards: TypeAlias = bytes
"""Card ids, one a byte."""

COLOURS: Final = ("pk", "vi", "bl", "az", "gy", "br", "rd", "or", "ye", "gn")
"""Colour codes by index: pink, violet, blue, light blue, grey, brown, red, orange, yellow, green."""

NUMBERS: Final = 11
"""Cards of a colour, numbered from 1."""

COUNT: Final = len(COLOURS) * NUMBERS
"""Cards in the game."""

ALL: Final[Cards] = bytes(range(COUNT))
"""Every card, ascending."""

NONE: Final[Cards] = b""
"""No card."""

ONE: Final = tuple(bytes((card,)) for card in range(COUNT))
"""Each card as a set of its own."""

COLOUR: Final = tuple(card // NUMBERS for card in range(COUNT))
"""Colour index of each card."""

NUMBER: Final = tuple(card % NUMBERS + 1 for card in range(COUNT))
"""Number of each card, 1 to 11; also its value (R1)."""

BIT: Final = tuple(1 << card % NUMBERS for card in range(COUNT))
"""The card's number as a bit of an 11-bit mask."""

NAMES: Final = tuple(f"{COLOURS[card // NUMBERS]}{card % NUMBERS + 1}" for card in range(COUNT))
"""Text form of each card, e.g. `rd5`."""

_IDS: Final = {name: card for card, name in enumerate(NAMES)}


def card_named(name: str) -> int:
    """The card with this text form.

    Raises:
        KeyError: there is none.
    """
    return _IDS[name]


def in_order(cards: Iterable[int]) -> Cards:
    """*cards* ascending."""
    return bytes(sorted(cards))


def with_card(cards: Cards, card: int) -> Cards:
    """Ascending *cards* and *card*, ascending."""
    place = bisect(cards, card)
    return cards[:place] + ONE[card] + cards[place:]


def without_card(cards: Cards, card: int) -> Cards:
    """*cards* without *card*, in their order."""
    return cards.replace(ONE[card], NONE)


def without(cards: Cards, gone: Cards) -> Cards:
    """*cards* without those of *gone*, in their order."""
    return cards.translate(None, gone)


def value(cards: Cards) -> int:
    """Sum of the numbers: what stowaways make a limit (R17)."""
    return sum(map(NUMBER.__getitem__, cards))


def text(cards: Cards, separator: str = " ") -> str:
    """The cards' text forms in their order."""
    return separator.join(map(NAMES.__getitem__, cards))
