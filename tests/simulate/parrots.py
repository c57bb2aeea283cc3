"""Parrots, a tiny game with hidden hands and a hidden stock, right in everything; tests plant faults in it.

Twelve birds, three in each hand, the rest in the stock. The seat in turn plays a bird and draws the next one, which it
alone sees. When all birds are on the table, whoever played the last one wins.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any, Self

from services.kit.chance import Chance
from services.kit.game import Game
from services.kit.rules import (
    Asked,
    IllegalAction,
    InvalidAction,
    InvalidOptions,
    Legal,
    Outcome,
    Place,
    Seat,
    State,
    Viewer,
)
from tortuga.host.v1 import host_service_pb2
from tortuga.play.v1 import game_pb2

BIRDS = 12
HAND = 3


@dataclass(frozen=True, slots=True)
class Play:
    """Play a bird. Text: its number."""

    bird: int

    def __str__(self) -> str:
        return f"play {self.bird}"


@dataclass(frozen=True, slots=True)
class Played:
    """A bird was played, and another drawn: None if the stock was empty, -1 where it is hidden."""

    seat: Seat
    bird: int
    drawn: int | None

    def public(self) -> Played | None:
        return self if self.drawn is None else replace(self, drawn=-1)

    def own(self, seat: Seat) -> Played | None:
        return self if seat == self.seat and self.drawn is not None else None


@dataclass(frozen=True, slots=True)
class View:
    """What a viewer knows; *hand* is empty for spectators."""

    turn: Seat
    table: tuple[int, ...]
    sizes: tuple[int, ...]
    stock: int
    hand: tuple[int, ...]


class Aviary(State[Play, Played, View]):
    """Where every bird is."""

    __slots__ = ("hands", "stock", "table", "turn")

    def __init__(
        self, hands: tuple[tuple[int, ...], ...], stock: tuple[int, ...], table: list[int], turn: Seat
    ) -> None:
        self.hands, self.stock, self.table, self.turn = hands, stock, table, turn

    def asked(self) -> Sequence[Asked]:
        return [] if len(self.table) == BIRDS else [Asked(self.turn, len(self.table) + 1)]

    def legal(self, seat: Seat) -> Legal[Play]:
        return Legal([Play(bird) for bird in self.hands[seat]] if self.asked() and seat == self.turn else [])

    def sample(self, seat: Seat, luck: Random) -> Play:
        return luck.choice(self.legal(seat).actions)

    def apply(self, seat: Seat, action: Play, chance: Chance) -> Sequence[Played]:
        if not self.asked() or seat != self.turn:
            raise IllegalAction("NOT_YOUR_TURN")
        if action.bird not in self.hands[seat]:
            raise IllegalAction("NOT_IN_HAND", bird=action.bird)
        self.table = [*self.table, action.bird]
        hand = [bird for bird in self.hands[seat] if bird != action.bird]
        drawn = self.stock[0] if self.stock else None
        if drawn is not None:
            hand, self.stock = sorted([*hand, drawn]), self.stock[1:]
        self.hands = (*self.hands[:seat], tuple(hand), *self.hands[seat + 1 :])
        if any(self.hands):
            self.turn = next(self._after(seat, step) for step in range(1, len(self.hands) + 1) if self._can(seat, step))
        return [Played(seat, action.bird, drawn)]

    def _after(self, seat: Seat, step: int) -> Seat:
        return Seat((seat + step) % len(self.hands))

    def _can(self, seat: Seat, step: int) -> bool:
        return bool(self.hands[self._after(seat, step)])

    def timeout(self, seat: Seat, chance: Chance) -> Sequence[Played]:
        return self.apply(seat, self.legal(seat).actions[0], chance)

    def resigned(self, seat: Seat, chance: Chance) -> Sequence[Played]:
        return []

    def view(self, viewer: Viewer) -> View:
        sizes = tuple(len(hand) for hand in self.hands)
        hand = () if viewer is None else self.hands[viewer]
        return View(self.turn, tuple(self.table), sizes, len(self.stock), hand)

    def outcome(self) -> Outcome | None:
        if len(self.table) < BIRDS:
            return None
        places = [Place(Seat(seat), 1 if seat == self.turn else 2, 0) for seat in range(len(self.hands))]
        return Outcome("finished", tuple(places))

    def copy(self) -> Self:
        return type(self)(self.hands, self.stock, self.table, self.turn)

    def dump(self) -> bytes:
        return json.dumps([self.hands, self.stock, self.table, self.turn]).encode()


class ParrotRules:
    """The rules, for positions of the class *position*."""

    versions = ("1",)

    def __init__(self, position: type[Aviary] = Aviary) -> None:
        self.position = position

    def check(self, options: int, seats: int) -> None:
        if not 2 <= seats <= 4:
            raise InvalidOptions("PLAYERS", seats=seats)

    def start(self, options: int, seats: int, chance: Chance, version: str) -> tuple[Aviary, Sequence[Played]]:
        deck = chance.shuffle("deal", of=BIRDS)
        hands = tuple(tuple(sorted(deck[seat * HAND : (seat + 1) * HAND])) for seat in range(seats))
        return self.position(hands, tuple(deck[seats * HAND :]), [], Seat(0)), []

    def load(self, data: bytes) -> Aviary:
        hands, stock, table, turn = json.loads(data)
        return self.position(tuple(map(tuple, hands)), tuple(stock), table, Seat(turn))

    def parse(self, text: str) -> Play:
        word, _, bird = text.partition(" ")
        if word != "play" or not (bird.isascii() and bird.isdigit()) or f"{int(bird)}" != bird or int(bird) >= BIRDS:
            raise InvalidAction("UNREADABLE")
        return Play(int(bird))

    def redeal(self, state: Aviary, viewer: Viewer, luck: Random) -> Aviary:
        hidden = [bird for seat, hand in enumerate(state.hands) if seat != viewer for bird in hand] + list(state.stock)
        luck.shuffle(hidden)
        hands = tuple(
            hand if seat == viewer else tuple(sorted(hidden.pop() for _ in hand))
            for seat, hand in enumerate(state.hands)
        )
        return self.position(hands, tuple(hidden), state.table, state.turn)

    def follow(self, view: View, events: Sequence[Played], viewer: Viewer) -> View:
        for event in events:
            sizes, hand = list(view.sizes), list(view.hand)
            if event.drawn is None:
                sizes[event.seat] -= 1
            if event.seat == viewer:
                hand.remove(event.bird)
                if event.drawn is not None:
                    hand = sorted([*hand, event.drawn])
            turn = next(
                (seat for step in range(1, len(sizes) + 1) if sizes[seat := (event.seat + step) % len(sizes)]),
                view.turn,
            )
            view = View(
                turn=Seat(turn),
                table=(*view.table, event.bird),
                sizes=tuple(sizes),
                stock=view.stock - (event.drawn is not None),
                hand=tuple(hand),
            )
        return view

    def violations(self, state: Aviary) -> Sequence[str]:
        birds = [bird for hand in state.hands for bird in hand] + [*state.stock, *state.table]
        return [] if sorted(birds) == list(range(BIRDS)) else ["BIRDS"]


class ParrotWire:
    """Bytes that nobody parses: what the checks compare."""

    def read_options(self, data: bytes) -> int:
        return len(data)

    def public_view(self, state: Aviary) -> bytes:
        return repr(state.view(None)).encode()

    def own_view(self, state: Aviary, seat: Seat) -> bytes:
        return repr(state.view(seat).hand).encode()

    def legal(self, state: Aviary, seat: Seat) -> bytes:
        return repr(state.legal(seat)).encode()


def parrots(rules: ParrotRules | None = None, wire: Any = None) -> Game[Any, Any, Any, Any, Any]:
    """The game, with other rules or another codec if they are given."""
    description = game_pb2.Game(
        game="parrots",
        min_seats=2,
        max_seats=4,
        variants=[game_pb2.Variant(variant="standard"), game_pb2.Variant(variant="loud", options=b"\x01")],
    )
    service = host_service_pb2.DESCRIPTOR.services_by_name["HostService"]
    return Game(rules or ParrotRules(), wire or ParrotWire(), description, service, Path())  # type: ignore[arg-type]  # of the codec only what simulate uses
