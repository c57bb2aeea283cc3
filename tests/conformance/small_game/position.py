"""Plunder's position. Each round everybody lays a card; the highest takes the chest and may bury cards for new ones."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import astuple, replace
from random import Random
from typing import Self

from services.kit.chance import Chance
from services.kit.rules import Asked, IllegalAction, Legal, Outcome, Place, Seat, State, Viewer
from tests.conformance.small_game.parts import (
    CHEER,
    KEEP,
    MOST_BURIED,
    Action,
    Buried,
    Bury,
    Cards,
    Cheer,
    Cheered,
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


class Position(State[Action, Event, View]):
    """One match. Parts are immutable and replaced: `copy` shares them."""

    __slots__ = (
        "buried",
        "cheered",
        "chest",
        "decisions",
        "hands",
        "laid",
        "options",
        "phase",
        "played",
        "points",
        "resigned_seats",
        "round",
        "seats",
        "stock",
        "turn",
    )

    def __init__(self, options: Options, hands: tuple[Cards, ...], stock: Cards) -> None:
        self.options, self.seats, self.hands, self.stock = options, len(hands), hands, stock
        self.round, self.chest, self.phase, self.turn = 0, 0, Phase.LAY, Seat(0)
        self.laid: tuple[Lay | None, ...] = (None,) * self.seats
        self.played: Cards = ()
        self.buried: tuple[Cards, ...] = ((),) * self.seats
        self.points = self.decisions = (0,) * self.seats
        self.cheered: tuple[Seat, ...] = ()
        self.resigned_seats: tuple[Seat, ...] = ()

    def asked(self) -> Sequence[Asked]:
        if self.phase is Phase.BURY:
            return [Asked(self.turn, self.decisions[self.turn])]
        waits = self.phase is Phase.LAY
        return [Asked(Seat(s), n) for s, n in enumerate(self.decisions) if waits and self.laid[s] is None]

    def asked_publicly(self) -> Sequence[Seat]:
        if self.phase is Phase.LAY:
            return [Seat(seat) for seat in range(self.seats)]
        return [self.turn] if self.phase is Phase.BURY else []

    def legal(self, seat: Seat) -> Legal[Action]:
        if self.phase is Phase.OVER:
            return Legal(())
        actions: list[Action] = []
        templates: list[Action] = []
        if self.phase is Phase.LAY and self.laid[seat] is None:
            actions += [Lay(card) for card in self.hands[seat]]
            actions += [Lay(card, open=True) for card in self.hands[seat] if self.options.open]
        if self.phase is Phase.BURY and seat == self.turn:
            actions.append(KEEP)
            templates.append(KEEP)
        if seat not in self.cheered:
            actions.append(CHEER)
        return Legal(actions, templates)

    def sample(self, seat: Seat, luck: Random) -> Action:
        actions, templates = self.legal(seat)
        chosen = luck.choice([*actions, *templates])
        if chosen is KEEP:
            most = min(MOST_BURIED, len(self.stock), len(self.hands[seat]))
            return Bury(tuple(sorted(luck.sample(self.hands[seat], luck.randint(0, most)))))
        return chosen

    def unasked(self, seat: Seat, action: Action) -> bool:
        return isinstance(action, Cheer)

    def apply(self, seat: Seat, action: Action, chance: Chance) -> Sequence[Event]:
        if self.phase is Phase.OVER:
            raise IllegalAction("GAME_OVER")
        match action:
            case Lay():
                return self._lay(seat, action, chance)
            case Bury(cards):
                return self._bury(seat, cards, chance)
        if seat in self.cheered:
            raise IllegalAction("ALREADY_CHEERED")
        self.cheered = tuple(sorted((*self.cheered, seat)))
        return [Cheered(seat)]

    def _lay(self, seat: Seat, action: Lay, chance: Chance) -> list[Event]:
        if self.phase is not Phase.LAY:
            raise IllegalAction("PHASE")
        if self.laid[seat] is not None:
            raise IllegalAction("ALREADY_LAID")
        if action.open and not self.options.open:
            raise IllegalAction("OPEN_FORBIDDEN")
        self._take_from_hand(seat, (action.card,))
        self.laid = (*self.laid[:seat], action, *self.laid[seat + 1 :])
        events: list[Event] = [Laid(seat, action.open, action.card)]
        if None not in self.laid:
            events += self._reveal(chance)
        return events

    def _reveal(self, chance: Chance) -> list[Event]:
        cards = tuple(lay.card for lay in self.laid if lay)
        winner = Seat(cards.index(max(cards)))
        self.points = tuple(had + self.chest * (seat == winner) for seat, had in enumerate(self.points))
        self.played += cards
        self.laid = (None,) * self.seats
        may_bury = bool(self.hands[winner] and self.stock)
        events: list[Event] = [Revealed(cards, winner, may_bury)]
        if not may_bury:
            return events + self.next_round(chance)
        self.phase, self.turn = Phase.BURY, winner
        self._ask(winner)
        return events

    def _bury(self, seat: Seat, cards: Cards, chance: Chance) -> list[Event]:
        if self.phase is not Phase.BURY:
            raise IllegalAction("PHASE")
        if seat != self.turn:
            raise IllegalAction("NOT_YOUR_TURN")
        if len(cards) > len(self.stock):
            raise IllegalAction("STOCK", limit=len(self.stock))
        self._take_from_hand(seat, cards)
        drawn, self.stock = self.stock[: len(cards)], self.stock[len(cards) :]
        self.hands = (*self.hands[:seat], tuple(sorted(self.hands[seat] + drawn)), *self.hands[seat + 1 :])
        self.buried = (*self.buried[:seat], self.buried[seat] + cards, *self.buried[seat + 1 :])
        return [Buried(seat, len(cards), cards, drawn), *self.next_round(chance)]

    def next_round(self, chance: Chance) -> list[Event]:
        """Open the next chest, or end the match if nobody has a card left."""
        if not any(self.hands):
            self.phase = Phase.OVER
            return []
        self.round += 1
        (self.chest,) = chance.roll("chest", self.round)
        self.phase = Phase.LAY
        for seat in range(self.seats):
            self._ask(seat)
        return [Opened(self.round, self.chest)]

    def timeout(self, seat: Seat, chance: Chance) -> Sequence[Event]:
        if self.phase is Phase.BURY:
            return self.apply(seat, KEEP, chance)
        return self.apply(seat, Lay(self.hands[seat][0]), chance)

    def resigned(self, seat: Seat, chance: Chance) -> Sequence[Event]:
        self.resigned_seats = tuple(sorted((*self.resigned_seats, seat)))
        if len(self.resigned_seats) == self.seats - 1:
            self.phase = Phase.OVER
        return [Resigned(seat)]

    def _take_from_hand(self, seat: Seat, cards: Cards) -> None:
        for card in cards:
            if card not in self.hands[seat]:
                raise IllegalAction("NOT_IN_HAND", card=card)
        rest = tuple(card for card in self.hands[seat] if card not in cards)
        self.hands = (*self.hands[:seat], rest, *self.hands[seat + 1 :])

    def _ask(self, seat: int) -> None:
        self.decisions = (*self.decisions[:seat], self.decisions[seat] + 1, *self.decisions[seat + 1 :])

    def view(self, viewer: Viewer) -> View:
        public = View(
            round=self.round,
            chest=self.chest,
            phase=self.phase,
            turn=self.turn,
            sizes=tuple(map(len, self.hands)),
            stock=len(self.stock),
            laid=tuple(Seat(seat) for seat, lay in enumerate(self.laid) if lay),
            faces=tuple(lay.card if lay and lay.open else -1 for lay in self.laid),
            played=self.played,
            buried=tuple(map(len, self.buried)),
            points=self.points,
            cheered=self.cheered,
            resigned=self.resigned_seats,
        )
        if viewer is None:
            return public
        lay = self.laid[viewer]
        return replace(public, hand=self.hands[viewer], face=lay.card if lay else None, grave=self.buried[viewer])

    def outcome(self) -> Outcome | None:
        if self.phase is not Phase.OVER:
            return None
        scores = [-1 if seat in self.resigned_seats else points for seat, points in enumerate(self.points)]
        places = [
            Place(Seat(seat), 1 + sum(other > mine for other in scores), self.points[seat])
            for seat, mine in enumerate(scores)
        ]
        return Outcome("finished" if not any(self.hands) else "resigned", tuple(places))

    def copy(self) -> Self:
        new = object.__new__(type(self))
        for name in Position.__slots__:
            setattr(new, name, getattr(self, name))
        return new

    def dump(self) -> bytes:
        """The options, then all else by name; a lay is its card and whether it is open."""
        kept: dict[str, object] = {name: getattr(self, name) for name in Position.__slots__}
        kept["options"] = astuple(self.options)
        kept["laid"] = [lay and astuple(lay) for lay in self.laid]
        return json.dumps(kept).encode()
