"""Reading a finished match again, from its beginning."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Any, Protocol

import grpc

from services.client.connection import Connection, Patience
from services.client.errors import Refused
from services.kit.game import AnyGame
from tortuga.play.v1 import match_pb2, play_pb2


class Replayed(Protocol):
    """Any game's ReplayResponse; tortuga/play/v1/play.proto says what its fields mean. `update` is the game's own."""

    header: play_pb2.UpdateHeader
    status: match_pb2.Status
    attached: play_pb2.Attached
    kit: play_pb2.KitEvent
    record: play_pb2.Record
    update: Any

    def HasField(self, field_name: str, /) -> bool:  # noqa: N802 - protobuf's own name
        """Whether the field is there."""


async def replay(link: Connection, game: AnyGame, match_id: str) -> AsyncGenerator[Replayed, None]:
    """First the match before its first entry, then one message an entry, each with its record.

    A log that is over does not change: after a break the call is made again, and what was brought is left out.

    Raises:
        Refused: MATCH_RUNNING, MATCH_UNKNOWN, SPECTATORS_REFUSED …
        Unreachable: the platform was away for as long as patience lasts.
    """
    method: Any = link.streams.unary_stream(
        f"/{game.service.full_name}/Replay",
        game.message("ReplayRequest").SerializeToString,
        game.message("ReplayResponse").FromString,
    )
    request: Any = game.message("ReplayRequest")
    patience, brought = Patience(link.patience), 0
    while True:
        place = 0
        try:
            async for message in method(request(header={"match_id": match_id}), metadata=link.metadata):
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
