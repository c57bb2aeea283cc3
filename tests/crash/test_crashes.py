"""Promises 1 and 2 of design §1 while processes are killed and stopped under twenty matches."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from pathlib import Path
from random import Random

import pytest

from services.cli.fleet import GATEWAY, Fleet
from services.cli.member import Upkeep
from tests.crash import report
from tests.crash.chaos import PODS, STOP_SECONDS, Chaos, plan
from tests.crash.counters import Counters
from tests.crash.orders import Point
from tests.crash.players import GAME, Room
from tests.crash.process import COMMAND
from tests.crash.verdict import verdict_on

TABLES = {2: 8, 3: 6, 4: 6}
"""Matches at a time, by their seats: twenty."""

RESUME_SECONDS = 5.0
AFTER_STOP_SECONDS = 3.0
START_SECONDS = 1.5
"""What a process takes to come up at most on two cores of its own; where others crowd the machine, times may grow."""

pytestmark = pytest.mark.slow


@pytest.mark.timeout(300)
async def test_nothing_is_lost_doubled_or_left_out(tmp_path: Path, reports: Path, crash_seed: int) -> None:
    """Each acknowledged action is in the log once, each update came once and in order, all matches end and verify.

    Game processes are killed 10 times, the gateway 5 times, both at once twice, at any moment and at chosen points; a
    game process is stopped for 5 s, once with an action in its hands and once holding the file's lock, while another
    one serves the same log. Everyone's next update comes within 5 s, or 3 s after the end of the stop.
    """
    print("TORTUGA_CRASH_SEED", crash_seed)
    began = time.monotonic()
    chaos, counters = await _play_under_chaos(tmp_path, Random(crash_seed))
    rows = report.resume_times(tmp_path, tmp_path / f"{GAME}.db", chaos.struck)
    waits = report.lock_waits(tmp_path)
    starts = report.start_seconds(tmp_path)
    points = report.answered_before(tmp_path)
    crowded = max(1.0, starts[-1] / START_SECONDS)
    verdict = verdict_on(tmp_path)
    print(report.table(rows))
    print(f"processes came up in {starts[0]:.2f} to {starts[-1]:.2f} s: times may be {crowded:.2f} times as long")
    print("waited for the lock:", [round(seconds, 2) for seconds in waits])
    print("answered when hit:", points)
    print(counters)
    print({name: value for name, value in verdict.items() if name != "faults"}, verdict["faults"][:10])
    report.write(
        reports / f"crash-{crash_seed}.json",
        {
            "seed": crash_seed,
            "seconds": round(time.monotonic() - began, 1),
            "resume": [row._asdict() for row in rows],
            "start_seconds": [round(seconds, 2) for seconds in starts],
            "lock_wait_seconds": waits,
            "answered_when_hit": points,
            "counters": counters,
            "judge": verdict,
        },
    )
    kinds = [struck.fault.kind for struck in chaos.struck]
    assert {kind: kinds.count(kind) for kind in set(kinds)} == {"game": 10, "gateway": 5, "both": 2, "stop": 2}
    assert not any(points[Point.BEFORE_APPEND] + points[Point.AFTER_APPEND])
    assert verdict["faults"] == []
    assert verdict["verified"] == verdict["matches"] >= 20
    assert [row for row in rows if row.silent] == []
    assert [row for row in rows if row.p99 > crowded * _bound(row.kind)] == []
    assert [name for name, value in counters.items() if value == 0] == []


def _bound(kind: str) -> float:
    if kind.startswith("stop"):
        return STOP_SECONDS + AFTER_STOP_SECONDS
    return 2 * RESUME_SECONDS if "again" in kind else RESUME_SECONDS


async def _play_under_chaos(folder: Path, luck: Random) -> tuple[Chaos, dict[str, int]]:
    orders = folder / "orders"
    orders.mkdir()
    named = {name: {"CRASH_FOLDER": str(orders), "CRASH_NAME": name} for name in (GATEWAY, *PODS)}
    # Kills come faster here than to any operator: that pauses grow with them is the subject of tests/cli.
    upkeep = Upkeep(sound_after=0.0)
    fleet = Fleet(folder, {GAME: len(PODS)}, environments=named, command=COMMAND, upkeep=upkeep)
    alone, together = plan(luck)
    async with fleet:
        second = fleet.members[PODS[1]]
        await second.stop()
        room = Room(fleet.gateway_address, folder, TABLES, luck)
        counters = Counters(fleet)
        chaos = Chaos(fleet, room, counters, orders, luck)
        following = asyncio.create_task(counters.follow())
        try:
            room.open()
            await room.until_playing(len(room.players) // 2)
            await chaos.run(alone, PODS[:1])
            await second.start()
            await fleet.wait_ready(PODS[1])
            await chaos.run(together, PODS)
            await room.close(60)
            await counters.scrape()
        finally:
            await room.clear()
            following.cancel()
            with suppress(asyncio.CancelledError):
                await following
            await counters.close()
            for name, struck in ((struck.fault, struck) for struck in chaos.struck if struck.missing):
                print("heard nothing after", name, struck.missing)
        assert room.failures() == []
    return chaos, counters.totals()
