"""Sign-in, catalogue and tickets."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import grpc
import pytest

from services.client import Client, Refused, TicketEnded, Unreachable
from services.kit.game import UnknownGame
from tests.client.scripted import GAME, TOKEN, fail, serving
from tortuga.gateway.v1 import matchmaking_service_pb2 as wire


def _news(state: wire.TicketState.ValueType, match_id: str = "") -> wire.WatchTicketResponse:
    return wire.WatchTicketResponse(ticket=wire.Ticket(ticket_id="t1", state=state, match_id=match_id))


async def test_guest_is_known_by_the_token_from_then_on() -> None:
    """The sign-in's token goes with every later call."""

    async def assigned(context: Any) -> AsyncIterator[Any]:
        yield _news(wire.TICKET_STATE_ASSIGNED, "m1")

    async with serving() as platform, Client(platform.address) as client:
        platform.watches.append(assigned)
        player = await client.sign_in_as_guest("Anne")
        assert (player.display_name, client.player, client.token) == ("Anne", player, TOKEN)
        assert [game.game for game in await client.games()] == [GAME]
        assert await client.find_match(GAME, seats=3) == "m1"
    assert platform.tokens == [f"Bearer {TOKEN}"]
    assert platform.tickets[0].wish.seats == 3


async def test_refusal_brings_reason_and_parameters() -> None:
    """What ErrorInfo says is what is raised, and it is not tried again."""
    async with serving() as platform, Client(platform.address) as client:
        platform.failures.append((grpc.StatusCode.INVALID_ARGUMENT, "DISPLAY_NAME"))
        with pytest.raises(Refused) as raised:
            await client.sign_in_as_guest("x" * 25)
    refused = raised.value
    assert (refused.reason, refused.code, refused.metadata) == (
        "DISPLAY_NAME",
        grpc.StatusCode.INVALID_ARGUMENT,
        {"limit": "24"},
    )


async def test_call_is_repeated_while_the_platform_is_away() -> None:
    """UNAVAILABLE is borne; a ticket asked for twice has one request id."""

    async def assigned(context: Any) -> AsyncIterator[Any]:
        yield _news(wire.TICKET_STATE_ASSIGNED, "m1")

    async with serving() as platform, Client(platform.address) as client:
        platform.watches.append(assigned)
        platform.failures.append((grpc.StatusCode.UNAVAILABLE, "STORE_UNAVAILABLE"))
        await client.find_match(GAME)
    first, second = platform.tickets
    assert first == second
    assert first.request_id


async def test_nobody_there_is_unreachable() -> None:
    """Patience with a target that refuses connections is bounded."""
    async with serving() as platform:
        address = platform.address
    async with Client(address, patience=0.2) as client:
        with pytest.raises(Unreachable):
            await client.games()


async def test_watch_of_a_ticket_resumes_and_tells_every_change() -> None:
    """A broken watch is opened again; the news go on."""
    heard = []

    async def breaks(context: Any) -> AsyncIterator[Any]:
        yield _news(wire.TICKET_STATE_WAITING)
        await fail(context, grpc.StatusCode.UNAVAILABLE, "DRAINING")

    async def assigned(context: Any) -> AsyncIterator[Any]:
        yield _news(wire.TICKET_STATE_WAITING)
        yield _news(wire.TICKET_STATE_ASSIGNED, "m9")

    async with serving() as platform, Client(platform.address) as client:
        platform.watches.extend([breaks, assigned])
        assert await client.find_match(GAME, news=lambda ticket: heard.append(ticket.state)) == "m9"
    assert heard == [wire.TICKET_STATE_WAITING, wire.TICKET_STATE_WAITING, wire.TICKET_STATE_ASSIGNED]


async def test_ticket_that_ends_without_a_match_is_raised() -> None:
    """EXPIRED and CANCELLED say so."""

    async def expired(context: Any) -> AsyncIterator[Any]:
        yield _news(wire.TICKET_STATE_EXPIRED)

    async with serving() as platform, Client(platform.address) as client:
        platform.watches.append(expired)
        with pytest.raises(TicketEnded, match="EXPIRED"):
            await client.find_match(GAME)


async def test_cancelled_wait_gives_the_ticket_back() -> None:
    """Nobody is seated with a player who has gone."""
    waiting = asyncio.Event()

    async def waits(context: Any) -> AsyncIterator[Any]:
        yield _news(wire.TICKET_STATE_WAITING)
        await asyncio.Event().wait()

    async with serving() as platform, Client(platform.address) as client:
        platform.watches.append(waits)
        finding = asyncio.create_task(client.find_match(GAME, news=lambda _: waiting.set()))
        await waiting.wait()
        finding.cancel()
        with pytest.raises(asyncio.CancelledError):
            await finding
        assert platform.cancelled == ["t1"]


async def test_unknown_game_is_said_at_once() -> None:
    """Without the game's messages nothing can be played."""
    async with Client("127.0.0.1:1") as client:
        with pytest.raises(UnknownGame):
            client.seat("m1", "nosuchgame")
