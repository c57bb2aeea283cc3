"""Plunder's bots: one plays anything, one lays its highest card and buries its lowest."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import TypeAlias

from services.kit.bot import Advice, AnyBot, Sight
from tests.conformance.small_game.parts import CHEER, MOST_BURIED, Action, Bury, Lay, Options, Phase, View, bury

Seen: TypeAlias = Sight[Action, View, Options]


class Wild:
    """Any legal action, as luck will have it; if there is another one, no cheering."""

    def advise(self, sight: Seen, luck: Random, left_ms: Callable[[], float]) -> Sequence[Advice[Action]]:
        """All legal actions in a random order, of equal worth."""
        answers = [action for action in sight.legal.actions if action != CHEER] or [CHEER]
        return [Advice(action, 0.0) for action in luck.sample(answers, len(answers))]


class Keen:
    """The highest card wins the chest, and low ones are no use."""

    def advise(self, sight: Seen, luck: Random, left_ms: Callable[[], float]) -> Sequence[Advice[Action]]:
        """Cards from the highest, hidden before open; or the burial of the lowest cards, then none."""
        if sight.view.phase is Phase.BURY and sight.legal.templates:
            lowest = sorted(sight.view.hand)[: min(MOST_BURIED, sight.view.stock)]
            return [Advice(bury(lowest), 1.0, "LOW_CARDS"), Advice(Bury(), 0.0)]
        cards = [Advice(action, _worth(action), "HIGH_CARD") for action in sight.legal.actions if action != CHEER]
        return sorted(cards, key=lambda each: -each.worth) or [Advice(CHEER, 0.0)]


def _worth(action: Action) -> float:
    return action.card - action.open / 2 if isinstance(action, Lay) else 0.0


def bots() -> Mapping[str, AnyBot]:
    """By level, the weakest first."""
    return {"wild": Wild(), "keen": Keen()}
