"""The load of `bench idle`: streams that say nothing, and what they make the servers grow by."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Sequence
from itertools import cycle
from random import Random
from typing import Any

import grpc

from services.cli import output
from services.cli.bench.conversation import Conversation
from services.cli.bench.load import channel
from services.cli.bench.lobby import Lobby, Seated, Token
from services.cli.bench.marks import resident_kib
from services.kit.game import AnyGame, load_game
from tortuga.play.v1 import play_pb2

SEATS = 2
_OPENING = 64
"""Streams that are being opened at a time."""

_WARM = 64
"""Streams that are opened and closed before anything is weighed, so that what is made once is there."""

_NO_LUCK = Random(0)  # noqa: S311 - nobody acts here
_ANSWER_SECONDS = 30.0


class Streams:
    """Streams of one game through one gateway, spread over a few connections."""

    def __init__(self, game: AnyGame, channels: Sequence[grpc.aio.Channel]) -> None:
        self._path = f"/{game.service.full_name}"
        self._request: Any = game.message("PlayRequest")
        self._channels = cycle(channels)
        self._calls: list[Any] = []

    async def contribute(self, match_id: str, token: Token) -> None:
        """Be present and give randomness by a single `Act`: the match starts, and no stream is left behind."""
        kit = play_pb2.KitAction(kind=play_pb2.KIT_KIND_CONTRIBUTE, contribution=secrets.token_bytes(32))
        header = play_pb2.RequestHeader(match_id=match_id, action_id="contribute")
        request = self._request(header=header, kit=kit).SerializeToString()
        act: Any = next(self._channels).unary_unary(f"{self._path}/Act")
        await act(request, metadata=token, timeout=_ANSWER_SECONDS)

    async def open(self, wanted: Sequence[tuple[str, Token]], *, spectate: bool = False) -> None:
        """Attach to a match for each of *wanted*, and wait until all have their view."""
        gate = asyncio.Semaphore(_OPENING)

        async def attach(match_id: str, token: Token) -> None:
            async with gate:
                call: Any = next(self._channels).stream_stream(f"{self._path}/Play")(metadata=token)
                self._calls.append(call)
                await call.write(Conversation(match_id, _NO_LUCK).attach(spectate=spectate))
                async with asyncio.timeout(_ANSWER_SECONDS):
                    if await call.read() is grpc.aio.EOF:
                        raise RuntimeError(f"a stream ended: {await call.code()} {await call.details()}")

        async with asyncio.TaskGroup() as group:
            for match_id, token in wanted:
                group.create_task(attach(match_id, token))

    def close(self) -> None:
        """Leave, all at once."""
        for call in self._calls:
            call.cancel()
        self._calls.clear()


async def run(wanted: dict[str, Any]) -> dict[str, Any]:
    """Measure; `services.cli.bench.idle` says what goes in and what comes out."""
    game = load_game(wanted["game"])
    pids: dict[str, int] = wanted["pids"]
    count: int = wanted["streams"]
    streams = Streams(game, [channel(wanted["target"]) for _ in range(wanted["connections"])])
    lobby = Lobby(channel(wanted["target"]), game.id, SEATS)

    async def start(seated: Seated) -> list[tuple[str, Token]]:
        for token in seated.tokens:
            await streams.contribute(seated.match_id, token)
        return [(seated.match_id, token) for token in seated.tokens]

    async def memory() -> dict[str, int]:
        await asyncio.sleep(wanted["settle"])
        return {name: resident_kib(pid) for name, pid in pids.items()}

    warm = [seat for seats in await lobby.matches(-(-min(_WARM, count) // SEATS), start) for seat in seats]
    await streams.open(warm)
    streams.close()
    marks = {"start": await memory()}
    seats = [seat for seats in await lobby.matches(-(-count // SEATS), start) for seat in seats][:count]
    marks["matches"] = await memory()
    output.note(f"{len(seats) // SEATS} matches are played, opening {len(seats)} streams of seats")
    await streams.open(seats)
    marks["seats"] = await memory()
    output.note(f"opening {count} streams of spectators of one match")
    match_id, token = seats[0]
    await streams.open([(match_id, token)] * count, spectate=True)
    marks["spectators"] = await memory()
    streams.close()
    return {"marks": marks, "streams": count, "matches": len(seats) // SEATS}
