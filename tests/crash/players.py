"""Honest players: clients like any other, one match after the other, each with a journal of its own."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from random import Random

from services.cli.replaying import replay
from services.client import Client, Seat
from services.kit import export
from tests.crash.journal import Journal

GAME = "corsari"
PACE = 0.25
"""Seconds for which a player thinks, on average."""

_LAST_PACE = 0.02


class Player:
    """Signs in, finds a match, plays it at random to its end, and so on until the room closes."""

    def __init__(self, room: Room, number: int, seats: int, luck: Random) -> None:
        self.name = f"player-{number:02d}"
        self.match_id = ""
        """The match that the player is in; empty before it and after it."""
        self.waiting = False
        """Whether the player waits for others who want a match."""
        self.received_at = 0.0
        """When the newest update came."""
        self.seats = seats
        self._room, self._luck = room, luck
        self._journal = Journal(room.journals, self.name)

    async def play(self) -> None:
        """Play until the room closes."""
        try:
            async with Client(self._room.address, journal=self._on_wire) as client:
                await client.sign_in_as_guest(self.name)
                while not self._room.closing:
                    self.waiting = True
                    match_id = await client.find_match(GAME, seats=self.seats)
                    self.waiting = False
                    await self._play(client, match_id)
        finally:
            self._journal.close()

    async def _play(self, client: Client, match_id: str) -> None:
        async with client.seat(match_id, GAME) as seat:
            self.match_id, self.received_at = match_id, 0.0
            try:
                await self._play_on(seat)
            finally:
                self.match_id = ""
        self._journal.write("over", {"match_id": match_id, "state": seat.status.state})
        if seat.seat == 0:
            await self._export(client, match_id)

    async def _play_on(self, seat: Seat) -> None:
        async for update in seat:
            head = update.header.head.hex()
            self._journal.write(
                "shown", {"match_id": seat.match_id, "seq": update.header.seq, "head": head, "seat": seat.seat}
            )
            if seat.decision:
                await asyncio.sleep(self._luck.uniform(0, 2 * self._room.pace))
                await seat.act(self._luck.choice(update.update.legal))

    async def _export(self, client: Client, match_id: str) -> None:
        collector = export.Collector()
        async for message in replay(client, match_id, GAME):
            collector.take(message)
        text = export.write(collector.export())
        (self._room.exports / f"{match_id}.json").write_text(text, encoding="utf-8")

    def _on_wire(self, kind: str, data: Mapping[str, object]) -> None:
        self._journal.write(kind, data)
        if kind == "received":
            self.received_at = time.monotonic()


class Room:
    """All players; they share tickets, so whoever waits with the same number of seats is paired."""

    def __init__(self, address: str, folder: Path, tables: Mapping[int, int], luck: Random, pace: float = PACE) -> None:
        """*tables*: how many matches run at a time, by their seats. Journals and exports go to *folder*."""
        self.address, self.pace, self.closing = address, pace, False
        self.journals, self.exports = folder / "journals", folder / "exports"
        for made in (self.journals, self.exports):
            made.mkdir()
        sizes = [seats for seats, count in tables.items() for _ in range(seats * count)]
        self.players = [Player(self, number, seats, Random(luck.random())) for number, seats in enumerate(sizes)]
        self._tasks: list[asyncio.Task[None]] = []

    def open(self) -> None:
        """Let everyone begin."""
        self._tasks = [asyncio.create_task(player.play(), name=player.name) for player in self.players]

    def playing(self) -> Sequence[Player]:
        """Those who are in a match and have seen something of it."""
        return [player for player in self.players if player.match_id and player.received_at]

    def failures(self) -> Sequence[str]:
        """What stopped players, as text; nothing if all is well."""
        ended = [task for task in self._tasks if task.done() and not task.cancelled()]
        return [f"{task.get_name()}: {task.exception()!r}" for task in ended if task.exception() is not None]

    async def until_playing(self, count: int, seconds: float = 30.0) -> None:
        """Wait until so many players are in matches."""
        async with asyncio.timeout(seconds):
            while len(self.playing()) < count and not self.failures():
                await asyncio.sleep(0.02)

    async def close(self, seconds: float) -> None:
        """Let matches that run be played to their ends, quickly; who waits for a match then goes home.

        Raises:
            TimeoutError: matches did not end within *seconds*.
        """
        self.closing, self.pace = True, _LAST_PACE
        try:
            async with asyncio.timeout(seconds):
                while not self._only_leftovers() and not self.failures():
                    await asyncio.sleep(0.05)
        finally:
            await self.clear()

    def _only_leftovers(self) -> bool:
        """Whether those who are left wait for matches, and are too few for any: each size has whole tables."""
        left = [player for player, task in zip(self.players, self._tasks, strict=True) if not task.done()]
        sizes = Counter(player.seats for player in left)
        return all(player.waiting for player in left) and all(count < seats for seats, count in sizes.items())

    async def clear(self) -> None:
        """Send everyone home, whatever they do."""
        for task in self._tasks:
            if not task.done():
                task.cancel()
        with suppress(asyncio.CancelledError):
            await asyncio.gather(*self._tasks, return_exceptions=True)
