"""A gateway for tests: the platform's services on a real server and a real store, with games at the test's command."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import grpc
import pytest
from google.rpc import error_details_pb2, status_pb2

from gateway.platform import SERVICES, Platform, register
from gateway.settings import GatewaySettings
from gateway.store.sqlite import SqliteGatewayStore
from services.kit.clock import StoreClock
from services.kit.shell.server import GrpcServer, channel_options
from services.kit.tokens import Keyring, Verifier
from tests.gateway.local_games import GAME, LocalGames
from tortuga.gateway.v1 import identity_service_pb2 as identity
from tortuga.gateway.v1 import matchmaking_service_pb2 as tickets
from tortuga.gateway.v1.catalog_service_pb2_grpc import CatalogServiceStub
from tortuga.gateway.v1.history_service_pb2_grpc import HistoryServiceStub
from tortuga.gateway.v1.identity_service_pb2_grpc import IdentityServiceStub
from tortuga.gateway.v1.matchmaking_service_pb2_grpc import MatchmakingServiceStub
from tortuga.gateway.v1.table_service_pb2_grpc import TableServiceStub
from tortuga.play.v1.match_pb2 import MatchSettings

if TYPE_CHECKING:
    from tortuga.gateway.v1.catalog_service_pb2_grpc import CatalogServiceAsyncStub
    from tortuga.gateway.v1.history_service_pb2_grpc import HistoryServiceAsyncStub
    from tortuga.gateway.v1.identity_service_pb2_grpc import IdentityServiceAsyncStub
    from tortuga.gateway.v1.matchmaking_service_pb2_grpc import MatchmakingServiceAsyncStub
    from tortuga.gateway.v1.table_service_pb2_grpc import TableServiceAsyncStub

TicketState = tickets.TicketState


class Guest(NamedTuple):
    """A player of the test, signed in."""

    player_id: str
    metadata: tuple[tuple[str, str], ...]


class Refused(NamedTuple):
    """How a call was refused."""

    status: grpc.StatusCode
    reason: str
    params: dict[str, str]


@dataclass
class Gateway:
    """One gateway process, as far as the platform's services go, and a client's stubs to it."""

    server: GrpcServer
    platform: Platform
    store: SqliteGatewayStore
    games: LocalGames
    keyring: Keyring
    channel: grpc.aio.Channel
    address: str

    @property
    def identity(self) -> IdentityServiceAsyncStub:
        """Sign-in."""
        return IdentityServiceStub(self.channel)

    @property
    def catalog(self) -> CatalogServiceAsyncStub:
        """Games."""
        return CatalogServiceStub(self.channel)

    @property
    def matchmaking(self) -> MatchmakingServiceAsyncStub:
        """Tickets."""
        return MatchmakingServiceStub(self.channel)

    @property
    def history(self) -> HistoryServiceAsyncStub:
        """Matches, live and over."""
        return HistoryServiceStub(self.channel)

    @property
    def tables(self) -> TableServiceAsyncStub:
        """Not served."""
        return TableServiceStub(self.channel)

    async def guest(self, name: str = "") -> Guest:
        """Sign a guest in."""
        answer = await self.identity.SignInAsGuest(identity.SignInAsGuestRequest(display_name=name))
        return Guest(answer.player.player_id, (("authorization", f"Bearer {answer.tokens.access_token}"),))

    async def take(
        self, guest: Guest, request_id: str = "r", wish: tickets.Wish | None = None, **changes: Any
    ) -> tickets.Ticket:
        """Take a ticket; a two-seat match of the standard game unless *wish* says otherwise."""
        request = tickets.CreateTicketRequest(request_id=request_id, wish=wish or a_wish(), **changes)
        answer = await self.matchmaking.CreateTicket(request, metadata=guest.metadata)
        ticket: tickets.Ticket = answer.ticket
        return ticket

    async def look(self, guest: Guest, ticket: tickets.Ticket) -> tickets.Ticket:
        """Read a ticket."""
        request = tickets.GetTicketRequest(ticket_id=ticket.ticket_id)
        found: tickets.Ticket = (await self.matchmaking.GetTicket(request, metadata=guest.metadata)).ticket
        return found

    async def give_back(self, guest: Guest, ticket: tickets.Ticket) -> tickets.Ticket:
        """Cancel a ticket."""
        request = tickets.CancelTicketRequest(ticket_id=ticket.ticket_id)
        found: tickets.Ticket = (await self.matchmaking.CancelTicket(request, metadata=guest.metadata)).ticket
        return found

    def watch(self, guest: Guest, ticket: tickets.Ticket) -> Watching:
        """Watch a ticket."""
        request = tickets.WatchTicketRequest(ticket_id=ticket.ticket_id)
        return Watching(self.matchmaking.WatchTicket(request, metadata=guest.metadata))


class Watching:
    """A stream that watches a ticket."""

    def __init__(self, call: Any) -> None:
        self.call = call

    async def next(self) -> tickets.Ticket | None:
        """The next state, or None at the end of the stream."""
        answer = await self.call.read()
        return None if answer is grpc.aio.EOF else answer.ticket

    async def until(self, state: TicketState.ValueType) -> tickets.Ticket:
        """Read on until the ticket is in *state*."""
        while (ticket := await self.next()) is not None:
            if ticket.state == state:
                return ticket
        raise AssertionError("the stream ended before")


def a_wish(**changes: Any) -> tickets.Wish:
    """A wish for the standard game; *changes* are fields of it."""
    return tickets.Wish(**{"game": GAME, "settings": MatchSettings(), **changes})


@asynccontextmanager
async def running(data: Path, games: LocalGames | None = None, **settings: Any) -> AsyncIterator[Gateway]:
    """A gateway over the data folder *data*. Running it again there is a restart; *settings* are GatewaySettings'."""
    chosen = GatewaySettings(data=data, **settings)
    store = await SqliteGatewayStore.open(chosen.store_path())
    keyring = Keyring.open(chosen.data_folder())
    games = games or LocalGames()
    server = GrpcServer(*SERVICES)
    platform = register(
        server.server,
        games=games,
        store=store,
        keyring=keyring,
        verifier=Verifier.of_keyring(keyring),
        settings=chosen,
        clock=StoreClock(chosen.clock),
    )
    await platform.start()
    port = await server.start("127.0.0.1", 0)
    async with grpc.aio.insecure_channel(f"127.0.0.1:{port}", options=channel_options()) as channel:
        try:
            yield Gateway(server, platform, store, games, keyring, channel, f"127.0.0.1:{port}")
        finally:
            await platform.close()
            await server.stop(1.0)
            await store.close()


async def refused(call: Awaitable[Any]) -> Refused:
    """How *call*, which must be refused, was refused."""
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await call
    return refusal_of(caught.value)


def refusal_of(error: grpc.aio.AioRpcError) -> Refused:
    """What an error says: the status, the reason, which is also the message, and the parameters."""
    details = next(value for key, value in error.trailing_metadata() or () if key == "grpc-status-details-bin")
    status = status_pb2.Status.FromString(bytes(details) if isinstance(details, bytes) else details.encode())
    info = error_details_pb2.ErrorInfo()
    assert status.details[0].Unpack(info)
    assert info.domain == "tortuga"
    assert info.reason == error.details() == status.message
    return Refused(error.code(), info.reason, dict(info.metadata))
