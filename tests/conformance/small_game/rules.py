"""Plunder's rules as the platform sees them, for positions of a given class: tests plant faults in it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from random import Random
from typing import Any

from services.kit.chance import Chance
from services.kit.rules import InvalidOptions, Seat, Viewer
from tests.conformance.small_game import parts
from tests.conformance.small_game.parts import (
    CARDS,
    Action,
    Buried,
    Cards,
    Cheered,
    Dealt,
    Event,
    Laid,
    Lay,
    Opened,
    Options,
    Phase,
    Resigned,
    Revealed,
    View,
)
from tests.conformance.small_game.position import Position

FEWEST, MOST = 2, 4


class PlunderRules:
    """The face of the rules."""

    versions = ("1",)

    def __init__(self, position: type[Position] = Position) -> None:
        self.position = position

    def check(self, options: Options, seats: int) -> None:
        if not FEWEST <= seats <= MOST:
            raise InvalidOptions("PLAYERS", least=FEWEST, most=MOST)
        if not 2 <= options.hand <= 5:
            raise InvalidOptions("OPTION_RANGE", option="hand")
        if options.hand == 5 and not options.open:
            raise InvalidOptions("LONG_AND_BLIND")

    def start(self, options: Options, seats: int, chance: Chance, version: str) -> tuple[Position, Sequence[Event]]:
        self.check(options, seats)
        deck, size = chance.shuffle("deal", of=CARDS), options.hand
        hands = tuple(tuple(sorted(deck[seat * size : (seat + 1) * size])) for seat in range(seats))
        position = self.position(options, hands, tuple(deck[seats * size :]))
        dealt = Dealt(size, len(position.stock), hands=hands)
        return position, [dealt, *position.next_round(chance)]

    def load(self, data: bytes) -> Position:
        kept: dict[str, Any] = {name: _hashable(value) for name, value in json.loads(data).items()}
        position = self.position(Options(*kept["options"]), kept["hands"], kept["stock"])
        for name, value in kept.items():
            setattr(position, name, value)
        position.options = Options(*kept["options"])
        position.phase = Phase(kept["phase"])
        position.laid = tuple(lay and Lay(*lay) for lay in kept["laid"])
        return position

    def parse(self, text: str) -> Action:
        return parts.parse(text)

    def redeal(self, state: Position, viewer: Viewer, luck: Random) -> Position:
        """Others' hands, graves and face-down cards, and the stock, are dealt anew."""
        new = state.copy()
        hidden = [
            card
            for seat in range(state.seats)
            if seat != viewer
            for card in (*state.hands[seat], *state.buried[seat], *face_down(state.laid[seat]))
        ]
        pool = [*hidden, *state.stock]
        luck.shuffle(pool)

        def others(piles: tuple[Cards, ...]) -> tuple[Cards, ...]:
            return tuple(
                pile if seat == viewer else tuple(sorted(pool.pop() for _ in pile)) for seat, pile in enumerate(piles)
            )

        new.hands, new.buried = others(state.hands), others(state.buried)
        new.laid = tuple(
            Lay(pool.pop()) if seat != viewer and face_down(lay) else lay for seat, lay in enumerate(state.laid)
        )
        new.stock = tuple(pool)
        return new

    def follow(self, view: View, events: Sequence[Event], viewer: Viewer) -> View:
        for event in events:
            view = _followed(view, event, viewer)
        return view

    def violations(self, state: Position) -> Sequence[str]:
        piles = [*state.hands, *state.buried, state.stock, state.played]
        cards = [card for pile in piles for card in pile] + [lay.card for lay in state.laid if lay]
        sorted_hands = all(list(hand) == sorted(hand) for hand in state.hands)
        return [
            *([] if sorted(cards) == list(range(CARDS)) else ["CARDS"]),
            *([] if sorted_hands else ["ORDER"]),
            *([] if len({len(hand) + (lay is not None) for hand, lay in _tables(state)}) == 1 else ["HANDS"]),
        ]


def face_down(lay: Lay | None) -> Cards:
    """The card of *lay* if it is there and hidden."""
    return (lay.card,) if lay and not lay.open else ()


def _tables(state: Position) -> Sequence[tuple[Cards, Lay | None]]:
    return list(zip(state.hands, state.laid, strict=True))


def _followed(view: View, event: Event, viewer: Viewer) -> View:  # noqa: PLR0911 - one return an event is how it reads
    match event:
        case Opened(number, chest):
            return replace(view, round=number, chest=chest, phase=Phase.LAY)
        case Laid(seat, is_open, card):
            view = replace(
                view,
                sizes=_put(view.sizes, seat, view.sizes[seat] - 1),
                laid=tuple(sorted((*view.laid, seat))),
                faces=_put(view.faces, seat, card) if is_open and card is not None else view.faces,
            )
            mine = viewer == seat
            return replace(view, hand=tuple(c for c in view.hand if c != card), face=card) if mine else view
        case Revealed(cards, winner, may_bury):
            return replace(
                view,
                phase=Phase.BURY if may_bury else Phase.LAY if any(view.sizes) else Phase.OVER,
                turn=winner if may_bury else view.turn,
                points=_put(view.points, winner, view.points[winner] + view.chest),
                played=view.played + cards,
                laid=(),
                faces=(-1,) * len(cards),
                face=None,
            )
        case Buried(seat, count, cards, drawn):
            hand = tuple(sorted({*view.hand, *drawn} - {*cards}))
            view = replace(view, stock=view.stock - count, buried=_put(view.buried, seat, view.buried[seat] + count))
            return replace(view, hand=hand, grave=view.grave + cards) if viewer == seat else view
        case Cheered(seat):
            return replace(view, cheered=tuple(sorted((*view.cheered, seat))))
        case Resigned(seat):
            resigned = tuple(sorted((*view.resigned, seat)))
            return replace(view, resigned=resigned, phase=Phase.OVER if _alone(view, resigned) else view.phase)
    return view


def _alone(view: View, resigned: tuple[Seat, ...]) -> bool:
    return len(resigned) == len(view.sizes) - 1


def _put(values: tuple[int, ...], place: int, value: int) -> tuple[int, ...]:
    return (*values[:place], value, *values[place + 1 :])


def _hashable(value: Any) -> Any:
    return tuple(map(_hashable, value)) if isinstance(value, list) else value
