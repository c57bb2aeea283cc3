"""The bare gRPC hello that an action is compared with: a unary echo in a process of its own, run like the others.

Same loop, server options and garbage collection as the platform's processes; no interceptors, no protobuf.
"""

from __future__ import annotations

import sys
import threading
from functools import partial
from typing import Any

import grpc

from services.cli.serve import end_with_parent
from services.kit.shell.process import Process, run
from services.kit.shell.server import server_options
from services.kit.shell.settings import ProcessSettings

NAME = "echo"
PATH = "/tortuga.bench.Echo/Echo"
MESSAGE = bytes(260)
"""What is sent and comes back."""


async def _serve(settings: ProcessSettings, process: Process) -> None:
    server = grpc.aio.server(options=server_options())
    service, _, method = PATH.removeprefix("/").partition("/")
    handler = grpc.method_handlers_generic_handler(service, {method: grpc.unary_unary_rpc_method_handler(_echo)})
    server.add_generic_rpc_handlers([handler])
    port = server.add_insecure_port(f"{settings.host}:{settings.grpc_port}")
    await server.start()
    process.ready(grpc_port=port)
    await process.stop.wait()
    await server.stop(0)


async def _echo(data: bytes, _: Any) -> bytes:
    return data


def main() -> int:
    """Serve until SIGTERM, or until standard input ends with the parent."""
    threading.Thread(target=end_with_parent, name="parent", daemon=True).start()
    settings = ProcessSettings()
    return run(NAME, settings, partial(_serve, settings))


if __name__ == "__main__":
    sys.exit(main())
