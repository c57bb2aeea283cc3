"""The store that fails as told does what it is told: other suites rely on it."""

from __future__ import annotations

import pytest

from services.kit.store.port import MatchStore, OutcomeUnknown, StoreUnavailable
from tests.store.conftest import make
from tests.store.faults import Fault, FaultyStore


@pytest.mark.parametrize(("fault", "kept"), [(Fault.UNKNOWN_KEPT, 1), (Fault.UNKNOWN_LOST, 0)])
async def test_unknown_outcome_is_settled_by_the_same_entry(store: MatchStore, fault: Fault, kept: int) -> None:
    """Whether it was kept or lost, the caller hears the same, and repeating the entry makes it so."""
    faulty = FaultyStore(store)
    stored, log = await make(faulty)
    faulty.fail_appends(fault)
    entry = log.next()
    with pytest.raises(OutcomeUnknown):
        await faulty.append(entry)
    assert len(await store.entries(stored.row)) == kept
    await faulty.append(entry)
    assert len(await store.entries(stored.row)) == 1
    assert faulty.appends == [entry, entry]


async def test_unavailable_store_keeps_nothing(store: MatchStore) -> None:
    """One append refused, or all calls while the store is away."""
    faulty = FaultyStore(store)
    stored, log = await make(faulty)
    faulty.fail_appends(Fault.UNAVAILABLE)
    with pytest.raises(StoreUnavailable):
        await faulty.append(log.entry())
    faulty.away = True
    with pytest.raises(StoreUnavailable):
        await faulty.append(log.entry())
    with pytest.raises(StoreUnavailable):
        await faulty.load("m")
    faulty.away = False
    await faulty.append(log.entry())
    assert len(await faulty.entries(stored.row)) == 1


async def test_call_is_held_before_and_after_the_commit(store: MatchStore) -> None:
    """At `append` nothing is written yet; at `appended` it is, but nobody has been told."""
    faulty = FaultyStore(store)
    stored, log = await make(faulty)
    before, after = faulty.hold("append"), faulty.hold("appended")
    append = faulty.append(log.next())
    await before.reached.wait()
    assert await store.entries(stored.row) == []
    before.open()
    await after.reached.wait()
    assert len(await store.entries(stored.row)) == 1
    assert not append.done()
    after.open()
    await append
