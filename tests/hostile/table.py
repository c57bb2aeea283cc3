"""Matches that run and wait, with both players at the table; and how many attachments a process holds."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from random import Random

import httpx

from services.cli.fleet import Fleet
from services.client import Client, Seat
from tests.hostile.frames import GAME
from tortuga.play.v1 import match_pb2

_PATIENCE = 30.0


class Table:
    """One match and its two seats; nobody acts until `act` is called."""

    def __init__(self, seats: list[Seat]) -> None:
        self.seats = seats
        self.match_id = seats[0].match_id

    async def running(self) -> None:
        """Read on until the match runs."""
        for seat in self.seats:
            async with asyncio.timeout(_PATIENCE):
                while seat.status.state != match_pb2.MATCH_STATE_RUNNING:
                    await anext(seat)

    async def act(self, luck: Random) -> None:
        """Whoever is to decide does so, and both are told. Raises TimeoutError: the platform does not go on."""
        async with asyncio.timeout(_PATIENCE):
            actor = next(seat for seat in self.seats if seat.decision)
            await actor.act(luck.choice(list(actor.legal)))
            await asyncio.gather(*(anext(seat) for seat in self.seats))


@asynccontextmanager
async def tables(address: str, count: int) -> AsyncIterator[list[Table]]:
    """So many matches that run."""
    async with AsyncExitStack() as stack:
        made = []
        for _ in range(count):
            clients = [await stack.enter_async_context(Client(address)) for _ in range(2)]
            for client in clients:
                await client.sign_in_as_guest()
            ids = await asyncio.gather(*(client.find_match(GAME.id, seats=2) for client in clients))
            seats = [client.seat(match_id, GAME.id) for client, match_id in zip(clients, ids, strict=True)]
            made.append(Table([await stack.enter_async_context(seat) for seat in seats]))
            await made[-1].running()
        yield made


@asynccontextmanager
async def guests(address: str, count: int) -> AsyncIterator[list[Client]]:
    """So many guests, each with connections of its own."""
    async with AsyncExitStack() as stack:
        clients = [await stack.enter_async_context(Client(address)) for _ in range(count)]
        await asyncio.gather(*(client.sign_in_as_guest() for client in clients))
        yield clients


async def attachments(fleet: Fleet, name: str) -> int:
    """How many attachments the process *name* holds."""
    member = fleet.members[name]
    async with httpx.AsyncClient() as client:
        text = (await client.get(f"http://{member.host}:{member.http_port}/metrics")).text
    (line,) = [line for line in text.splitlines() if line.startswith("tortuga_attachments ")]
    return round(float(line.split()[1]))


async def until_attachments(fleet: Fleet, count: int, *names: str) -> None:
    """Wait until the processes hold just so many. Raises TimeoutError: they do not come to that."""
    async with asyncio.timeout(_PATIENCE):
        for name in names:
            while await attachments(fleet, name) != count:
                await asyncio.sleep(0.1)
