"""Tickets: a player's wish for a match, from the request to its place in the queue and out of it again."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncGenerator

from google.protobuf.timestamp_pb2 import Timestamp

from gateway.background import Background
from gateway.games import Games, is_served
from gateway.ids import new_ticket_id
from gateway.matchmaking.board import Board
from gateway.matchmaking.checks import WishChecks, is_final
from gateway.matchmaking.lifetimes import Lifetimes
from gateway.matchmaking.upkeep import Upkeep
from gateway.matchmaking.watches import Watches
from gateway.matchmaking.wishes import complete_wish
from gateway.settings import GatewaySettings
from gateway.store.port import Filing, Ticket, TicketStore
from services.kit.clock import StoreClock
from services.kit.errors import DomainError, Malformed, NotFound, NotServed, Unavailable
from tortuga.gateway.v1 import matchmaking_service_pb2 as pb

LONGEST_REQUEST_ID = 64
"""Bytes of a request id."""

_LONGEST_GAME = 64
_WAITING = pb.TicketState.TICKET_STATE_WAITING
_NEVER = pb.BotsPolicy.BOTS_POLICY_NEVER


class Tickets:
    """What MatchmakingService does, without gRPC: players are named by their ids, refusals are raised."""

    def __init__(
        self,
        *,
        store: TicketStore,
        games: Games,
        checks: WishChecks,
        lifetimes: Lifetimes,
        watches: Watches,
        board: Board,
        upkeep: Upkeep,
        clock: StoreClock,
        settings: GatewaySettings,
    ) -> None:
        self._store = store
        self._games = games
        self._checks = checks
        self._lifetimes = lifetimes
        self._watches = watches
        self._board = board
        self._upkeep = upkeep
        self._clock = clock
        self._settings = settings
        self._background = Background()
        self._closed = False

    async def create(self, player_id: str, request: pb.CreateTicketRequest) -> pb.Ticket:
        """File a ticket, and make a match if that can be. Repeating the request gives the ticket that it first made.

        Raises:
            Malformed: REQUEST_ID with max; what `complete_wish` raises; what the game says against the wish.
            NotFound: GAME_UNKNOWN, VARIANT_UNKNOWN.
            NotServed: BOTS_NOT_SERVED, SETTING_NOT_SERVED.
            AlreadyUsed: REQUEST_ID_REUSED.
            Exhausted: TOO_MANY_TICKETS.
            Unavailable: NO_SERVICE: the game has not described itself yet; STORE_UNAVAILABLE; DRAINING.
        """
        self._require_open()
        if not 1 <= len(request.request_id.encode()) <= LONGEST_REQUEST_ID:
            raise Malformed("REQUEST_ID", max=LONGEST_REQUEST_ID)
        # What follows a commit must follow it even if the client has gone: the match is to be made all the same.
        return self._shown(await self._background.finish(self._file(player_id, request), "file ticket"))

    async def get(self, player_id: str, ticket_id: str) -> pb.Ticket:
        """The player's ticket as it stands; it lives on.

        Raises:
            NotFound: TICKET_UNKNOWN: there is none of this id, or it is somebody else's.
        """
        ticket = await self._own(player_id, ticket_id)
        if ticket.state == _WAITING:
            self._lifetimes.touch(ticket_id)
        return self._shown(ticket)

    async def cancel(self, player_id: str, ticket_id: str) -> pb.Ticket:
        """Give the player's ticket back, unless it has left its queue already.

        Raises:
            NotFound: TICKET_UNKNOWN.
            Unavailable: STORE_UNAVAILABLE; DRAINING.
        """
        self._require_open()
        return self._shown(await self._background.finish(self._cancel(player_id, ticket_id), "cancel ticket"))

    async def watch(self, player_id: str, ticket_id: str) -> AsyncGenerator[pb.Ticket, None]:
        """The player's ticket now and after each change, until it has left its queue; it lives as long as this runs.

        Raises:
            NotFound: TICKET_UNKNOWN.
            Conflict: WATCH_REPLACED: too many newer streams watch the same ticket.
            Unavailable: DRAINING.
        """
        watch = self._watches.open(ticket_id)
        try:
            first = await self._own(player_id, ticket_id)
            if watch.ticket is None:  # else something newer was told while the first state was read
                watch.tell(first)
            if watch.missed:
                self._watches.moved(first.wish_id)
            self._watches.keep_newest(ticket_id)
            self._lifetimes.hold(ticket_id)
            try:
                told: pb.Ticket | None = None
                while told is None or told.state == _WAITING:
                    news = self._shown(await watch.news())
                    if news != told:
                        told = news
                        yield told
            finally:
                waits = watch.ticket is not None and watch.ticket.state == _WAITING
                self._lifetimes.release(ticket_id, waits=waits)
        finally:
            self._watches.close_one(watch)

    async def close(self) -> None:
        """File and cancel no more (DRAINING), and let what is under way come to its end, for a moment."""
        self._closed = True
        await self._background.close(grace_seconds=1.0)

    def _require_open(self) -> None:
        if self._closed:
            raise Unavailable("DRAINING")

    async def _file(self, player_id: str, request: pb.CreateTicketRequest) -> Ticket:
        digest = _digest(request)
        try:
            wish, seatable = await self._accept(request)
        except DomainError:
            # Perhaps a repetition, and what was right then (a game that was served, a range) is not any more.
            known = await self._store.ticket_of_request(player_id, request.request_id)
            if known is None or known[1] != digest:
                raise
            return known[0]
        filing = Filing(
            ticket_id=new_ticket_id(),
            player_id=player_id,
            request_id=request.request_id,
            digest=digest,
            game=wish.game,
            wish=wish.SerializeToString(deterministic=True),
            seats=wish.seats,
            created_ms=self._clock.now_ms(),
        )
        filed = await self._store.file_ticket(filing, pair=seatable, limit=self._settings.tickets_per_player)
        if filed.made is not None:
            self._board.made([filed.made])
        if filed.ticket.state == _WAITING:
            self._board.waits(filed.ticket, seatable=seatable and not filed.repeated)
            if not seatable and is_served(self._games, wish.game):
                self._upkeep.retry()
        return filed.ticket

    async def _accept(self, request: pb.CreateTicketRequest) -> tuple[pb.Wish, bool]:
        """The complete wish, and whether its game accepts it now (else it is away, and the ticket waits for it)."""
        if request.bots not in (pb.BotsPolicy.BOTS_POLICY_UNSPECIFIED, _NEVER):
            raise NotServed("BOTS_NOT_SERVED")
        if not 1 <= len(request.wish.game) <= _LONGEST_GAME:
            raise NotFound("GAME_UNKNOWN")
        served = self._games.find(request.wish.game)
        wish = complete_wish(served, request.wish, self._settings.start_seconds)
        if not is_served(self._games, served.id):
            return wish, False
        try:
            await self._checks.check(served, wish.SerializeToString(deterministic=True), wish.seats)
        except DomainError as error:
            if is_final(error):
                raise
            return wish, False
        return wish, True

    async def _cancel(self, player_id: str, ticket_id: str) -> Ticket:
        ticket = await self._store.cancel_ticket(ticket_id, player_id, self._clock.now_ms())
        if ticket is None:
            raise NotFound("TICKET_UNKNOWN")
        if ticket.state == pb.TicketState.TICKET_STATE_CANCELLED:
            self._board.left([ticket])
        return ticket

    async def _own(self, player_id: str, ticket_id: str) -> Ticket:
        ticket = await self._store.ticket(ticket_id)
        if ticket is None or ticket.player_id != player_id:
            raise NotFound("TICKET_UNKNOWN")
        return ticket

    def _shown(self, ticket: Ticket) -> pb.Ticket:
        """*ticket* as its player sees it."""
        waiting_for = self._waiting_for(ticket) if ticket.state == _WAITING else ""
        return pb.Ticket(
            ticket_id=ticket.ticket_id,
            wish=pb.Wish.FromString(ticket.wish),
            bots=_NEVER,
            state=ticket.state,
            match_id=ticket.match_id,
            position=ticket.position,
            waiting_since_time=_timestamp(ticket.created_ms),
            waiting_for=waiting_for,
            players_missing=ticket.players_missing if waiting_for == "PLAYERS_MISSING" else 0,
        )

    def _waiting_for(self, ticket: Ticket) -> str:
        """Why not yet: what the game says against the wish, or that it is away, or that players are missing."""
        if ticket.refusal:
            return ticket.refusal
        if not is_served(self._games, ticket.game) or not ticket.players_missing:
            return "NO_SERVICE"
        return "PLAYERS_MISSING"


def _digest(request: pb.CreateTicketRequest) -> bytes:
    """Of all that the request says but its name."""
    content = pb.CreateTicketRequest()
    content.CopyFrom(request)
    content.request_id = ""
    return hashlib.sha256(content.SerializeToString(deterministic=True)).digest()


def _timestamp(ms: int) -> Timestamp:
    return Timestamp(seconds=ms // 1000, nanos=ms % 1000 * 1_000_000)
