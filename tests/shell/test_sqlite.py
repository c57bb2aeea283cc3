"""The SQLite file with one writer: joined transactions, jobs undone alone, and nothing lost by a kill."""

from __future__ import annotations

import asyncio
import os
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from services.kit.shell.sqlite import CommitFailed, SqliteFile, StoreClosed


def prepare(connection: sqlite3.Connection) -> None:
    connection.execute("create table if not exists number (value integer primary key)")
    connection.execute("create table if not exists child (of integer not null references number (value))")


def put(connection: sqlite3.Connection, value: int) -> int:
    connection.execute("insert into number values (?)", (value,))
    return value


def putting(value: int) -> Callable[[sqlite3.Connection], int]:
    return lambda connection: put(connection, value)


def numbers(connection: sqlite3.Connection) -> list[int]:
    return [value for (value,) in connection.execute("select value from number order by value")]


@pytest.fixture
async def file(tmp_path: Path) -> AsyncIterator[SqliteFile]:
    opened = await SqliteFile.open(tmp_path / "numbers.db", prepare)
    yield opened
    await opened.close()


async def hold_writer(file: SqliteFile) -> threading.Event:
    """Keep the writer busy until the event is set, so that what is queued meanwhile becomes one batch."""
    loop = asyncio.get_running_loop()
    busy, release = asyncio.Event(), threading.Event()

    def wait(_: sqlite3.Connection) -> None:
        loop.call_soon_threadsafe(busy.set)
        release.wait(20)

    file.run(wait)
    await busy.wait()
    return release


async def test_jobs_that_wait_share_one_transaction(file: SqliteFile) -> None:
    """A hundred jobs queued behind a busy writer are one commit, in order, each with its own result."""
    statements: list[str] = []
    release = await hold_writer(file)
    file.run(lambda connection: connection.set_trace_callback(statements.append))

    def put_and_look(value: int) -> Callable[[sqlite3.Connection], tuple[int, list[int]]]:
        return lambda connection: (put(connection, value), numbers(connection))

    jobs = [file.run(put_and_look(value)) for value in range(100)]
    release.set()
    results = await asyncio.gather(*jobs)
    assert results == [(value, list(range(value + 1))) for value in range(100)]
    assert statements.count("savepoint job") == 100
    assert statements.count("commit") == 1


async def test_a_batch_is_seen_whole_or_not_at_all(file: SqliteFile) -> None:
    """Results come after the commit: a reader that asks then sees all of the batch."""
    release = await hold_writer(file)
    first, *others = (file.run(putting(value)) for value in range(10))
    assert await file.read(numbers) == []
    release.set()
    await first
    assert await file.read(numbers) == list(range(10))
    await asyncio.gather(*others)


async def test_a_failing_job_is_undone_alone(file: SqliteFile) -> None:
    """What the job did before it raised is gone, its caller gets the exception, and the rest is committed."""

    def fail(connection: sqlite3.Connection) -> None:
        put(connection, 50)
        raise LookupError("no such thing")

    release = await hold_writer(file)
    jobs: list[asyncio.Future[Any]] = [file.run(putting(1)), file.run(fail), file.run(putting(1)), file.run(putting(2))]
    release.set()
    one, failed, twice, two = await asyncio.gather(*jobs, return_exceptions=True)
    assert (one, two) == (1, 2)
    assert isinstance(failed, LookupError)
    assert isinstance(twice, sqlite3.IntegrityError)
    assert await file.read(numbers) == [1, 2]


async def test_a_job_that_ends_the_transaction_fails_its_whole_batch(file: SqliteFile) -> None:
    """What earlier jobs did went with it, so each caller of the batch is told; the file goes on working."""
    release = await hold_writer(file)
    jobs: list[asyncio.Future[Any]] = [
        file.run(putting(1)),
        file.run(lambda c: c.execute("rollback")),
        file.run(putting(2)),
    ]
    release.set()
    results = await asyncio.gather(*jobs, return_exceptions=True)
    assert [type(result) for result in results] == [CommitFailed] * 3
    assert await file.run(numbers) == []
    assert await file.run(putting(3)) == 3


async def test_a_commit_that_fails_fails_every_job_of_the_batch(file: SqliteFile) -> None:
    """Here a deferred constraint makes the commit itself fail: UNAVAILABLE for all, nothing kept, the file works on."""

    def orphan(connection: sqlite3.Connection) -> None:
        connection.execute("pragma defer_foreign_keys=on")
        connection.execute("insert into child values (77)")

    release = await hold_writer(file)
    jobs: list[asyncio.Future[Any]] = [file.run(putting(1)), file.run(orphan)]
    release.set()
    results = await asyncio.gather(*jobs, return_exceptions=True)
    assert [(type(result), str(result)) for result in results] == [(CommitFailed, "STORE_UNAVAILABLE")] * 2
    assert await file.run(numbers) == []


async def test_a_cancelled_caller_stops_waiting_and_its_job_stands(file: SqliteFile) -> None:
    """Cancelling is about the caller: the job still runs, and the others of the batch get their results."""
    release = await hold_writer(file)
    left, stayed = file.run(putting(1)), file.run(putting(2))
    left.cancel()
    release.set()
    assert await stayed == 2
    assert await file.read(numbers) == [1, 2]


async def test_the_reader_cannot_write(file: SqliteFile) -> None:
    """Its connection is read-only."""
    with pytest.raises(sqlite3.OperationalError, match="readonly"):
        await file.read(putting(1))


async def test_closing_finishes_what_is_queued(tmp_path: Path) -> None:
    """Jobs given before `close` are committed; after it they are refused; closing twice is no harm."""
    file = await SqliteFile.open(tmp_path / "numbers.db", prepare)
    release = await hold_writer(file)
    jobs = [file.run(putting(value)) for value in range(600)]
    closing = asyncio.create_task(file.close())
    await asyncio.sleep(0)
    release.set()
    assert await asyncio.gather(*jobs) == list(range(600))
    await closing
    await file.close()
    with pytest.raises(StoreClosed):
        await file.run(putting(1))
    with pytest.raises(StoreClosed):
        await file.read(numbers)
    again = await SqliteFile.open(tmp_path / "numbers.db", prepare)
    assert await again.read(numbers) == list(range(600))
    await again.close()


async def test_the_file_is_private_and_durable(file: SqliteFile, tmp_path: Path) -> None:
    """Mode 0600 for the file and its companions; WAL; a full flush at each commit; foreign keys held."""
    await file.run(putting(1))
    modes = {path.name: path.stat().st_mode & 0o777 for path in tmp_path.iterdir()}
    assert modes == {"numbers.db": 0o600, "numbers.db-wal": 0o600, "numbers.db-shm": 0o600}
    pragmas = ("journal_mode", "synchronous", "foreign_keys")
    assert await file.run(lambda c: [c.execute(f"pragma {name}").fetchone()[0] for name in pragmas]) == ["wal", 2, 1]


async def test_a_file_that_others_could_read_is_closed_to_them(tmp_path: Path) -> None:
    """An old file's mode is put right before it is opened."""
    path = tmp_path / "numbers.db"
    path.touch(0o644)
    file = await SqliteFile.open(path, prepare)
    assert path.stat().st_mode & 0o777 == 0o600
    await file.close()


def bad_schema(connection: sqlite3.Connection) -> None:
    connection.execute("create nonsense")


async def test_what_cannot_be_opened_says_so(tmp_path: Path) -> None:
    """A file that is no database, and a schema that fails, raise from `open`."""
    (tmp_path / "letter.db").write_text("Dear captain, this is not a database. " * 50)
    with pytest.raises(sqlite3.DatabaseError):
        await SqliteFile.open(tmp_path / "letter.db", prepare)
    with pytest.raises(sqlite3.OperationalError):
        await SqliteFile.open(tmp_path / "other.db", bad_schema)


WRITER = """
import asyncio, pathlib, sys
from services.kit.shell.sqlite import SqliteFile
from tests.shell.test_sqlite import prepare, putting

async def main():
    file = await SqliteFile.open(pathlib.Path(sys.argv[1]), prepare)
    async def write(first):
        for value in range(first, 1 << 30, 8):
            print(await file.run(putting(value)), flush=True)
    await asyncio.gather(*map(write, range(8)))

asyncio.run(main())
"""


async def test_what_was_acknowledged_survives_a_kill(tmp_path: Path) -> None:
    """`kill -9` while eight writers race: every number that was acknowledged is in the file."""
    path = tmp_path / "numbers.db"
    with subprocess.Popen([sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE) as writer:
        assert writer.stdout is not None
        acknowledged = [await asyncio.to_thread(writer.stdout.readline) for _ in range(300)]
        os.kill(writer.pid, signal.SIGKILL)
        acknowledged += [line for line in writer.stdout if line.endswith(b"\n")]
    file = await SqliteFile.open(path, prepare)
    kept = set(await file.read(numbers))
    await file.close()
    assert {int(line) for line in acknowledged} <= kept
