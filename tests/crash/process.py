"""A process under test: the gateway as it is, a game's service with a store that obeys orders.

Started by the fleet in place of `tortuga serve`; CRASH_FOLDER and CRASH_NAME say where its orders lie.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from functools import partial
from pathlib import Path

from services.cli.serve import end_with_parent
from services.kit.game import load_game
from services.kit.store.port import MatchStore
from tests.crash.orders import Notes, Orders

COMMAND = (sys.executable, "-m", "tests.crash.process")
"""What the fleet starts; the service's name follows."""


_BORN = time.time()


def main(service: str) -> int:
    """Serve until SIGTERM, or until the parent is gone."""
    orders = Orders(Path(os.environ["CRASH_FOLDER"]), os.environ["CRASH_NAME"])
    Notes(orders.folder, orders.name).write("born", wall=_BORN)
    threading.Thread(target=end_with_parent, name="parent", daemon=True).start()
    if service == "gateway":
        from gateway.app import main as serve_gateway

        return serve_gateway()
    from services.kit.server import serve_game

    return serve_game(load_game(service), open_store=partial(_open, orders))


def _open(orders: Orders, path: Path, _: object) -> MatchStore:
    from tests.crash.crashing_store import CrashingStore

    return CrashingStore(path, orders)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
