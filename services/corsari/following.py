"""The view after events, as their viewer was shown them: what a client that keeps its own picture does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from services.corsari.actions import Source
from services.corsari.cards import NONE, ONE, in_order, with_card, without, without_card
from services.corsari.dealing import HAND
from services.corsari.events import (
    Dealt,
    Declared,
    Discarded,
    Drawn,
    Event,
    HandVoided,
    Resigned,
    Sailed,
    Scored,
)
from services.corsari.phases import Phase
from services.corsari.seats import put
from services.corsari.view import View
from services.kit.rules import Seat, Viewer


def follow(view: View, events: Sequence[Event], viewer: Viewer) -> View:
    """*view* after *events* as *viewer* saw them."""
    for place, event in enumerate(events):
        match event:
            case Dealt():
                view = _dealt(view, event)
            case Drawn():
                view = _drawn(view, event, viewer)
            case Discarded():
                goes_on = isinstance(events[place + 1], Sailed | HandVoided) if place + 1 < len(events) else False
                view = _discarded(view, event, viewer, turn_passes=not goes_on)
            case Sailed(split):
                known = put(view.known, split.seat, split.cards())
                view = replace(view, phase=Phase.PARTITION, closer=split, known=known)
            case Declared(seat, split):
                declared = tuple(sorted((*view.declared, seat)))
                view = replace(view, declared=declared, split=split if seat == viewer else view.split)
            case Scored():
                view = _scored(view, event)
            case HandVoided():
                view = replace(_ended(view), void_streak=view.void_streak + 1)
            case Resigned(seat):
                view = _resigned(view, seat)
    return view


def _dealt(view: View, event: Dealt) -> View:
    seats = len(view.hand_sizes)
    return replace(
        view,
        hand_number=event.hand_number,
        phase=Phase.DRAW,
        turn=Seat((event.dealer + 1) % seats),
        dealer=event.dealer,
        dock=event.dock,
        discard=ONE[event.discard],
        stock_size=event.stock_size,
        hand_sizes=(HAND,) * seats,
        known=(NONE,) * seats,
        last_hand=event.last_hand,
        extra_hand=event.extra_hand,
        quiet_turns=0,
        hand=event.hand,
    )


def _drawn(view: View, event: Drawn, viewer: Viewer) -> View:
    seat, source, card = event.seat, event.source, event.card
    seen = source is not Source.STOCK and card is not None
    own = card is not None and seat == viewer
    stock_size = view.stock_size - (source is Source.STOCK)
    return replace(
        view,
        phase=Phase.DISCARD,
        stock_size=stock_size,
        discard=view.discard[:-1] if source is Source.DISCARD else view.discard,
        dock=view.dock[:-1] if source is Source.DOCK else view.dock,
        hand_sizes=put(view.hand_sizes, seat, view.hand_sizes[seat] + 1),
        known=put(view.known, seat, with_card(view.known[seat], card)) if seen and card is not None else view.known,
        quiet_turns=view.quiet_turns + 1 if source is Source.DISCARD else 0,
        must_sail=stock_size == 0,
        drew=source,
        taken=card if seen else None,
        hand=with_card(view.hand, card) if own and card is not None else view.hand,
        drawn=card if own and not seen else None,
    )


def _discarded(view: View, event: Discarded, viewer: Viewer, turn_passes: bool) -> View:
    seat, card = event.seat, event.card
    return replace(
        _calm(view),
        phase=Phase.DRAW,
        turn=Seat((seat + 1) % len(view.hand_sizes)) if turn_passes else view.turn,
        discard=view.discard + ONE[card],
        hand_sizes=put(view.hand_sizes, seat, view.hand_sizes[seat] - 1),
        known=put(view.known, seat, without_card(view.known[seat], card)),
        hand=without_card(view.hand, card) if seat == viewer else view.hand,
    )


def _scored(view: View, event: Scored) -> View:
    """All splits are open now; the penalty cards leave the hands. After the closer's cappotto the hands stay hidden."""
    gone = NONE.join(event.penalty)
    known = view.known
    for split in event.splits:
        known = put(known, split.seat, split.cards())
    if event.splits:
        known = tuple(without(cards, gone) for cards in known)
    return replace(
        _ended(view),
        void_streak=0,
        known=known,
        hand_sizes=tuple(map(len, known)) if event.splits else view.hand_sizes,
        penalty=tuple(in_order(pile + more) for pile, more in zip(view.penalty, event.penalty, strict=True)),
        hand=without(view.hand, gone),
    )


def _resigned(view: View, seat: Seat) -> View:
    resigned = tuple(sorted((*view.resigned, seat)))
    over = len(resigned) == len(view.hand_sizes) - 1
    return replace(_ended(view) if over else view, resigned=resigned)


def _ended(view: View) -> View:
    """The hand is over; and so is the match, unless a deal follows."""
    return replace(_calm(view), phase=Phase.GAME_OVER, closer=None, declared=(), split=None)


def _calm(view: View) -> View:
    """Nobody has just drawn."""
    return replace(view, must_sail=False, drew=None, taken=None, drawn=None)
