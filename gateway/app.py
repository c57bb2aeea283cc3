"""The gateway's process: platform services, the games' calls through links, and the HTTP side."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from gateway import platform
from gateway.attachments import GatewayBackend
from gateway.background import Background
from gateway.discovery.static import StaticDiscovery
from gateway.links import Links
from gateway.settings import GatewaySettings
from gateway.store.sqlite import SqliteGatewayStore
from services.kit.front import Front, GameCalls
from services.kit.shell.http import HttpServer
from services.kit.shell.process import Process, run
from services.kit.shell.reflection import Reflection, Source
from services.kit.shell.server import GrpcServer
from services.kit.shell.serving import serve_until_told
from services.kit.tokens import Keyring, Verifier

NAME = "gateway"


def main(settings: GatewaySettings | None = None) -> int:
    """Run the gateway until SIGTERM; returns the process's exit status."""
    settings = settings or GatewaySettings()
    return run(NAME, settings, partial(_serve, settings))


async def _serve(settings: GatewaySettings, process: Process) -> None:
    keyring = Keyring.open(settings.data_folder())
    verifier = Verifier.of_keyring(keyring)
    links = Links(StaticDiscovery(settings.pods()), keyring)
    store = await SqliteGatewayStore.open(settings.store_path())
    grpc_server = GrpcServer(*platform.SERVICES)
    services = platform.register(
        grpc_server.server,
        games=links,
        store=store,
        keyring=keyring,
        verifier=verifier,
        settings=settings,
        clock=settings.store_clock(),
    )
    background = Background()
    games = ServedGames(links, services, verifier, grpc_server.reflection, background)
    grpc_server.server.add_generic_rpc_handlers((GameCalls(games.fronts, links.incomplete),))
    http_server = HttpServer(routes(keyring))
    try:
        await links.start()
        await services.start()
        background.start(games.follow(), "games")
        await serve_until_told(process, grpc_server, http_server)
        await services.close()
        await games.drain()
        await grpc_server.stop()
    finally:
        await background.close()
        await links.close()
        await store.close()
        await http_server.stop()


class ServedGames:
    """Gives every game that a pod describes its calls and its place in reflection."""

    def __init__(
        self,
        links: Links,
        services: platform.Platform,
        verifier: Verifier,
        reflection: Reflection,
        background: Background,
    ) -> None:
        self.fronts: dict[str, Front] = {}
        """By the full name of the game's service; kept while its pods are away."""
        self._links = links
        self._services = services
        self._verifier = verifier
        self._reflection = reflection
        self._background = background

    async def follow(self) -> None:
        """Learn of games as their pods come; for ever."""
        while True:
            seen = self._links.changes.count
            for served in self._links.served():
                if served.service_name not in self.fronts:
                    backend = GatewayBackend(
                        served.id, served.service_name, self._links, self._services.orders, self._background
                    )
                    verify = self._verifier.verify_player
                    self.fronts[served.service_name] = Front(served.id, backend, self._services.callers.player, verify)
                self._reflection.put(served.id, Source(served.pool, [served.service_name]))
            await self._links.changes.after(seen)

    async def drain(self) -> None:
        """End all streams, each saying from where to resume."""
        for front in self.fronts.values():
            await front.drain()


def routes(keyring: Keyring) -> Sequence[BaseRoute]:
    """What the gateway's HTTP port serves beside the shell's own."""

    async def jwks(_: Request) -> Response:
        keys: dict[str, Any] = keyring.jwks()
        return JSONResponse(keys, headers={"cache-control": "public, max-age=60"})

    return [Route("/.well-known/jwks.json", jwks)]
