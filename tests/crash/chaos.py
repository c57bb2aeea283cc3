"""Chaos: which processes are hit, when and where, and what came of it. Everything is drawn from one seed."""

from __future__ import annotations

import asyncio
import signal
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import NamedTuple

from services.cli.fleet import GATEWAY, Fleet
from tests.crash.counters import Counters
from tests.crash.orders import Deed, Orders, Point, read_notes
from tests.crash.players import GAME, Room

PODS = (GAME, f"{GAME}-2")
"""Two processes at one file; the second one is down at first."""

STOP_SECONDS = 5.0
PATIENCE_SECONDS = 15.0
"""How long everyone's next update is waited for. Longer than any promise: the report shows who broke it."""

_LOOK_SECONDS = 0.01
_POINT_SECONDS = 30.0
_GAPS = {1: (0.2, 0.8), 2: (1.0, 1.8)}
"""Seconds between faults, by the processes that are up: two need a moment until each has its matches again."""


class Fault(NamedTuple):
    """One thing that is done to the platform."""

    kind: str
    """`game`, `gateway`, `both`: kill -9; `stop`: SIGSTOP of a game process for 5 s."""
    point: Point | None = None
    """Where the game process is; None is any moment."""


@dataclass
class Struck:
    """A fault that was done."""

    fault: Fault
    pods: int
    """Game processes that were up."""
    victims: Sequence[str]
    at: float
    players: Sequence[tuple[str, str]]
    """Who was in which match."""
    masked: bool = False
    """Whether the next fault came before anyone got over this one."""
    missing: list[str] = field(default_factory=list)
    """Players who got nothing for as long as patience lasted."""


def plan(luck: Random) -> tuple[list[Fault], list[Fault]]:
    """What happens while one game process is up, and what while two are: in all 10 games, 5 gateways, 2 times both."""
    alone = [Fault("game"), Fault("game"), Fault("game", Point.BEFORE_APPEND), Fault("game", Point.AFTER_APPEND)]
    alone += [Fault("game", Point.AFTER_ANSWER), Fault("game", Point.MID_FOLD), Fault("both")]
    alone += [Fault("gateway")] * 3
    together = [Fault("game"), Fault("game", Point.BEFORE_APPEND), Fault("game", Point.AFTER_APPEND), Fault("both")]
    together += [Fault("stop", Point.BEFORE_APPEND), Fault("stop", Point.LOCKED)]
    together += [Fault("gateway")] * 2
    for faults in (alone, together):
        luck.shuffle(faults)
    return alone, together


class Chaos:
    """Hits a fleet in which a room full of players plays."""

    def __init__(self, fleet: Fleet, room: Room, counters: Counters, orders: Path, luck: Random) -> None:
        self.struck: list[Struck] = []
        self._fleet, self._room, self._counters, self._luck = fleet, room, counters, luck
        self._folder = orders
        self._orders = {name: Orders(orders, name) for name in PODS}

    async def run(self, faults: Sequence[Fault], pods: Sequence[str]) -> None:
        """Do *faults*, each after everyone has got over the one before; *pods* are the game processes that are up."""
        for fault in faults:
            self._lose_something(pods)
            await asyncio.sleep(self._luck.uniform(*_GAPS[len(pods)]))
            await self._strike(fault, pods)

    def _lose_something(self, pods: Sequence[str]) -> None:
        """Break the store's connection twice soon: once before the commit, once after it."""
        for point in (Point.BEFORE_APPEND, Point.AFTER_APPEND):
            self._orders[self._luck.choice(pods)].give(point, Deed.LOSE)

    async def _strike(self, fault: Fault, pods: Sequence[str]) -> None:
        pod = self._luck.choice(pods)
        for orders in self._orders.values():
            for point in Point:
                orders.withdraw(point)  # what was lost by now is enough
        await self._room.until_playing(1)
        if fault.kind == "gateway":
            await self._kill(fault, pods, GATEWAY)
        elif fault.kind == "both":
            await self._kill(fault, pods, GATEWAY, pod)
        elif fault.kind == "stop":
            await self._stop(fault, pods, pod)
        elif fault.point is None:
            await self._kill(fault, pods, pod)
        elif fault.point is Point.MID_FOLD:
            self._orders[pod].give(fault.point, Deed.KILL)
            await self._kill(Fault("game"), pods, pod, masked=True)  # its next life folds, and ends in the middle of it
            await self._ordered(fault, pods, pod)
        else:
            self._orders[pod].give(fault.point, Deed.KILL)
            await self._ordered(fault, pods, pod)

    async def _kill(self, fault: Fault, pods: Sequence[str], *victims: str, masked: bool = False) -> None:
        for name in victims:
            await self._fleet.wait_ready(name)
        await self._counters.scrape(*victims)
        struck = self._note(fault, pods, victims, time.monotonic())
        struck.masked = masked
        for name in victims:
            self._fleet.kill(name)
        if not masked:
            await self._until_over_it(struck)

    async def _stop(self, fault: Fault, pods: Sequence[str], pod: str) -> None:
        assert fault.point is not None
        self._orders[pod].give(fault.point, Deed.STOP)
        struck = await self._until_done(fault, pods, pod)
        await asyncio.sleep(max(0.0, struck.at + STOP_SECONDS - time.monotonic()))
        self._fleet.kill(pod, signal.SIGCONT)
        await self._until_over_it(struck)

    async def _ordered(self, fault: Fault, pods: Sequence[str], pod: str) -> None:
        await self._until_over_it(await self._until_done(fault, pods, pod))

    async def _until_done(self, fault: Fault, pods: Sequence[str], pod: str) -> Struck:
        """Wait until *pod* has done what it was ordered to do at the point."""
        asked = time.monotonic()
        assert fault.point is not None
        async with asyncio.timeout(_POINT_SECONDS):
            while not (deeds := self._deeds(pod, fault.point, asked)):
                await asyncio.sleep(_LOOK_SECONDS)
        return self._note(fault, pods, [pod], deeds[-1])

    def _deeds(self, pod: str, point: Point, since: float) -> list[float]:
        if self._orders[pod].pending(point):
            return []
        lines = [line for line in read_notes(self._folder, "deed") if line["name"] == pod and line["point"] == point]
        for line in lines:
            self._counters.add(line["pid"], line["counters"])
        return [line["at"] for line in lines if line["at"] >= since]

    def _note(self, fault: Fault, pods: Sequence[str], victims: Sequence[str], at: float) -> Struck:
        players = [(player.name, player.match_id) for player in self._room.playing()]
        self.struck.append(Struck(fault, len(pods), victims, at, players))
        return self.struck[-1]

    async def _until_over_it(self, struck: Struck) -> None:
        """Wait until everyone has got an update, or has left the match it was in; and what died is up again."""
        until = struck.at + STOP_SECONDS * (struck.fault.kind == "stop") + PATIENCE_SECONDS
        known = {player.name: player for player in self._room.players}
        waiting = dict(struck.players)
        while waiting and time.monotonic() < until and not self._room.failures():
            for name, match_id in list(waiting.items()):
                if known[name].received_at > struck.at or known[name].match_id != match_id:
                    del waiting[name]
            await asyncio.sleep(_LOOK_SECONDS)
        struck.missing = list(waiting)
        for name in struck.victims:
            await self._fleet.wait_ready(name)
