"""What the client asks for at tables and for tickets with bots: requests as they go out, answers as they come."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import grpc
import pytest

from services.client import Client, wish_of
from services.client.client import _ask_for_bots
from tests.client.scripted import GAME, fail
from tortuga.gateway.v1 import matchmaking_service_pb2 as tickets
from tortuga.gateway.v1 import table_service_pb2 as wire
from tortuga.gateway.v1.table_service_pb2_grpc import TableServiceServicer, add_TableServiceServicer_to_server


class Host(TableServiceServicer):
    """Keeps what it was asked, and answers with a table that the request fills."""

    def __init__(self) -> None:
        self.asked: list[Any] = []
        self.watched = 0

    async def CreateTable(self, request: Any, context: Any) -> wire.CreateTableResponse:  # noqa: N802 - gRPC's name
        """Answers with version 1."""
        self.asked.append(request)
        return wire.CreateTableResponse(table=wire.Table(table_id="a", wish=request.wish, version=1))

    async def ListTables(self, request: Any, context: Any) -> wire.ListTablesResponse:  # noqa: N802 - gRPC's name
        """Answers with one."""
        self.asked.append(request)
        return wire.ListTablesResponse(tables=[wire.Table(table_id="a")])

    async def JoinTable(self, request: Any, context: Any) -> wire.JoinTableResponse:  # noqa: N802 - gRPC's name
        """Answers with version 2."""
        self.asked.append(request)
        return wire.JoinTableResponse(table=wire.Table(table_id="a", version=2))

    async def LeaveTable(self, request: Any, context: Any) -> wire.LeaveTableResponse:  # noqa: N802 - gRPC's name
        """Answers."""
        self.asked.append(request)
        return wire.LeaveTableResponse()

    async def UpdateTable(self, request: Any, context: Any) -> wire.UpdateTableResponse:  # noqa: N802 - gRPC's name
        """Answers with version 2."""
        self.asked.append(request)
        return wire.UpdateTableResponse(table=wire.Table(table_id="a", version=2))

    async def SetReady(self, request: Any, context: Any) -> wire.SetReadyResponse:  # noqa: N802 - gRPC's name
        """Answers with version 3."""
        self.asked.append(request)
        return wire.SetReadyResponse(table=wire.Table(table_id="a", version=3))

    async def StartTable(self, request: Any, context: Any) -> wire.StartTableResponse:  # noqa: N802 - gRPC's name
        """Answers with a match."""
        self.asked.append(request)
        return wire.StartTableResponse(table=wire.Table(table_id="a", version=4, match_id="m"))

    async def WatchTable(self, request: Any, context: Any) -> AsyncIterator[Any]:  # noqa: N802 - gRPC's name
        """Breaks after the first two states; then tells the second again, and a third."""
        self.watched += 1
        for version in (1, 2) if self.watched == 1 else (2, 3):
            yield wire.WatchTableResponse(table=wire.Table(table_id="a", version=version))
        if self.watched == 1:
            await fail(context, grpc.StatusCode.UNAVAILABLE, "DRAINING")


@asynccontextmanager
async def _at_tables() -> AsyncIterator[tuple[Host, Client]]:
    server, host = grpc.aio.server(), Host()
    add_TableServiceServicer_to_server(host, server)
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    try:
        async with Client(f"127.0.0.1:{port}", token="t") as client:  # noqa: S106 - no secret
            yield host, client
    finally:
        await server.stop(0)


async def test_table_is_made_changed_and_started() -> None:
    """Versions are those that the caller saw; what is not to change stays unset."""
    async with _at_tables() as (host, client):
        table = await client.tables.create(wish_of(GAME, seats=3), public=True)
        table = await client.tables.update(table.table_id, bots={2: "steady"}, kick=["p9"])
        table = await client.tables.ready(table)
        assert (await client.tables.start(table, rotate=1)).match_id == "m"
    create, update, ready, start = host.asked
    assert (create.wish.seats, create.public, len(create.request_id)) == (3, True, 32)
    assert (dict(update.bots), list(update.kick_player_ids)) == ({2: "steady"}, ["p9"])
    assert not update.HasField("wish")
    assert not update.HasField("public")
    assert (ready.version, ready.ready) == (2, True)
    assert (start.version, start.rotate) == (3, 1)


async def test_guest_of_a_table_joins_and_leaves() -> None:
    """By code or id, at a seat or the first free one."""
    async with _at_tables() as (host, client):
        assert [table.table_id for table in await client.tables.list(GAME, most=5)] == ["a"]
        assert (await client.tables.join(code="XYZ", seat=0)).version == 2
        await client.tables.join(table_id="a")
        await client.tables.leave("a")
    listed, by_code, by_id, left = host.asked
    assert (listed.game, listed.page_size) == (GAME, 5)
    assert (by_code.join_code, by_code.HasField("seat"), by_code.seat) == ("XYZ", True, 0)
    assert (by_id.table_id, by_id.HasField("seat")) == ("a", False)
    assert left.table_id == "a"


async def test_watch_of_a_table_bears_a_break() -> None:
    """It goes on with what is new, until the table ends."""
    async with _at_tables() as (host, client):
        assert [table.version async for table in client.tables.watch("a")] == [1, 2, 3]
    assert host.watched == 2


@pytest.mark.parametrize(
    ("bots", "policy", "after"),
    [
        (None, tickets.BOTS_POLICY_UNSPECIFIED, None),
        ("never", tickets.BOTS_POLICY_NEVER, None),
        ("at_once", tickets.BOTS_POLICY_AT_ONCE, None),
        (2.5, tickets.BOTS_POLICY_AFTER, 2_500),
        (1.9999999999, tickets.BOTS_POLICY_AFTER, 2_000),
    ],
)
def test_bots_are_asked_for(bots: Any, policy: int, after: int | None) -> None:
    """Never, at once, or after seconds."""
    request = tickets.CreateTicketRequest()
    _ask_for_bots(request, bots)
    assert request.bots == policy
    assert (request.bots_after.ToMilliseconds() if request.HasField("bots_after") else None) == after
