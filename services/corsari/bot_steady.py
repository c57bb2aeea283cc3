"""The bot that reckons: it plays for the limit to expect, and sails when that is worth more than to wait."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Final

from services.corsari.actions import DRAWS, PLAIN, SAIL_AUTO, Action, Source, sail_with
from services.corsari.bot_hands import least_limit, shape
from services.corsari.bot_sailing import Choice, Sailing
from services.corsari.bot_sight import Seen, allowed_discards, dock_colour, turns_played, unseen
from services.corsari.bot_splits import advise_split
from services.corsari.bot_standing import share, share_waiting
from services.corsari.cards import COLOUR, NUMBER, Cards, with_card, without_card
from services.corsari.optimum import lightest_discard
from services.corsari.phases import Phase
from services.corsari.view import View
from services.kit.bot import Advice

_VOID: Final = -200.0
"""Worth of drawing the last dock card, which voids the hand (R12): below that of any limit."""

_DRAW_REASONS: Final = {Source.STOCK: "STOCK_BEST", Source.DISCARD: "PILE_FITS", Source.DOCK: "DOCK_FITS"}

_NEAR: Final = 0.1
"""Other crews are tried if the automatic one is at most this much worse than waiting."""


class Steady:
    """Plays by expected limits over the cards that it cannot place, and sails by guesses at the other hands."""

    def advise(self, sight: Seen, luck: Random, left_ms: Callable[[], float]) -> Sequence[Advice[Action]]:
        """The actions worth considering, best first.

        Draws are worth the limit to expect, negated; discards, sailing or not, the part of the win to expect; splits
        the cards that they cost the closer, or, negated, the seat itself.
        """
        phase = sight.view.phase
        if phase is Phase.PARTITION:
            return advise_split(sight)
        advice = _draws(sight.view) if phase is Phase.DRAW else _discards(sight, luck)
        return sorted(advice, key=lambda each: -each.worth)


def _draws(view: View) -> list[Advice[Action]]:
    """A source is worth the least limit after a discard, negated: known, or the mean over the unseen cards."""
    now, top = shape(view.hand, dock_colour(view)), view.discard[-1]
    worths = {
        Source.STOCK: -now.expected(unseen(view)),
        Source.DISCARD: -float(now.after[COLOUR[top]][NUMBER[top] - 1]),
        Source.DOCK: _from_dock(view.hand, view.dock),
    }
    return [Advice(draw, worths[draw.source], _DRAW_REASONS[draw.source]) for draw in DRAWS]


def _from_dock(hand: Cards, dock: Cards) -> float:
    """As `_draws`; the card before the end card fixes the new dock colour."""
    return -float(least_limit(with_card(hand, dock[-1]), COLOUR[dock[-2]])) if len(dock) > 1 else _VOID


def _discards(sight: Seen, luck: Random) -> list[Advice[Action]]:
    """Every plain discard, worth the part of the win that waiting is; and sailing with the lowest limit."""
    view, cards = sight.view, allowed_discards(sight.legal)
    lightest = lightest_discard(view.hand, dock_colour(view), cards)
    waits = [] if view.must_sail else [_wait(sight, card, card == lightest) for card in cards]
    most = max((each.worth for each in waits), default=0.0)
    sailing, rest = Sailing(sight, luck), without_card(view.hand, lightest)
    choice = sailing.automatic(rest)
    if choice.limit and choice.worth >= most - _NEAR:
        choice = sailing.better(rest, choice)
    return [_sail(view, lightest, choice), *waits]


def _wait(sight: Seen, card: int, lightest: bool) -> Advice[Action]:
    """The plain discard of *card*."""
    view = sight.view
    expected = shape(without_card(view.hand, card), dock_colour(view)).expected(unseen(view))
    standing = share([len(pile) for pile in view.penalty], sight.seat, over=False, last=view.last_hand)
    worth = share_waiting(standing, expected, turns_played(view))
    return Advice(PLAIN[card], worth, "LOWEST_LIMIT" if lightest else "KEEPS_CHANCES")


def _sail(view: View, card: int, choice: Choice) -> Advice[Action]:
    """The discard of *card* that sails with the chosen crew."""
    action = SAIL_AUTO[card] if choice.crew is None else sail_with(card, choice.crew)
    if not choice.limit:
        return Advice(action, choice.worth, "NO_STOWAWAYS")
    return Advice(action, choice.worth, "MUST_SAIL" if view.must_sail else "SAIL_NOW")
