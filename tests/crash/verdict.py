"""Asks the judge, in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.crash.players import GAME

_ROOT = Path(__file__).parents[2]


def verdict_on(folder: Path) -> dict[str, Any]:
    """The judge's report on the journals, the database and the exports in *folder*."""
    places = [str(folder / name) for name in ("journals", f"{GAME}.db", "exports")]
    command = (sys.executable, "-m", "tests.crash.judge", *places)
    done = subprocess.run(command, cwd=_ROOT, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found
