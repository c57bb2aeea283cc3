"""What the others may hold: hands drawn at random from the cards that a seat cannot place, as far played as they are.

Who has drawn k cards has kept about the best of 12 + k. A guess therefore takes more cards than a hand has and lets the
highest stowaways go; fewer than k more, since a seat has to let cards go before it knows what comes.
"""

from __future__ import annotations

from math import exp
from random import Random
from typing import Final

from services.corsari.bot_sight import dock_colour, turns_played, unseen
from services.corsari.cards import NUMBER, Cards, in_order, without
from services.corsari.dealing import HAND
from services.corsari.optimum import best_crew
from services.corsari.splits import OF_COLOUR
from services.corsari.view import View
from services.kit.rules import Seat

_FURTHER: Final = 7.5
_TURNS: Final = 7.5


class Guesses:
    """Guesses at all other hands from one view; they are made one by one."""

    def __init__(self, view: View, seat: Seat) -> None:
        self._pool = list(unseen(view))
        self._known = {Seat(other): known for other, known in enumerate(view.known) if other != seat}
        self._colour = dock_colour(view)
        self._further = further_cards(turns_played(view))

    def draw(self, luck: Random) -> dict[Seat, Cards]:
        """One guess: twelve cards for each other seat, or as many as there are."""
        more = {seat: HAND - len(known) + int(self._further + luck.random()) for seat, known in self._known.items()}
        pool = bytes(luck.sample(self._pool, min(sum(more.values()), len(self._pool))))
        hands = {}
        for seat, known in self._known.items():
            taken, pool = pool[: more[seat]], pool[more[seat] :]
            hands[seat] = kept(in_order(known + taken), self._colour)
        return hands


def further_cards(turns: float) -> float:
    """Cards that a guess chooses from beyond twelve, after so many turns: fitted to the limits in played matches."""
    return 0.25 + _FURTHER * (1.0 - exp(-turns / _TURNS))


def kept(cards: Cards, dock_colour: int) -> Cards:
    """Twelve of *cards*: the highest stowaways of their best crew are let go, then whatever comes last."""
    surplus = len(cards) - HAND
    if surplus <= 0:
        return cards
    stowaways = without(cards, best_crew(cards, dock_colour) + OF_COLOUR[dock_colour])
    gone = sorted(stowaways, key=NUMBER.__getitem__, reverse=True)[:surplus]
    return without(cards, bytes(gone))[:HAND]
