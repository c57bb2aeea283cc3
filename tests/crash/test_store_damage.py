"""The embedded store on a damaged file and on a full disk: the last whole commit, or a clear refusal."""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from random import Random
from typing import NamedTuple

import pytest

from services.cli.fleet import Fleet
from services.cli.replaying import replay
from services.client import Client
from services.kit import export
from services.kit.game import load_game
from services.kit.store.port import Append, StoredEntry, StoreUnavailable
from services.kit.store.sqlite import SqliteMatchStore
from services.kit.verify import verify
from tests.crash.players import GAME
from tests.crash.small_disk import SmallDisk, small_disk
from tests.store.conftest import make
from tests.store.logbook import Log, new_match

pytestmark = pytest.mark.slow

ENTRIES = 60
FRAME_BYTES = 24 + 4096
"""A frame of the write-ahead log: its header and a page."""


class _Written(NamedTuple):
    """A store's files as they lay on the disk while it was open."""

    folder: Path
    sizes: Sequence[int]
    """Bytes of the write-ahead log when the match was made, and after each acknowledged entry."""

    def copy(self, to: Path, database: str = "empty.db") -> tuple[Path, Path]:
        """A copy, as a machine that lost power leaves it: the database and its write-ahead log.

        *database*: `empty.db`, as it was before anything was written, or `filled.db`, into which a checkpoint has
        written everything.
        """
        to.mkdir()
        shutil.copy(self.folder / database, to / "m.db")
        shutil.copy(self.folder / "m.db-wal", to)
        return to / "m.db", to / "m.db-wal"


@pytest.fixture
async def written(tmp_path: Path) -> _Written:
    """Sixty entries, acknowledged one by one."""
    path, kept = tmp_path / "open" / "m.db", tmp_path / "kept"
    wal = path.with_name("m.db-wal")
    kept.mkdir()
    store = SqliteMatchStore(path)
    shutil.copy(path, kept / "empty.db")
    _, log = await make(store)
    sizes = [wal.stat().st_size]
    for number in range(ENTRIES):
        await store.append(log.next(content="x" * (number * 97 % 3000)))
        sizes.append(wal.stat().st_size)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA wal_checkpoint(PASSIVE)")
    shutil.copy(path, kept / "filled.db")
    shutil.copy(wal, kept)
    await store.close()
    return _Written(kept, sizes)


async def _entries(path: Path) -> list[StoredEntry]:
    """What a store finds there; and that it goes on from it."""
    store = SqliteMatchStore(path)
    try:
        stored = await store.load("m")
        if stored is None:
            await make(store)
            return []
        found = list(await store.entries(stored.row))
        assert [entry.revision for entry in found] == list(range(1, stored.revision + 1)), "nothing is half there"
        assert not found or found[-1].head == stored.head
        await store.append(Log(stored).next("after"))
        return found
    finally:
        await store.close()


def _cuts(sizes: Sequence[int], luck: Random) -> list[int]:
    """Where to cut: around commits and frames, and anywhere."""
    around = [size + step for size in luck.sample(list(sizes), 8) for step in (-1, 0, 1)]
    frames = [32 + luck.randrange(sizes[-1] // FRAME_BYTES) * FRAME_BYTES + step for step in (0, 24) for _ in range(4)]
    return [*around, *frames, *(luck.randrange(sizes[-1]) for _ in range(24)), 0, 17]


@pytest.mark.timeout(240)
async def test_cut_log_opens_to_the_last_whole_commit(written: _Written, tmp_path: Path, crash_seed: int) -> None:
    """However much of the write-ahead log is gone, what was whole is there, nothing is half there, and it goes on."""
    print("TORTUGA_CRASH_SEED", crash_seed)
    whole = await _entries(written.copy(tmp_path / "whole")[0])
    assert len(whole) == ENTRIES
    assert all(size % FRAME_BYTES == 32 for size in written.sizes), "else cuts do not lie where they should"
    for number, cut in enumerate(_cuts(written.sizes, Random(crash_seed))):
        path, wal = written.copy(tmp_path / f"cut-{number}")
        with wal.open("r+b") as file:
            file.truncate(cut)
        expected = sum(size <= cut for size in written.sizes[1:])
        assert await _entries(path) == whole[:expected], f"cut at {cut} of {written.sizes[-1]}"


async def test_torn_page_opens_to_the_commit_before(written: _Written, tmp_path: Path, crash_seed: int) -> None:
    """One byte of the last commit is not what it was: that commit is not there, and all before it is."""
    luck = Random(crash_seed)
    print("TORTUGA_CRASH_SEED", crash_seed)
    whole = await _entries(written.copy(tmp_path / "whole")[0])
    for number in range(12):
        path, wal = written.copy(tmp_path / f"torn-{number}")
        place = luck.randrange(written.sizes[-2], written.sizes[-1])
        data = bytearray(wal.read_bytes())
        data[place] ^= 1 << luck.randrange(8)
        wal.write_bytes(data)
        assert await _entries(path) == whole[:-1], f"byte {place}"


async def test_database_cut_in_its_last_page_is_mended_from_the_log(
    written: _Written, tmp_path: Path, crash_seed: int
) -> None:
    """The power went while a checkpoint wrote the last page: the log still holds it, and every commit is there."""
    luck = Random(crash_seed)
    print("TORTUGA_CRASH_SEED", crash_seed)
    for number in range(8):
        path, _ = written.copy(tmp_path / f"cut-{number}", "filled.db")
        size = path.stat().st_size
        with path.open("r+b") as file:
            file.truncate(size - luck.randrange(1, 4096))
        assert len(await _entries(path)) == ENTRIES


async def test_full_disk_refuses_clearly_and_recovers(tmp_path: Path) -> None:
    """No room: every write is refused as unavailable and nothing of it is kept; with room the same entry goes in."""
    with small_disk(tmp_path / "disk") as disk:
        path = disk.folder / "m.db"
        store = SqliteMatchStore(path)
        stored, log = await make(store)
        for _ in range(10):
            await store.append(log.next())
        disk.fill()
        refused = await _until_refused(store, log)
        for _ in range(3):
            with pytest.raises(StoreUnavailable):
                await store.append(refused)
        with pytest.raises(StoreUnavailable):
            await store.create(new_match("another"))
        assert len(await store.entries(stored.row)) == log.revision, "it can be read, and ends where it ended"
        assert await store.heads([stored.row]) == {stored.row: (log.revision, log.head)}
        assert await store.load("another") is None
        disk.free()
        await store.append(log.wrote(refused))
        await store.append(log.next())
        await make(store, "another")
        assert len(await store.entries(stored.row)) == log.revision
        await store.close()
        again = SqliteMatchStore(path)
        assert await again.load("m") == stored._replace(revision=log.revision, head=log.head, state=2)
        await again.close()


async def _until_refused(store: SqliteMatchStore, log: Log) -> Append:
    """Append until the store refuses; what the file has room for inside goes in."""
    for _ in range(50):
        entry = log.entry(content="x" * 2000)
        try:
            await store.append(entry)
        except StoreUnavailable:
            return entry
        log.wrote(entry)
    raise AssertionError("a full disk took 50 entries")


class _Watched:
    """A player's journal, as it comes."""

    def __init__(self) -> None:
        self.refused: list[str] = []
        self.came = asyncio.Event()

    def note(self, kind: str, data: object) -> None:
        """The client's hook."""
        if kind == "refused":
            assert isinstance(data, dict)
            self.refused.append(str(data["reason"]))
            self.came.set()


async def test_players_bear_a_full_disk(tmp_path: Path) -> None:
    """A platform on a full disk: STORE_UNAVAILABLE and no trace; with room the same action once, and a whole match."""
    with small_disk(tmp_path / "disk") as disk:
        database = disk.folder / "log.db"
        environments = {GAME: {"TORTUGA_STORE": str(database)}}
        watched = _Watched()
        async with (
            Fleet(tmp_path / "data", [GAME], environments=environments) as fleet,
            Client(fleet.gateway_address, journal=watched.note) as one,
            Client(fleet.gateway_address, journal=watched.note) as other,
        ):
            for client in (one, other):
                await client.sign_in_as_guest()
            made = await asyncio.gather(*(client.find_match(GAME, seats=2) for client in (one, other)))
            assert made[0] == made[1]
            async with asyncio.timeout(45):
                playing = asyncio.gather(*(_play(client, made[0], disk, database) for client in (one, other)))
                await asyncio.sleep(0)
                await _free_when_refused(watched, disk, database)
                await playing
            collector = export.Collector()
            async for message in replay(one, made[0], GAME):
                collector.take(message)
        assert verify(collector.export(), load_game(GAME)).full
        assert set(watched.refused) == {"STORE_UNAVAILABLE"}


async def _free_when_refused(watched: _Watched, disk: SmallDisk, database: Path) -> None:
    await watched.came.wait()
    count = len(watched.refused)
    before = _log(database)
    while len(watched.refused) < count + 3:
        watched.came.clear()
        await watched.came.wait()
    assert _log(database) == before, "a refused action left something"
    disk.free()


async def _play(client: Client, match_id: str, disk: SmallDisk, database: Path) -> None:
    """Play at random; who comes to act when there are eight entries fills the disk."""
    luck = Random(match_id)
    async with client.seat(match_id, GAME) as seat:
        async for update in seat:
            if seat.decision:
                if len(_log(database)) >= 8 and not disk.was_filled:
                    disk.fill()
                await seat.act(luck.choice(update.update.legal))


def _log(database: Path) -> list[tuple[int, str]]:
    with closing(sqlite3.connect(database)) as connection:
        return connection.execute("SELECT revision, action_id FROM entries ORDER BY revision").fetchall()
