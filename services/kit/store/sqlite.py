"""The embedded store: one SQLite file per game service, one writer thread, group commit.

Durable means `synchronous=FULL` in WAL mode: COMMIT returns after an fsync of the log file. Everything that waits while
a transaction runs joins the next one. The hot path is two `executemany` per transaction; whatever does not fit (a stale
head, a used action id) makes the batch roll back and go through one by one.
"""

from __future__ import annotations

import asyncio
import sqlite3
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

from services.kit.store import schema
from services.kit.store.port import (
    ActionIdTaken,
    Append,
    NewMatch,
    OutcomeUnknown,
    StaleHead,
    StoredEntry,
    StoredMatch,
    StoreError,
    StoreUnavailable,
)

T = TypeVar("T")
BatchObserver = Callable[[int, float, int], None]
"""Called on the loop after each transaction: entries, seconds, conflicts."""

MAX_BATCH = 512
LOCK_WAIT_SECONDS = 5.0
"""How long a transaction waits for another process's lock before the store counts as unavailable."""

_SETTLED_AT_COMMIT = {sqlite3.SQLITE_FULL, sqlite3.SQLITE_BUSY}
"""Errors of COMMIT after which the transaction is known not to have happened; after others it is not known."""


class _Pending:
    """One append with the future that waits for it."""

    __slots__ = ("entry", "error", "future")

    def __init__(self, entry: Append, future: asyncio.Future[None]) -> None:
        self.entry = entry
        self.future = future
        self.error: StoreError | None = None


class _Job:
    """A rare write that has a transaction of its own; without *work* it only marks a place in the queue."""

    __slots__ = ("future", "work")

    def __init__(self, work: Callable[[sqlite3.Connection], object] | None, future: asyncio.Future[Any]) -> None:
        self.work = work
        self.future = future


class SqliteMatchStore:
    """`MatchStore` in one file. Several processes may share the file; two writers take turns by SQLite's lock."""

    def __init__(self, path: Path, observe: BatchObserver | None = None, lock_wait: float = LOCK_WAIT_SECONDS) -> None:
        self._loop = asyncio.get_running_loop()
        self._observe = observe
        self._path = path
        self._lock_wait = lock_wait
        self._gathered: list[_Pending | _Job] = []
        self._queue: SimpleQueue[list[_Pending | _Job] | None] = SimpleQueue()
        self._closed = False
        schema.create(path, lock_wait)
        self._reader = ThreadPoolExecutor(1, thread_name_prefix="store-reader")
        self._reading: sqlite3.Connection | None = None
        writing = schema.connect_patiently(path, lock_wait)
        self._writer = threading.Thread(target=self._write_forever, args=(writing,), name="store-writer", daemon=True)
        self._writer.start()

    async def create(self, match: NewMatch) -> StoredMatch:
        """Make *match* durable; see the port."""

        def work(connection: sqlite3.Connection) -> StoredMatch:
            connection.execute(schema.INSERT_MATCH, match)
            stored = schema.read_match(connection, match.match_id)
            if stored is None:
                raise StoreUnavailable("the match is gone")
            return stored

        return await self._run(work)

    async def load(self, match_id: str) -> StoredMatch | None:
        """The match, or None; see the port."""
        return await self._read(lambda connection: schema.read_match(connection, match_id))

    async def entries(self, row: int, after: int = 0) -> Sequence[StoredEntry]:
        """Entries above *after*; see the port."""

        def work(connection: sqlite3.Connection) -> list[StoredEntry]:
            return [StoredEntry(*found) for found in connection.execute(schema.SELECT_ENTRIES, (row, after))]

        return await self._read(work)

    def append(self, entry: Append) -> asyncio.Future[None]:
        """Queue *entry* for the next transaction; see the port."""
        future: asyncio.Future[None] = self._loop.create_future()
        self._put(_Pending(entry, future))
        return future

    async def heads(self, rows: Iterable[int]) -> dict[int, tuple[int, bytes]]:
        """Revision and head of each match; see the port."""
        wanted = list(rows)

        def work(connection: sqlite3.Connection) -> dict[int, tuple[int, bytes]]:
            found = {}
            for row in wanted:
                for revision, head in connection.execute(schema.SELECT_HEAD, (row,)):
                    found[row] = (revision, head)
            return found

        return await self._read(work)

    async def due(self, now_ms: int, limit: int) -> Sequence[str]:
        """Matches whose `wake_at` has passed; see the port."""

        def work(connection: sqlite3.Connection) -> list[str]:
            return [match_id for (match_id,) in connection.execute(schema.SELECT_DUE, (now_ms, limit))]

        return await self._read(work)

    async def results(self, limit: int) -> Sequence[bytes]:
        """Results that are not acknowledged; see the port."""

        def work(connection: sqlite3.Connection) -> list[bytes]:
            return [result for (result,) in connection.execute(schema.SELECT_RESULTS, (limit,))]

        return await self._read(work)

    async def acknowledge(self, match_ids: Iterable[str]) -> None:
        """Results that are kept elsewhere now; see the port."""
        known = [(match_id,) for match_id in match_ids]
        await self._run(lambda connection: connection.executemany(schema.ACKNOWLEDGE, known))

    async def flush(self) -> None:
        """Wait for what was appended before; see the port."""
        future: asyncio.Future[None] = self._loop.create_future()
        self._put(_Job(None, future))
        await future

    async def close(self) -> None:
        """Finish what is queued, then close the file."""
        if self._closed:
            return
        self._closed = True
        self._hand_over()
        self._queue.put(None)
        await asyncio.to_thread(self._writer.join)
        await self._loop.run_in_executor(self._reader, self._close_reading)
        self._reader.shutdown()

    async def _run(self, work: Callable[[sqlite3.Connection], T]) -> T:
        future: asyncio.Future[T] = self._loop.create_future()
        self._put(_Job(work, future))
        return await future

    def _put(self, item: _Pending | _Job) -> None:
        if self._closed:
            item.future.set_exception(StoreUnavailable("the store is closed"))
            return
        # Handed over once this round of the loop is done: the frames of one link batch make one transaction, where
        # handing over each by itself would wake the writer for the first and leave the rest to the next.
        if not self._gathered:
            self._loop.call_soon(self._hand_over)
        self._gathered.append(item)

    def _hand_over(self) -> None:
        if self._gathered:
            self._queue.put(self._gathered)
            self._gathered = []

    async def _read(self, work: Callable[[sqlite3.Connection], T]) -> T:
        def run() -> T:
            if self._reading is None:
                self._reading = schema.connect(self._path, self._lock_wait)
                self._reading.execute("PRAGMA query_only=ON")
            return work(self._reading)

        try:
            return await self._loop.run_in_executor(self._reader, run)
        except (sqlite3.Error, RuntimeError) as error:
            raise StoreUnavailable(type(error).__name__) from error

    def _close_reading(self) -> None:
        if self._reading is not None:
            self._reading.close()

    # The writer thread.

    def _write_forever(self, connection: sqlite3.Connection) -> None:
        waiting: deque[_Pending | _Job] = deque()
        open_ = True
        while open_ or waiting:
            open_ = self._take(waiting) and open_
            if connection.in_transaction:  # it could not be rolled back: the file is asked afresh
                connection = self._reopen(connection)
            batch = _next_batch(waiting)
            if isinstance(batch, _Job):
                self._run_job(connection, batch)
            elif batch:
                started = time.perf_counter()
                _write_batch(connection, batch)
                self._tell(_resolve_batch, batch, time.perf_counter() - started, self._observe)
        connection.close()

    def _reopen(self, broken: sqlite3.Connection) -> sqlite3.Connection:
        """A new connection; while there can be none, one in whose open transaction every other is refused."""
        broken.close()
        try:
            return schema.connect(self._path, self._lock_wait)
        except sqlite3.Error:
            refusing = sqlite3.connect(":memory:", isolation_level=None)
            refusing.execute("BEGIN")
            return refusing

    def _take(self, waiting: deque[_Pending | _Job]) -> bool:
        """Move what is queued to *waiting*; sleep only if there is nothing at all. False once closed."""
        try:
            items = self._queue.get(block=not waiting)
            while items is not None:
                waiting.extend(items)
                items = self._queue.get_nowait()
        except Empty:
            return True
        return False

    def _run_job(self, connection: sqlite3.Connection, job: _Job) -> None:
        result: object = None
        error: StoreError | None = None
        try:
            if job.work is not None:
                with _Transaction(connection):
                    result = job.work(connection)
        except StoreError as failure:
            error = failure
        except Exception as failure:  # the thread must outlive whatever a driver may raise
            error = OutcomeUnknown(type(failure).__name__)
        self._tell(_resolve, job.future, result, error)

    def _tell(self, callback: Callable[..., None], *arguments: object) -> None:
        try:
            self._loop.call_soon_threadsafe(callback, *arguments)
        except RuntimeError:  # the loop is gone: nobody waits any more
            return


class _Transaction:
    """BEGIN IMMEDIATE … COMMIT; turns SQLite's errors into the port's."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def __enter__(self) -> None:
        try:
            self._connection.execute("BEGIN IMMEDIATE")
        except sqlite3.Error as error:
            raise StoreUnavailable(error.sqlite_errorname) from error

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if error is not None:
            self._undo()
            if isinstance(error, sqlite3.Error) and not isinstance(error, sqlite3.IntegrityError):
                raise StoreUnavailable(getattr(error, "sqlite_errorname", type(error).__name__)) from error
            return
        try:
            self._connection.execute("COMMIT")
        except sqlite3.Error as failure:
            self._undo()
            if failure.sqlite_errorcode & 0xFF in _SETTLED_AT_COMMIT:
                raise StoreUnavailable(failure.sqlite_errorname) from failure
            raise OutcomeUnknown(failure.sqlite_errorname) from failure

    def _undo(self) -> None:
        if self._connection.in_transaction:
            with suppress(sqlite3.Error):  # then the writer takes a new connection
                self._connection.execute("ROLLBACK")


class _OneByOne(Exception):
    """The batch holds an entry that does not fit."""


def _next_batch(waiting: deque[_Pending | _Job]) -> list[_Pending] | _Job:
    """Take from the front: a job alone, or appends of different matches. A match's second entry waits its turn."""
    batch: list[_Pending] = []
    later: list[_Pending | _Job] = []
    rows: set[int] = set()
    while waiting and len(batch) < MAX_BATCH:
        item = waiting.popleft()
        if isinstance(item, _Job):
            if not batch and not later:
                return item
            later.append(item)
        elif item.entry.row in rows:
            later.append(item)
        else:
            rows.add(item.entry.row)
            batch.append(item)
    waiting.extendleft(reversed(later))
    return batch


def _write_batch(connection: sqlite3.Connection, batch: list[_Pending]) -> None:
    """Write *batch* in one transaction, leaving each entry's error beside it."""
    try:
        try:
            with _Transaction(connection):
                _write_together(connection, [item.entry for item in batch])
        except (_OneByOne, sqlite3.IntegrityError):
            with _Transaction(connection):
                for item in batch:
                    item.error = _write_alone(connection, item.entry)
    except StoreError as error:
        _fail(batch, error)
    except Exception as error:  # the thread must outlive whatever a driver may raise
        _fail(batch, OutcomeUnknown(type(error).__name__))


def _fail(batch: list[_Pending], error: StoreError) -> None:
    for item in batch:
        item.error = item.error or error


def _write_together(connection: sqlite3.Connection, entries: list[Append]) -> None:
    moved = connection.executemany(schema.MOVE_HEAD, map(schema.head_values, entries))
    if moved.rowcount != len(entries):
        raise _OneByOne
    connection.executemany(schema.INSERT_ENTRY, map(schema.entry_values, entries))


def _write_alone(connection: sqlite3.Connection, entry: Append) -> StoreError | None:
    stored = connection.execute(schema.SELECT_HEAD, (entry.row,)).fetchone()
    if stored != (entry.revision - 1, entry.parent):
        same = connection.execute(schema.SELECT_ENTRY_HEAD, (entry.row, entry.revision)).fetchone()
        return None if same == (entry.head,) else StaleHead()
    taken = connection.execute(schema.SELECT_ACTION, (entry.row, entry.seat, entry.action_id)).fetchone()
    if taken is not None:
        return ActionIdTaken(*taken)
    connection.execute(schema.MOVE_HEAD, schema.head_values(entry))
    connection.execute(schema.INSERT_ENTRY, schema.entry_values(entry))
    return None


def _resolve(future: asyncio.Future[Any], result: object, error: StoreError | None) -> None:
    if future.done():
        return
    if error is None:
        future.set_result(result)
    else:
        future.set_exception(error)


def _resolve_batch(batch: list[_Pending], seconds: float, observe: BatchObserver | None) -> None:
    conflicts = 0
    for item in batch:
        future, error = item.future, item.error
        conflicts += isinstance(error, StaleHead)
        if future.done():
            continue
        if error is None:
            future.set_result(None)
        else:
            future.set_exception(error)
    if observe is not None:
        observe(len(batch), seconds, conflicts)
