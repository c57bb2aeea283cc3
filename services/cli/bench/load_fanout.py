"""The load of `bench fanout`: one match, its players, and many who watch; every delivery is awaited."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from random import Random
from typing import Any

import grpc

from services.cli.bench.conversation import Conversation, over
from services.cli.bench.cores import settle
from services.cli.bench.figures import percentile
from services.cli.bench.load import channel
from services.cli.bench.lobby import Lobby, Seated, Token
from services.cli.bench.marks import Cpu
from services.cli.bench.table import Table
from services.kit.game import AnyGame, load_game

_CONNECTIONS = 4
"""Connections that the viewers' streams share."""

_START_SECONDS = 30.0
_LAST_SECONDS = 10.0
_NO_LUCK = Random(0)  # noqa: S311 - spectators choose nothing


class Hall:
    """A match with everyone who looks on. It acts once when told to, and waits for the last of all viewers."""

    def __init__(self, game: AnyGame, channels: Sequence[grpc.aio.Channel], spectators: int, seats: int) -> None:
        self._game, self._channels, self._spectators, self._seats = game, channels, spectators, seats
        self._table: Table | None = None
        self._group = asyncio.TaskGroup()
        self._tasks: list[asyncio.Task[None]] = []
        self._heard: dict[bytes, int] = {}
        self._everyone = asyncio.Event()
        self._present = 0
        self._all_present = asyncio.Event()
        self.deliveries = 0
        """Updates that viewers have read so far."""
        self.skipped = 0
        """Times that a viewer was too slow and got a whole view instead."""

    async def __aenter__(self) -> Hall:
        await self._group.__aenter__()
        return self

    async def __aexit__(self, *raised: Any) -> None:
        await self.leave()
        await self._group.__aexit__(*raised)

    async def open(self, lobby: Lobby, watcher: Token, luck: Random) -> None:
        """Make a new match and seat everyone in place of the one before."""
        await self.leave()

        async def seat(seated: Seated) -> Table:
            channels = [self._channels[number % len(self._channels)] for number in range(self._seats)]
            table = Table(self._game, seated, channels, luck)
            table.heard = self._hear
            self._tasks = [self._group.create_task(table.run())]
            return table

        (self._table,) = await lobby.matches(1, seat)
        async with asyncio.timeout(_START_SECONDS):
            await self._table.ready.wait()
            for number in range(self._spectators):
                self._tasks.append(self._group.create_task(self._watch(number, self._table.match_id, watcher)))
            await self._all_present.wait()

    @property
    def open_for_more(self) -> bool:
        """Whether there is a match that goes on."""
        return self._table is not None and not self._table.finished

    async def act(self) -> float:
        """Let one action be played; seconds from sending it until the last viewer has read its update."""
        table = self._table
        if table is None:
            raise RuntimeError("no match")
        self._heard.clear()
        self._everyone.clear()
        started = time.perf_counter()
        await table.play(most=1)
        async with asyncio.timeout(_LAST_SECONDS):
            await self._everyone.wait()
        return time.perf_counter() - started

    async def leave(self) -> None:
        """Let go of the match."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._tasks, self._table, self._present = [], None, 0
        self._all_present = asyncio.Event()
        if not self._spectators:
            self._all_present.set()

    async def _watch(self, number: int, match_id: str, token: Token) -> None:
        path, decode = f"/{self._game.service.full_name}/Play", self._game.message("PlayResponse").FromString
        play: Any = self._channels[number % len(self._channels)].stream_stream(path, None, decode)
        call = play(metadata=token)
        try:
            await call.write(Conversation(match_id, _NO_LUCK).attach(spectate=True))
            while (response := await call.read()) is not grpc.aio.EOF:
                if response.HasField("attached") and not response.HasField("skipped"):
                    self._present += 1
                    if self._present == self._spectators:
                        self._all_present.set()
                else:
                    self._hear(response)
                if over(response):
                    return
        finally:
            call.cancel()

    def _hear(self, response: Any) -> None:
        head = response.header.head
        if not head:
            return
        self.deliveries += 1
        self.skipped += response.HasField("skipped")
        heard = self._heard[head] = self._heard.get(head, 0) + 1
        if heard == self._seats + self._spectators:
            self._everyone.set()


async def run(wanted: dict[str, Any]) -> dict[str, Any]:
    """Measure; `services.cli.bench.fanout` says what goes in and what comes out."""
    game = load_game(wanted["game"])
    channels = [channel(wanted["target"]) for _ in range(_CONNECTIONS)]
    lobby = Lobby(channel(wanted["target"]), game.id, wanted["players"])
    watcher = await lobby.guest()
    luck = Random(wanted["seed"])  # noqa: S311 - choices of a benchmark
    pids: dict[str, int] = wanted["pids"]
    slices: list[dict[str, Any]] = []
    async with Hall(game, channels, wanted["spectators"], wanted["players"]) as hall:
        await hall.open(lobby, watcher, luck)
        await _slice(hall, wanted["seconds"], pids)  # not counted: everything gets warm
        settle()
        while len(slices) < wanted["slices"]:
            if not hall.open_for_more:
                await hall.open(lobby, watcher, luck)
            slices.append(await _slice(hall, wanted["seconds"], pids))
        return {"slices": slices, "skipped": hall.skipped}


async def _slice(hall: Hall, seconds: float, pids: dict[str, int]) -> dict[str, Any]:
    """Act for *seconds*, or until the match is over."""
    first, before = hall.deliveries, {name: Cpu.of(pid) for name, pid in pids.items()}
    started = now = time.perf_counter()
    latencies = []
    while now - started < seconds and hall.open_for_more:
        latencies.append(await hall.act())
        now = time.perf_counter()
    used = {name: Cpu.of(pid).since(before[name]) for name, pid in pids.items()}
    return {
        "count": len(latencies),
        "deliveries": hall.deliveries - first,
        "seconds": now - started,
        "cpu": used,
        "p50_ms": percentile(latencies, 0.5) * 1000,
        "p99_ms": percentile(latencies, 0.99) * 1000,
    }
