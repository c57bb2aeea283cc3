"""The bots' process: a catalogue of games, a pool of workers, one service."""

from __future__ import annotations

from functools import partial

from services.bots.pool import Pool
from services.bots.questions import MOST_BUDGET_MS, Catalogue
from services.bots.service import Bots
from services.bots.settings import BotsSettings
from services.kit.shell.http import HttpServer
from services.kit.shell.process import Process, run
from services.kit.shell.server import CLIENT_MESSAGE_BYTES, GrpcServer
from services.kit.shell.serving import serve_until_told
from tortuga.bots.v1.bot_service_pb2_grpc import add_BotServiceServicer_to_server

NAME = "bots"
SERVICE = "tortuga.bots.v1.BotService"

POSITION_BYTES = 2 * CLIENT_MESSAGE_BYTES
"""Largest request: a whole view is no longer than a client's message, and some more comes with it."""

_GRACE_SECONDS = MOST_BUDGET_MS / 1000 + 0.5


def serve_bots(settings: BotsSettings | None = None) -> int:
    """Serve the bots of all installed games until SIGTERM; returns the process's exit status."""
    settings = settings or BotsSettings()
    return run(NAME, settings, partial(_serve, settings))


async def _serve(settings: BotsSettings, process: Process) -> None:
    pool = Pool(settings.workers(), settings.bot_queue, settings.log_level)
    grpc_server = GrpcServer(SERVICE, max_receive_bytes=POSITION_BYTES)
    add_BotServiceServicer_to_server(Bots(Catalogue.installed(), pool), grpc_server.server)
    http_server = HttpServer()
    try:
        await pool.start()
        await serve_until_told(process, grpc_server, http_server)
        pool.refuse_new()
        await grpc_server.stop(_GRACE_SECONDS)
    finally:
        await pool.close()
        await http_server.stop()
