"""What a Corsari bot reads off its sight: what it may do, which cards it cannot place, how long the hand has lasted."""

from __future__ import annotations

from typing import TypeAlias

from services.corsari.actions import Action, Discard
from services.corsari.cards import ALL, COLOUR, NONE, Cards, without
from services.corsari.dealing import dock_length
from services.corsari.options import Options
from services.corsari.view import View
from services.kit.bot import Sight
from services.kit.rules import Legal

Seen: TypeAlias = Sight[Action, View, Options]


def allowed_discards(legal: Legal[Action]) -> Cards:
    """Cards that may be discarded, ascending."""
    return bytes(sorted({action.card for action in legal.actions if isinstance(action, Discard)}))


def dock_colour(view: View) -> int:
    """Colour of the end card (R5)."""
    return COLOUR[view.dock[-1]]


def unseen(view: View) -> Cards:
    """Cards whose place the seat does not know, in the stock or hidden in another's hand; ascending."""
    return without(ALL, NONE.join((view.hand, view.dock, view.discard, *view.known, *view.penalty)))


def turns_played(view: View) -> float:
    """Turns of each seat in this hand, about: a card drawn from the discard pile and put back leaves no trace."""
    seats = len(view.hand_sizes)
    from_dock = dock_length(seats) - len(view.dock)
    from_pile = max(0, sum(map(len, view.known)) - from_dock)
    return (len(view.discard) - 1 + from_pile) / seats
