"""Faults for the small game's bots, one a class."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import count
from random import Random

from services.kit.bot import Advice, AnyBot
from services.kit.rules import Seat
from tests.conformance.small_game import PlunderWire
from tests.conformance.small_game.bots import Seen, Wild, bots
from tests.conformance.small_game.parts import CARDS, CHEER, Action, Lay, Phase
from tests.conformance.small_game.position import Position

Advised = Sequence[Advice[Action]]
Left = Callable[[], float]


class Witness(PlunderWire):
    """A codec that remembers the last position it wrote."""

    last: Position | None = None

    def own_view(self, state: Position, seat: Seat) -> bytes:
        Witness.last = state
        return super().own_view(state, seat)


class Peeks(Wild):
    """Looks at the stock behind the scenes."""

    def advise(self, sight: Seen, luck: Random, left_ms: Left) -> Advised:
        assert Witness.last is not None
        peeked = sum(Witness.last.stock)
        return [Advice(each.action, float(peeked)) for each in super().advise(sight, luck, left_ms)]


class Counts(Wild):
    """The more often it was asked, the more it thinks of itself."""

    _questions = count()

    def advise(self, sight: Seen, luck: Random, left_ms: Left) -> Advised:
        worth = float(next(self._questions))
        return [Advice(each.action, worth) for each in super().advise(sight, luck, left_ms)]


class Illegal(Wild):
    """Lays a card that it does not hold."""

    def advise(self, sight: Seen, luck: Random, left_ms: Left) -> Advised:
        if sight.view.phase is not Phase.LAY:
            return super().advise(sight, luck, left_ms)
        return [Advice(Lay(next(card for card in range(CARDS) if card not in sight.view.hand)), 0.0)]


class Mute(Wild):
    """Never knows what to do."""

    def advise(self, sight: Seen, luck: Random, left_ms: Left) -> Advised:
        return []


class Noisy(Wild):
    """Cheers first and plays later."""

    def advise(self, sight: Seen, luck: Random, left_ms: Left) -> Advised:
        cheer = [Advice[Action](CHEER, 1.0)] if CHEER in sight.legal.actions else []
        return [*cheer, *super().advise(sight, luck, left_ms)]


class Rising(Wild):
    """Saves the best for the end."""

    def advise(self, sight: Seen, luck: Random, left_ms: Left) -> Advised:
        advised = super().advise(sight, luck, left_ms)
        return [Advice(each.action, float(worth)) for worth, each in enumerate(advised)]


class Prosaic(Wild):
    """Says why in English."""

    def advise(self, sight: Seen, luck: Random, left_ms: Left) -> Advised:
        return [Advice(each.action, 0.0, "Why not?") for each in super().advise(sight, luck, left_ms)]


def instead_of_wild(bot: type[Wild]) -> Callable[[], Mapping[str, AnyBot]]:
    """The small game's bots with *bot* as the weaker one."""
    return lambda: {**bots(), "wild": bot()}


def undescribed() -> Mapping[str, AnyBot]:
    """One level more than the description has."""
    return {**bots(), "wilder": Wild()}
