"""What is SQLite's own: the file, its mode, its durability, its batches."""

from __future__ import annotations

import asyncio
import sqlite3
import stat
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from services.kit.store import schema, sqlite
from services.kit.store.port import OutcomeUnknown, StaleHead, StoreUnavailable
from services.kit.store.sqlite import SqliteMatchStore
from tests.store.adapters import ADAPTERS
from tests.store.conftest import make
from tests.store.logbook import new_match


@pytest.fixture
def connections(monkeypatch: pytest.MonkeyPatch) -> list[sqlite3.Connection]:
    """Every connection that a store of this test opens."""
    opened: list[sqlite3.Connection] = []
    connect = schema.connect

    def noted(path: Path, lock_wait: float) -> sqlite3.Connection:
        opened.append(connect(path, lock_wait))
        return opened[-1]

    monkeypatch.setattr(schema, "connect", noted)
    return opened


async def test_file_is_for_its_owner_alone(tmp_path: Path) -> None:
    """Seeds lie in it: the file and what SQLite puts beside it have mode 0600."""
    store = SqliteMatchStore(tmp_path / "deep" / "matches.db")
    _, log = await make(store)
    await store.append(log.next())
    files = sorted((tmp_path / "deep").iterdir())
    assert [file.name for file in files] == ["matches.db", "matches.db-shm", "matches.db-wal"]
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}
    await store.close()


async def test_commits_reach_the_disk(tmp_path: Path, connections: list[sqlite3.Connection]) -> None:
    """Every connection is in WAL mode with `synchronous=FULL`: a commit returns after an fsync."""
    store = SqliteMatchStore(tmp_path / "matches.db")
    stored, log = await make(store)
    await store.append(log.next())
    await store.entries(stored.row)
    still_open = connections[1:]  # the first one made the tables
    assert len(still_open) == 2
    for connection in still_open:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert connection.execute("PRAGMA synchronous").fetchone() == (2,)
    await store.close()


async def test_what_waits_joins_one_transaction(tmp_path: Path) -> None:
    """64 matches' entries that queue behind a slow commit go in one transaction, a conflict among them too."""
    batches: list[tuple[int, int]] = []

    def observe(entries: int, seconds: float, conflicts: int) -> None:
        batches.append((entries, conflicts))

    store = SqliteMatchStore(tmp_path / "matches.db", observe)
    logs = [(await make(store, f"m{number}"))[1] for number in range(65)]
    with ADAPTERS["sqlite"].locked(str(tmp_path / "matches.db")):
        first = store.append(logs.pop().next())
        while store._gathered or store._queue.qsize():  # until the writer has taken it and waits for the lock
            await asyncio.sleep(0)
        entries = [log.next() for log in logs]
        entries[10] = entries[10]._replace(parent=b"p" * 32)
        appends = [store.append(entry) for entry in entries]
    results = await asyncio.gather(first, *appends, return_exceptions=True)
    assert batches == [(1, 0), (64, 1)]
    assert [type(result) for result in results].count(StaleHead) == 1
    assert [type(result) for result in results].count(type(None)) == 64
    await store.close()


async def test_batch_has_a_bound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """More waits than one transaction takes: the rest goes in the next."""
    monkeypatch.setattr(sqlite, "MAX_BATCH", 8)
    batches: list[int] = []
    store = SqliteMatchStore(tmp_path / "matches.db", lambda entries, _, __: batches.append(entries))
    made = await asyncio.gather(*[make(store, f"m{number}") for number in range(50)])
    await asyncio.gather(*[store.append(log.next()) for _, log in made])
    assert sum(batches) == 50
    assert max(batches) <= 8
    await store.close()


class _BreaksAtCommit(sqlite3.Connection):
    """A connection whose next COMMIT fails with *code*, after it happened if *kept*."""

    code = 0
    kept = False

    def execute(self, sql: str, parameters: Any = (), /) -> sqlite3.Cursor:
        if sql != "COMMIT" or not type(self).code:
            return super().execute(sql, parameters)
        error = sqlite3.OperationalError("the disk is gone")
        error.sqlite_errorcode, type(self).code = type(self).code, 0
        error.sqlite_errorname = "TEST"
        if self.kept:
            super().execute(sql)
        raise error


@pytest.mark.parametrize(
    ("code", "kept", "expected"),
    [
        (sqlite3.SQLITE_IOERR_FSYNC, False, OutcomeUnknown),
        (sqlite3.SQLITE_IOERR_FSYNC, True, OutcomeUnknown),
        (sqlite3.SQLITE_FULL, False, StoreUnavailable),
    ],
)
async def test_failed_commit_is_unknown_or_undone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int, kept: bool, expected: type[Exception]
) -> None:
    """A full disk has written nothing; after any other failure of COMMIT only the same entry again tells."""
    monkeypatch.setattr(sqlite3, "connect", partial(sqlite3.connect, factory=_BreaksAtCommit))
    store = SqliteMatchStore(tmp_path / "matches.db")
    stored, log = await make(store)
    _BreaksAtCommit.code, _BreaksAtCommit.kept = code, kept
    entry = log.next()
    with pytest.raises(expected):
        await store.append(entry)
    assert len(await store.entries(stored.row)) == int(kept)
    await store.append(entry)
    await store.append(log.next())
    assert [found.revision for found in await store.entries(stored.row)] == [1, 2]
    await store.close()


async def test_writer_survives_what_a_driver_may_raise(tmp_path: Path) -> None:
    """An error outside the port leaves the outcome open, for its batch alone, and the writer lives on."""
    store = SqliteMatchStore(tmp_path / "matches.db")
    stored, log = await make(store)
    with pytest.raises(OutcomeUnknown):
        await store.append(log.entry(wake_at=1 << 80))
    assert await store.entries(stored.row) == []
    await store.append(log.entry())
    assert len(await store.entries(stored.row)) == 1
    await store.close()


class _KeepsItsTransaction(sqlite3.Connection):
    """A connection that cannot be rolled back."""

    def execute(self, sql: str, parameters: Any = (), /) -> sqlite3.Cursor:
        if sql == "ROLLBACK":
            raise sqlite3.OperationalError("the disk is gone")
        return super().execute(sql, parameters)


async def test_file_that_goes_away_is_asked_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """While it can be neither rolled back nor opened every write is refused; once it can, all is well."""
    with monkeypatch.context() as broken:
        broken.setattr(sqlite3, "connect", partial(sqlite3.connect, factory=_KeepsItsTransaction))
        store = SqliteMatchStore(tmp_path / "matches.db")
    stored, log = await make(store)

    def gone(path: Path, lock_wait: float) -> sqlite3.Connection:
        raise sqlite3.OperationalError("the disk is gone")

    with monkeypatch.context() as away:
        away.setattr(schema, "connect", gone)
        with pytest.raises(OutcomeUnknown):
            await store.append(log.entry(wake_at=1 << 80))
        for _ in range(2):
            with pytest.raises(StoreUnavailable):
                await store.append(log.entry())
    await store.append(log.entry())
    assert len(await store.entries(stored.row)) == 1
    await store.close()


async def test_broken_creation_leaves_the_outcome_open(tmp_path: Path) -> None:
    """The same for a match that cannot be stored."""
    store = SqliteMatchStore(tmp_path / "matches.db")
    with pytest.raises(OutcomeUnknown):
        await store.create(new_match("m", wake_at=1 << 80))
    assert await store.load("m") is None
    await make(store)
    await store.close()


async def test_file_that_is_no_database_is_refused_at_once(tmp_path: Path) -> None:
    """A process whose store cannot be opened fails at its start and not at its first match."""
    (tmp_path / "matches.db").write_bytes(b"no database" * 100)
    with pytest.raises(sqlite3.DatabaseError):
        SqliteMatchStore(tmp_path / "matches.db", lock_wait=0.1)
