"""A game's process: store, matches, links to gateways, and the typed service for who calls a pod directly."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

from services.kit.attachment import Outlet
from services.kit.front import Front, GameCalls
from services.kit.game import AnyGame
from services.kit.host import Host
from services.kit.host_service import HostServicer
from services.kit.replay import replay
from services.kit.session import Session
from services.kit.shell import metrics
from services.kit.shell.http import HttpServer
from services.kit.shell.process import Process, run
from services.kit.shell.server import LINK_MESSAGE_BYTES, GrpcServer
from services.kit.shell.serving import serve_until_told
from services.kit.shell.settings import ServiceSettings
from services.kit.store.port import MatchStore
from services.kit.store.sqlite import BatchObserver, SqliteMatchStore
from services.kit.tokens import Verifier, bearer_token
from tortuga.host.v1.host_service_pb2_grpc import add_HostServiceServicer_to_server

HOST_SERVICE = "tortuga.host.v1.HostService"


OpenStore: TypeAlias = Callable[[Path, BatchObserver], MatchStore]


def serve_game(game: AnyGame, settings: ServiceSettings | None = None, open_store: OpenStore = SqliteMatchStore) -> int:
    """Serve *game* until SIGTERM; returns the process's exit status. *open_store* is called on the loop."""
    settings = settings or ServiceSettings()
    return run(game.id, settings, partial(_serve, game, settings, open_store))


async def _serve(game: AnyGame, settings: ServiceSettings, open_store: OpenStore, process: Process) -> None:
    store = open_store(settings.store_path(game.id), observe_batch)
    host = Host(game, store, settings.store_clock(), process.watchdog.still_seconds)
    process.watchdog.on_stall = host.stood_still
    verifier = Verifier.of(settings.jwks)
    servicer = HostServicer(host, store, verifier)
    front = typed_front(host, store, verifier)
    grpc_server = GrpcServer(HOST_SERVICE, game.service.full_name, max_receive_bytes=LINK_MESSAGE_BYTES)
    add_HostServiceServicer_to_server(servicer, grpc_server.server)
    grpc_server.server.add_generic_rpc_handlers((GameCalls({game.service.full_name: front}),))
    http_server = HttpServer()
    try:
        host.start()
        await serve_until_told(process, grpc_server, http_server)
        host.refuse_new()
        await front.drain()
        await host.close()  # appends in flight are answered while the links still stand
        servicer.drain()
        await grpc_server.stop()
    finally:
        await store.close()
        await http_server.stop()


class LocalBackend:
    """The pod's own matches, for calls that come to the pod directly."""

    def __init__(self, host: Host, store: MatchStore) -> None:
        self._host = host
        self._store = store

    def replay(self, match_id: str, player_id: str, token: str) -> AsyncIterator[bytes]:
        """A finished match's ReplayResponses."""
        return replay(self._store, self._host.game, match_id, player_id)

    def session(self, outlet: Outlet) -> Session:
        """Attachments that deliver to *outlet*."""
        return Session(self._host, outlet)


def typed_front(host: Host, store: MatchStore, verifier: Verifier) -> Front:
    """The game's own service on this pod: a typed call is a local attachment."""

    async def authenticate(context: Any) -> Any:
        return await verifier.verify_player(bearer_token(context.invocation_metadata()))

    return Front(host.game.id, LocalBackend(host, store), authenticate, verifier.verify_player)


def observe_batch(entries: int, seconds: float, conflicts: int) -> None:
    """Count one transaction of the store."""
    metrics.APPEND_BATCH.observe(entries)
    metrics.APPEND_SECONDS.observe(seconds)
    if conflicts:
        metrics.APPEND_CONFLICTS.inc(conflicts)
