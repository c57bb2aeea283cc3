"""Running `tortuga bench` in this process."""

from __future__ import annotations

import json
from typing import Any

from typer.testing import CliRunner, Result

from services.cli.main import app


def bench(*arguments: str) -> Result:
    """Run `tortuga bench` with *arguments*."""
    return CliRunner().invoke(app, ["bench", *arguments])


def printed(result: Result) -> dict[str, Any]:
    """The JSON object that the command printed, alone, on stdout."""
    assert result.exit_code == 0, f"{result.stdout}{result.stderr}{result.exception!r}"
    (line,) = result.stdout.splitlines()
    found = json.loads(line)
    assert isinstance(found, dict)
    return found
