"""A store that fails and dawdles as it is told, around any real one. For tests of the match and for the crash suite."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterable, Sequence
from enum import Enum, auto

from services.kit.store.port import (
    Append,
    MatchStore,
    NewMatch,
    OutcomeUnknown,
    StoredEntry,
    StoredMatch,
    StoreUnavailable,
)


class Fault(Enum):
    """What happens to one append."""

    NONE = auto()
    """Nothing: it goes through."""
    UNKNOWN_KEPT = auto()
    """It is committed, and the connection breaks before the answer: OutcomeUnknown."""
    UNKNOWN_LOST = auto()
    """The connection breaks before the commit: OutcomeUnknown."""
    UNAVAILABLE = auto()
    """It is refused at once: StoreUnavailable."""


POINTS = ("create", "load", "entries", "append", "appended", "due", "heads", "results", "acknowledge")
"""Where a call can be held: before the store is asked, and at `appended` after it answered but before that is told."""


class Gate:
    """Holds one call at one point until it is opened."""

    def __init__(self) -> None:
        self.reached = asyncio.Event()
        """Set when a call has come to the gate."""
        self._opened = asyncio.Event()

    def open(self) -> None:
        """Let the call go on."""
        self._opened.set()

    async def passing(self) -> None:
        """Come to the gate and wait until it is open."""
        self.reached.set()
        await self._opened.wait()


class FaultyStore:
    """A `MatchStore` in front of another one."""

    def __init__(self, store: MatchStore) -> None:
        self.store = store
        self.away = False
        """While set, every call is refused with StoreUnavailable."""
        self.appends: list[Append] = []
        """Every append that was asked for, whatever became of it."""
        self._faults: deque[Fault] = deque()
        self._held: list[Gate] = []
        self._gates: dict[str, deque[Gate]] = {point: deque() for point in POINTS}

    def fail_appends(self, *faults: Fault) -> None:
        """Plan what happens to the next appends, in order."""
        self._faults.extend(faults)

    def heal(self) -> None:
        """Plan nothing any more, hold nothing any more, be there again."""
        self.away = False
        self._faults.clear()
        for gate in self._held:
            gate.open()
        for gates in self._gates.values():
            gates.clear()

    def hold(self, point: str) -> Gate:
        """Hold the next call that comes to *point* (one of POINTS), once."""
        gate = Gate()
        self._held.append(gate)
        self._gates[point].append(gate)
        return gate

    async def create(self, match: NewMatch) -> StoredMatch:
        """As the store behind."""
        await self._pass("create")
        return await self.store.create(match)

    async def load(self, match_id: str) -> StoredMatch | None:
        """As the store behind."""
        await self._pass("load")
        return await self.store.load(match_id)

    async def entries(self, row: int, after: int = 0) -> Sequence[StoredEntry]:
        """As the store behind."""
        await self._pass("entries")
        return await self.store.entries(row, after)

    def append(self, entry: Append) -> asyncio.Future[None]:
        """As the store behind, unless something else is planned."""
        self.appends.append(entry)
        fault = self._faults.popleft() if self._faults else Fault.NONE
        if fault is Fault.NONE and not (self.away or self._gates["append"] or self._gates["appended"]):
            return self.store.append(entry)
        return asyncio.ensure_future(self._append(entry, fault))

    async def heads(self, rows: Iterable[int]) -> dict[int, tuple[int, bytes]]:
        """As the store behind."""
        await self._pass("heads")
        return await self.store.heads(rows)

    async def due(self, now_ms: int, limit: int) -> Sequence[str]:
        """As the store behind."""
        await self._pass("due")
        return await self.store.due(now_ms, limit)

    async def results(self, limit: int) -> Sequence[bytes]:
        """As the store behind."""
        await self._pass("results")
        return await self.store.results(limit)

    async def acknowledge(self, match_ids: Iterable[str]) -> None:
        """As the store behind."""
        await self._pass("acknowledge")
        await self.store.acknowledge(match_ids)

    async def flush(self) -> None:
        """As the store behind."""
        await self.store.flush()

    async def close(self) -> None:
        """As the store behind."""
        await self.store.close()

    async def _append(self, entry: Append, fault: Fault) -> None:
        await self._pass("append")
        if fault is Fault.UNAVAILABLE:
            raise StoreUnavailable("planned")
        if fault is not Fault.UNKNOWN_LOST:
            await self.store.append(entry)
        await self._pass("appended")
        if fault is not Fault.NONE:
            raise OutcomeUnknown("planned")

    async def _pass(self, point: str) -> None:
        if self._gates[point]:
            await self._gates[point].popleft().passing()
        if self.away and point != "appended":
            raise StoreUnavailable("away")
