"""Corsari's bots by level, the weakest first, and the one that plays anything."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Final

from services.corsari.actions import Action
from services.corsari.bot_prudent import Prudent
from services.corsari.bot_sight import Seen
from services.corsari.bot_steady import Steady
from services.kit.bot import Advice, AnyBot


class AtRandom:
    """Any concrete legal action, each as likely as the others."""

    def advise(self, sight: Seen, luck: Random, left_ms: Callable[[], float]) -> Sequence[Advice[Action]]:
        """All concrete actions in a random order, of equal worth."""
        actions = sight.legal.actions
        return [Advice(action, 0.0) for action in luck.sample(actions, len(actions))]


BOTS: Final[Mapping[str, AnyBot]] = {"random": AtRandom(), "prudent": Prudent(), "steady": Steady()}
"""By level, the weakest first; the keys are those of `describing.BOT_LEVELS`."""


def bots() -> Mapping[str, AnyBot]:
    """The bots by level, the weakest first."""
    return BOTS
