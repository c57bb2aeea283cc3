"""The store port: what the gateway needs of a database, promised in prose and held by one conformance suite.

Every writing call is one transaction: when it returns, no crash can undo it; when it raises, nothing of it was kept
(unless it says that the outcome is unknown). Calls may overlap; their transactions happen one after the other. Times
are milliseconds since 1970 by the store's clock, given by the caller.

All adapters pass `tests/gateway/test_store.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol

from gateway.matchmaking.pairing import Waiting
from gateway.store.sign_ins import SignInStore
from tortuga.gateway.v1.matchmaking_service_pb2 import TicketState
from tortuga.play.v1.match_pb2 import MatchState

MOST_MATCHES_AT_ONCE = 64
"""Matches that one `pair` makes at most, so that no transaction holds the others up for long."""


class Player(NamedTuple):
    """A player who has signed in."""

    player_id: str
    display_name: str
    """Empty for none."""
    created_ms: int


class Filing(NamedTuple):
    """A ticket to be filed."""

    ticket_id: str
    player_id: str
    request_id: str
    digest: bytes
    """Of the request's content, to tell a repetition from another request of the same id."""
    game: str
    wish: bytes
    """The complete wish, deterministically encoded: equal wishes have equal bytes."""
    seats: int
    """Of the wish."""
    created_ms: int


class Ticket(NamedTuple):
    """A ticket as it stands."""

    ticket_id: str
    player_id: str
    game: str
    wish_id: int
    """The store's own short key of the wish."""
    wish: bytes
    state: TicketState.ValueType
    match_id: str
    """Empty unless ASSIGNED."""
    created_ms: int
    position: int
    """Place in the queue of its wish, from 1; 0 unless WAITING."""
    players_missing: int
    """Players whom the next match of its wish still needs; 0 unless WAITING."""
    refusal: str
    """Code with which the game refused the wish when it was last tried; empty if it did not, or is not WAITING."""


class Order(NamedTuple):
    """A match that has been decided and is to be made."""

    match_id: str
    game: str
    match: bytes
    """Bytes of play.v1.Match, as for CreateMatch."""


class Made(NamedTuple):
    """What one pairing decided."""

    order: Order
    tickets: tuple[Ticket, ...]
    """Now ASSIGNED, in seat order."""


class Filed(NamedTuple):
    """What came of a filing."""

    ticket: Ticket
    repeated: bool
    """The ticket was there before; nothing has changed."""
    made: Made | None
    """The match that could be made then: the ticket's own, if those before it had been served already."""


class Queue(NamedTuple):
    """Everything that waits for one wish, first come first."""

    seats: int
    refusal: str
    waiting: Sequence[Waiting]


class WaitingWish(NamedTuple):
    """A wish that at least one ticket waits for."""

    wish_id: int
    game: str
    wish: bytes


class EndedMatch(NamedTuple):
    """A match that is over, as its game tells it."""

    match_id: str
    game: str
    match: bytes
    """Bytes of play.v1.Match as made."""
    created_ms: int
    players: tuple[str, ...]
    """Ids of the persons who sat in it."""
    state: MatchState.ValueType
    """ENDED or ABORTED."""
    result: bytes
    """Bytes of host.v1.Result, the match left out."""
    ended_ms: int


class KeptMatch(NamedTuple):
    """A match as the store knows it."""

    match_id: str
    match: bytes
    """Bytes of play.v1.Match: as ordered while it is GATHERING, then as made."""
    decided_ms: int
    """When it was decided here; of a match that was not, when its game made it."""
    state: MatchState.ValueType
    """GATHERING until its order is done, RUNNING from then on, ENDED or ABORTED once its result is kept."""
    result: bytes
    """Bytes of host.v1.Result, the match left out; empty while it is not over."""


class Mark(NamedTuple):
    """A place in a player's list of matches: just behind this one, whether or not it is still in it."""

    decided_ms: int
    match_id: str


class PlayerStore(Protocol):
    """Keeps players."""

    async def add_player(self, player: Player) -> None:
        """Keep *player*, whose id is new."""
        ...

    async def players(self, player_ids: Iterable[str]) -> Mapping[str, Player]:
        """Those of the players that are known, by id."""
        ...


class TicketStore(Protocol):
    """Keeps tickets, and pairs them. Of two tickets of the same wish, the one filed first comes first, for ever."""

    async def file_ticket(self, filing: Filing, *, pair: bool, limit: int) -> Filed:
        """Keep a ticket; with *pair*, also make one match of its queue if that has enough players, as `pair` does.

        If the player has used the request id before, nothing changes and that ticket is returned as it stands,
        provided that the digest or the wish is the same. At most *limit* tickets of a player wait at a time.

        Raises:
            AlreadyUsed: REQUEST_ID_REUSED: the earlier request was for something else.
            Exhausted: TOO_MANY_TICKETS with the limit.
        """
        ...

    async def pair(self, wish_id: int, now_ms: int) -> Sequence[Made]:
        """Make matches of the tickets that wait for the wish, first come first served, a player once in a match.

        The tickets become ASSIGNED to a new match id, the match is kept, and an open order for it is written, all in
        this transaction. At most MOST_MATCHES_AT_ONCE; whoever gets as many calls again. A refusal of the wish is
        taken back.
        """
        ...

    async def ticket(self, ticket_id: str) -> Ticket | None:
        """The ticket, or None. Who made its last change with this store is answered before whoever reads it."""
        ...

    async def ticket_of_request(self, player_id: str, request_id: str) -> tuple[Ticket, bytes] | None:
        """The ticket that the player's request made, with the digest it was filed with; or None."""
        ...

    async def cancel_ticket(self, ticket_id: str, player_id: str, now_ms: int) -> Ticket | None:
        """Turn the player's ticket from WAITING to CANCELLED; in any other state leave it as it is.

        Returns it as it stands then, or None if there is no such ticket or it is somebody else's.
        """
        ...

    async def expire_tickets(self, ticket_ids: Iterable[str], now_ms: int) -> Sequence[Ticket]:
        """Turn those of the tickets that are WAITING to EXPIRED, and return these."""
        ...

    async def queue(self, wish_id: int) -> Queue | None:
        """What waits for the wish as of one moment, or None if nothing does."""
        ...

    async def refuse_wish(self, wish_id: int, reason: str) -> None:
        """Note that the game refuses the wish. Its tickets wait on, and `pair` may be tried again."""
        ...

    async def waiting_wishes(self) -> Sequence[WaitingWish]:
        """The wishes that tickets wait for, longest waiting first."""
        ...

    async def waiting_tickets(self) -> Sequence[str]:
        """Ids of all WAITING tickets, oldest first."""
        ...

    async def forget_settled(self, before_ms: int) -> int:
        """Forget tickets that were settled, and orders that were closed, before *before_ms*; return how many tickets.

        Matches stay. A request id is free again once its ticket is forgotten.
        """
        ...


class OrderStore(Protocol):
    """Keeps orders until they are carried out."""

    async def open_orders(self) -> Sequence[Order]:
        """Orders that are neither done nor refused, oldest first."""
        ...

    async def finish_order(self, match_id: str, match: bytes, now_ms: int) -> None:
        """Close the order: the match exists, *match* is play.v1.Match as the game made it. Repeating is harmless."""
        ...

    async def refuse_order(self, match_id: str, reason: str, now_ms: int) -> Sequence[Ticket]:
        """Close an open order that the game refuses: its match is forgotten, its wish refused with *reason*.

        Its tickets wait again, each in the place it had before (at the front, if nobody older waits); they are
        returned. If the order is not open, nothing changes and none is; nor is one of a match whose result is known.
        """
        ...


class HistoryStore(Protocol):
    """Keeps matches for good: those that were decided here, and the results of all."""

    async def keep_results(self, results: Sequence[EndedMatch]) -> int:
        """Keep how matches ended; return of how many that was not known yet.

        The first result of a match stands, so repeating is harmless. A match that was not decided here is kept as its
        game tells it. A result of a match that belongs to another game changes nothing.
        """
        ...

    async def match(self, match_id: str) -> KeptMatch | None:
        """The match, or None if none of this id was decided or told of, or its game refused it."""
        ...

    async def matches_of(
        self, player_id: str, *, game: str = "", live: bool = False, after: Mark | None = None, limit: int
    ) -> Sequence[KeptMatch]:
        """The player's matches, by `decided_ms` newest first, those of the same moment in fixed order; at most *limit*.

        *game*: only that one's. *live*: only those that are not over. *after*: only what comes behind it; so pages
        neither repeat nor miss a match that is there all the time.
        """
        ...


class GatewayStore(PlayerStore, SignInStore, TicketStore, OrderStore, HistoryStore, Protocol):
    """The whole store."""

    async def close(self) -> None:
        """Finish what is queued and let go of the store."""
        ...
