"""Seeds and reports of the crash suite."""

from __future__ import annotations

import os
from pathlib import Path
from random import SystemRandom

import pytest


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test that takes `crash_seed` runs once for each seed in TORTUGA_CRASH_SEED (`7`, `1,2,3`), or for a new one."""
    if "crash_seed" in metafunc.fixturenames:
        named = os.environ.get("TORTUGA_CRASH_SEED", "")
        seeds = [int(seed) for seed in named.split(",") if seed.strip()] or [SystemRandom().randrange(1 << 32)]
        metafunc.parametrize("crash_seed", seeds)


@pytest.fixture
def reports(tmp_path: Path) -> Path:
    """Where reports go: the folder that TORTUGA_REPORTS names, else the test's own."""
    return Path(os.environ.get("TORTUGA_REPORTS") or tmp_path)
