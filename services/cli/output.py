"""What commands print: results on stdout, progress on stderr.

With `--json` a command prints exactly one JSON object on one line, the last of stdout. Bars are in `progress`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from typing import NoReturn

import typer


def note(text: str) -> None:
    """One plain line of progress."""
    print(text, file=sys.stderr, flush=True)


def result(found: Mapping[str, object], *, as_json: bool, text: str) -> None:
    """Print a command's result: *found* as one line of JSON, or *text* for people. Nothing follows on stdout."""
    print(json.dumps(found, ensure_ascii=False) if as_json else text, flush=True)


def fail(text: str, status: int = 1) -> NoReturn:
    """Say why the command cannot go on, and end it."""
    note(f"tortuga: {text}")
    raise typer.Exit(status)
