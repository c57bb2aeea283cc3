"""The client: one player's way into the platform."""

from __future__ import annotations

import asyncio
import contextlib
import os
import uuid
from collections.abc import Callable, Sequence
from typing import Self

import grpc
from google.protobuf.message import Message

from services.client.connection import Connection, Patience
from services.client.errors import Refused, TicketEnded
from services.client.seat import Journal, Seat
from services.kit.game import load_game
from tortuga.gateway.v1 import catalog_service_pb2, identity_service_pb2
from tortuga.gateway.v1 import matchmaking_service_pb2 as tickets
from tortuga.gateway.v1.catalog_service_pb2_grpc import CatalogServiceStub
from tortuga.gateway.v1.identity_service_pb2_grpc import IdentityServiceStub
from tortuga.gateway.v1.matchmaking_service_pb2_grpc import MatchmakingServiceStub
from tortuga.play.v1 import game_pb2, match_pb2


class Client(Connection):
    """One player's connections to the gateway, for any number of matches side by side; to be used in `async with`.

    *target* is "host:port", by default the environment's TORTUGA_TARGET, else 127.0.0.1:7070. *token* is the access
    token of an earlier sign-in, to be that player again; *credentials* None means plain text. Calls, actions, streams
    bear a platform that is away for *patience* seconds. *journal* is told what goes over the matches' streams. `player`
    is who has signed in.
    """

    def __init__(
        self,
        target: str | None = None,
        *,
        token: str = "",
        credentials: grpc.ChannelCredentials | None = None,
        patience: float = 60.0,
        journal: Journal | None = None,
    ) -> None:
        address = target or os.environ.get("TORTUGA_TARGET") or "127.0.0.1:7070"
        super().__init__(address, credentials, token, patience)
        self.player: identity_service_pb2.Player | None = None
        self._journal = journal

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.calls.close()
        await self.streams.close()

    async def sign_in_as_guest(self, name: str = "") -> identity_service_pb2.Player:
        """Become a new guest called *name*, 1 to 24 characters, or without a name."""
        request = identity_service_pb2.SignInAsGuestRequest(display_name=name)
        answer = await self.call(IdentityServiceStub(self.calls).SignInAsGuest, request)
        self.token, self.player = answer.tokens.access_token, answer.player
        return answer.player

    async def games(self) -> Sequence[game_pb2.Game]:
        """The games that are served now, by id."""
        return (await self.call(CatalogServiceStub(self.calls).ListGames, catalog_service_pb2.ListGamesRequest())).games

    async def find_match(
        self,
        game: str,
        *,
        seats: int = 0,
        variant: str = "",
        options: Message | bytes = b"",
        settings: match_pb2.MatchSettings | None = None,
        news: Callable[[tickets.Ticket], None] | None = None,
    ) -> str:
        """Take a ticket and wait for others with an equal wish; returns the match's id. Cancelling gives it back.

        *seats* 0: as few as the game allows. *options*: the game's `Options`, only what differs from the variant's.
        *news* is told how the ticket stands, at once and at every change. Raises Refused, Unreachable, TicketEnded.
        """
        chosen = options if isinstance(options, bytes) else options.SerializeToString()
        wish = tickets.Wish(game=game, variant=variant, options=chosen, seats=seats, settings=settings)
        request = tickets.CreateTicketRequest(request_id=uuid.uuid4().hex, wish=wish)
        service = MatchmakingServiceStub(self.calls)
        ticket = (await self.call(service.CreateTicket, request)).ticket
        try:
            return await self._assigned(ticket.ticket_id, news)
        except asyncio.CancelledError:
            with contextlib.suppress(Exception):  # a ticket that nobody watches expires anyway
                async with asyncio.timeout(2):
                    await self.call(service.CancelTicket, tickets.CancelTicketRequest(ticket_id=ticket.ticket_id))
            raise

    async def _assigned(self, ticket_id: str, news: Callable[[tickets.Ticket], None] | None) -> str:
        watch = MatchmakingServiceStub(self.streams).WatchTicket
        patience = Patience(self.patience)
        while True:
            cause = None
            try:
                async for answer in watch(tickets.WatchTicketRequest(ticket_id=ticket_id), metadata=self.metadata):
                    patience.alive(progress=True)
                    if news is not None:
                        news(answer.ticket)
                    if answer.ticket.state == tickets.TICKET_STATE_ASSIGNED:
                        return answer.ticket.match_id
                    if answer.ticket.state != tickets.TICKET_STATE_WAITING:
                        raise TicketEnded(tickets.TicketState.Name(answer.ticket.state).removeprefix("TICKET_STATE_"))
            except grpc.aio.AioRpcError as error:
                cause = Refused.by_status(error)
                if not cause.broken:
                    raise cause from None
            await patience.wait(cause)

    def seat(self, match_id: str, game: str) -> Seat:
        """The own seat at a match, to be used in `async with`. Raises UnknownGame if no package offers *game*."""
        return Seat(self, load_game(game), match_id, self._journal, spectate=False)

    def watch(self, match_id: str, game: str) -> Seat:
        """A match as a spectator sees it, to be used in `async with`. Raises UnknownGame."""
        return Seat(self, load_game(game), match_id, self._journal, spectate=True)
