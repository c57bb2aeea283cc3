"""The process that makes the load: `python -m services.cli.bench.load KIND WANTED`, both from `stage.load`.

It prints what it measured as one line of JSON. Progress and failures go to stderr.
"""

from __future__ import annotations

import asyncio
import json
import sys
import threading
from collections.abc import Awaitable, Callable
from importlib import import_module
from typing import Any

import grpc
import uvloop

from services.cli import output
from services.cli.serve import end_with_parent

KINDS = ("actions", "idle", "fanout")
"""Each is the coroutine function `run` of the module `load_<kind>`."""

Run = Callable[[dict[str, Any]], Awaitable[dict[str, Any]]]


def channel(target: str) -> grpc.aio.Channel:
    """A connection of its own to *target*."""
    return grpc.aio.insecure_channel(target, options=[("grpc.use_local_subchannel_pool", 1)])


def main(kind: str, wanted: str) -> int:
    """Run one load; returns the exit status."""
    threading.Thread(target=end_with_parent, name="parent", daemon=True).start()
    run: Run = import_module(f"services.cli.bench.load_{kind}").run
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        try:
            found = runner.run(_awaited(run(json.loads(wanted))))
        except Exception as error:
            for cause in _causes(error):
                output.note(f"load {kind}: {type(cause).__name__}: {_said(cause)}")
            return 1
    print(json.dumps(found), flush=True)
    return 0


async def _awaited(work: Awaitable[dict[str, Any]]) -> dict[str, Any]:
    return await work


def _causes(error: BaseException) -> list[BaseException]:
    """What really happened, out of the groups that it came in."""
    if isinstance(error, BaseExceptionGroup):
        return [cause for inner in error.exceptions for cause in _causes(inner)]
    return [error]


def _said(error: BaseException) -> str:
    if isinstance(error, grpc.aio.AioRpcError):
        return f"{error.code().name} {error.details()}"
    return str(error)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2]))
