"""One SQLite file with one writer thread: jobs that wait join one transaction, so a flush to disk is shared.

Promises:
- A job's result comes after the commit that holds its changes has reached the disk (WAL, `synchronous=FULL`).
- Jobs run in the order they were given, each seeing what the ones before it did.
- A job that raises is undone alone and its caller gets the exception; the rest of the batch is committed.
- A commit that fails fails every job of its batch with `CommitFailed`; what is on disk then is as before the batch, or
  (the disk may have lied) with the whole batch in it.
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias, TypeVar

from services.kit.errors import Unavailable

T = TypeVar("T")

_BUSY_SECONDS = 5.0
_MOST_JOBS = 256


class CommitFailed(Unavailable):
    """The store could not commit: STORE_UNAVAILABLE. Repeat with the same id."""

    def __init__(self) -> None:
        super().__init__("STORE_UNAVAILABLE")


class StoreClosed(Unavailable):
    """The store is closed, because the process drains: STORE_CLOSED."""

    def __init__(self) -> None:
        super().__init__("STORE_CLOSED")


class _Job(NamedTuple):
    work: Callable[[sqlite3.Connection], Any]
    future: asyncio.Future[Any]


class _Done(NamedTuple):
    future: asyncio.Future[Any]
    result: Any
    error: BaseException | None


_Batch: TypeAlias = list[_Done]


class SqliteFile:
    """The file, its writer thread and its reader thread. Belongs to the event loop it was opened in."""

    def __init__(self, path: Path, prepare: Callable[[sqlite3.Connection], None]) -> None:
        """Use `open`."""
        self._path = path
        self._prepare = prepare
        self._loop = asyncio.get_running_loop()
        self._waiting: deque[_Job] = deque()
        self._wake = threading.Condition()
        self._closing = False
        self._opened: asyncio.Future[None] = self._loop.create_future()
        self._ended: asyncio.Future[None] = self._loop.create_future()
        self._reader: sqlite3.Connection | None = None
        self._reading = ThreadPoolExecutor(1, thread_name_prefix=f"read {path.name}")
        self._writing = threading.Thread(target=self._write, name=f"write {path.name}", daemon=True)

    @classmethod
    async def open(cls, path: Path, prepare: Callable[[sqlite3.Connection], None]) -> SqliteFile:
        """Open *path*, made with mode 0600 if it is missing, and run *prepare* (the schema) in a transaction.

        Raises:
            sqlite3.Error: it is no database, or *prepare* failed; whatever *prepare* raises.
        """
        file = cls(path, prepare)
        file._writing.start()
        await file._opened
        return file

    def run(self, job: Callable[[sqlite3.Connection], T]) -> asyncio.Future[T]:
        """Queue *job* for the writer. It runs in the writer's thread and must not commit, roll back or keep rows.

        A caller that cancels the future stops waiting; the job runs all the same. The future's errors: what the job
        raised, CommitFailed, or StoreClosed.
        """
        future: asyncio.Future[T] = self._loop.create_future()
        with self._wake:
            if self._closing:
                future.set_exception(StoreClosed())
                return future
            self._waiting.append(_Job(job, future))
            self._wake.notify()
        return future

    def read(self, job: Callable[[sqlite3.Connection], T]) -> asyncio.Future[T]:
        """Run *job* on a read-only connection in the reader's thread. It sees all that was committed before."""
        if self._closing:
            failed: asyncio.Future[T] = self._loop.create_future()
            failed.set_exception(StoreClosed())
            return failed
        return self._loop.run_in_executor(self._reading, self._read, job)

    async def close(self) -> None:
        """Finish what is queued and close the file. A second call waits for the first."""
        with self._wake:
            self._closing = True
            self._wake.notify()
        await asyncio.shield(self._ended)
        await asyncio.to_thread(self._writing.join)
        self._reading.shutdown(wait=True)
        if self._reader is not None:
            self._reader.close()
            self._reader = None

    def _read(self, job: Callable[[sqlite3.Connection], T]) -> T:
        if self._reader is None:
            self._reader = sqlite3.connect(
                f"{self._path.absolute().as_uri()}?mode=ro",
                uri=True,
                timeout=_BUSY_SECONDS,
                isolation_level=None,
                check_same_thread=False,
            )
        return job(self._reader)

    def _write(self) -> None:
        """The writer's thread."""
        try:
            connection = _connect(self._path)
            try:
                _transaction(connection, self._prepare)
            except BaseException:
                connection.close()
                raise
        except Exception as error:  # whatever it is, it belongs to whoever opens the file
            self._tell([_Done(self._opened, None, error), _Done(self._ended, None, None)])
            return
        self._tell([_Done(self._opened, None, None)])
        while batch := self._next():
            self._tell(_commit(connection, batch))
        connection.close()
        self._tell([_Done(self._ended, None, None)])

    def _next(self) -> list[_Job]:
        """What waits, at least one job; none if the file is to be closed and nothing waits."""
        with self._wake:
            while not self._waiting and not self._closing:
                self._wake.wait()
            return [self._waiting.popleft() for _ in range(min(len(self._waiting), _MOST_JOBS))]

    def _tell(self, done: _Batch) -> None:
        try:
            self._loop.call_soon_threadsafe(_settle, done)
        except RuntimeError:
            # The loop is closed: nobody waits any more, and what was committed stays so.
            return


def _settle(done: _Batch) -> None:
    for future, result, error in done:
        if future.done():  # cancelled: its caller has left
            continue
        if error is None:
            future.set_result(result)
        else:
            future.set_exception(error)


def _connect(path: Path) -> sqlite3.Connection:
    """Open *path* for writing; the mode is set before there is any content."""
    new = not path.exists()
    descriptor = os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    try:
        os.fchmod(descriptor, 0o600)
    finally:
        os.close(descriptor)
    if new:
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
    connection = sqlite3.connect(path, timeout=_BUSY_SECONDS, isolation_level=None)
    try:
        connection.execute("pragma journal_mode=wal")
        connection.execute("pragma synchronous=full")
        connection.execute("pragma foreign_keys=on")
    except BaseException:
        connection.close()
        raise
    return connection


def _transaction(connection: sqlite3.Connection, work: Callable[[sqlite3.Connection], None]) -> None:
    connection.execute("begin immediate")
    try:
        work(connection)
        connection.execute("commit")
    finally:
        if connection.in_transaction:
            connection.execute("rollback")


def _commit(connection: sqlite3.Connection, batch: list[_Job]) -> _Batch:
    """Run *batch* in one transaction and say what became of each job."""
    try:
        connection.execute("begin immediate")
        done = [_one(connection, job) for job in batch]
        connection.execute("commit")
    except Exception:  # an error of sqlite3, or its MemoryError: the thread lives on, and each caller is told
        with suppress(sqlite3.Error):  # if even this fails, the next batch's begin will
            if connection.in_transaction:
                connection.execute("rollback")
        return [_Done(job.future, None, CommitFailed()) for job in batch]
    return done


def _one(connection: sqlite3.Connection, job: _Job) -> _Done:
    """Run *job* in a savepoint of its own.

    Raises:
        sqlite3.OperationalError: the transaction is gone, and with it what earlier jobs of the batch did.
    """
    connection.execute("savepoint job")
    error: Exception | None = None
    result: Any = None
    try:
        result = job.work(connection)
    except Exception as raised:  # whatever it is, it belongs to the job's caller
        error = raised
    if not connection.in_transaction:
        raise sqlite3.OperationalError("a job ended the transaction")
    if error is not None:
        connection.execute("rollback to job")
    connection.execute("release job")
    return _Done(job.future, result, error)
