"""What a standing is worth, and waiting in it: the part of the win that a seat may expect.

The figures were fitted to matches of this bot against itself with two seats, more and less patient ones mixed. A match
is often won by cappotto (R27), whatever the standing; so penalty cards count for little while hands are to come, and a
hand that may come to cappotto is worth waiting with.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, log, sqrt
from typing import Final

from services.corsari.scoring import OVER_AT

_DRIFT: Final = 2.2
"""How many penalty cards of a lead matter, for each card still to come, to the square root."""

_LAST_DRIFT: Final = 0.85
"""The same in the last hand, which mostly ends by count."""

_PER_HAND: Final = 5.0
"""Penalty cards that a hand brings."""

_MOST_ODDS: Final = 50.0
_SMALLEST: Final = 1e-6
_MOST_TURNS: Final = 20.0


def share(counts: Sequence[int], seat: int, *, over: bool, last: bool = False) -> float:
    """The part of the win, 0 to 1, of *seat* with these penalty cards: the result if *over*, or what to expect.

    *last*: the last hand is being played.
    """
    mine = counts[seat]
    if over:
        fewest = min(counts)
        return 1.0 / counts.count(fewest) if mine == fewest else 0.0
    to_come = max(OVER_AT - _PER_HAND / 2 - sum(counts), _PER_HAND)
    drift = (_LAST_DRIFT if last else _DRIFT) * sqrt(to_come)
    return 1.0 / sum([exp(min((mine - other) / drift, _MOST_ODDS)) for other in counts])


def share_waiting(standing: float, expected: float, turns: float) -> float:
    """The part of the win that playing on is worth: from the *standing*'s share and the hand.

    *expected* is the limit to expect after the next draw, *turns* how long the hand has lasted: a limit that is good
    early is poor later, when the others have one as well.
    """
    turns = min(turns, _MOST_TURNS)
    odds = log(max(standing, _SMALLEST) / max(1.0 - standing, _SMALLEST))
    odds += 1.25 - 0.038 * expected - 0.042 * turns - 0.01046 * expected * turns
    return 1.0 / (1.0 + exp(max(-_MOST_ODDS, min(-odds, _MOST_ODDS))))
