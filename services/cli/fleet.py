"""The platform as processes on one machine: what `tortuga up`, the demo, crash tests and benchmarks start.

async with Fleet(Path(".tortuga"), ["nim"]) as fleet:
    client = … fleet.gateway_address …
    fleet.kill("nim")                   # it comes back by itself
    await fleet.wait_ready()
"""

from __future__ import annotations

import asyncio
import signal
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

import grpc

from services.cli.member import SERVE, Member, NeverReady, Upkeep
from services.cli.ports import free_ports, is_free
from services.kit.shell.server import channel_options
from tortuga.gateway.v1.catalog_service_pb2 import ListGamesRequest
from tortuga.gateway.v1.catalog_service_pb2_grpc import CatalogServiceStub

if TYPE_CHECKING:
    from tortuga.gateway.v1.catalog_service_pb2_grpc import CatalogServiceAsyncStub

GATEWAY = "gateway"
"""The gateway's name; a game's first process has the game's id, further ones `-2`, `-3` … behind it."""

BOTS = "bots"
"""The bots' name."""

_LOOK_SECONDS = 0.1


class PortsTaken(RuntimeError):
    """Ports that were asked for are in use."""


class Fleet:
    """A gateway, game services and, if wanted, bots, each a process of its own, kept up until `stop`."""

    def __init__(
        self,
        data: Path,
        games: Sequence[str] | Mapping[str, int],
        *,
        host: str = "127.0.0.1",
        grpc_port: int = 0,
        http_port: int = 0,
        service_port: int = 0,
        gateways: int = 1,
        bots: bool = False,
        environment: Mapping[str, str] | None = None,
        environments: Mapping[str, Mapping[str, str]] | None = None,
        note: Callable[[str], None] = lambda _: None,
        upkeep: Upkeep | None = None,
        command: Sequence[str] = SERVE,
    ) -> None:
        """Plan the processes; nothing is started yet.

        *data*: folder of stores, keys and logs (`logs/<name>.log`). *games*: one process each, or how many. Ports: 0
        takes free ones; *service_port* is the first of two a game process. *bots*: whether there is a process for them,
        which takes free ports. *environment* goes to every process,
        *environments* to those named. *note* gets a line for people whenever something happens. *command* starts a
        process; what it serves is added.

        Raises:
            PortsTaken: a port that was asked for is in use.
            OSError: there are no free ports.
        """
        self.data = data
        pods = games if isinstance(games, Mapping) else dict.fromkeys(games, 1)
        names = dict.fromkeys(_names(GATEWAY, gateways), GATEWAY)
        names |= {name: game for game, count in pods.items() for name in _names(game, count)}
        names |= {BOTS: BOTS} if bots else {}
        asked = [grpc_port, http_port] + [0] * (2 * gateways - 2)
        asked += [service_port and service_port + index for index in range(2 * sum(pods.values()))]
        asked += [0, 0] if bots else []
        ports = _settle_ports(host, asked)
        grpc_ports = dict(zip(names, ports[::2], strict=True))
        http_ports = dict(zip(names, ports[1::2], strict=True))
        self.gateway_address = f"{host}:{grpc_ports[GATEWAY]}"
        """host:port of the (first) gateway's gRPC server."""
        self.gateway_url = f"http://{host}:{http_ports[GATEWAY]}"
        """Base URL of the (first) gateway's HTTP server, without a slash at the end."""
        where = {
            game: ",".join(f"{host}:{grpc_ports[name]}" for name, serves in names.items() if serves == game)
            for game in pods
        }
        shared = {
            "TORTUGA_DATA": str(data.absolute()),
            "TORTUGA_HOST": host,
            "TORTUGA_SERVICES": ";".join(f"{game}={addresses}" for game, addresses in where.items()),
            "TORTUGA_JWKS": f"{self.gateway_url}/.well-known/jwks.json",
            "TORTUGA_BOTS": f"{host}:{grpc_ports[BOTS]}" if bots else "",
            **(environment or {}),
        }
        self.members = {
            name: Member(
                name,
                serves,
                host,
                grpc_ports[name],
                http_ports[name],
                command=(*command, serves, "--with-parent"),
                environment={**shared, **(environments or {}).get(name, {})},
                log=data / "logs" / f"{name}.log",
                note=note,
                upkeep=upkeep or Upkeep(),
            )
            for name, serves in names.items()
        }

    def pid(self, name: str) -> int | None:
        """Process id of the member *name*; None while it is down."""
        return self.members[name].pid

    def kill(self, name: str, number: signal.Signals = signal.SIGKILL) -> None:
        """Send the member *name* a signal. It is started again if it dies of it."""
        self.members[name].kill(number)

    async def start(self, seconds: float = 30.0) -> None:
        """Start everything and wait until it is ready. If it does not come up, nothing is left running.

        Raises:
            NeverReady: a process did not come up within *seconds*.
        """
        self.data.mkdir(mode=0o700, parents=True, exist_ok=True)
        (self.data / "logs").mkdir(mode=0o700, exist_ok=True)
        try:
            for member in self.members.values():
                await member.start()
            await self.wait_ready(seconds=seconds)
        except BaseException:
            await self.stop()
            raise

    async def wait_ready(self, name: str | None = None, seconds: float = 30.0) -> None:
        """Wait until the member *name* serves; without a name, until all do and the gateway offers every game.

        Raises:
            NeverReady: not within *seconds*.
        """
        until = time.monotonic() + seconds
        waited_for = self.members.values() if name is None else [self.members[name]]
        await asyncio.gather(*(member.wait_ready(seconds) for member in waited_for))
        if name is None:
            await self._wait_for_catalogue(until)

    async def stop(self) -> None:
        """Drain everything: SIGTERM to all at once, SIGKILL to what still runs after the drain time."""
        await asyncio.gather(*(member.stop() for member in self.members.values()))

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.stop()

    async def _wait_for_catalogue(self, until: float) -> None:
        """Wait until every gateway lists every game: its links to the services stand."""
        games = {member.serves for member in self.members.values()} - {GATEWAY, BOTS}
        for member in self.members.values():
            if member.serves != GATEWAY:
                continue
            async with grpc.aio.insecure_channel(member.address, options=channel_options()) as channel:
                catalogue = CatalogServiceStub(channel)
                while not games <= await _listed(catalogue, until):
                    if time.monotonic() >= until:
                        raise NeverReady(f"{member.name} does not list {', '.join(sorted(games))}; log: {member.log}")
                    await asyncio.sleep(_LOOK_SECONDS)


async def _listed(catalogue: CatalogServiceAsyncStub, until: float) -> set[str]:
    try:
        answer = await catalogue.ListGames(ListGamesRequest(), timeout=max(0.1, until - time.monotonic()))
    except grpc.aio.AioRpcError:
        return set()
    return {game.game for game in answer.games}


def _names(first: str, count: int) -> list[str]:
    return [first if number == 1 else f"{first}-{number}" for number in range(1, count + 1)]


def _settle_ports(host: str, asked: Sequence[int]) -> list[int]:
    """*asked* with a free port in place of each 0."""
    if taken := [port for port in asked if port and not is_free(host, port)]:
        raise PortsTaken(f"in use on {host}: port {', '.join(map(str, taken))}")
    free = iter(free_ports(host, asked.count(0)))
    return [port or next(free) for port in asked]
