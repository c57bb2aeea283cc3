"""What is asked of a game action before the rules are: does it answer what the seat owes?"""

from __future__ import annotations

from services.kit.errors import Conflict, Refusal
from services.kit.requests import Act
from services.kit.rules import Seat
from services.kit.step import Step


def require_open(last: Step, seat: Seat, request: Act) -> None:
    """An action answers the seat's open decision, or quotes 0 for what the rules allow unasked.

    Raises:
        Refusal: GAME_OVER, MATCH_ABORTED, NOT_STARTED or RESIGNED.
        Conflict: STALE_DECISION, with the open one.
    """
    if last.standing.over:
        raise Refusal("GAME_OVER" if last.standing.outcome else "MATCH_ABORTED")
    if last.game is None:
        raise Refusal("NOT_STARTED")
    if seat in last.standing.resigned:
        raise Refusal("RESIGNED")
    owed = last.decision(seat)
    if request.decision != owed and not (request.decision == 0 and last.game.unasked(seat, request.action)):
        raise Conflict("STALE_DECISION", decision=owed)
