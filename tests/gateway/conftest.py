"""Fixtures of the gateway's tests."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from services.kit.shell import logs
from tests.gateway.harness import Gateway, running


@pytest.fixture(autouse=True)
def _logs() -> None:
    """Log lines as a process of ours writes them."""
    logs.configure("warning", "gateway")


@pytest.fixture
async def gateway(tmp_path: Path) -> AsyncIterator[Gateway]:
    """A gateway whose one game is served."""
    async with running(tmp_path) as found:
        yield found
