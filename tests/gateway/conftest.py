"""Fixtures of the gateway's tests."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from gateway.store.port import GatewayStore
from gateway.store.sqlite import SqliteGatewayStore
from services.kit.shell import logs
from tests.gateway.harness import Gateway, running
from tests.gateway.stores import Data, Open


@pytest.fixture(autouse=True)
def _logs() -> None:
    """Log lines as a process of ours writes them."""
    logs.configure("warning", "gateway")


@pytest.fixture
async def gateway(tmp_path: Path) -> AsyncIterator[Gateway]:
    """A gateway whose one game is served."""
    async with running(tmp_path) as found:
        yield found


@pytest.fixture(params=["sqlite"])
async def data(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Data]:
    """Empty data of one adapter. A new adapter is a new parameter here and nothing else."""
    makers: dict[str, Open] = {"sqlite": lambda: SqliteGatewayStore.open(tmp_path / "gateway.db")}
    found = Data(makers[request.param])
    yield found
    for store in found.opened:
        await store.close()


@pytest.fixture
async def store(data: Data) -> GatewayStore:
    """An empty store."""
    return await data.reopen()
