"""Many clients that send all they may and never read, beside an honest one."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from random import Random, SystemRandom
from typing import Any

import pytest

from services.cli.fleet import Fleet
from tests.hostile.frames import GAME
from tests.hostile.honest import Honest, percentile, told
from tests.hostile.memory import Memory, middle, most, watched

CLIENTS = 200
WARM_UP_SECONDS = 10.0
SECONDS = 20.0
ALONE_SECONDS = 2.0

PROMISED_SECONDS = 0.1
"""Within which 99 of 100 actions of an honest client are acknowledged."""

SLACK = 3
"""How many times as long it may take here, where attackers, tests and platform share two cores."""

GROWTH = 0.15
"""By which part a process may grow after the warm-up: matches that were played are still in memory."""

KIB_PER_CLIENT = 2 * 1024
"""What a hostile client costs a process at most, with its two connections and its calls."""

pytestmark = pytest.mark.slow


@pytest.mark.timeout(180)
async def test_honest_client_plays_on(tmp_path: Path) -> None:
    """Beside 200 who send frames of 64 KiB and never read: p99 below 100 ms (here 300), and memory is flat."""
    seed = SystemRandom().randrange(1 << 32)
    print("seed", seed)
    async with Fleet(tmp_path, [GAME.id]) as fleet:
        honest = Honest(fleet.gateway_address, Random(seed))
        playing = asyncio.create_task(honest.play())
        try:
            await honest.until_playing()
            await asyncio.sleep(ALONE_SECONDS)
            before, alone = Memory.of(fleet), list(honest.seconds)
            async with attacked(fleet.gateway_address, honest.match_id) as report:
                await watched(fleet, WARM_UP_SECONDS / 2)
                early = middle(await watched(fleet, WARM_UP_SECONDS / 2))
                start = len(honest.seconds)
                seen = await watched(fleet, SECONDS)
                peak, late = most(seen), middle(seen[len(seen) // 2 :])
                beside = honest.seconds[start:]
            assert not playing.done()
        finally:
            playing.cancel()
            with suppress(asyncio.CancelledError):
                await playing
    print("attack:", report)
    print("alone:", told(alone))
    print("beside:", told(beside))
    print(f"before: {before}; warmed up: {early}; in the end: {late}; at most: {peak}")
    assert report["failures"] == {}
    assert len(beside) > SECONDS
    assert percentile(beside, 0.99) < SLACK * PROMISED_SECONDS
    assert max(late.growth(early)) < GROWTH
    assert max(peak.more_than(before)) < CLIENTS * KIB_PER_CLIENT


@asynccontextmanager
async def attacked(address: str, match_id: str) -> AsyncIterator[dict[str, Any]]:
    """Hostile clients at work, in a process of their own. What they did is in the yielded report afterwards."""
    command = (sys.executable, "-m", "tests.hostile.attack", address, match_id, str(CLIENTS))
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(*command, stdin=pipe, stdout=pipe)
    assert process.stdin is not None
    assert process.stdout is not None
    report: dict[str, Any] = {}
    try:
        for word in (b"ready\n", b"warm\n"):
            assert await process.stdout.readline() == word
        yield report
        process.stdin.close()
        report.update(json.loads(await process.stdout.readline()))
    finally:
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()
