"""Tables: matches that people arrange themselves."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator, Mapping, Sequence

import grpc
from google.protobuf.message import Message

from services.client.connection import Connection, Patience
from services.client.errors import Refused
from tortuga.gateway.v1 import table_service_pb2 as wire
from tortuga.gateway.v1.matchmaking_service_pb2 import Wish
from tortuga.gateway.v1.table_service_pb2_grpc import TableServiceStub
from tortuga.play.v1.match_pb2 import MatchSettings


def wish_of(
    game: str,
    *,
    seats: int = 0,
    variant: str = "",
    options: Message | bytes = b"",
    settings: MatchSettings | None = None,
) -> Wish:
    """What is to be played. *seats* 0: as few as the game allows. *options*: only what differs from the variant's."""
    chosen = options if isinstance(options, bytes) else options.SerializeToString()
    return Wish(game=game, variant=variant, options=chosen, seats=seats, settings=settings)


class Tables:
    """TableService for one player. Every change answers with the table as it stands; all raise Refused, Unreachable."""

    def __init__(self, link: Connection) -> None:
        self._link, self._calls, self._streams = link, TableServiceStub(link.calls), TableServiceStub(link.streams)

    async def create(self, wish: Wish, *, public: bool = False) -> wire.Table:
        """Open a table; the caller becomes its host. *public*: listed for everyone."""
        request = wire.CreateTableRequest(request_id=uuid.uuid4().hex, wish=wish, public=public)
        return (await self._link.call(self._calls.CreateTable, request)).table

    async def list(self, game: str = "", *, most: int = 20) -> Sequence[wire.Table]:
        """Public tables with a free seat, newest first, *most* of them (1 to 100)."""
        request = wire.ListTablesRequest(game=game, page_size=most)
        return (await self._link.call(self._calls.ListTables, request)).tables

    async def join(self, *, code: str = "", table_id: str = "", seat: int | None = None) -> wire.Table:
        """Take a seat at the table with this code, or at a public one by its id; the first free one unless said."""
        request = wire.JoinTableRequest(table_id=table_id, join_code=code, seat=seat)
        return (await self._link.call(self._calls.JoinTable, request)).table

    async def leave(self, table_id: str) -> None:
        """Give the seat back."""
        await self._link.call(self._calls.LeaveTable, wire.LeaveTableRequest(table_id=table_id))

    async def update(
        self,
        table_id: str,
        *,
        wish: Wish | None = None,
        public: bool | None = None,
        bots: Mapping[int, str] | None = None,
        kick: Sequence[str] = (),
    ) -> wire.Table:
        """Change the table, host only. *bots*: level by seat, "" sends the bot away. *kick*: players to send away."""
        request = wire.UpdateTableRequest(table_id=table_id, wish=wish, public=public, bots=bots, kick_player_ids=kick)
        return (await self._link.call(self._calls.UpdateTable, request)).table

    async def ready(self, table: wire.Table, ready: bool = True) -> wire.Table:
        """Say whether the caller is ready for *table* as it was seen. Refused with TABLE_CHANGED if it has changed."""
        request = wire.SetReadyRequest(table_id=table.table_id, ready=ready, version=table.version)
        return (await self._link.call(self._calls.SetReady, request)).table

    async def start(self, table: wire.Table, *, rotate: int = 0) -> wire.Table:
        """Make the match of *table* as it was seen, host only; for a rematch players move on by *rotate* seats."""
        request = wire.StartTableRequest(table_id=table.table_id, version=table.version, rotate=rotate)
        return (await self._link.call(self._calls.StartTable, request)).table

    async def watch(self, table_id: str) -> AsyncIterator[wire.Table]:
        """The table now and at each change, until it is given up; reconnects. Refused, Unreachable end it."""
        patience, version = Patience(self._link.patience), 0
        request = wire.WatchTableRequest(table_id=table_id)
        while True:
            cause = None
            await self._link.fresh()
            token = self._link.token
            try:
                async for answer in self._streams.WatchTable(request, metadata=self._link.metadata):
                    patience.alive(progress=True)
                    if answer.table.version > version:
                        version = answer.table.version
                        yield answer.table
                return
            except grpc.aio.AioRpcError as error:
                cause = Refused.by_status(error)
                if not cause.broken and not await self._link.replaced(cause, token):
                    raise cause from None
            await patience.wait(cause)
