"""The deal (R3-R7, DEC-2)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from services.corsari.cards import ALL, COUNT, NONE, in_order, without
from services.corsari.events import Dealt
from services.corsari.options import DockBetweenHands
from services.corsari.phases import Phase
from services.kit.chance import Chance
from services.kit.rules import Seat

if TYPE_CHECKING:
    from services.corsari.state import Position

HAND: Final = 12
"""Cards dealt to a seat (R4)."""


def dock_length(seats: int) -> int:
    """Cards in the dock at the start of a hand: 7, 8, 9 for 2, 3, 4 players (R5)."""
    return 5 + seats


def stock_after_deal(seats: int, penalties: int) -> int:
    """Cards left in the stock after a deal with so many penalty cards out of the deck (R7); a deal needs one."""
    return COUNT - penalties - HAND * seats - dock_length(seats) - 1


def deal(position: Position, chance: Chance) -> Dealt:
    """Deal the next hand: the position goes from DEAL to the first draw.

    The shuffle permutes the cards to be dealt in ascending order, never in the order in which they lay: positions that
    look alike have like futures. Its address holds the hand's number, which counts void hands too.
    """
    seats = position.seats
    stays = position.options.dock_between_hands is DockBetweenHands.STAYS
    kept = position.dock if stays else NONE
    deck = without(ALL, kept + NONE.join(position.penalty))
    position.hand_number += 1
    order = chance.shuffle("deal", position.hand_number, of=len(deck))
    pack = bytes(order).translate(deck.ljust(256))  # the card at each place of the order
    first = (position.dealer + 1) % seats
    dealt = HAND * seats
    position.hands = tuple(in_order(pack[(seat - first) % seats : dealt : seats]) for seat in range(seats))
    fresh = dealt + dock_length(seats) - len(kept)
    position.dock = kept + pack[dealt:fresh]
    position.discard = pack[fresh : fresh + 1]
    position.stock = pack[:fresh:-1]  # the next card lies on top, at the end
    position.known = (NONE,) * seats
    position.quiet_turns = 0
    position.closer = None
    position.declared = (None,) * seats
    position.turn = Seat(first)
    position.phase = Phase.DRAW
    position.ask(position.turn)
    return Dealt(
        position.hand_number,
        position.dealer,
        position.dock,
        position.discard[0],
        len(position.stock),
        position.last_hand,
        position.extra_hand,
        hands=position.hands,
    )


def is_dealable(position: Position) -> bool:
    """Whether the deck still gives every seat its hand, a dock, a discard and a stock (R7)."""
    return stock_after_deal(position.seats, sum(map(len, position.penalty))) >= 1
