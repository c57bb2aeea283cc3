"""Several processes at one store, and processes that are killed: promises 1 and 4 of design §1, for each adapter."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

from services.kit.store.port import MatchStore, StaleHead, StoredEntry
from tests.store.conftest import Place, make
from tests.store.logbook import Log, new_match, next_head

ROOT = Path(__file__).parents[2]


async def _start(place: Place, seat: int, count: int) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.store.writer", place.name, place.where, "m", str(seat), str(count)),
        stdout=asyncio.subprocess.PIPE,
        cwd=ROOT,
    )


async def _read(process: asyncio.subprocess.Process, most: int | None = None) -> list[int]:
    """Revisions that the process says were acknowledged: the first *most*, or all until its end."""
    assert process.stdout is not None
    found: list[int] = []
    while most is None or len(found) < most:
        line = await process.stdout.readline()
        if not line.endswith(b"\n"):
            break
        found.append(int(line))
    return found


def _check_chain(match_id: str, entries: list[StoredEntry]) -> None:
    head = new_match(match_id).head
    for revision, entry in enumerate(entries, 1):
        head = next_head(head, entry.data)
        assert (entry.revision, entry.head) == (revision, head)


async def test_killed_process_loses_nothing_acknowledged(place: Place) -> None:
    """kill -9 right after an acknowledgement: the entry is in the log, in one piece, with its wake."""
    store = await place.open()
    stored, _ = await make(store)
    process = await _start(place, 0, 0)
    acknowledged = await _read(process, 25)
    process.kill()
    acknowledged += await _read(process)
    await process.wait()
    entries = list(await store.entries(stored.row))
    assert len(acknowledged) >= 25
    assert acknowledged == list(range(1, len(acknowledged) + 1))
    assert len(entries) - len(acknowledged) in {0, 1}  # one may have been written whose acknowledgement was cut off
    _check_chain("m", entries)
    assert await store.due(len(entries) - 1, 1) == []
    assert await store.due(len(entries), 1) == ["m"]
    found = await store.load("m")
    assert found is not None
    await store.append(Log(found).entry("after", 3))


async def test_two_processes_take_turns(place: Place) -> None:
    """Two processes on one match: every entry that one was told of is in the log once, and no head was used twice."""
    store = await place.open()
    stored, _ = await make(store)
    processes = [await _start(place, seat, 40) for seat in (0, 1)]
    told = await asyncio.gather(*map(_read, processes))
    assert [await process.wait() for process in processes] == [0, 0]
    entries = list(await store.entries(stored.row))
    _check_chain("m", entries)
    assert [len(each) for each in told] == [40, 40]
    assert sorted(told[0] + told[1]) == list(range(1, 81))
    for seat, revisions in enumerate(told):
        by_seat = [entry.revision for entry in entries if entry.data.split()[1] == str(seat).encode()]
        assert by_seat == revisions


async def test_two_stores_on_one_head_let_one_through(place: Place) -> None:
    """Two writers with the same parent, at the same moment, again and again: exactly one succeeds."""
    one, other = await place.open(), await place.open()
    stored, first = await make(one)
    second = Log(stored)
    won = [0, 0]
    for _ in range(40):
        entries = [first.entry(seat=0), second.entry(seat=1)]
        results = await asyncio.gather(one.append(entries[0]), other.append(entries[1]), return_exceptions=True)
        assert sorted(type(result).__name__ for result in results) == ["NoneType", "StaleHead"]
        winner = results.index(None)
        won[winner] += 1
        for log in (first, second):
            log.wrote(entries[winner])
    _check_chain("m", list(await one.entries(stored.row)))
    assert sum(won) == 40


async def test_many_matches_of_two_stores_do_not_disturb_each_other(place: Place) -> None:
    """Two stores, each with its own matches: no conflict ever."""
    stores: list[MatchStore] = [await place.open(), await place.open()]
    logs = [
        (store, (await make(store, f"{who}-{number}"))[1]) for who, store in enumerate(stores) for number in range(8)
    ]
    for _ in range(20):
        await asyncio.gather(*[store.append(log.next()) for store, log in logs])
    heads = await stores[0].heads(log.row for _, log in logs)
    assert heads == {log.row: (20, log.head) for _, log in logs}


async def test_one_of_two_creators_makes_the_match(place: Place) -> None:
    """Both get the same match, with the same secrets."""
    one, other = await place.open(), await place.open()
    for number in range(20):
        wanted = [new_match(f"m{number}", seed=bytes([who]) * 32) for who in (0, 1)]
        first, second = await asyncio.gather(one.create(wanted[0]), other.create(wanted[1]))
        assert first == second


async def test_writer_that_was_overtaken_folds_and_goes_on(place: Place) -> None:
    """A store sees at once what another one has written: entries, heads and wakes."""
    one, other = await place.open(), await place.open()
    stored, log = await make(one)
    sleeper = Log(stored)
    written = log.next(wake_at=3)
    await one.append(written)
    with pytest.raises(StaleHead):
        await other.append(sleeper.entry(seat=1))
    tail = await other.entries(stored.row, sleeper.revision)
    assert tail == [(1, written.head, written.data)]
    assert await other.due(3, 1) == ["m"]
    sleeper.wrote(written)
    await other.append(sleeper.entry(seat=1))
