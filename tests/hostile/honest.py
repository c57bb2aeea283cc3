"""An honest client that plays matches at random, one after the other, and measures how long each action takes."""

from __future__ import annotations

import asyncio
import time
from random import Random

from services.client import Client
from tests.hostile.frames import GAME


class Honest:
    """Two players who play each other; what they wait for is measured from sending to the acknowledgement."""

    def __init__(self, address: str, luck: Random) -> None:
        self.match_id = ""
        """The match that is being played; empty before the first one."""
        self.seconds: list[float] = []
        """How long every action took so far, in order."""
        self._address, self._luck = address, luck
        self._playing = asyncio.Event()

    async def play(self) -> None:
        """Play for ever."""
        async with Client(self._address) as first, Client(self._address) as second:
            clients = (first, second)
            for number, client in enumerate(clients):
                await client.sign_in_as_guest(f"honest-{number}")
            while True:
                found, other = await asyncio.gather(*(client.find_match(GAME.id, seats=2) for client in clients))
                assert found == other, "seated with a stranger"
                await asyncio.gather(*(self._play(client, found) for client in clients))

    async def until_playing(self) -> None:
        """Wait for the first action's acknowledgement."""
        await self._playing.wait()

    async def _play(self, client: Client, match_id: str) -> None:
        async with client.seat(match_id, GAME.id) as seat:
            async for update in seat:
                self.match_id = match_id
                if seat.decision:
                    action = self._luck.choice(update.update.legal)
                    started = time.perf_counter()
                    await seat.act(action)
                    self.seconds.append(time.perf_counter() - started)
                    self._playing.set()


def percentile(values: list[float], part: float) -> float:
    """The value that *part* of *values* do not exceed."""
    ranked = sorted(values)
    return ranked[min(len(ranked) - 1, int(part * len(ranked)))]


def told(seconds: list[float]) -> str:
    """The figures of *seconds*, for people."""
    p50, p99 = (1000 * percentile(seconds, part) for part in (0.5, 0.99))
    return f"{len(seconds)} actions, p50 {p50:.1f} ms, p99 {p99:.1f} ms, longest {1000 * max(seconds):.0f} ms"
