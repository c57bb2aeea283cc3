"""`tortuga up`: the whole platform as processes on this machine."""

from __future__ import annotations

import asyncio
import signal
from pathlib import Path
from typing import Annotated

import typer

from services.cli import output
from services.cli.fleet import Fleet, PortsTaken
from services.cli.member import NeverReady
from services.kit.game import installed_games

_SERVICE_PORT = 7101


def up(
    data: Annotated[Path, typer.Option(envvar="TORTUGA_DATA", help="Data folder.")] = Path(".tortuga"),
    host: Annotated[str, typer.Option(envvar="TORTUGA_HOST", help="Address to bind to.")] = "127.0.0.1",
    grpc_port: Annotated[int, typer.Option(help="The gateway's gRPC port; 0 for a free one.")] = 7070,
    http_port: Annotated[int, typer.Option(help="The gateway's HTTP port; 0 for a free one.")] = 7071,
    service_port: Annotated[int, typer.Option(help="Services' first port; 0 for free ones.")] = _SERVICE_PORT,
    as_json: Annotated[bool, typer.Option("--json", help="Say where everything is in one line of JSON.")] = False,
) -> None:
    """Start the gateway, the bots and every installed game, restart what dies, and drain it all on Ctrl-C."""
    try:
        fleet = Fleet(
            data,
            installed_games(),
            host=host,
            grpc_port=grpc_port,
            http_port=http_port,
            service_port=service_port,
            bots=True,
            note=output.note,
        )
        asyncio.run(_keep_up(fleet, as_json))
    except (PortsTaken, NeverReady) as error:
        output.fail(str(error))


async def _keep_up(fleet: Fleet, as_json: bool) -> None:
    """Start *fleet*, say where it is, wait for a signal, drain."""
    loop = asyncio.get_running_loop()
    stop = asyncio.Event()
    starting = asyncio.create_task(fleet.start())
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    waiting = asyncio.create_task(stop.wait())
    await asyncio.wait([starting, waiting], return_when=asyncio.FIRST_COMPLETED)
    if not starting.done():
        output.note("draining")
        starting.cancel()
        await asyncio.wait([starting])
        return
    waiting.add_done_callback(lambda _: output.note("draining"))
    try:
        await starting
        output.result(_where(fleet), as_json=as_json, text=_table(fleet))
        await waiting
    finally:
        waiting.cancel()
        await fleet.stop()
    output.note("stopped")


def _where(fleet: Fleet) -> dict[str, object]:
    processes = {
        member.name: {
            "serves": member.serves,
            "pid": member.pid,
            "grpc": member.address,
            "http": f"{member.host}:{member.http_port}",
            "log": str(member.log),
        }
        for member in fleet.members.values()
    }
    return {"gateway": fleet.gateway_address, "url": fleet.gateway_url, "data": str(fleet.data), "processes": processes}


def _table(fleet: Fleet) -> str:
    rows = [f"  {member.name:<12} gRPC {member.address:<21} pid {member.pid}" for member in fleet.members.values()]
    return "\n".join(
        [
            f"Tortuga is up. gRPC {fleet.gateway_address} (reflection on), HTTP {fleet.gateway_url}",
            *rows,
            f"  data and logs in {fleet.data}; Ctrl-C drains and stops everything",
        ]
    )
