"""Positions that a viewer cannot tell from a given one (design §4): for tests of secrecy, and for bots that search.

Varied are: the cards in hands that nobody has shown, the order of the stock, which card another seat has just drawn
from it, and splits that are not disclosed yet. Kept is all that is public, and the viewer's own hand, draw and split.
"""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

from services.corsari import sampling
from services.corsari.actions import Source
from services.corsari.cards import NONE, in_order, without
from services.corsari.phases import Phase
from services.corsari.seats import put
from services.corsari.turns import judge_split
from services.kit.rules import Viewer

if TYPE_CHECKING:
    from services.corsari.state import Position


def redeal(position: Position, viewer: Viewer, luck: Random) -> Position:
    """A position drawn at random from those that look like *position* to *viewer*; itself a legal one."""
    new = position.copy()
    hidden = [
        NONE if seat == viewer else without(hand, known)
        for seat, (hand, known) in enumerate(zip(position.hands, position.known, strict=True))
    ]
    pool = list(NONE.join((*hidden, position.stock)))
    luck.shuffle(pool)
    hands = list(position.hands)
    for seat, cards in enumerate(hidden):
        dealt, pool = pool[: len(cards)], pool[len(cards) :]
        if cards:
            hands[seat] = in_order(position.known[seat] + bytes(dealt))
    new.hands = tuple(hands)
    new.stock = bytes(pool)
    if position.drew is Source.STOCK and position.turn != viewer:
        new.drawn = luck.choice(without(new.hands[position.turn], position.known[position.turn]))
    if position.phase is Phase.PARTITION:
        _declare_anew(new, viewer, luck)
    return new


def _declare_anew(position: Position, viewer: Viewer, luck: Random) -> None:
    """Splits of the others who have declared, chosen at random from the legal ones of their new hands (R18-R20)."""
    for split in position.declared:
        if split is not None and split.seat != viewer:
            action = sampling.sample_split(position, split.seat, luck)
            position.declared = put(position.declared, split.seat, judge_split(position, split.seat, action))
