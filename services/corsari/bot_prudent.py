"""The bot that plays like a silent seat (DEC-16), but sails with a low limit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Final

from services.corsari.actions import DRAWS, PARTITION_AUTO, PLAIN, SAIL_AUTO, Action
from services.corsari.bot_sight import Seen, allowed_discards, dock_colour
from services.corsari.cards import without_card
from services.corsari.optimum import best_crew, lightest_discard
from services.corsari.phases import Phase
from services.corsari.splits import divide
from services.kit.bot import Advice

LOW: Final = 5
"""The highest limit with which it sails."""


class Prudent:
    """Draws from the stock, discards what leaves the lowest limit, sails when that is LOW or less, or when forced."""

    def advise(self, sight: Seen, luck: Random, left_ms: Callable[[], float]) -> Sequence[Advice[Action]]:
        """The one action of the policy, worth the limit that it leaves, negated."""
        view = sight.view
        if view.phase is Phase.PARTITION:
            return [Advice(PARTITION_AUTO, 0.0, "BEST_SPLIT")]
        if view.phase is Phase.DRAW:
            return [Advice(DRAWS[0], 0.0, "STOCK_BEST")]
        colour = dock_colour(view)
        card = lightest_discard(view.hand, colour, allowed_discards(sight.legal))
        rest = without_card(view.hand, card)
        limit = divide(sight.seat, rest, colour, best_crew(rest, colour)).limit
        if view.must_sail:
            return [Advice(SAIL_AUTO[card], -float(limit), "MUST_SAIL")]
        if limit > LOW:
            return [Advice(PLAIN[card], -float(limit), "LOWEST_LIMIT")]
        return [Advice(SAIL_AUTO[card], -float(limit), "LOW_LIMIT" if limit else "NO_STOWAWAYS")]
