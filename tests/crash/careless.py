"""A game service that does not sync its log at every commit. For the test that the durability test notices."""

from __future__ import annotations

import sqlite3
import sys
import threading
from pathlib import Path

from services.cli.serve import end_with_parent
from services.kit.game import load_game
from services.kit.store import schema

COMMAND = (sys.executable, "-m", "tests.crash.careless")

_connect = schema.connect


def _connect_carelessly(path: Path, lock_wait: float) -> sqlite3.Connection:
    connection = _connect(path, lock_wait)
    connection.execute("PRAGMA synchronous=NORMAL")
    return connection


def main(service: str) -> int:
    """Serve until SIGTERM."""
    threading.Thread(target=end_with_parent, name="parent", daemon=True).start()
    if service == "gateway":
        from gateway.app import main as serve_gateway

        return serve_gateway()
    from services.kit.server import serve_game

    schema.connect = _connect_carelessly
    return serve_game(load_game(service))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
