"""README's client, as it stands."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

_README = Path(__file__).parents[2] / "README.md"


def test_readme_client_plays_a_match(gateway: str) -> None:
    """The block runs against a platform that is up; the player in it has ten lines; both players finish."""
    [block] = re.findall(r"```python\n(.*?)```", _README.read_text(encoding="utf-8"), re.DOTALL)
    assert block.index("async def both") == len("".join(block.splitlines(keepends=True)[:10])), "ten lines"
    environment = os.environ | {"TORTUGA_TARGET": gateway}
    command = (sys.executable, "-c", block)
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("rank: ") == 2
    assert "Anne" in done.stdout
    assert "Mary" in done.stdout
