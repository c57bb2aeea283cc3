"""The process shell, as a real process: ready line, signals, drain, HTTP, watchdog."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from services.kit.shell import http, metrics
from services.kit.shell.process import Process, run
from services.kit.shell.server import GrpcServer, PortTaken
from services.kit.shell.settings import ServiceSettings
from services.kit.shell.watchdog import Watchdog


async def serve(process: Process) -> None:
    """A process with both servers, and what TORTUGA_TEST_FAULT names."""
    fault = os.environ.get("TORTUGA_TEST_FAULT")
    grpc, web = GrpcServer(), http.HttpServer()
    grpc_port = await grpc.start(process.settings.host, process.settings.grpc_port)
    http_port = await web.start(process.settings.host, process.settings.http_port)
    grpc.health.ready()
    process.ready(grpc_port=grpc_port, http_port=http_port)
    if fault == "stall":
        time.sleep(0.3)  # noqa: ASYNC251 - the loop is to stand still
        await asyncio.sleep(0.1)
    await process.stop.wait()
    if fault == "fail":
        raise ValueError("the secret")
    if fault == "hang":
        await asyncio.Event().wait()
    await web.stop()
    await grpc.stop(0)


class Running:
    """A process that serves, and what it says."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process

    async def line(self, event: str) -> dict[str, Any]:
        """The next log line of this event."""
        assert self.process.stderr is not None
        async for line in self.process.stderr:
            said: dict[str, Any] = json.loads(line)
            if said["event"] == event:
                return said
        raise AssertionError(f"no {event}")


@asynccontextmanager
async def running(fault: str = "", **environment: str) -> AsyncIterator[Running]:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.shell.test_process"),
        stderr=asyncio.subprocess.PIPE,
        env={
            **os.environ,
            "TORTUGA_GRPC_PORT": "0",
            "TORTUGA_HTTP_PORT": "0",
            "TORTUGA_TEST_FAULT": fault,
            **environment,
        },
    )
    try:
        yield Running(process)
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_it_says_where_it_serves_and_drains_on_a_signal(number: signal.Signals) -> None:
    """The ready line has the real ports, at any log level; HTTP answers; the signal ends it with status 0."""
    async with running(TORTUGA_LOG_LEVEL="error") as child:
        ready = await child.line("ready")
        assert (ready["pid"], ready["service"]) == (child.process.pid, "test")
        assert ready["grpc_port"] > 0
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{ready['http_port']}", trust_env=False) as web:
            assert (await web.get("/healthz")).text == "ok\n"
            shown = await web.get("/metrics")
            assert shown.headers["content-type"].startswith("text/plain")
            assert "tortuga_loop_stall_seconds_bucket" in shown.text
            child.process.send_signal(number)
            assert await asyncio.wait_for(child.process.wait(), 10) == 0


async def test_a_drain_that_hangs_is_cut_off() -> None:
    """After the drain time the process ends all the same, and says so in its status."""
    async with running("hang", TORTUGA_DRAIN_SECONDS="0.2") as child:
        await child.line("ready")
        child.process.terminate()
        await child.line("cut_off")
        assert await asyncio.wait_for(child.process.wait(), 10) == 1


async def test_a_second_signal_does_not_wait() -> None:
    """Ctrl-C twice ends a drain that takes too long for somebody."""
    async with running("hang") as child:
        await child.line("ready")
        child.process.send_signal(signal.SIGINT)
        await child.line("draining")
        child.process.send_signal(signal.SIGINT)
        assert await asyncio.wait_for(child.process.wait(), 5) == 1


async def test_a_failure_is_logged_without_its_arguments() -> None:
    """The last line has type and places; the status is 1."""
    async with running("fail") as child:
        await child.line("ready")
        child.process.terminate()
        failed = await child.line("failed")
        assert failed["exception"]["type"] == "builtins.ValueError"
        assert "secret" not in json.dumps(failed)
        assert await asyncio.wait_for(child.process.wait(), 10) == 1


async def test_a_loop_that_stood_still_is_noticed() -> None:
    """A stall of 300 ms is logged and counted."""
    async with running("stall") as child:
        ready = await child.line("ready")
        stall = await child.line("loop_stall")
        assert 200 <= stall["milliseconds"] < 5000
        url = f"http://127.0.0.1:{ready['http_port']}/metrics"
        async with httpx.AsyncClient(trust_env=False) as web:
            assert "tortuga_loop_stall_seconds_count 0.0" not in (await web.get(url)).text


async def test_whoever_runs_first_after_a_sleep_sees_how_long_it_was() -> None:
    """The watchdog tells the length of a standstill before its own turn comes."""
    watchdog = Watchdog()
    watchdog.start()
    time.sleep(0.12)  # noqa: ASYNC251 - the loop is to stand still
    assert watchdog.still_seconds() >= 0.12
    async with asyncio.timeout(10):
        while watchdog.still_seconds() >= 0.1:
            await asyncio.sleep(0.005)
    watchdog.stop()


async def test_routes_of_the_owner_are_served_beside_the_shells() -> None:
    """The gateway adds its key set this way; a taken port is refused; stopping frees it."""

    async def keys(_: Request) -> Response:
        return JSONResponse({"keys": []})

    server = http.HttpServer([Route("/.well-known/jwks.json", keys)])
    port = await server.start("127.0.0.1", 0)
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", trust_env=False) as web:
        assert (await web.get("/.well-known/jwks.json")).json() == {"keys": []}
        assert (await web.get("/healthz")).status_code == 200
        assert (await web.get("/nothing")).status_code == 404
        with pytest.raises(PortTaken):
            await http.HttpServer().start("127.0.0.1", port)
    await server.stop()
    again = http.HttpServer()
    assert await again.start("127.0.0.1", port) == port
    await again.stop()


def test_series_with_labels_are_kept() -> None:
    """The same child comes back, so that a hot path may ask by name each time."""
    assert metrics.action_seconds("nim", "applied") is metrics.action_seconds("nim", "applied")
    assert metrics.attachments_rehomed("drain") is metrics.attachments_rehomed("drain")


if __name__ == "__main__":
    sys.exit(run("test", ServiceSettings(), serve))
