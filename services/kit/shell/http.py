"""The HTTP side of a process: /metrics and /healthz, and the routes its owner adds, in the same process and loop."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Sequence

import uvicorn
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import BaseRoute, Route

from services.kit.shell.server import PortTaken


async def _healthz(_: Request) -> Response:
    """Liveness: that this answers is the proof that the loop turns."""
    return PlainTextResponse("ok\n")


async def _metrics(_: Request) -> Response:
    return Response(generate_latest(), headers={"content-type": CONTENT_TYPE_LATEST})


class HttpServer:
    """A starlette application under uvicorn, without uvicorn's own loop, logs and signal handlers."""

    def __init__(self, routes: Sequence[BaseRoute] = ()) -> None:
        """*routes* come before the shell's own."""
        own = [Route("/healthz", _healthz), Route("/metrics", _metrics)]
        self.app = Starlette(routes=[*routes, *own])
        config = uvicorn.Config(
            self.app,
            loop="none",
            log_config=None,
            access_log=False,
            lifespan="off",
            server_header=False,
            timeout_graceful_shutdown=1,
        )
        self._server = _Embedded(config)
        self._serving: asyncio.Task[None] | None = None

    async def start(self, host: str, port: int) -> int:
        """Bind and serve. Returns the real port (*port* 0 takes a free one).

        Raises:
            PortTaken: another process has the port.
        """
        listener = _listen(host, port)
        bound: int = listener.getsockname()[1]
        self._serving = asyncio.create_task(self._server.run_here(listener), name="http")
        await self._server.up.wait()
        return bound

    async def stop(self) -> None:
        """Stop listening, finish open requests (at most a second), end."""
        if self._serving is not None:
            self._server.should_exit = True
            await self._serving
            self._serving = None


class _Embedded(uvicorn.Server):
    """uvicorn inside a loop that is somebody else's. `serve` would take over the process's signals."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.up = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.up.set()

    async def run_here(self, listener: socket.socket) -> None:
        try:
            await self._serve([listener])
        finally:
            self.up.set()


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError as error:
        listener.close()
        raise PortTaken(f"{host}:{port}") from error
    listener.set_inheritable(False)
    return listener
