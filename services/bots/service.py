"""BotService: checks a request, has a worker think, tells what came of it."""

from __future__ import annotations

from typing import Any

from services.bots import frames
from services.bots.pool import Pool
from services.bots.questions import Catalogue
from tortuga.bots.v1 import bot_service_pb2 as wire
from tortuga.bots.v1.bot_service_pb2_grpc import BotServiceServicer


class Bots(BotServiceServicer):
    """Bots of all installed games. Nobody's token is asked for: there is nothing to protect (docs/adr/0005)."""

    def __init__(self, catalogue: Catalogue, pool: Pool) -> None:
        self._catalogue = catalogue
        self._pool = pool

    async def Choose(self, request: wire.ChooseRequest, context: Any) -> wire.ChooseResponse:  # noqa: N802 - gRPC's name
        """The action that a bot plays. Goes before whoever asks for advice.

        Raises:
            DomainError: as bot_service.proto says.
        """
        best = await self._advice(request.position, 1, urgent=True)
        return wire.ChooseResponse(action=best.suggestions[0].action)

    async def Suggest(self, request: wire.SuggestRequest, context: Any) -> wire.SuggestResponse:  # noqa: N802 - gRPC's name
        """The actions that a bot thinks best.

        Raises:
            DomainError: as bot_service.proto says.
        """
        return await self._advice(request.position, request.limit, urgent=False)

    async def _advice(self, position: wire.Position, limit: int, *, urgent: bool) -> wire.SuggestResponse:
        question = self._catalogue.question(position, limit)
        return frames.read_answer(await self._pool.ask(question, urgent=urgent))
