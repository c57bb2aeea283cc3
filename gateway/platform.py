"""The platform's services put together: identity, catalogue, matchmaking, history, advice, and those not served yet."""

from __future__ import annotations

from typing import NamedTuple

import grpc
from google.protobuf.descriptor import FileDescriptor

from gateway.background import Background
from gateway.callers import Callers
from gateway.catalog import Catalog
from gateway.games import Games
from gateway.history.results import Results
from gateway.history.service import History
from gateway.identity.refresh import RefreshTokens
from gateway.identity.service import Identity
from gateway.identity.upkeep import IdentityUpkeep
from gateway.matchmaking.board import Board
from gateway.matchmaking.checks import WishChecks
from gateway.matchmaking.lifetimes import Lifetimes
from gateway.matchmaking.orders import Orders
from gateway.matchmaking.service import Matchmaking
from gateway.matchmaking.tickets import Tickets
from gateway.matchmaking.upkeep import Upkeep
from gateway.matchmaking.watches import Watches
from gateway.settings import GatewaySettings
from gateway.store.port import GatewayStore
from gateway.suggestions import Suggestions
from gateway.unserved import Unserved
from services.kit.clock import StoreClock
from services.kit.tokens import Keyring, Verifier
from tortuga.bots.v1 import bot_service_pb2
from tortuga.bots.v1.bot_service_pb2_grpc import add_BotServiceServicer_to_server
from tortuga.gateway.v1 import (
    catalog_service_pb2,
    history_service_pb2,
    identity_service_pb2,
    matchmaking_service_pb2,
    table_service_pb2,
)
from tortuga.gateway.v1.catalog_service_pb2_grpc import add_CatalogServiceServicer_to_server
from tortuga.gateway.v1.history_service_pb2_grpc import add_HistoryServiceServicer_to_server
from tortuga.gateway.v1.identity_service_pb2_grpc import add_IdentityServiceServicer_to_server
from tortuga.gateway.v1.matchmaking_service_pb2_grpc import add_MatchmakingServiceServicer_to_server

_UNSERVED: tuple[FileDescriptor, ...] = (table_service_pb2.DESCRIPTOR,)

SERVICES: tuple[str, ...] = tuple(
    service.full_name
    for file in (
        identity_service_pb2.DESCRIPTOR,
        catalog_service_pb2.DESCRIPTOR,
        matchmaking_service_pb2.DESCRIPTOR,
        history_service_pb2.DESCRIPTOR,
        bot_service_pb2.DESCRIPTOR,
        *_UNSERVED,
    )
    for service in file.services_by_name.values()
)
"""Full names of all services that `register` adds, for reflection and health."""


class Platform(NamedTuple):
    """The parts that others need, and the life of the rest. Close it before the server, the links and the store."""

    callers: Callers
    """Who calls."""
    orders: Orders
    """`await orders.made(match_id)` before an attachment goes to a pod."""
    tickets: Tickets
    """MatchmakingService without gRPC."""
    watches: Watches
    """The streams that watch tickets."""
    upkeep: Upkeep
    """Pairing when games come back, expiry, forgetting."""
    checking: Background
    """Questions to games about wishes."""
    results: Results
    """Brings how matches ended."""
    suggestions: Suggestions
    """Asks the bots on players' behalf."""
    identity: IdentityUpkeep
    """Rotates the keys, forgets expired sign-ins."""

    async def start(self) -> None:
        """Take up what the store holds: open orders, waiting tickets. Before the server starts."""
        await self.orders.start()
        await self.upkeep.start()
        await self.results.start()
        self.identity.start()

    async def close(self) -> None:
        """End the watching streams (DRAINING), let what is being filed finish, stop the rest."""
        await self.watches.close()
        await self.upkeep.close()
        await self.tickets.close()
        await self.orders.close()
        await self.checking.close()
        await self.results.close()
        await self.suggestions.close()
        await self.identity.close()


def register(
    server: grpc.aio.Server,
    *,
    games: Games,
    store: GatewayStore,
    keyring: Keyring,
    verifier: Verifier,
    settings: GatewaySettings,
    clock: StoreClock,
) -> Platform:
    """Build the platform's services over *games* and *store*, and add them to *server*."""
    callers = Callers(verifier)
    checking = Background()
    checks = WishChecks(games, checking)
    orders = Orders(store, games, clock, settings.order_wait_seconds)
    watches = Watches(store)
    lifetimes = Lifetimes(settings.ticket_seconds)
    board = Board(orders=orders, watches=watches, lifetimes=lifetimes, checks=checks, clock=clock)
    upkeep = Upkeep(
        store=store,
        games=games,
        checks=checks,
        lifetimes=lifetimes,
        watches=watches,
        board=board,
        clock=clock,
        keep_hours=settings.ticket_keep_hours,
    )
    tickets = Tickets(
        store=store,
        games=games,
        checks=checks,
        lifetimes=lifetimes,
        watches=watches,
        board=board,
        upkeep=upkeep,
        clock=clock,
        settings=settings,
    )
    refresh_tokens = RefreshTokens(store, clock, settings.refresh_days)
    identity = Identity(
        store=store,
        callers=callers,
        keyring=keyring,
        verifier=verifier,
        clock=clock,
        refresh_tokens=refresh_tokens,
        tickets=tickets,
        seconds=settings.token_seconds,
    )
    add_IdentityServiceServicer_to_server(identity, server)
    add_CatalogServiceServicer_to_server(Catalog(games), server)
    add_MatchmakingServiceServicer_to_server(Matchmaking(tickets, callers), server)
    add_HistoryServiceServicer_to_server(History(store, callers), server)
    suggestions = Suggestions(callers, settings.bots)
    add_BotServiceServicer_to_server(suggestions, server)
    for file in _UNSERVED:
        for service in file.services_by_name.values():
            Unserved(service).register(server)
    tending = IdentityUpkeep(keyring, refresh_tokens, token_seconds=settings.token_seconds, key_days=settings.key_days)
    results = Results(store, games)
    return Platform(callers, orders, tickets, watches, upkeep, checking, results, suggestions, tending)
