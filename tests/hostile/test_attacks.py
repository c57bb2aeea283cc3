"""Three attacks that worked once: each is refused or held up, its memory comes back, and play goes on."""

from __future__ import annotations

import asyncio
import signal
from collections import Counter
from collections.abc import Iterable
from itertools import repeat
from pathlib import Path
from random import Random
from typing import Any

import grpc
import pytest

from services.cli.fleet import GATEWAY, Fleet
from services.client import Client
from services.kit.stream import ATTACHING
from tests.hostile import frames
from tests.hostile.frames import GAME
from tests.hostile.memory import Memory
from tests.hostile.table import attachments, guests, tables, until_attachments

ACTS = 300
STREAMS = 30
ATTACHES = 5_000
ATTACH_STREAMS = 25

MOST_KIB = 64 * 1024
"""By how much a process may grow under an attack: what it sends at once is read once at most."""

_WRITE_SECONDS = 1.0

_held_up: set[asyncio.Future[Any]] = set()
"""Writes that wait; cancelling one would end its stream."""

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]


async def test_acts_in_matches_with_long_names(tmp_path: Path) -> None:
    """300 at once, with match ids of 60 kB: all are refused, none becomes an attachment, and the gateway answers on."""
    async with Fleet(tmp_path, [GAME.id]) as fleet, tables(fleet.gateway_address, 1) as made:
        async with guests(fleet.gateway_address, 2) as (client, other):
            before = Memory.of(fleet)
            refusals = Counter(await asyncio.gather(*(_act(client, frames.act_on_long_id()) for _ in range(ACTS))))
            async with asyncio.timeout(1):
                assert await _act(other, frames.attach("nobody")) == "MATCH_UNKNOWN"
            _report(before, Memory.of(fleet), refusals)
            assert set(refusals) == {"MATCH_UNKNOWN", "TOO_FAST"}
            assert await attachments(fleet, GATEWAY) == await attachments(fleet, GAME.id) == 2
        await made[0].act(Random(1))


async def test_refusals_that_nobody_reads(tmp_path: Path) -> None:
    """30 streams of 60 kB requests that are all refused, never read: the streams are held up, and nothing piles up."""
    async with Fleet(tmp_path, [GAME.id]) as fleet, tables(fleet.gateway_address, 1) as made:
        async with guests(fleet.gateway_address, STREAMS) as clients:
            before = Memory.of(fleet)
            plays: list[Any] = [frames.method(client.streams, "Play")(metadata=client.metadata) for client in clients]
            sent = await asyncio.gather(*(_write_on(play, repeat(frames.stray(), 1000)) for play in plays))
            assert max(sent) < 100
            _report(before, Memory.of(fleet), {"sent": sum(sent)})
            for play in plays:
                play.cancel()
        await made[0].act(Random(1))


async def test_attaches_while_the_game_sleeps(tmp_path: Path) -> None:
    """5,000 of them with the game process stopped: what the gateway holds for it is bounded, and gone afterwards."""
    async with Fleet(tmp_path, [GAME.id]) as fleet, tables(fleet.gateway_address, 1) as made:
        async with guests(fleet.gateway_address, ATTACH_STREAMS) as clients:
            before = Memory.of(fleet)
            fleet.kill(GAME.id, signal.SIGSTOP)
            try:
                plays = [frames.method(client.streams, "Play")(metadata=client.metadata) for client in clients]
                attaches = [_some_attach(number, made[0].match_id) for number in range(ATTACHES // ATTACH_STREAMS)]
                sent = await asyncio.gather(*(_write_on(play, attaches) for play in plays))
                await until_attachments(fleet, 2 + ATTACH_STREAMS * ATTACHING, GATEWAY)
                _report(before, Memory.of(fleet), {"sent": sum(sent)})
                for play in plays:
                    play.cancel()
            finally:
                fleet.kill(GAME.id, signal.SIGCONT)
            await until_attachments(fleet, 2, GATEWAY, GAME.id)
        await made[0].act(Random(1))


def _some_attach(number: int, match_id: str) -> bytes:
    """Of matches that nobody knows and of one that there is; at last with a match id of 60 kB."""
    if number >= ATTACHES // ATTACH_STREAMS - 10:
        return frames.attach(frames.LONG_ID)
    return frames.attach(match_id if number % 10 == 9 else f"{match_id}-{number}")


async def _act(client: Client, data: bytes) -> str:
    """The reason why the action was refused."""
    try:
        await frames.method(client.calls, "Act")(data, metadata=client.metadata, timeout=20)
    except grpc.aio.AioRpcError as error:
        return error.details() or error.code().name
    raise AssertionError("not refused")


async def _write_on(call: Any, requests: Iterable[bytes]) -> int:
    """Write until nothing is taken any more, and leave the stream as it is; returns how many requests were taken."""
    taken = 0
    for data in requests:
        writing = asyncio.ensure_future(call.write(data))
        done, _ = await asyncio.wait((writing,), timeout=_WRITE_SECONDS)
        if not done:
            _held_up.add(writing)
            writing.add_done_callback(_let_go)
            break
        taken += 1
    return taken


def _let_go(writing: asyncio.Future[Any]) -> None:
    _held_up.discard(writing)
    if not writing.cancelled():
        writing.exception()


def _report(before: Memory, after: Memory, facts: Any) -> None:
    print(dict(facts), f"before: {before}; after: {after}")
    assert max(after.more_than(before)) < MOST_KIB
