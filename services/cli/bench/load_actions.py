"""The load of `bench actions`: echo and matches by turns in short slices, with marks of the servers at their edges."""

from __future__ import annotations

import asyncio
import time
from collections import Counter, deque
from collections.abc import Sequence
from random import Random
from typing import Any, Self

import grpc

from services.cli.bench.cores import settle
from services.cli.bench.echo import MESSAGE, PATH
from services.cli.bench.figures import percentile
from services.cli.bench.load import channel
from services.cli.bench.lobby import Lobby, Seated
from services.cli.bench.marks import Batches, Cpu, batches, read_metrics
from services.cli.bench.table import Table
from services.kit.game import AnyGame, load_game

SEATS = 2
IN_FLIGHT = 32
"""Echo calls in flight, whatever the number of matches."""

_WARM_SECONDS = 0.3
_START_SECONDS = 30.0
_END_SECONDS = 30.0
_FEWEST_SPARES = 4


class Watched:
    """The servers that are measured; none of an operator's own cluster."""

    def __init__(self, pids: dict[str, int], pages: dict[str, str]) -> None:
        """*pids* by name; *pages*: addresses of HTTP ports by name."""
        self._pids, self._pages = pids, pages

    def cpu(self) -> dict[str, Cpu]:
        """Processor time so far."""
        return {name: Cpu.of(pid) for name, pid in self._pids.items()}

    async def counts(self) -> dict[str, Batches]:
        """Batches so far: of commits, and of links both ways (zeros if a process does not count them)."""
        found = {"commit": Batches(0, 0), "link": Batches(0, 0)}
        for address in self._pages.values():
            page = await asyncio.to_thread(read_metrics, address)
            for name, series in (("commit", "tortuga_append_batch"), ("link", "tortuga_link_batch")):
                more = batches(page, series)
                found[name] = Batches(found[name].batches + more.batches, found[name].items + more.items)
        return found


class Crowd:
    """The matches that are played side by side, with spares to take the place of those that end."""

    def __init__(self, game: AnyGame, lobby: Lobby, channels: Sequence[grpc.aio.Channel], luck: Random) -> None:
        self.tables: list[Table] = []
        """All that were ever made."""
        self.made_late = 0
        """Matches made while actions were counted, because the spares were used up."""
        self._game, self._lobby, self._channels, self._luck = game, lobby, channels, luck
        self._places: list[Table] = []
        self._spares: deque[Table] = deque()
        self._level = 0
        self._closing = False
        self._group = asyncio.TaskGroup()
        self._running: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        await self._group.__aenter__()
        return self

    async def __aexit__(self, *raised: Any) -> None:
        for task in self._running:
            task.cancel()
        await self._group.__aexit__(*raised)

    async def fill(self, places: int) -> None:
        """Have *places* matches to play, and some spares."""
        spares = max(_FEWEST_SPARES, places // 2)
        missing = places - len(self._places) + spares - len(self._spares)
        if missing > 0:
            self._spares.extend(await self._make(missing))
        while len(self._places) < places:
            self._places.append(self._spares.popleft())

    async def play(self, level: int) -> None:
        """Let the first *level* matches be played."""
        self._level = level
        for table in self._places[:level]:
            await table.play()

    async def hold(self) -> None:
        """Let nothing more be sent, and wait until all is answered."""
        self._level = 0
        for table in self._places:
            table.hold()
        for table in self.tables:
            await table.quiet.wait()

    async def end(self) -> None:
        """Let every match end by resignation, so that its seed is revealed and all of it can be verified."""
        self._closing = True
        for table in self.tables:
            await table.resign()
        async with asyncio.timeout(_END_SECONDS):
            await asyncio.gather(*self._running)

    def acked(self) -> int:
        """Acknowledged actions so far."""
        return sum(table.acked for table in self.tables)

    def take_latencies(self) -> list[float]:
        """Seconds per action since this was last asked."""
        found: list[float] = []
        for table in self.tables:
            found += table.latencies
            table.latencies.clear()
        return found

    async def _make(self, count: int) -> list[Table]:
        """New matches, each up to its first decision."""
        tables = await self._lobby.matches(count, self._seat)
        for table in tables:
            async with asyncio.timeout(_START_SECONDS):
                await table.ready.wait()
        return tables

    async def _seat(self, seated: Seated) -> Table:
        first = len(self.tables) * SEATS
        channels = [self._channels[(first + seat) % len(self._channels)] for seat in range(SEATS)]
        table = Table(self._game, seated, channels, Random(self._luck.random()))  # noqa: S311 - choices, no chance
        self.tables.append(table)
        task = self._group.create_task(self._run(table))
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        return table

    async def _run(self, table: Table) -> None:
        """Play *table*; when it is over another one takes its place."""
        await table.run()
        if self._closing:
            return
        place = self._places.index(table)
        if not self._spares:
            self.made_late += 1
            self._spares.extend(await self._make(1))
        self._places[place] = self._spares.popleft()
        if place < self._level:
            await self._places[place].play()


async def run(wanted: dict[str, Any]) -> dict[str, Any]:
    """Measure; `services.cli.bench.actions` says what goes in and what comes out."""
    game = load_game(wanted["game"])
    watched = Watched(wanted["pids"], wanted["pages"])
    levels: list[int] = wanted["levels"]
    connections = range(wanted["connections"])
    channels = [channel(wanted["target"]) for _ in connections]
    echoes = [channel(wanted["echo"]) for _ in connections if wanted["echo"]]
    calls = channel(wanted["target"])
    slices = []
    async with Crowd(game, Lobby(calls, game.id, SEATS), channels, Random(wanted["seed"])) as crowd:  # noqa: S311 - choices
        await crowd.fill(max(levels))
        await _play_slice(crowd, max(levels), wanted["seconds"], watched)  # not counted: everything gets warm
        settle()
        for _ in range(wanted["slices"]):
            found: dict[str, Any] = {}
            for level in levels:
                hello = await _echo_slice(echoes, wanted["seconds"], watched) if echoes else None
                await crowd.fill(max(levels))
                found[str(level)] = {**await _play_slice(crowd, level, wanted["seconds"], watched), "echo": hello}
            slices.append(found)
        ended = sum(table.finished for table in crowd.tables)
        await crowd.end()
    refused = sum((table.refused for table in crowd.tables), Counter[str]())
    return {
        "slices": slices,
        "matches": {table.match_id: table.acked for table in crowd.tables},
        "ended": ended,
        "made_late": crowd.made_late,
        "refused": dict(refused),
        "connections": wanted["connections"],
    }


async def _echo_slice(channels: Sequence[grpc.aio.Channel], seconds: float, watched: Watched) -> dict[str, Any]:
    """Call the echo with IN_FLIGHT calls in flight, shared out among *channels*."""
    calls = 0
    going = True

    async def call_on(echo: Any) -> None:
        nonlocal calls
        while going:
            await echo(MESSAGE)
            calls += 1

    async with asyncio.TaskGroup() as callers:
        for number in range(IN_FLIGHT):
            callers.create_task(call_on(channels[number % len(channels)].unary_unary(PATH)))
        await asyncio.sleep(_WARM_SECONDS)
        first, started, before = calls, time.perf_counter(), watched.cpu()
        await asyncio.sleep(seconds)
        found = _steady(calls - first, time.perf_counter() - started, before, watched)
        going = False
    return found


async def _play_slice(crowd: Crowd, level: int, seconds: float, watched: Watched) -> dict[str, Any]:
    """Let *level* matches be played."""
    counted = await watched.counts()
    await crowd.play(level)
    await asyncio.sleep(_WARM_SECONDS)
    crowd.take_latencies()
    first, started, before = crowd.acked(), time.perf_counter(), watched.cpu()
    await asyncio.sleep(seconds)
    found = _steady(crowd.acked() - first, time.perf_counter() - started, before, watched)
    latencies = crowd.take_latencies()
    await crowd.hold()
    now = await watched.counts()
    return found | {
        "p50_ms": percentile(latencies, 0.5) * 1000 if latencies else None,
        "p99_ms": percentile(latencies, 0.99) * 1000 if latencies else None,
        **{f"{name}_batch": now[name].since(counted[name]).mean for name in counted},
    }


def _steady(count: int, seconds: float, before: dict[str, Cpu], watched: Watched) -> dict[str, Any]:
    used = {name: cpu.since(before[name]) for name, cpu in watched.cpu().items()}
    return {"count": count, "seconds": seconds, "cpu": used}
