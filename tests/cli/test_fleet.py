"""The fleet: processes that come up, come back, and go with their parent. Real processes, real signals."""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from services.cli.fleet import Fleet, PortsTaken
from services.cli.member import FIRST_PAUSE, LONGEST_PAUSE, NeverReady, Upkeep, pause_before_restart

SMALL = (sys.executable, "-m", "tests.cli.small_service")


def small_fleet(data: Path, games: Mapping[str, int], **more: Any) -> Fleet:
    return Fleet(data, games, command=SMALL, **more)


async def gone(pid: int) -> None:
    """Wait until the process *pid* runs no more (it may be somebody else's child)."""
    async with asyncio.timeout(20):
        while Path(f"/proc/{pid}").exists() and "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text():
            await asyncio.sleep(0.02)


async def test_everything_is_ready_at_its_address_when_start_returns(tmp_path: Path) -> None:
    """After `start` the gateway lists the games, and every process has its own port and log."""
    async with small_fleet(tmp_path, {"nim": 2, "go": 1}) as fleet:
        assert list(fleet.members) == ["gateway", "nim", "nim-2", "go"]
        assert len({member.address for member in fleet.members.values()}) == 4
        services = fleet.members["gateway"].environment["TORTUGA_SERVICES"]
        assert services == (
            f"nim={fleet.members['nim'].address},{fleet.members['nim-2'].address};go={fleet.members['go'].address}"
        )
        for name, member in fleet.members.items():
            lines = map(json.loads, member.log.read_text().splitlines())
            ready = next(line for line in lines if line["event"] == "ready")
            assert (ready["pid"], ready["grpc_port"]) == (fleet.pid(name), member.grpc_port)
        pids = [fleet.pid(name) for name in fleet.members]
    assert not any(Path(f"/proc/{pid}").exists() for pid in pids)


async def test_a_killed_process_comes_back_at_the_same_address(tmp_path: Path) -> None:
    """`kill -9`, then `wait_ready`: another process serves on the same port, and the others were left alone."""
    async with small_fleet(tmp_path, {"nim": 1}) as fleet:
        before, gateway = fleet.pid("nim"), fleet.pid("gateway")
        fleet.kill("nim")
        await fleet.wait_ready("nim")
        assert fleet.pid("nim") not in (None, before)
        assert fleet.pid("gateway") == gateway
        assert fleet.members["nim"].restarts == 1
        await fleet.wait_ready()


async def test_a_process_that_does_not_drain_is_killed(tmp_path: Path) -> None:
    """SIGTERM, and after the drain time SIGKILL: `stop` always ends."""
    said: list[str] = []
    fleet = small_fleet(
        tmp_path,
        {"nim": 1},
        environments={"nim": {"TORTUGA_TEST_FAULT": "never drains"}},
        upkeep=Upkeep(drain_seconds=0.3),
        note=said.append,
    )
    await fleet.start()
    await fleet.stop()
    assert said == ["nim did not drain in 0.3 s: killed"]
    assert fleet.pid("nim") is None


async def test_a_process_that_gives_up_at_once_stops_the_start(tmp_path: Path) -> None:
    """`start` says who died and shows the end of its log, and leaves nothing running."""
    fleet = small_fleet(tmp_path, {"nim": 1}, environments={"nim": {"TORTUGA_TEST_FAULT": "gives up"}})
    with pytest.raises(NeverReady, match=r"nim died; its log .*RuntimeError"):
        await fleet.start()
    assert fleet.pid("gateway") is None


def test_a_port_in_use_is_said_before_anything_starts(tmp_path: Path) -> None:
    """Asking for a taken port raises at once and names it."""
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(PortsTaken, match=str(port)):
            small_fleet(tmp_path, {"nim": 1}, grpc_port=port)


async def test_processes_end_when_their_parent_is_killed(tmp_path: Path) -> None:
    """`kill -9` of the process that owns the fleet: its children notice and go."""
    program = (
        "import asyncio, pathlib, sys\n"
        "from tests.cli.test_fleet import small_fleet\n"
        "async def main():\n"
        "    fleet = small_fleet(pathlib.Path(sys.argv[1]), {'nim': 1})\n"
        "    await fleet.start()\n"
        "    print(*(fleet.pid(name) for name in fleet.members), flush=True)\n"
        "    await asyncio.sleep(600)\n"
        "asyncio.run(main())\n"
    )
    with subprocess.Popen([sys.executable, "-c", program, str(tmp_path)], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        children = [int(pid) for pid in (await asyncio.to_thread(parent.stdout.readline)).split()]
        assert len(children) == 2
        os.kill(parent.pid, signal.SIGKILL)
        for child in children:
            await gone(child)


def test_pauses_grow_to_a_limit_and_vary() -> None:
    """The pause before a restart doubles from a fifth of a second to ten, between half and whole of that."""
    seed = random.randrange(1 << 32)
    luck = random.Random(seed)
    for deaths in range(30):
        most = min(LONGEST_PAUSE, FIRST_PAUSE * 2**deaths)
        pauses = {pause_before_restart(deaths, luck) for _ in range(20)}
        assert len(pauses) > 1, seed
        assert all(most / 2 <= pause <= most for pause in pauses), seed
