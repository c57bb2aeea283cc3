"""`tortuga serve`: one process of the platform: the gateway, the bots or a game's service."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated

import typer
from pydantic import ValidationError

from services.cli import output
from services.kit.game import UnknownGame, installed_games, load_game

_DRAIN_SECONDS = 12.0


def serve(
    service: Annotated[str, typer.Argument(help="gateway, bots, or a game's id.")],
    data: Annotated[Path | None, typer.Option(help="Data folder (TORTUGA_DATA).")] = None,
    host: Annotated[str | None, typer.Option(help="Address to bind to (TORTUGA_HOST).")] = None,
    grpc_port: Annotated[int | None, typer.Option(help="gRPC port, 0 for a free one (TORTUGA_GRPC_PORT).")] = None,
    http_port: Annotated[int | None, typer.Option(help="HTTP port, 0 for a free one (TORTUGA_HTTP_PORT).")] = None,
    with_parent: Annotated[bool, typer.Option(hidden=True, help="End when standard input does.")] = False,
) -> None:
    """Serve the gateway, the bots or one game until SIGTERM. Everything else is told by TORTUGA_ settings."""
    flags = {"DATA": data, "HOST": host, "GRPC_PORT": grpc_port, "HTTP_PORT": http_port}
    os.environ.update({f"TORTUGA_{name}": str(value) for name, value in flags.items() if value is not None})
    if with_parent:
        threading.Thread(target=end_with_parent, name="parent", daemon=True).start()
    raise typer.Exit(_serve(service))


def _serve(service: str) -> int:
    """Run the service and return its exit status."""
    try:
        serve_named = _PLATFORM.get(service)
        return serve_named() if serve_named else _serve_game(service)
    except UnknownGame:
        output.fail(f"no such service: {service}. There are: {', '.join([*_PLATFORM, *installed_games()])}", 2)
    except ValidationError as error:
        wrong = "; ".join(f"TORTUGA_{str(fault['loc'][0]).upper()}: {fault['msg']}" for fault in error.errors())
        output.fail(f"settings: {wrong}", 2)


def _serve_gateway() -> int:
    from gateway.app import main  # noqa: PLC0415 - a game's process does not load the gateway

    return main()


def _serve_bots() -> int:
    from services.bots.server import serve_bots  # noqa: PLC0415 - only the bots' process loads the bots' service

    return serve_bots()


_PLATFORM: Mapping[str, Callable[[], int]] = {"gateway": _serve_gateway, "bots": _serve_bots}
"""Processes that are no game's, by name."""


def _serve_game(game: str) -> int:
    loaded = load_game(game)
    from services.kit.server import serve_game  # noqa: PLC0415 - the gateway's process does not load the host

    return serve_game(loaded)


def end_with_parent() -> None:
    """Drain when the parent is gone, however it went: the system closes its end of our standard input.

    This and not the system's parent-death signal, which comes when the *thread* that started us ends.
    """
    while os.read(0, 4096):
        continue
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(_DRAIN_SECONDS)
    os._exit(1)


if __name__ == "__main__":
    typer.run(serve)
