"""Two matches side by side, everyone behind a tap; one ends, the other is live. All that the platform gives is kept."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import AsyncExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import grpc
import httpx
import pytest
from google.protobuf.message import Message

from services.cli.replaying import replay
from services.client import Client, Refused, Seat
from services.kit import chain
from services.kit.entry import Entry
from services.kit.export import Collector, write
from services.kit.game import load_game
from services.kit.rules import Seat as Place
from services.kit.rules import Viewer
from services.kit.step import Step
from services.kit.verify import walk
from tests.verify.conftest import Platform
from tests.verify.table import GAME as GAME_ID
from tests.verify.table import play, seated
from tests.verify.tap import Tap
from tortuga.play.v1 import play_pb2

GAME = load_game(GAME_ID)
PAGES = ("/metrics", "/healthz", "/.well-known/jwks.json", "/", "/nonsense")
_LIVE_DECISIONS = 3
_BLINDS = 10
"""Of so many first entries the blinds are looked for."""


Found = tuple[str, bytes]
"""Something that was given, by name."""


@dataclass
class Given:
    """What the platform gave, and what it should have kept for itself."""

    match_id: str
    """Of the match that ended."""
    commitment: bytes
    steps: list[Step]
    """What its entries were, from its record."""
    taps: dict[Viewer, Tap]
    """Its viewers; the spectator is None."""
    other_taps: list[Tap]
    """The live match's viewers, and whoever read the record of the one that ended."""
    secrets: dict[str, bytes]
    """Of the match that ended, by name."""
    live_secrets: dict[str, bytes]
    texts: set[str]
    """Of the actions in both matches."""
    meanwhile: list[Found]
    """Logs, files, HTTP and refusals while both were live."""
    afterwards: list[Found]
    """The same when one had ended, with its record."""


async def play_both(platform: Platform, seed: int) -> Given:
    """Play, and look around twice."""
    async with AsyncExitStack() as stack:

        async def taps(count: int) -> list[Tap]:
            return [await stack.enter_async_context(Tap(platform.gateway)) for _ in range(count)]

        async def guest(tap: Tap) -> Client:
            client = await stack.enter_async_context(Client(tap.address))
            await client.sign_in_as_guest()
            return client

        async def match_of(lines: list[Tap]) -> tuple[str, list[Client]]:
            return await stack.enter_async_context(seated([tap.address for tap in lines]))

        lines, live_lines, [spectating, live_spectating, reading] = await taps(3), await taps(2), await taps(3)
        match_id, players = await match_of(lines)
        live_id, live_players = await match_of(live_lines)
        spectators = [
            asyncio.create_task(_watch(await guest(spectating), match_id)),
            asyncio.create_task(_watch(await guest(live_spectating), live_id)),
        ]
        paused, meanwhile = asyncio.Event(), list[Found]()

        async def pause(seat: Seat) -> bool:
            if seat.decision >= _LIVE_DECISIONS:
                paused.set()
                await asyncio.Event().wait()
            return True

        async def turn(seat: Seat) -> bool:
            if seat.decision == 2:
                await _try_what_is_refused(seat)
            if seat.seat == 0 and seat.decision == 3:
                await paused.wait()
                meanwhile.extend(await _look_around(platform, players[0], match_id, live_id))
            return True

        live_play = asyncio.create_task(play(live_players, live_id, Random(seed), pause))
        seats = await asyncio.wait_for(play(players, match_id, Random(seed), turn), 60)
        await asyncio.wait_for(spectators[0], 30)
        collector = Collector()
        async for message in replay(await guest(reading), match_id, GAME_ID):
            collector.take(message)
        export = collector.export()
        record = ("record", write(export).encode())
        afterwards = [*await _look_around(platform, live_players[0], live_id), record]
        for task in (live_play, spectators[1]):
            task.cancel()
        await asyncio.gather(live_play, spectators[1], return_exceptions=True)
    steps = [found.step for found in walk(export, GAME) if found.step is not None]
    secrets, live_secrets = (_secrets(platform.data, match) for match in (match_id, live_id))
    viewers: dict[Viewer, Tap] = {None: spectating}
    viewers |= {Place(seat.seat or 0): tap for seat, tap in zip(seats, lines, strict=True)}
    texts = {entry.text for match in (match_id, live_id) for entry in _entries(platform.data, match)}
    others = [*live_lines, live_spectating, reading]
    return Given(
        match_id, export.match.commitment, steps, viewers, others, secrets, live_secrets, texts, meanwhile, afterwards
    )


async def _watch(client: Client, match_id: str) -> None:
    async with client.watch(match_id, GAME_ID) as seat:
        async for _ in seat:
            pass


async def _try_what_is_refused(seat: Seat) -> None:
    """Actions out of place, closed decisions, what only the system does: the answers are received bytes too."""
    assert seat.last is not None
    legal = {str(action) for action in GAME.wire.read_legal(seat.last.update).actions}
    illegal = {"draw stock", "partition auto"} - legal
    attempts: list[tuple[str | Message, int]] = [
        (text, decision) for text in illegal for decision in (seat.decision, seat.decision + 9)
    ]
    kit = play_pb2.KitAction(kind=play_pb2.KIT_KIND_BEGIN)
    for action, decision in [*attempts, (kit, 0)]:
        with pytest.raises(Refused):
            await seat.act(action, decision)


async def _look_around(platform: Platform, client: Client, *live: str) -> list[Found]:
    """Everything that anybody can get at, but for the bytes on the lines."""
    found = list(_files(platform.data))
    async with httpx.AsyncClient(trust_env=False) as web:
        for url in platform.http:
            for page in PAGES:
                answer = await web.get(url + page)
                found.append((url + page, repr(answer.headers).encode() + answer.content))
    for match_id in live:
        found += [(f"refusal by {method}", said) for method, said in await _refusals(client, match_id)]
    return found


def _files(data: Path) -> Iterator[Found]:
    """Every file but the match log's own; of that, all that is not the secrets' rightful place."""
    for path in data.rglob("*"):
        if path.is_file() and not path.name.startswith(f"{GAME_ID}.db"):
            yield str(path), path.read_bytes()
    with closing(_log(data)) as log:
        for row in log.execute("SELECT match_id, fixed, spectator_key, head, result FROM matches"):
            yield "matches", b"|".join(value if isinstance(value, bytes) else str(value).encode() for value in row)
        for row in log.execute("SELECT action_id, head, data FROM entries"):
            yield "entries", b"|".join(value if isinstance(value, bytes) else str(value).encode() for value in row)


async def _refusals(client: Client, match_id: str) -> list[Found]:
    """What the calls of a single answer say when they refuse, trailers and all."""
    said = []
    requests: dict[str, Any] = {
        "Act": {"header": {"match_id": match_id, "action_id": "x", "decision": 77}, "action": {"draw": {"source": 1}}},
        "Replay": {"header": {"match_id": match_id}},
    }
    for method, request in requests.items():
        data = GAME.message(f"{method}Request")(**request).SerializeToString()
        path = f"/{GAME.service.full_name}/{method}"
        dial: Any = client.calls.unary_unary if method == "Act" else client.calls.unary_stream
        call = dial(path)(data, metadata=client.metadata)
        with pytest.raises(grpc.aio.AioRpcError) as raised:
            await (call if method == "Act" else call.read())
        trailers = [
            value if isinstance(value, bytes) else value.encode() for _, value in raised.value.trailing_metadata()
        ]
        said.append((method, b"|".join([str(raised.value).encode(), *trailers])))
    return said


def _secrets(data: Path, match_id: str) -> dict[str, bytes]:
    """What nobody may see of a match while it is live."""
    with closing(_log(data)) as log:
        query = "SELECT seed, blind_key FROM matches WHERE match_id = ?"
        seed, blind_key = log.execute(query, (match_id,)).fetchone()
    given: Mapping[int | None, bytes] = {
        entry.seat: bytes.fromhex(entry.text.partition(" ")[2])
        for entry in _entries(data, match_id)
        if entry.text.startswith("@contribute")
    }
    key = chain.match_key(seed, [given[seat] for seat in range(len(given))])
    opened = {f"blind({revision})": chain.blind(blind_key, revision) for revision in range(1, _BLINDS + 1)}
    return {"seed": seed, "blind key": blind_key, "key": key, **opened}


def _entries(data: Path, match_id: str) -> list[Entry]:
    with closing(_log(data)) as log:
        query = "SELECT data FROM entries JOIN matches ON matches.id = entries.match WHERE match_id = ?"
        return [Entry.read(row[0]) for row in log.execute(query, (match_id,))]


def _log(data: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"file:{data / GAME_ID}.db?mode=ro", uri=True)
