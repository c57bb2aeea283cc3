"""Fixtures of the kit's match tests."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from services.kit import clock, host
from services.kit.shell import logs
from tests.match.table import STONES, Pod, World


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a process does by its rounds happens soon: the clock file and overdue matches are looked at at once."""
    logs.configure("error", "test")
    monkeypatch.setattr(clock, "_LOOK_AGAIN_NS", 0)
    monkeypatch.setattr(host, "WAKE_SECONDS", 0.005)


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    """A world without pods."""
    found = World(tmp_path)
    yield found
    await found.close()


@pytest.fixture
async def pod(world: World) -> Pod:
    """A pod of the real game."""
    return world.pod()


@pytest.fixture
async def stones(world: World) -> Pod:
    """A pod of Stones."""
    return world.pod(STONES)
