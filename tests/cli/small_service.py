"""A process as small as the shell allows, for tests of the fleet: as `gateway` it lists the games it was told of.

Run as `python -m tests.cli.small_service NAME --with-parent`. What TORTUGA_TEST_FAULT names goes wrong in it.
"""

from __future__ import annotations

import asyncio
import os
import sys
from typing import Any

from services.cli.serve import end_with_parent
from services.kit.shell.process import Process, run
from services.kit.shell.server import GrpcServer
from services.kit.shell.settings import ServiceSettings
from tortuga.gateway.v1.catalog_service_pb2 import ListGamesRequest, ListGamesResponse
from tortuga.gateway.v1.catalog_service_pb2_grpc import CatalogServiceServicer, add_CatalogServiceServicer_to_server
from tortuga.play.v1.game_pb2 import Game


class Catalogue(CatalogServiceServicer):
    async def ListGames(self, request: ListGamesRequest, context: Any) -> ListGamesResponse:  # noqa: N802 - gRPC's name
        names = [part.partition("=")[0] for part in os.environ["TORTUGA_SERVICES"].split(";")]
        return ListGamesResponse(games=[Game(game=name) for name in names])


async def serve(process: Process) -> None:
    fault = os.environ.get("TORTUGA_TEST_FAULT")
    if fault == "gives up":
        raise RuntimeError("as asked")
    grpc = GrpcServer("tortuga.gateway.v1.CatalogService")
    add_CatalogServiceServicer_to_server(Catalogue(), grpc.server)
    port = await grpc.start(process.settings.host, process.settings.grpc_port)
    grpc.health.ready()
    process.ready(grpc_port=port)
    await process.stop.wait()
    if fault == "never drains":
        await asyncio.Event().wait()
    await grpc.stop(0)


if __name__ == "__main__":
    import threading

    threading.Thread(target=end_with_parent, daemon=True).start()
    sys.exit(run(sys.argv[1], ServiceSettings(), serve))
