"""Fixtures of the link tests: pods as in the match tests, behind real servers."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.links.peer import ServedPod, serving
from tests.match.conftest import _impatient, stones, world
from tests.match.table import Pod

__all__ = ["_impatient", "stones", "world"]


@pytest.fixture
async def served(stones: Pod, tmp_path: Path) -> AsyncIterator[ServedPod]:
    """A pod of Stones behind a real server."""
    async with serving(stones, tmp_path) as found:
        yield found
