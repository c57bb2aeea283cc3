"""A process that serves: both servers come up, the process says so, and in time it learns that it has to drain."""

from __future__ import annotations

from services.kit.shell.http import HttpServer
from services.kit.shell.process import Process
from services.kit.shell.server import GrpcServer


async def serve_until_told(process: Process, grpc_server: GrpcServer, http_server: HttpServer) -> None:
    """Start both servers where the settings say, and return when the process has to drain; health says so from then on.

    The HTTP server comes first: who watches the gRPC server's health may ask for metrics and keys.

    Raises:
        OSError: a port cannot be had.
    """
    settings = process.settings
    http_port = await http_server.start(settings.host, settings.http_port)
    grpc_port = await grpc_server.start(settings.host, settings.grpc_port)
    grpc_server.health.ready()
    process.ready(grpc_port=grpc_port, http_port=http_port)
    await process.stop.wait()
    grpc_server.health.drain()
