"""The shell of a process: loop, logs, signals, watchdog, garbage collection, and an end within ten seconds.

async def main(process: Process) -> None:
    …                                       # build and start the servers
    process.ready(grpc_port=…, http_port=…)
    await process.stop.wait()
    …                                       # drain

sys.exit(run("gateway", settings, main))
"""

from __future__ import annotations

import asyncio
import gc
import os
import signal
from collections.abc import Awaitable, Callable
from typing import TypeAlias

import uvloop

from services.kit.shell import logs
from services.kit.shell.settings import ProcessSettings
from services.kit.shell.watchdog import Watchdog

READY = "ready"
"""The event of the line that says the process serves, with its ports. Written at any log level."""

_GC_THRESHOLDS = (50_000, 20, 50)


class Process:
    """What `main` is given."""

    def __init__(self, name: str, settings: ProcessSettings) -> None:
        self.name = name
        self.settings = settings
        self.stop = asyncio.Event()
        """Set by SIGTERM and SIGINT: drain, then return."""
        self.watchdog = Watchdog()

    def ready(self, **ports: int) -> None:
        """Say that the process serves, and where; take everything made so far out of the collector's rounds."""
        gc.collect()
        gc.freeze()
        gc.set_threshold(*_GC_THRESHOLDS)
        logs.announce(READY, pid=os.getpid(), **ports)


Main: TypeAlias = Callable[[Process], Awaitable[None]]


def run(name: str, settings: ProcessSettings, main: Main) -> int:
    """Run *main* until it returns, and return the exit status: 0, or 1 if it failed or had to be cut off.

    After the first signal *main* has `settings.drain_seconds`; a second signal, or the end of that time, cancels it.
    """
    logs.configure(settings.log_level, name)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(_guard(name, settings, main))


async def _guard(name: str, settings: ProcessSettings, main: Main) -> int:
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(logs.unhandled_in_loop)
    process = Process(name, settings)
    process.watchdog.start()
    work = asyncio.ensure_future(main(process))

    def on_signal(number: signal.Signals) -> None:
        if process.stop.is_set():
            work.cancel()
            return
        logs.logger().info("draining", signal=number.name)
        process.stop.set()
        loop.call_later(settings.drain_seconds, work.cancel)

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, on_signal, number)
    try:
        await work
    except asyncio.CancelledError:
        logs.logger().error("cut_off", seconds=settings.drain_seconds)
        return 1
    except Exception as error:
        logs.logger().error("failed", exception=logs.describe(error))
        return 1
    finally:
        process.watchdog.stop()
    logs.logger().info("stopped")
    return 0
