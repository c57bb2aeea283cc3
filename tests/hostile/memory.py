"""What processes hold in memory, as the kernel counts it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from services.cli.fleet import GATEWAY, Fleet
from tests.hostile.frames import GAME

PROCESSES = (GATEWAY, GAME.id)
_LOOK_SECONDS = 0.25


@dataclass(frozen=True)
class Memory:
    """Resident memory of gateway and service in KiB, and which processes those were."""

    gateway: int
    service: int
    pids: tuple[int, ...]

    @classmethod
    def of(cls, fleet: Fleet) -> Memory:
        """As it is now. Raises AssertionError: a process is down."""
        pids = tuple(pid for name in PROCESSES if (pid := fleet.pid(name)) is not None)
        assert len(pids) == len(PROCESSES), "a process is down"
        gateway, service = (_resident(pid) for pid in pids)
        return cls(gateway, service, pids)

    def __str__(self) -> str:
        return f"gateway {self.gateway / 1024:.1f} MiB, service {self.service / 1024:.1f} MiB"

    def more_than(self, earlier: Memory) -> tuple[int, int]:
        """KiB by which gateway and service have grown since *earlier*. Raises AssertionError: one was restarted."""
        assert self.pids == earlier.pids, "a process died and came back"
        return self.gateway - earlier.gateway, self.service - earlier.service

    def growth(self, earlier: Memory) -> tuple[float, float]:
        """The same as parts of what *earlier* was."""
        gateway, service = self.more_than(earlier)
        return gateway / earlier.gateway, service / earlier.service


def most(seen: Sequence[Memory]) -> Memory:
    """The most that each process held at any time."""
    return Memory(max(one.gateway for one in seen), max(one.service for one in seen), seen[-1].pids)


def middle(seen: Sequence[Memory]) -> Memory:
    """What each process held in the middle of the time's ups and downs: the median."""
    gateway, service = (
        sorted(values)[len(seen) // 2] for values in ([m.gateway for m in seen], [m.service for m in seen])
    )
    return Memory(gateway, service, seen[-1].pids)


def least(seen: Sequence[Memory]) -> Memory:
    """The least that each process held: what stays when what is only lent has come back."""
    return Memory(min(one.gateway for one in seen), min(one.service for one in seen), seen[-1].pids)


async def watched(fleet: Fleet, seconds: float) -> list[Memory]:
    """What the processes hold during the next *seconds*, a few times a second."""
    seen = []
    for _ in range(round(seconds / _LOOK_SECONDS)):
        seen.append(Memory.of(fleet))
        await asyncio.sleep(_LOOK_SECONDS)
    return seen


def _resident(pid: int) -> int:
    for line in Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1])
    raise AssertionError(f"process {pid} has no VmRSS")
