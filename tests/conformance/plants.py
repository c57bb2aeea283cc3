"""Faults for the small game, one a class."""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from dataclasses import replace
from random import Random
from typing import ClassVar

from services.kit.chance import Chance
from services.kit.rules import Asked, IllegalAction, Legal, Seat, Viewer
from tests.conformance.small_game import PlunderRules, PlunderWire, contract
from tests.conformance.small_game.parts import Action, Buried, Event, Laid, Lay, Opened, Phase, View
from tests.conformance.small_game.position import Position


class ViewLeaks(Position):
    """Everybody sees the cards that lie face down."""

    def view(self, viewer: Viewer) -> View:
        return replace(super().view(viewer), faces=tuple(lay.card if lay else -1 for lay in self.laid))


class OwnBytesLeak(PlunderWire):
    """A seat's grave grows by the next card of the stock, on the wire only."""

    def own_view(self, state: Position, seat: Seat) -> bytes:
        more = contract.message("Update", view=contract.message("View", grave=state.stock[:1]))
        data: bytes = super().own_view(state, seat) + more.SerializeToString()
        return data


class LegalDepends(Position):
    """Cards may be laid open only while the next card of the stock is a low one."""

    def legal(self, seat: Seat) -> Legal[Action]:
        actions, templates = super().legal(seat)
        high = self.stock and self.stock[0] > 11
        return Legal([each for each in actions if not (high and isinstance(each, Lay) and each.open)], templates)


class ErrorLeaks(Position):
    """Whoever names a card that he does not hold is told who does."""

    def apply(self, seat: Seat, action: Action, chance: Chance) -> Sequence[Event]:
        try:
            return super().apply(seat, action, chance)
        except IllegalAction as refusal:
            if refusal.reason == "NOT_IN_HAND":
                holders = [other for other, hand in enumerate(self.hands) if int(refusal.params["card"]) in hand]
                raise IllegalAction("NOT_IN_HAND", **refusal.params, holders=holders) from None
            raise


class AcceptanceDepends(Position):
    """Nobody may cheer while a face-down card is higher than 17."""

    def apply(self, seat: Seat, action: Action, chance: Chance) -> Sequence[Event]:
        if str(action) == "cheer" and any(lay and lay.card > 17 for lay in self.laid):
            raise IllegalAction("NOT_NOW")
        return super().apply(seat, action, chance)


class QuietLaid(Laid):
    """Low cards are laid without a sound."""

    __slots__ = ()

    def public(self) -> Laid | None:
        return None if not self.open and (self.card or 0) < 12 else self._loud().public()

    def own(self, seat: Seat) -> Laid | None:
        return self._loud().own(seat)

    def _loud(self) -> Laid:
        return Laid(self.seat, self.open, self.card)


class UpdatesDepend(Position):
    """Others hear that a card was laid only if it is a high one."""

    def apply(self, seat: Seat, action: Action, chance: Chance) -> Sequence[Event]:
        events = super().apply(seat, action, chance)
        return [QuietLaid(each.seat, each.open, each.card) if isinstance(each, Laid) else each for each in events]


class EventLeaks(PlunderWire):
    """The event on the wire tells everybody which card lies face down."""

    def public_events(self, events: Sequence[Event]) -> bytes:
        return super().public_events([replace(each, open=True) if isinstance(each, Laid) else each for each in events])


class RefusalChanges(Position):
    """A refusal costs a point, on the position that the copy was made of."""

    origin: Position | None = None

    def copy(self) -> RefusalChanges:
        new = super().copy()
        new.origin = self
        return new

    def apply(self, seat: Seat, action: Action, chance: Chance) -> Sequence[Event]:
        try:
            return super().apply(seat, action, chance)
        except IllegalAction:
            if self.origin is not None:
                points = self.origin.points
                self.origin.points = (*points[:seat], points[seat] + 1, *points[seat + 1 :])
            raise


class RicherChests(Position):
    """Every chest is worth more than was rolled; a right game as long as the bonus is always the same."""

    def bonus(self) -> int:
        return 0

    def next_round(self, chance: Chance) -> list[Event]:
        if not super().next_round(chance):
            return []
        self.chest += self.bonus()
        return [Opened(self.round, self.chest)]


class RefusalIsRemembered(RicherChests):
    """After every tenth refusal in this process chests are worth more."""

    refusals: ClassVar[list[str]] = []

    def apply(self, seat: Seat, action: Action, chance: Chance) -> Sequence[Event]:
        try:
            return super().apply(seat, action, chance)
        except IllegalAction as refusal:
            self.refusals.append(refusal.reason)
            raise

    def bonus(self) -> int:
        return len(self.refusals) // 10


class OutOfTurn(Position):
    """A loser may bury, too."""

    def apply(self, seat: Seat, action: Action, chance: Chance) -> Sequence[Event]:
        if self.phase is Phase.BURY:
            self.turn = seat
        return super().apply(seat, action, chance)


class Prose(Position):
    """Refusals are sentences."""

    def apply(self, seat: Seat, action: Action, chance: Chance) -> Sequence[Event]:
        try:
            return super().apply(seat, action, chance)
        except IllegalAction as refusal:
            raise IllegalAction(f"Sorry: {refusal.reason.lower()}.") from None


class SamplesTheIllegal(Position):
    """A sample may lay any card."""

    def sample(self, seat: Seat, luck: Random) -> Action:
        action = super().sample(seat, luck)
        return Lay(luck.randrange(24)) if isinstance(action, Lay) and luck.random() < 0.1 else action


class WallClock(RicherChests):
    """Chests are worth more in odd minutes."""

    def bonus(self) -> int:
        return int(time.time()) // 60 % 2


class Unaddressed(RicherChests):
    """A second die is rolled, the process's own."""

    def bonus(self) -> int:
        return random.randint(1, 6)


class HashOrder(Position):
    """What is legal comes in the order of a set of texts."""

    def legal(self, seat: Seat) -> Legal[Action]:
        actions, templates = super().legal(seat)
        return Legal(sorted(actions, key=lambda action: hash(str(action))), templates)


class SameAddress(Position):
    """All chests but the first are rolled at one address, by a way around the kit's own refusal."""

    def next_round(self, chance: Chance) -> list[Event]:
        events = super().next_round(chance)
        if self.round > 1 and events:
            chance.used[-1] = "chest/2"
        return events


class LosesTheFaces(PlunderRules):
    """Reading a text forgets that a card was to be laid open."""

    def parse(self, text: str) -> Action:
        action = super().parse(text)
        return Lay(action.card) if isinstance(action, Lay) else action


class TimeoutIsRefused(Position):
    """The time-out step lays a card of the neighbour."""

    def timeout(self, seat: Seat, chance: Chance) -> Sequence[Event]:
        if self.phase is Phase.LAY and (hand := self.hands[(seat + 1) % self.seats]):
            return self.apply(seat, Lay(hand[0]), chance)
        return super().timeout(seat, chance)


class TimeoutIsUnsound(Position):
    """The time-out step takes a card away and lays none."""

    def timeout(self, seat: Seat, chance: Chance) -> Sequence[Event]:
        events = super().timeout(seat, chance)
        self.hands = (*self.hands[:seat], self.hands[seat][:-1], *self.hands[seat + 1 :])
        return events


class TimeoutDoesNothing(Position):
    """Silence is ignored while others still have to lay."""

    def timeout(self, seat: Seat, chance: Chance) -> Sequence[Event]:
        return [] if self.phase is Phase.LAY and self.laid.count(None) > 1 else super().timeout(seat, chance)


class LoadForgets(PlunderRules):
    """Reading a dump forgets who has cheered."""

    def load(self, data: bytes) -> Position:
        position = super().load(data)
        position.cheered = ()
        return position


class DumpForgets(Position):
    """The chest's worth is not in the dump: reading one back gives 1, and the bytes are the same."""

    def dump(self) -> bytes:
        other = self.copy()
        other.chest = 1
        return Position.dump(other)


class KeepsTheStock(PlunderRules):
    """Redeals leave the stock as it is."""

    def redeal(self, state: Position, viewer: Viewer, luck: Random) -> Position:
        drawn, dealt = state.copy(), state.copy()
        drawn.stock = ()
        dealt = super().redeal(drawn, viewer, luck)
        dealt.stock = state.stock
        return dealt


class KeepsTheGraves(PlunderRules):
    """Redeals leave what others have buried."""

    def redeal(self, state: Position, viewer: Viewer, luck: Random) -> Position:
        empty = state.copy()
        empty.buried = ((),) * state.seats
        dealt = super().redeal(empty, viewer, luck)
        dealt.buried = state.buried
        return dealt


class CountsNothing(Position):
    """Every decision has the number 1."""

    def asked(self) -> Sequence[Asked]:
        return [Asked(seat, 1) for seat, _ in super().asked()]


class SkipsANumber(Position):
    """Burying counts twice."""

    def next_round(self, chance: Chance) -> list[Event]:
        if self.phase is Phase.BURY:
            self._ask(self.turn)
        return super().next_round(chance)


class Endless(Position):
    """Played cards come back."""

    def next_round(self, chance: Chance) -> list[Event]:
        if not any(self.hands):
            size = len(self.played) // self.seats
            self.hands = tuple(tuple(sorted(self.played[s * size : (s + 1) * size])) for s in range(self.seats))
            self.played = ()
        return super().next_round(chance)


class LongViews(PlunderWire):
    """The view lists more cards than there are."""

    def public_view(self, state: Position) -> bytes:
        more = contract.message("Update", view=contract.message("View", played=[1] * 70_000))
        data: bytes = super().public_view(state) + more.SerializeToString()
        return data


class HidesTheDrawn(Position):
    """Who buries is not told what he draws."""

    def apply(self, seat: Seat, action: Action, chance: Chance) -> Sequence[Event]:
        events = super().apply(seat, action, chance)
        return [replace(each, drawn=()) if isinstance(each, Buried) else each for each in events]


class OwnIsPublic(PlunderWire):
    """What is legal for one is sent to all."""

    def public_events(self, events: Sequence[Event]) -> bytes:
        offered = contract.message("Update", legal=[contract.message("Action", cheer=contract.message("Cheer"))])
        data: bytes = super().public_events(events) + offered.SerializeToString()
        return data


class CountsRounds(RicherChests):
    """Chests are worth more the more rounds this process has opened."""

    rounds: ClassVar[list[int]] = []

    def bonus(self) -> int:
        self.rounds.append(self.round)
        return len(self.rounds)
