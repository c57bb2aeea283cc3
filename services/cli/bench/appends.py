"""Appends to a real store in this process: one match alone, or many whose entries go in common transactions."""

from __future__ import annotations

import asyncio
import gc
import secrets
import time
from pathlib import Path
from typing import NamedTuple, Self

from services.cli.bench.figures import percentile
from services.kit.store.port import Append, NewMatch
from services.kit.store.sqlite import SqliteMatchStore

_DATA = b'["mmmmmmmmmmmmmmmmmmmmmm",123,1,"discard rd5","0123456789abcdef",[],1700000000000]' + bytes(40)
"""About as long as an entry's canonical bytes are."""

_WARM_SECONDS = 0.1


class Appended(NamedTuple):
    """One slice of appending."""

    entries: int
    seconds: float
    cpu_seconds: float
    """Of this whole process: loop, writer thread, and the system for both."""
    p50_ms: float
    p99_ms: float
    batch: float
    """Entries of a transaction, on average."""


class Appender:
    """A store of its own, and matches that each append one entry after the other."""

    def __init__(self, file: Path) -> None:
        self._entries = self._batches = 0
        self._store = SqliteMatchStore(file, self._observe)
        self._logs: list[_Log] = []

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._store.close()

    async def append(self, matches: int, seconds: float) -> Appended:
        """Let *matches* matches append for *seconds*, each its next entry as soon as the last one is durable."""
        while len(self._logs) < matches:
            self._logs.append(await self._new_log())
        slice_ = _Slice()
        gc.collect()
        async with asyncio.TaskGroup() as group:
            for log in self._logs[:matches]:
                group.create_task(self._append_on(log, slice_))
            await asyncio.sleep(_WARM_SECONDS)
            slice_.latencies.clear()
            entries, batches = self._entries, self._batches
            started, spent = time.perf_counter(), time.process_time()
            await asyncio.sleep(seconds)
            took, used = time.perf_counter() - started, time.process_time() - spent
            found = list(slice_.latencies)
            entries, batches = self._entries - entries, self._batches - batches
            slice_.going = False
        return Appended(
            len(found),
            took,
            used,
            percentile(found, 0.5) * 1000 if found else 0.0,
            percentile(found, 0.99) * 1000 if found else 0.0,
            entries / batches if batches else 0.0,
        )

    async def _append_on(self, log: _Log, slice_: _Slice) -> None:
        while slice_.going:
            started = time.perf_counter()
            await self._store.append(log.next())
            slice_.latencies.append(time.perf_counter() - started)

    async def _new_log(self) -> _Log:
        match_id, head = secrets.token_urlsafe(16), secrets.token_bytes(32)
        match = NewMatch(match_id, bytes(200), "", secrets.token_bytes(32), secrets.token_bytes(32), head, None)
        stored = await self._store.create(match)
        return _Log(stored.row, head)

    def _observe(self, entries: int, _: float, __: int) -> None:
        self._entries += entries
        self._batches += 1


class _Slice:
    """What goes on in one slice."""

    def __init__(self) -> None:
        self.going = True
        self.latencies: list[float] = []


class _Log:
    """One match's place in its log."""

    def __init__(self, row: int, head: bytes) -> None:
        self._row, self._head, self._revision = row, head, 0

    def next(self) -> Append:
        """The entry that follows."""
        self._revision += 1
        parent, self._head = self._head, secrets.token_bytes(32)
        return Append(
            row=self._row,
            revision=self._revision,
            parent=parent,
            head=self._head,
            seat=self._revision % 2,
            action_id=str(self._revision),
            data=_DATA,
            wake_at=None,
            state=2,
            result=None,
        )
