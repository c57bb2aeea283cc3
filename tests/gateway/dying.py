"""A process of the platform whose gateway dies at named points of the way of a result: `python -m tests.gateway.dying`.

The point is read from the file `die-at` in the data folder when it is reached, and the file is removed: one death each
time it is written. Arguments are those of `tortuga serve`.
"""

from __future__ import annotations

import functools
import os
import signal
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import typer

from gateway.links import Links
from gateway.store.sqlite import SqliteGatewayStore
from services.cli.serve import serve

Call = Callable[..., Awaitable[Any]]

POINTS = ("listed", "kept", "acknowledged")
"""After the game has answered with results, after the store has committed, after the game has been told."""


def arm(data: Path, point: str) -> None:
    """Have the gateway over *data* die when it next comes to *point*."""
    (data / "die-at").write_text(point)


def is_armed(data: Path) -> bool:
    """Whether that has not happened yet."""
    return (data / "die-at").exists()


def _die_after(call: Call, point: str) -> Call:
    @functools.wraps(call)
    async def wrapped(*arguments: Any) -> Any:
        answer = await call(*arguments)
        file = Path(os.environ["TORTUGA_DATA"]) / "die-at"
        reached = point != "listed" or len(answer) > 0
        if reached and file.exists() and file.read_text() == point:
            file.unlink()
            os.kill(os.getpid(), signal.SIGKILL)
        return answer

    return wrapped


if __name__ == "__main__":
    links: Any = Links
    store: Any = SqliteGatewayStore
    links.list_results = _die_after(Links.list_results, "listed")
    store.keep_results = _die_after(SqliteGatewayStore.keep_results, "kept")
    links.acknowledge_results = _die_after(Links.acknowledge_results, "acknowledged")
    typer.run(serve)
