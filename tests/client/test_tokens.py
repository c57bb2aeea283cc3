"""The client keeps its tokens fresh, on calls and on open streams."""

from __future__ import annotations

import asyncio
import base64
import json
import time
from collections.abc import AsyncIterator
from typing import Any

import grpc
import pytest

from services.client import Client, Refused, TokenExpired
from tests.client.scripted import GAME, MATCH, RUNNING, Talk, serving
from tortuga.gateway.v1 import matchmaking_service_pb2 as wire
from tortuga.gateway.v1.identity_service_pb2 import Tokens

OPAQUE, FIRST = "opaque", "r1"


def _access(name: str, age: float = 0, life: float = 900) -> str:
    """An access token as far as the client reads it."""
    begun = int(time.time() - age)
    claims = json.dumps({"sub": name, "iat": begun, "exp": begun + life})
    return f"h.{base64.urlsafe_b64encode(claims.encode()).rstrip(b'=').decode()}.s"


async def _assigned(_: Any) -> AsyncIterator[wire.WatchTicketResponse]:
    yield wire.WatchTicketResponse(ticket=wire.Ticket(state=wire.TICKET_STATE_ASSIGNED, match_id=MATCH))


def _tokens(name: str, refresh: str, life: float = 900) -> Tokens:
    return Tokens(access_token=_access(name, life=life), refresh_token=refresh)


async def test_token_is_renewed_before_it_expires() -> None:
    """A call late in the token's life goes out with the next one; a call early in its life does not fetch one."""
    old, new = _access("old", age=800), _tokens("new", "r2")
    async with serving() as platform, Client(platform.address, token=old, refresh_token=FIRST) as client:
        platform.refreshes.append(new)
        await client.fresh()
        await client.fresh()
        assert (client.token, client.refresh_token) == (new.access_token, "r2")
    assert platform.refreshed == ["r1"]


async def test_tasks_side_by_side_renew_once() -> None:
    """A refresh token is good for one use: only one task presents it, the others have what it brings."""
    old, new = _access("old", age=800), _tokens("new", "r2")
    async with serving() as platform, Client(platform.address, token=old, refresh_token=FIRST) as client:
        platform.refreshes.append(new)
        await asyncio.gather(*(client.fresh() for _ in range(10)))
        assert client.token == new.access_token
    assert platform.refreshed == ["r1"]


async def test_expired_token_is_replaced_and_the_call_repeated() -> None:
    """When the platform says so, whatever this machine's clock says."""
    new = _tokens("new", "r2")
    async with serving() as platform, Client(platform.address, token=OPAQUE, refresh_token=FIRST) as client:
        platform.failures.append((grpc.StatusCode.UNAUTHENTICATED, "TOKEN_EXPIRED"))
        platform.refreshes.append(new)
        platform.watches.append(_assigned)
        assert await client.find_match(GAME) == MATCH
    assert platform.tokens[:2] == ["Bearer opaque", f"Bearer {new.access_token}"]


async def test_without_a_way_to_renew_expiry_is_raised() -> None:
    """TokenExpired, both without a refresh token and with one that holds no more; that one is not tried again."""
    refused = (grpc.StatusCode.UNAUTHENTICATED, "REFRESH_REUSED")
    for refresh_token in ("", "r1"):
        async with serving() as platform, Client(platform.address, token=OPAQUE, refresh_token=refresh_token) as client:
            platform.refreshes.append(refused)
            platform.failures.extend([(grpc.StatusCode.UNAUTHENTICATED, "TOKEN_EXPIRED")] * 2)
            for _ in range(2):
                with pytest.raises(TokenExpired):
                    await client.find_match(GAME)
            assert platform.refreshed == ([refresh_token] if refresh_token else [])
            assert client.refresh_token == ""


async def test_refused_refresh_is_raised_when_asked_for() -> None:
    """`refresh` says why."""
    async with serving() as platform, Client(platform.address, token=OPAQUE, refresh_token=FIRST) as client:
        platform.refreshes.append((grpc.StatusCode.UNAUTHENTICATED, "REFRESH_INVALID"))
        with pytest.raises(Refused, match="REFRESH_INVALID"):
            await client.refresh()


async def test_open_stream_is_renewed_in_time() -> None:
    """The stream brings the next token by itself, before its own expires, and the match goes on in it."""
    new = _tokens("new", "r2")

    async def script(talk: Talk) -> None:
        await talk.read_attach()
        await talk.write_attached(1, status=RUNNING)
        request = await talk.read()
        assert request.renew.access_token == new.access_token
        await talk.write_end(2)
        await talk.until_left()

    async with (
        asyncio.timeout(20),
        serving() as platform,
        Client(platform.address, token=_access("old"), refresh_token=FIRST) as client,
    ):
        client.tokens._renew_at = time.monotonic() + 0.3  # four fifths of its life are over
        platform.plays.append(script)
        platform.refreshes.append(new)
        async with client.seat(MATCH, GAME) as seat:
            assert [update.header.seq async for update in seat] == [1, 2]


async def test_stream_that_expired_is_opened_again_with_a_new_token() -> None:
    """A machine that slept through the renewal goes on where it was."""
    new = _tokens("new", "r2")

    async def expires(talk: Talk) -> None:
        await talk.read_attach()
        await talk.write_attached(1, status=RUNNING)
        await talk.fail(grpc.StatusCode.UNAUTHENTICATED, "TOKEN_EXPIRED")

    async def goes_on(talk: Talk) -> None:
        await talk.read_attach(after=1)
        await talk.write_attached(newest=1)
        await talk.write_end(2)
        await talk.until_left()

    async with (
        asyncio.timeout(20),
        serving() as platform,
        Client(platform.address, token=OPAQUE, refresh_token=FIRST) as client,
    ):
        platform.plays.extend([expires, goes_on])
        platform.refreshes.append(new)
        async with client.seat(MATCH, GAME) as seat:
            assert [update.header.seq async for update in seat] == [1, 2]
    assert platform.tokens == ["Bearer opaque", f"Bearer {new.access_token}"]
