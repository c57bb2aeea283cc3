"""Matches on real stores for the kit's tests: pods without sockets, a clock that is moved by hand, players."""

from __future__ import annotations

import asyncio
from pathlib import Path
from random import Random
from typing import Any

from services.kit.clock import StoreClock
from services.kit.entry import Entry
from services.kit.game import AnyGame, load_game
from services.kit.host import Host
from services.kit.match import LiveMatch
from services.kit.requests import Wake
from services.kit.step import RUNNING
from services.kit.store.port import StoredMatch
from services.kit.store.sqlite import SqliteMatchStore
from tests.match import stones_wire
from tests.match.viewer import PATIENCE, Viewer
from tests.store.faults import FaultyStore
from tortuga.play.v1 import match_pb2

CORSARI = load_game("corsari")
STONES = stones_wire.GAME


class Pod:
    """One process's host on the shared file."""

    def __init__(self, game: AnyGame, path: Path, clock: StoreClock) -> None:
        self.store = FaultyStore(SqliteMatchStore(path, lock_wait=0.3))
        self.host = Host(game, self.store, clock)
        self.host.start()

    def match(self, match_id: str) -> LiveMatch:
        """The match as the pod has it in memory."""
        return self.host._matches[match_id]

    def state(self, match_id: str) -> Any:
        """The game's state as the pod has it in memory."""
        return self.match(match_id).last.game

    def holds(self, match_id: str) -> bool:
        """Whether the pod has the match in memory."""
        return match_id in self.host._matches

    async def catch_up(self, match_id: str) -> None:
        """Have the pod read what others wrote, as a wake makes it do."""
        stored = await self.store.store.load(match_id)
        assert stored is not None
        self.host.submit(match_id, Wake())
        async with asyncio.timeout(PATIENCE):
            while not self.holds(match_id) or self.match(match_id).last.revision < stored.revision:
                await asyncio.sleep(0)

    async def quiet(self, match_id: str) -> None:
        """Wait until nothing is under way in the match."""
        async with asyncio.timeout(PATIENCE):
            while self.match(match_id)._busy or self.match(match_id)._queue:
                await asyncio.sleep(0)

    async def close(self) -> None:
        """As a process drains, with a store that is well."""
        self.store.heal()
        await self.host.close()
        await self.store.close()


class World:
    """Pods that share one store, one clock and their matches."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._clock_file = folder / "clock"
        self._offset = 0.0
        self.clock = StoreClock(self._clock_file)
        self.pods: list[Pod] = []
        self._made = 0

    def pod(self, game: AnyGame = CORSARI) -> Pod:
        """One more pod."""
        self.pods.append(Pod(game, self._folder / f"{game.id}.db", self.clock))
        return self.pods[-1]

    def move_clock(self, seconds: float) -> None:
        """Let *seconds* pass by the store's clock."""
        self._offset += seconds
        fresh = self._clock_file.with_suffix(".new")
        fresh.write_text(str(self._offset))
        fresh.rename(self._clock_file)

    async def match(self, pod: Pod, players: int = 2, start_seconds: int | None = None, **settings: Any) -> str:
        """Make a match of players p0, p1, …; returns its id."""
        self._made += 1
        wanted = match_pb2.Match(
            match_id=f"match-{self._made}",
            seats=[match_pb2.Seat(player_id=f"p{number}") for number in range(players)],
            settings=match_pb2.MatchSettings(start_seconds=start_seconds, **settings),
        )
        return (await pod.host.create(wanted, "", False)).match_id

    async def running(self, pod: Pod, players: int = 2, **settings: Any) -> list[Viewer]:
        """A match that has begun, with all its players attached."""
        match_id = await self.match(pod, players, **settings)
        return await begin(pod, match_id, players)

    async def log(self, pod: Pod, match_id: str) -> list[Entry]:
        """The match's log as stored."""
        stored = await self.stored(pod, match_id)
        return [Entry.read(found.data) for found in await pod.store.store.entries(stored.row)]

    async def stored(self, pod: Pod, match_id: str) -> StoredMatch:
        """The match as stored."""
        stored = await pod.store.store.load(match_id)
        assert stored is not None
        return stored

    async def close(self) -> None:
        """Close all pods."""
        for pod in self.pods:
            await pod.close()


async def begin(pod: Pod, match_id: str, players: int) -> list[Viewer]:
    """Let all players attach and contribute, and wait until all were told that the match runs."""
    viewers = [Viewer(pod.host, match_id, f"p{number}").attach() for number in range(players)]
    for viewer in viewers:
        await viewer.contribute()
    for viewer in viewers:
        await viewer.in_state(RUNNING)
    return viewers


async def play(pod: Pod, viewers: list[Viewer], luck: Random, moves: int, avoid: str = "sail") -> int:
    """Let the players make random legal moves until so many are made or the match is over; returns how many.

    Moves with *avoid* in their text, which bring the end near, are made only if nothing else is legal.
    """
    match_id = viewers[0].match_id
    for made in range(moves):
        state = pod.state(match_id)
        asked = state.asked() if state is not None else []
        if not asked or pod.match(match_id).last.standing.over:
            return made
        seat, decision = luck.choice(list(asked))
        samples = (state.sample(seat, luck) for _ in range(50))
        action = next((action for action in samples if not avoid or avoid not in str(action)), None)
        answer = await viewers[seat].act(action or state.sample(seat, luck), decision=decision)
        assert answer.response.HasField("applied"), answer.response
    return moves


def seed_of(seed: int | None = None) -> Random:
    """A source of luck whose seed a failing test shows."""
    chosen = Random().randrange(1 << 32) if seed is None else seed
    print("seed", chosen)
    return Random(chosen)
