"""Matches on the real platform: players with clients of their own, who choose at random."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from random import Random

from services.client import Client, Seat
from tortuga.play.v1 import match_pb2

GAME = "corsari"

Turn = Callable[[Seat], Awaitable[bool]]
"""What a player does before it chooses; False: it leaves."""


@asynccontextmanager
async def seated(
    addresses: Sequence[str], settings: match_pb2.MatchSettings | None = None
) -> AsyncIterator[tuple[str, list[Client]]]:
    """A client at each address, signed in, and the match in which they meet. Nobody has sat down yet."""
    async with AsyncExitStack() as stack:
        clients = [await stack.enter_async_context(Client(address)) for address in addresses]
        for number, client in enumerate(clients):
            await client.sign_in_as_guest(f"Guest {number}")
        wishes = [client.find_match(GAME, seats=len(clients), settings=settings) for client in clients]
        [match_id] = set(await asyncio.gather(*wishes))
        yield match_id, clients


async def play(clients: Sequence[Client], match_id: str, luck: Random, turn: Turn | None = None) -> list[Seat]:
    """All sit down and play until the match is over, or *turn* makes one leave; returns the seats as they were left."""
    return list(await asyncio.gather(*(_play(client, match_id, luck, turn) for client in clients)))


async def _play(client: Client, match_id: str, luck: Random, turn: Turn | None) -> Seat:
    async with client.seat(match_id, GAME) as seat:
        async for _ in seat:
            if turn is not None and not await turn(seat):
                break
            if seat.decision:
                few = luck.choices(seat.legal, k=3)  # the smallest of a few is a plain move: matches last
                await seat.act(min(few, key=lambda action: action.ByteSize()))
    return seat
