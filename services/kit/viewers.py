"""As what somebody sees a match."""

from __future__ import annotations

import hmac

from services.kit.rules import Seat
from tortuga.play.v1 import match_pb2


def seat_of(match: match_pb2.Match, player_id: str) -> Seat | None:
    """The seat that the player has in *match*, or None."""
    for number, seat in enumerate(match.seats):
        if player_id and seat.player_id == player_id:
            return Seat(number)
    return None


def may_watch(match: match_pb2.Match, spectator_key: str, key: str) -> bool:
    """Whether somebody without a seat, who brought *key*, may see the match."""
    spectators = match.settings.spectators
    if spectators == match_pb2.SPECTATORS_LINK:
        return bool(spectator_key) and hmac.compare_digest(key.encode(), spectator_key.encode())
    return spectators != match_pb2.SPECTATORS_NONE
