"""Reading a finished match again, from its beginning."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Any

import grpc

from services.client import Client, Refused
from services.client.connection import Patience
from services.kit.export import Replayed
from services.kit.game import load_game


async def replay(client: Client, match_id: str, game_id: str) -> AsyncGenerator[Replayed, None]:
    """First the match before its first entry, then one message an entry, each with its record.

    A log that is over does not change: after a break the call is made again, and what was brought is left out.

    Raises:
        Refused: MATCH_RUNNING, MATCH_UNKNOWN, SPECTATORS_REFUSED …
        Unreachable: the platform was away for as long as patience lasts.
    """
    game = load_game(game_id)
    method: Any = client.streams.unary_stream(
        f"/{game.service.full_name}/Replay",
        game.message("ReplayRequest").SerializeToString,
        game.message("ReplayResponse").FromString,
    )
    request: Any = game.message("ReplayRequest")
    patience, brought = Patience(client.patience), 0
    while True:
        place = 0
        try:
            async for message in method(request(header={"match_id": match_id}), metadata=client.metadata):
                place += 1
                if place > brought:
                    brought = place
                    patience.alive(progress=True)
                    yield message
        except grpc.aio.AioRpcError as error:
            cause = Refused.by_status(error)
        else:
            return
        if not cause.broken:
            raise cause
        await patience.wait(cause)
