"""Who plays with whom: first come first served within equal wishes.

Pure functions, which every store adapter calls inside its transaction.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from tortuga.gateway.v1.matchmaking_service_pb2 import Wish
from tortuga.play.v1.match_pb2 import Match, Seat


class Waiting(NamedTuple):
    """One ticket in the queue of its wish."""

    ticket_id: str
    player_id: str


def first_match(queue: Iterable[Waiting], seats: int) -> Sequence[Waiting] | None:
    """The tickets that make the next match, in seat order, or None while players are missing.

    *queue* is in order of arrival and is read no further than needed. A player's second ticket is passed over: nobody
    sits twice in one match. Who came first gets seat 0.
    """
    chosen: dict[str, Waiting] = {}
    for ticket in queue:
        chosen.setdefault(ticket.player_id, ticket)
        if len(chosen) == seats:
            return list(chosen.values())
    return None


def players_missing(queue: Iterable[Waiting], seats: int) -> int:
    """How many players more the next match of *queue* needs; 0 if it has enough. Read no further than needed."""
    players: set[str] = set()
    for ticket in queue:
        players.add(ticket.player_id)
        if len(players) == seats:
            return 0
    return seats - len(players)


def match_of(wish: bytes, match_id: str, tickets: Sequence[Waiting]) -> Match:
    """The match to be made of *tickets*, in seat order; *wish* is the bytes of their complete wish."""
    wanted = Wish.FromString(wish)
    return Match(
        match_id=match_id,
        game=wanted.game,
        options=wanted.options,
        seats=[Seat(player_id=ticket.player_id) for ticket in tickets],
        settings=wanted.settings,
    )
