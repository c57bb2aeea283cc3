"""The store of a process under test: the real one, with points at which the process does what it was ordered to."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

from services.kit.server import observe_batch
from services.kit.shell import metrics
from services.kit.store.port import Append, StoredEntry
from services.kit.store.sqlite import SqliteMatchStore
from tests.crash.orders import Deed, Notes, Orders, Point
from tests.store.faults import Fault, FaultyStore

ANSWER_SECONDS = 0.02
"""How long after the append's outcome an answer counts as sent: what it takes is a round or two of the loop."""

LEAST_FOLD = 6
"""Entries that a fold must have for its middle to be one."""

SLEEP_SECONDS = 0.1
"""How long the lock is kept around the stop."""

SLOW_SECONDS = 0.5
"""A commit that took longer waited for another process's lock, or for a very busy disk: it is noted."""

_COUNTERS = {
    "tortuga_append_conflicts_total": metrics.APPEND_CONFLICTS,
    "tortuga_outcomes_settled_total": metrics.OUTCOMES_SETTLED,
    "tortuga_duplicate_actions_total": metrics.DUPLICATE_ACTIONS,
}


class CrashingStore(FaultyStore):
    """Does deeds at points, and notes which match each entry that it wrote belongs to."""

    def __init__(self, path: Path, orders: Orders) -> None:
        self._file = SqliteMatchStore(path, self._observe)
        super().__init__(self._file)
        self._orders = orders
        self._notes = Notes(orders.folder, orders.name)
        self._sleeping: asyncio.Future[None] | None = None

    def append(self, entry: Append) -> asyncio.Future[None]:
        """As the store behind, unless there are orders."""
        before, after = self._orders.take(Point.BEFORE_APPEND), self._orders.take(Point.AFTER_APPEND)
        if self._orders.take(Point.LOCKED) is not None:
            self._sleeping = asyncio.ensure_future(self._file._run(lambda _: self._sleep_locked(entry)))
        if before is Deed.LOSE:
            self.fail_appends(Fault.UNKNOWN_LOST)
        elif before is not None:
            self._do(Point.BEFORE_APPEND, before, entry)
        if after is Deed.LOSE:
            self.fail_appends(Fault.UNKNOWN_KEPT)
        elif after is not None:
            gate = self.hold("appended")
            asyncio.ensure_future(gate.reached.wait()).add_done_callback(
                lambda _: self._do(Point.AFTER_APPEND, after, entry)
            )
        outcome = super().append(entry)
        outcome.add_done_callback(partial(self._appended, entry))
        return outcome

    async def entries(self, row: int, after: int = 0) -> Sequence[StoredEntry]:
        """As the store behind, unless there are orders."""
        found = await super().entries(row, after)
        if len(found) >= LEAST_FOLD and (deed := self._orders.take(Point.MID_FOLD)) is not None:
            return _Halved(found, lambda: self._do(Point.MID_FOLD, deed, None))
        return found

    def _appended(self, entry: Append, outcome: asyncio.Future[None]) -> None:
        if outcome.cancelled() or outcome.exception() is not None:
            return
        self._notes.write("wrote", row=entry.row)
        if (deed := self._orders.take(Point.AFTER_ANSWER)) is not None:
            do = partial(self._do, Point.AFTER_ANSWER, deed, entry)
            asyncio.get_running_loop().call_later(ANSWER_SECONDS, do)

    def _sleep_locked(self, entry: Append) -> None:
        """In the writer's thread and its transaction. The signal stops this thread a moment after the one it woke."""
        self._do(Point.LOCKED, Deed.STOP, entry)
        time.sleep(SLEEP_SECONDS)

    def _do(self, point: Point, deed: Deed, entry: Append | None) -> None:
        counters = {name: counter._value.get() for name, counter in _COUNTERS.items()}
        in_hand = {} if entry is None else {"row": entry.row, "action_id": entry.action_id}
        self._notes.write("deed", point=point, deed=deed, counters=counters, **in_hand)
        os.kill(os.getpid(), signal.SIGKILL if deed is Deed.KILL else signal.SIGSTOP)

    def _observe(self, entries: int, seconds: float, conflicts: int) -> None:
        observe_batch(entries, seconds, conflicts)
        if seconds > SLOW_SECONDS:
            self._notes.write("slow_commit", seconds=seconds)


class _Halved(list[StoredEntry]):
    """Entries, of which the second half is never reached."""

    def __init__(self, entries: Sequence[StoredEntry], do: Callable[[], None]) -> None:
        super().__init__(entries)
        self._do = do

    def __iter__(self) -> Iterator[StoredEntry]:
        for number in range(len(self)):
            if number == len(self) // 2:
                self._do()
            yield self[number]
