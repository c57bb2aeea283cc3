"""Advice for players: BotService with players' tokens, passed on to the bots' process, which asks for none."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, NoReturn

import grpc

from gateway.background import gave_up
from gateway.callers import Callers, Context
from services.kit.errors import Exhausted, Forbidden, Relayed, Unavailable, code_number
from services.kit.shell.interceptors import REQUEST_ID, error_info, request_id
from services.kit.shell.server import channel_options
from tortuga.bots.v1 import bot_service_pb2 as wire
from tortuga.bots.v1.bot_service_pb2_grpc import BotServiceServicer, BotServiceStub

if TYPE_CHECKING:
    from tortuga.bots.v1.bot_service_pb2_grpc import BotServiceAsyncStub

MOST_OPEN = 2
"""Calls that one player may have open at a time."""

_RETRY_MS = 250
"""When a player who has too many of them should ask again."""

_USUAL_SECONDS, _MOST_SECONDS = 0.5, 5.0
"""The budget that 0 stands for, and the largest (bot_service.proto)."""

_WAY_SECONDS = 2.0
"""How long the way there and back may take, beside the thinking; after that the bots count as away."""


class Suggestions(BotServiceServicer):
    """Passes Suggest on to the bots at *address*, `host:port`; empty if there are none."""

    def __init__(self, callers: Callers, address: str) -> None:
        self._callers = callers
        self._channel = grpc.aio.insecure_channel(address, options=channel_options()) if address else None
        self._open: Counter[str] = Counter()

    async def close(self) -> None:
        """Break off what is open: Suggest then says DRAINING."""
        if self._channel is not None:
            await self._channel.close()

    async def Choose(self, request: wire.ChooseRequest, context: Context) -> NoReturn:  # noqa: N802 - gRPC's name
        """Refuse: a bot's seat is no player's affair.

        Raises:
            Unauthenticated: as all calls with a token.
            Forbidden: SERVICE_ONLY.
        """
        await self._callers.player(context)
        raise Forbidden("SERVICE_ONLY")

    async def Suggest(self, request: wire.SuggestRequest, context: Context) -> wire.SuggestResponse:  # noqa: N802 - gRPC's name
        """The advice of a bot. It sees what the player sends, and nothing else.

        Raises:
            Unauthenticated: as all calls with a token.
            Exhausted: TOO_MANY_SUGGESTIONS.
            Unavailable: NO_BOTS: there are none, or they are away; DRAINING.
            Relayed: the bots' own refusal.
        """
        player = await self._callers.player(context)
        if self._channel is None:
            raise Unavailable("NO_BOTS")
        bots: BotServiceAsyncStub = BotServiceStub(self._channel)
        budget = min(request.position.budget_ms / 1000 or _USUAL_SECONDS, _MOST_SECONDS)
        with self._one_more(player.player_id):
            try:
                return await bots.Suggest(
                    request, timeout=budget + _WAY_SECONDS, metadata=((REQUEST_ID, request_id(context)),)
                )
            except grpc.aio.UsageError:
                raise Unavailable("DRAINING") from None  # the channel is closed
            except asyncio.CancelledError:
                if gave_up():
                    raise
                raise Unavailable("DRAINING") from None
            except grpc.aio.AioRpcError as error:
                info = error_info(error)
                if not info.reason:
                    raise Unavailable("NO_BOTS") from None
                raise Relayed(code_number(error.code()), info.reason, info.metadata) from None

    @contextmanager
    def _one_more(self, player_id: str) -> Iterator[None]:
        if self._open[player_id] >= MOST_OPEN:
            raise Exhausted("TOO_MANY_SUGGESTIONS", most=MOST_OPEN, retry_after_ms=_RETRY_MS)
        self._open[player_id] += 1
        try:
            yield
        finally:
            self._open[player_id] -= 1
            if not self._open[player_id]:
                del self._open[player_id]
