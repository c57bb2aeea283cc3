"""What every store promises (services/kit/store/port.py), for each adapter."""

from __future__ import annotations

import asyncio

import pytest

from services.kit.store.port import ActionIdTaken, MatchStore, StaleHead, StoreUnavailable
from tests.store.conftest import Place, make
from tests.store.logbook import ENDED, GATHERING, RUNNING, Log, new_match


async def test_created_match_is_stored_as_given(store: MatchStore) -> None:
    """Everything of the match reads back; it stands before its first entry."""
    wanted = new_match("m", wake_at=7)
    stored = await store.create(wanted)
    assert stored == await store.load("m")
    assert stored[1:6] == wanted[:5]
    assert (stored.revision, stored.head, stored.state) == (0, wanted.head, GATHERING)
    assert await store.entries(stored.row) == []


async def test_creating_again_returns_the_first_match(store: MatchStore) -> None:
    """The id decides: a second call changes nothing, not even with another seed, and not after entries came."""
    stored, log = await make(store, wake_at=5)
    await store.append(log.next(wake_at=9))
    again = await store.create(new_match("m", seed=b"x" * 32, fixed=b"other", head=b"h" * 32, wake_at=1))
    assert again == stored._replace(revision=1, head=log.head, state=RUNNING)
    assert await store.due(8, 10) == []


async def test_unknown_match_is_none(store: MatchStore) -> None:
    """A match that was never made is not there."""
    assert await store.load("nobody") is None
    assert await store.heads([12345]) == {}
    assert await store.entries(12345) == []


async def test_entries_read_back_in_order_and_after_a_revision(store: MatchStore) -> None:
    """The log is what was appended, bytes and heads."""
    stored, log = await make(store)
    written = [log.next(seat=number % 3) for number in range(20)]
    for entry in written:
        await store.append(entry)
    assert await store.entries(stored.row) == [(entry.revision, entry.head, entry.data) for entry in written]
    assert [found.revision for found in await store.entries(stored.row, 17)] == [18, 19, 20]
    assert await store.entries(stored.row, 20) == []


async def test_state_and_head_move_with_the_entry(store: MatchStore) -> None:
    """The match's row says where its log stands."""
    stored, log = await make(store)
    await store.append(log.next(state=ENDED, result=b"result"))
    found = await store.load("m")
    assert found is not None
    assert (found.revision, found.head, found.state) == (1, log.head, ENDED)
    assert await store.heads([stored.row, 999]) == {stored.row: (1, log.head)}


@pytest.mark.parametrize("change", ["parent", "revision", "later"])
async def test_entry_on_another_head_is_refused(store: MatchStore, change: str) -> None:
    """Neither a wrong parent, nor a wrong revision, nor a parent that is history already is taken."""
    stored, log = await make(store)
    first = log.next()
    await store.append(first)
    good = log.entry()
    bad = {
        "parent": good._replace(parent=b"p" * 32),
        "revision": good._replace(revision=3),
        "later": first._replace(head=b"h" * 32, data=b"graft", action_id="graft"),
    }[change]
    with pytest.raises(StaleHead):
        await store.append(bad)
    assert await store.entries(stored.row) == [(1, first.head, first.data)]
    await store.append(good)


async def test_entry_of_no_match_is_refused(store: MatchStore) -> None:
    """A row that does not exist has no head to fit on."""
    _, log = await make(store)
    with pytest.raises(StaleHead):
        await store.append(log.entry(row=777))


async def test_conflict_drops_one_entry_of_many(store: MatchStore) -> None:
    """Of 64 matches' entries appended at once, the one that does not fit is dropped and 63 are kept."""
    logs = [(await make(store, f"m{number}"))[1] for number in range(64)]
    entries = [log.next(wake_at=100) for log in logs]
    entries[40] = entries[40]._replace(parent=b"p" * 32)
    outcomes = await asyncio.gather(*map(store.append, entries), return_exceptions=True)
    assert [type(outcome) for outcome in outcomes] == [type(None)] * 40 + [StaleHead] + [type(None)] * 23
    heads = await store.heads(log.row for log in logs)
    assert [heads[log.row][0] for log in logs] == [1] * 40 + [0] + [1] * 23
    assert len(await store.due(100, 100)) == 63


async def test_second_entry_cannot_be_grafted_when_the_first_lost(store: MatchStore) -> None:
    """An owner that slept holds two entries, one on the other: the first loses, so the second has no parent."""
    stored, log = await make(store)
    sleeper = Log(stored)
    await store.append(log.next("winner"))
    lost = [sleeper.next("first"), sleeper.next("second")]
    outcomes = await asyncio.gather(*map(store.append, lost), return_exceptions=True)
    assert [type(outcome) for outcome in outcomes] == [StaleHead, StaleHead]
    assert len(await store.entries(stored.row)) == 1


async def test_two_entries_of_one_match_may_wait_together(store: MatchStore) -> None:
    """One on the other, both fit: both are kept, in order."""
    stored, log = await make(store)
    await asyncio.gather(*[store.append(log.next()) for _ in range(5)])
    assert [found.revision for found in await store.entries(stored.row)] == [1, 2, 3, 4, 5]


async def test_same_entry_again_succeeds_and_changes_nothing(store: MatchStore) -> None:
    """Whether it is the newest or others have followed, and whatever else the repetition says."""
    stored, log = await make(store)
    first, second = log.next(wake_at=50), log.next(wake_at=60)
    await store.append(first)
    await store.append(first._replace(wake_at=None, state=ENDED))
    assert await store.due(50, 10) == ["m"]
    await store.append(second)
    await store.append(first)
    await asyncio.gather(store.append(second), store.append(second))
    found = await store.load("m")
    assert found is not None
    assert (found.revision, found.head, found.state) == (2, second.head, RUNNING)
    assert len(await store.entries(stored.row)) == 2
    assert await store.due(59, 10) == []
    assert await store.due(60, 10) == ["m"]


async def test_used_action_id_brings_the_first_entry(store: MatchStore) -> None:
    """On a fitting parent, an id that the actor used before is refused with what the match needs to answer."""
    stored, log = await make(store)
    first = log.next("mine", wake_at=5)
    await store.append(first)
    await store.append(log.next("other", wake_at=6))
    for content in ("", "other content"):
        with pytest.raises(ActionIdTaken) as taken:
            await store.append(log.entry("mine", content=content, wake_at=7))
        assert (taken.value.revision, taken.value.data) == (1, first.data)
    assert len(await store.entries(stored.row)) == 2
    assert await store.due(6, 10) == ["m"]
    await store.append(log.entry("fresh"))


async def test_used_action_id_takes_no_other_entry_with_it(store: MatchStore) -> None:
    """In one batch, the entry with the used id is refused and its neighbours are kept."""
    logs = [(await make(store, f"m{number}"))[1] for number in range(3)]
    await store.append(logs[1].next("mine"))
    entries = [logs[0].next("x"), logs[1].entry("mine"), logs[2].next("x")]
    outcomes = await asyncio.gather(*map(store.append, entries), return_exceptions=True)
    assert [type(outcome) for outcome in outcomes] == [type(None), ActionIdTaken, type(None)]


async def test_action_id_belongs_to_match_and_actor(store: MatchStore) -> None:
    """Another seat, the system and another match may use the same one."""
    _, log = await make(store)
    _, other = await make(store, "m2")
    await store.append(log.next("id", seat=0))
    await store.append(log.next("id", seat=1))
    await store.append(log.next("id", seat=-1))
    await store.append(other.next("id", seat=0))


async def test_stale_head_goes_before_used_id(store: MatchStore) -> None:
    """Who is behind folds first; only then does an id count as taken."""
    stored, log = await make(store)
    sleeper = Log(stored)
    await store.append(log.next("mine"))
    with pytest.raises(StaleHead):
        await store.append(sleeper.entry("mine", content="other"))


async def test_wake_is_set_moved_and_cleared_with_entries(store: MatchStore) -> None:
    """`wake_at` is what the newest entry said; refused entries leave it alone."""
    _, log = await make(store, wake_at=10)
    assert await store.due(9, 10) == []
    assert await store.due(10, 10) == ["m"]
    await store.append(log.next(wake_at=20))
    assert await store.due(19, 10) == []
    with pytest.raises(StaleHead):
        await store.append(log.entry(parent=b"p" * 32, wake_at=None))
    assert await store.due(20, 10) == ["m"]
    await store.append(log.next(wake_at=None))
    assert await store.due(10**15, 10) == []


async def test_due_is_ordered_and_limited(store: MatchStore) -> None:
    """The most overdue come first, as many as asked for."""
    for number, wake_at in enumerate([30, 10, None, 20, 40]):
        await make(store, f"m{number}", wake_at=wake_at)
    assert await store.due(35, 10) == ["m1", "m3", "m0"]
    assert await store.due(35, 2) == ["m1", "m3"]
    assert await store.due(9, 10) == []


async def test_entries_survive_reopening(place: Place) -> None:
    """What was acknowledged is there for the next process, with its wake."""
    store = await place.open()
    stored, log = await make(store)
    written = [log.next(wake_at=number) for number in range(10)]
    for entry in written:
        await store.append(entry)
    await store.close()
    again = await place.open()
    assert await again.load("m") == stored._replace(revision=10, head=log.head, state=RUNNING)
    assert await again.entries(stored.row) == [(entry.revision, entry.head, entry.data) for entry in written]
    assert await again.due(9, 10) == ["m"]


async def test_flush_waits_for_appends_made_before(store: MatchStore) -> None:
    """After `flush` every earlier append has its outcome, also where entries of one match wait for each other."""
    _, log = await make(store)
    appends = [store.append(log.next()) for _ in range(30)]
    await store.flush()
    assert all(append.done() for append in appends)


async def test_close_finishes_what_is_queued(place: Place) -> None:
    """Closing loses nothing, and afterwards the store takes nothing."""
    store = await place.open()
    stored, log = await make(store)
    appends = [store.append(log.next()) for _ in range(30)]
    await store.close()
    await asyncio.gather(*appends)
    with pytest.raises(StoreUnavailable):
        await store.append(log.entry())
    with pytest.raises(StoreUnavailable):
        await store.load("m")
    await store.close()
    assert len(await (await place.open()).entries(stored.row)) == 30


async def test_abandoned_append_counts_all_the_same(store: MatchStore) -> None:
    """Whoever waited may go: the entry is written, and its neighbours are told."""
    stored, log = await make(store)
    _, other = await make(store, "m2")
    abandoned, kept = store.append(log.next()), store.append(other.next())
    abandoned.cancel()
    await kept
    await store.flush()
    assert len(await store.entries(stored.row)) == 1


async def test_locked_store_is_unavailable_and_recovers(place: Place) -> None:
    """While nobody can write, every write is refused after the wait and nothing is kept; afterwards all is well."""
    store = await place.open(lock_wait=0.1)
    stored, log = await make(store)
    with place.adapter.locked(place.where):
        with pytest.raises(StoreUnavailable):
            await store.append(log.entry(wake_at=1))
        with pytest.raises(StoreUnavailable):
            await store.create(new_match("m2"))
        await store.flush()
        assert await store.load("m") == stored
    assert await store.load("m2") is None
    assert await store.due(1, 10) == []
    await store.append(log.entry(wake_at=1))
    assert await store.due(1, 10) == ["m"]


async def test_store_opens_while_another_writes(place: Place) -> None:
    """A process that starts while the store is locked waits for its turn and then works."""
    first = await place.open()
    _, log = await make(first)
    with place.adapter.locked(place.where):
        second = await place.open()
        waiting = second.append(log.entry())
    await waiting


async def test_results_are_listed_until_acknowledged(store: MatchStore) -> None:
    """Only matches that are over have one, oldest match first, at most as many as asked for."""
    logs = [(await make(store, f"m{number}"))[1] for number in range(4)]
    for log in logs:
        await store.append(log.next())
    assert await store.results(10) == []
    for number in (2, 0, 3):
        await store.append(logs[number].next(state=ENDED, result=f"result {number}".encode()))
    assert await store.results(10) == [b"result 0", b"result 2", b"result 3"]
    assert await store.results(2) == [b"result 0", b"result 2"]
    await store.acknowledge(["m0", "m3", "nobody"])
    await store.acknowledge(["m0"])
    assert await store.results(10) == [b"result 2"]


async def test_match_that_is_not_over_cannot_be_acknowledged(store: MatchStore) -> None:
    """Its result is listed once it has one."""
    _, log = await make(store)
    await store.acknowledge(["m"])
    await store.append(log.next(state=ENDED, result=b"result"))
    assert await store.results(10) == [b"result"]
