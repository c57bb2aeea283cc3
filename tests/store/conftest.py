"""Fixtures of the store's tests: every adapter in turn."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from services.kit.store.port import MatchStore, StoredMatch
from tests.store.adapters import ADAPTERS, Adapter, Observe
from tests.store.logbook import Log, new_match


class Place:
    """Where one test keeps its matches: opens stores there, and closes them in the end."""

    def __init__(self, name: str, adapter: Adapter, where: str) -> None:
        self.name = name
        self.adapter = adapter
        self.where = where
        self._open: list[MatchStore] = []

    async def open(self, observe: Observe | None = None, lock_wait: float = 5.0) -> MatchStore:
        """One more store at the place."""
        store = await self.adapter.open(self.where, observe, lock_wait)
        self._open.append(store)
        return store

    async def close(self) -> None:
        """Close all of them."""
        for store in self._open:
            await store.close()


@pytest.fixture(params=sorted(ADAPTERS))
async def place(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Place]:
    """An empty place of each adapter."""
    adapter = ADAPTERS[request.param]
    found = Place(request.param, adapter, adapter.place(tmp_path))
    yield found
    await found.close()


@pytest.fixture
async def store(place: Place) -> MatchStore:
    """A store at the place."""
    return await place.open()


async def make(store: MatchStore, match_id: str = "m", **changes: Any) -> tuple[StoredMatch, Log]:
    """A match, and its log to write in."""
    stored = await store.create(new_match(match_id, **changes))
    return stored, Log(stored)
