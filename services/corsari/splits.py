"""How twelve cards are split (R14-R21): crew, attachments, prisoners, stowaways, and what makes a split legal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from services.corsari.cards import (
    BIT,
    COLOUR,
    COLOURS,
    NAMES,
    NONE,
    NUMBER,
    NUMBERS,
    Cards,
    text,
    value,
    without,
)
from services.kit.rules import IllegalAction, Seat

CREW_COLOURS: Final = 2
"""A crew has at most this many colours (R16)."""

OF_COLOUR: Final = tuple(bytes(range(first, first + NUMBERS)) for first in range(0, NUMBERS * len(COLOURS), NUMBERS))
"""All cards of each colour."""


@dataclass(frozen=True, slots=True)
class Split:
    """How *seat* split its cards; every list ascending. The closer attaches nothing."""

    seat: Seat
    crew: Cards
    attached: Cards
    stowaways: Cards
    prisoners: Cards
    limit: int

    def cards(self) -> Cards:
        """All cards of the split, ascending."""
        return bytes(sorted(self.crew + self.attached + self.stowaways + self.prisoners))

    def __str__(self) -> str:
        return (
            f"crew [{text(self.crew)}] attached [{text(self.attached)}] stowaways [{text(self.stowaways)}] "
            f"prisoners [{text(self.prisoners)}] limit {self.limit}"
        )


def divide(seat: Seat, hand: Cards, dock_colour: int, crew: Cards, attached: Cards = NONE) -> Split:
    """Split *hand*: what is neither in the crew nor attached is a prisoner or a stowaway by its colour (R15, R17)."""
    rest = without(hand, crew + attached)
    stowaways = without(rest, OF_COLOUR[dock_colour])
    return Split(seat, crew, attached, stowaways, without(rest, stowaways), value(stowaways))


def check_cards(hand: Cards, named: Cards) -> None:
    """Refuse cards outside *hand* and cards named twice, in one list or across lists (R16, R19, K2).

    Raises:
        IllegalAction: CARD_NOT_IN_HAND or CARD_USED_TWICE, with the card.
    """
    seen = set()
    for card in named:
        if card not in hand:
            raise IllegalAction("CARD_NOT_IN_HAND", card=NAMES[card])
    for card in named:
        if card in seen:
            raise IllegalAction("CARD_USED_TWICE", card=NAMES[card])
        seen.add(card)


def check_crew(crew: Cards, dock_colour: int, may_use_dock_colour: bool) -> None:
    """Refuse a crew that R16 or the option of DEC-5 forbids.

    Raises:
        IllegalAction: CREW_COLOURS with the limit, CREW_DUP_NUMBER with the number, or CREW_DOCK_COLOUR with the card.
    """
    colours = {COLOUR[card] for card in crew}
    if len(colours) > CREW_COLOURS:
        raise IllegalAction("CREW_COLOURS", limit=CREW_COLOURS)
    numbers = 0
    for card in crew:
        if numbers & BIT[card]:
            raise IllegalAction("CREW_DUP_NUMBER", number=NUMBER[card])
        numbers |= BIT[card]
    if not may_use_dock_colour and dock_colour in colours:
        card = next(card for card in crew if COLOUR[card] == dock_colour)
        raise IllegalAction("CREW_DOCK_COLOUR", card=NAMES[card])


def check_attached(attached: Cards, closer_crew: Cards) -> None:
    """Refuse attachments that do not fit the closer's crew (R19).

    Raises:
        IllegalAction: ATTACH_COLOUR, ATTACH_NUMBER_TAKEN or ATTACH_DUP_NUMBER, with the card.
    """
    colours = {COLOUR[card] for card in closer_crew}
    taken = mask(closer_crew)
    own = 0
    for card in attached:
        if COLOUR[card] not in colours:
            raise IllegalAction("ATTACH_COLOUR", card=NAMES[card])
    for card in attached:
        if taken & BIT[card]:
            raise IllegalAction("ATTACH_NUMBER_TAKEN", card=NAMES[card])
    for card in attached:
        if own & BIT[card]:
            raise IllegalAction("ATTACH_DUP_NUMBER", card=NAMES[card])
        own |= BIT[card]


def check_maximal(split: Split) -> None:
    """Refuse an opponent's crew that one of his stowaways could still join (R20).

    Raises:
        IllegalAction: CREW_NOT_MAXIMAL with the lowest such card.
    """
    colours = {COLOUR[card] for card in split.crew}
    numbers = mask(split.crew)
    for card in split.stowaways:
        if not numbers & BIT[card] and (COLOUR[card] in colours or len(colours) < CREW_COLOURS):
            raise IllegalAction("CREW_NOT_MAXIMAL", card=NAMES[card])


def mask(cards: Cards) -> int:
    """The numbers that occur among *cards*, as an 11-bit mask."""
    numbers = 0
    for card in cards:
        numbers |= BIT[card]
    return numbers
