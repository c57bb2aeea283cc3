"""MatchmakingService: the gRPC face of `Tickets`."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import aclosing

from gateway.callers import Callers, Context
from gateway.matchmaking.tickets import Tickets
from services.kit.errors import Unauthenticated
from tortuga.gateway.v1 import matchmaking_service_pb2 as pb
from tortuga.gateway.v1.matchmaking_service_pb2_grpc import MatchmakingServiceServicer

_EXPIRED_GRACE_MS = 60_000
"""How long a stream outlives its token."""


class Matchmaking(MatchmakingServiceServicer):
    """MatchmakingService: every call is made by a player, and is about that player's own tickets."""

    def __init__(self, tickets: Tickets, callers: Callers) -> None:
        self._tickets = tickets
        self._callers = callers

    async def CreateTicket(  # noqa: N802 - gRPC's name
        self, request: pb.CreateTicketRequest, context: Context
    ) -> pb.CreateTicketResponse:
        """Take a ticket; see `Tickets.create`."""
        player = await self._callers.player(context)
        return pb.CreateTicketResponse(ticket=await self._tickets.create(player.player_id, request))

    async def GetTicket(  # noqa: N802 - gRPC's name
        self, request: pb.GetTicketRequest, context: Context
    ) -> pb.GetTicketResponse:
        """Read a ticket; see `Tickets.get`."""
        player = await self._callers.player(context)
        return pb.GetTicketResponse(ticket=await self._tickets.get(player.player_id, request.ticket_id))

    async def WatchTicket(  # noqa: N802 - gRPC's name
        self, request: pb.WatchTicketRequest, context: Context
    ) -> AsyncIterator[pb.WatchTicketResponse]:
        """Read a ticket at each change; see `Tickets.watch`. Ends with TOKEN_EXPIRED a minute after the token did."""
        player = await self._callers.player(context)
        left_seconds = (player.expires_ms + _EXPIRED_GRACE_MS) / 1000 - time.time()
        ends_at = asyncio.get_running_loop().time() + left_seconds
        async with aclosing(self._tickets.watch(player.player_id, request.ticket_id)) as states:
            while True:
                try:
                    async with asyncio.timeout_at(ends_at):
                        ticket = await anext(states)
                except StopAsyncIteration:
                    return
                except TimeoutError:
                    raise Unauthenticated("TOKEN_EXPIRED") from None
                yield pb.WatchTicketResponse(ticket=ticket)

    async def CancelTicket(  # noqa: N802 - gRPC's name
        self, request: pb.CancelTicketRequest, context: Context
    ) -> pb.CancelTicketResponse:
        """Give a ticket back; see `Tickets.cancel`."""
        player = await self._callers.player(context)
        return pb.CancelTicketResponse(ticket=await self._tickets.cancel(player.player_id, request.ticket_id))
