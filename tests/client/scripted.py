"""A platform that says what a test tells it to: a real gRPC server, whose conversations are scripts.

The client's reactions are under test here; the real platform's behaviour is under test in tests/e2e.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import grpc
from google.protobuf import any_pb2
from google.protobuf.message import Message
from google.rpc import error_details_pb2, status_pb2

from services.client import Client
from tortuga.corsari.v1.corsari_pb2 import SOURCE_STOCK, Action, Draw
from tortuga.corsari.v1.corsari_service_pb2 import PlayRequest, PlayResponse
from tortuga.gateway.v1 import catalog_service_pb2 as catalog
from tortuga.gateway.v1 import identity_service_pb2 as identity
from tortuga.gateway.v1 import matchmaking_service_pb2 as tickets
from tortuga.play.v1 import game_pb2, match_pb2, play_pb2

GAME = "corsari"
MATCH = "m1"
TOKEN = "access"
SEED = bytes(range(32))
COMMITMENT = hashlib.sha256(b"tortuga/seed/v1" + MATCH.encode() + SEED).digest()
RUNNING = {"state": match_pb2.MATCH_STATE_RUNNING}
GATHERING = {"state": match_pb2.MATCH_STATE_GATHERING}
ENDED = {"state": match_pb2.MATCH_STATE_ENDED, "seed": SEED, "outcome": {"reason": "finished"}}
DRAW = Action(draw=Draw(source=SOURCE_STOCK))

Script = Callable[["Talk"], Awaitable[None]]


class Talk:
    """One `Play` stream, from the server's side."""

    def __init__(self, context: Any) -> None:
        self.context = context

    async def read(self) -> PlayRequest:
        """The client's next request."""
        data = await self.context.read()
        assert data is not grpc.aio.EOF, "the client has hung up"
        return PlayRequest.FromString(data)

    async def read_attach(self, after: int = 0) -> PlayRequest:
        """The first request of a stream, which must attach after that update."""
        request = await self.read()
        assert request.HasField("attach")
        assert request.attach.after_seq == after
        return request

    async def write(self, seq: int = 0, decision: int = 0, **parts: Any) -> None:
        """Send a response whose header has this seq and decision."""
        header = play_pb2.UpdateHeader(match_id=MATCH, seq=seq, decision=decision)
        await self.context.write(PlayResponse(header=header, **parts).SerializeToString())

    async def write_attached(self, seq: int = 0, newest: int = 0, seat: int | None = 0, **parts: Any) -> None:
        """Send the answer to an attach."""
        match = {"match_id": MATCH, "game": GAME, "commitment": COMMITMENT}
        await self.write(seq, attached={"seat": seat, "seq": newest or seq, "match": match}, **parts)

    async def write_end(self, seq: int, **status: Any) -> None:
        """Send the update with which the match ends."""
        await self.write(seq, status=ENDED | status)

    async def fail(self, code: grpc.StatusCode, reason: str, **metadata: str) -> None:
        """End the stream as the platform does: status, reason and ErrorInfo."""
        await fail(self.context, code, reason, **metadata)

    async def until_left(self) -> None:
        """Wait until the client hangs up."""
        while await self.context.read() is not grpc.aio.EOF:
            pass


async def fail(context: Any, code: grpc.StatusCode, reason: str, **metadata: str) -> None:
    """Fail a call with an ErrorInfo in its details."""
    detail = any_pb2.Any()
    detail.Pack(error_details_pb2.ErrorInfo(reason=reason, domain="tortuga", metadata=metadata))
    status = status_pb2.Status(code=code.value[0], message=reason, details=[detail])
    trailers = (("grpc-status-details-bin", status.SerializeToString()),)
    await context.abort(code, reason, trailing_metadata=trailers)


class Platform:
    """Plays the scripts, one a stream; what the unary services were asked is kept."""

    def __init__(self) -> None:
        self.address = ""
        self.plays: deque[Script] = deque()
        self.watches: deque[Callable[[Any], AsyncIterator[Any]]] = deque()
        self.signed_in = identity.Tokens(access_token=TOKEN)
        self.refreshes: deque[identity.Tokens | tuple[grpc.StatusCode, str]] = deque()
        self.refreshed: list[str] = []
        self.failures: deque[tuple[grpc.StatusCode, str]] = deque()
        self.tokens: list[str] = []
        self.tickets: list[tickets.CreateTicketRequest] = []
        self.cancelled: list[str] = []
        self.faults: list[BaseException] = []

    async def play(self, _: Any, context: Any) -> None:
        """`Play` of the game."""
        self._note_token(context)
        try:
            await self.plays.popleft()(Talk(context))
        except (AssertionError, IndexError) as fault:
            self.faults.append(fault)
            raise

    async def sign_in(self, request: identity.SignInAsGuestRequest, context: Any) -> identity.SignInAsGuestResponse:
        """`SignInAsGuest`: fails first as told."""
        await self._fail_as_told(context, limit="24")
        player = identity.Player(player_id="p1", display_name=request.display_name)
        return identity.SignInAsGuestResponse(player=player, tokens=self.signed_in)

    async def refresh(self, request: identity.RefreshTokensRequest, context: Any) -> identity.RefreshTokensResponse:
        """`RefreshTokens`: the next answer or failure; what was presented is kept."""
        self.refreshed.append(request.refresh_token)
        answer = self.refreshes.popleft()
        if not isinstance(answer, identity.Tokens):
            await fail(context, *answer)
            raise AssertionError("unreachable: the call has failed")
        return identity.RefreshTokensResponse(tokens=answer)

    async def list_games(self, _: catalog.ListGamesRequest, context: Any) -> catalog.ListGamesResponse:
        """`ListGames`: one game."""
        return catalog.ListGamesResponse(games=[game_pb2.Game(game=GAME)])

    async def create_ticket(self, request: tickets.CreateTicketRequest, context: Any) -> tickets.CreateTicketResponse:
        """`CreateTicket`: fails first as told."""
        self.tickets.append(request)
        self._note_token(context)
        await self._fail_as_told(context)
        return tickets.CreateTicketResponse(ticket=tickets.Ticket(ticket_id="t1"))

    async def watch_ticket(self, _: tickets.WatchTicketRequest, context: Any) -> AsyncIterator[Any]:
        """`WatchTicket`: the next script."""
        async for response in self.watches.popleft()(context):
            yield response

    async def cancel_ticket(self, request: tickets.CancelTicketRequest, _: Any) -> tickets.CancelTicketResponse:
        """`CancelTicket`: noted."""
        self.cancelled.append(request.ticket_id)
        return tickets.CancelTicketResponse()

    async def _fail_as_told(self, context: Any, **metadata: str) -> None:
        if self.failures:
            code, reason = self.failures.popleft()
            await fail(context, code, reason, **metadata)

    def _note_token(self, context: Any) -> None:
        self.tokens.append(dict(context.invocation_metadata()).get("authorization", ""))


class _Calls(grpc.GenericRpcHandler):
    """Routes calls by the last part of their paths."""

    def __init__(self, platform: Platform) -> None:
        self._handlers = {
            "Play": grpc.stream_stream_rpc_method_handler(platform.play),
            "SignInAsGuest": _unary(platform.sign_in, identity.SignInAsGuestRequest),
            "RefreshTokens": _unary(platform.refresh, identity.RefreshTokensRequest),
            "ListGames": _unary(platform.list_games, catalog.ListGamesRequest),
            "CreateTicket": _unary(platform.create_ticket, tickets.CreateTicketRequest),
            "CancelTicket": _unary(platform.cancel_ticket, tickets.CancelTicketRequest),
            "WatchTicket": grpc.unary_stream_rpc_method_handler(
                platform.watch_ticket, tickets.WatchTicketRequest.FromString, _write
            ),
        }

    def service(self, handler_call_details: grpc.HandlerCallDetails) -> Any:
        """The handler of the call."""
        return self._handlers.get(str(handler_call_details.method).rpartition("/")[2])


def _unary(behaviour: Any, request: type[Message]) -> Any:
    return grpc.unary_unary_rpc_method_handler(behaviour, request.FromString, _write)


def _write(message: Message) -> bytes:
    return message.SerializeToString()


@asynccontextmanager
async def serving(port: int = 0) -> AsyncIterator[Platform]:
    """A platform that is up while the block runs."""
    platform = Platform()
    server = grpc.aio.server(options=[("grpc.so_reuseport", 0)])
    server.add_generic_rpc_handlers((_Calls(platform),))
    platform.address = f"127.0.0.1:{server.add_insecure_port(f'127.0.0.1:{port}')}"
    await server.start()
    try:
        yield platform
    finally:
        await server.stop(0)
    assert platform.faults == []


@asynccontextmanager
async def playing(*scripts: Script, patience: float = 10.0, journal: Any = None) -> AsyncIterator[Client]:
    """A client of a platform whose `Play` streams follow *scripts*, one after the other; all must be used."""
    async with (
        asyncio.timeout(20),
        serving() as platform,
        Client(platform.address, token=TOKEN, patience=patience, journal=journal) as client,
    ):
        platform.plays.extend(scripts)
        yield client
        assert not platform.plays, "a stream that should have been opened was not"
