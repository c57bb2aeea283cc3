"""The four calls of every game, for gateways and pods alike: one path for tokens, errors and back-pressure.

Behind it is a `Backend`: a pod's own matches, or a gateway's links. `Act` and `Watch` are a `Play` cut short.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, Protocol, TypeAlias

import grpc

from services.kit.allowance import Allowances
from services.kit.attachment import Outlet
from services.kit.errors import Unavailable
from services.kit.incoming import read_request
from services.kit.stream import ClientStream
from services.kit.tokens import VerifiedPlayer, bearer_token
from tortuga.host.v1 import link_pb2

Context: TypeAlias = "grpc.aio.ServicerContext[Any, Any]"
Authenticate: TypeAlias = Callable[[Context], Awaitable[VerifiedPlayer]]
"""Finds who calls. Raises Unauthenticated."""

VerifyPlayer: TypeAlias = Callable[[str], Awaitable[VerifiedPlayer]]


class BackendSession(Protocol):
    """Attachments of one client's stream, by numbers that the stream chooses and never uses twice."""

    def open(self, number: int, wanted: link_pb2.Open) -> None:
        """Begin an attachment; what follows comes through the outlet."""
        ...

    def message(self, number: int, data: bytes) -> None:
        """Send bytes of the game's PlayRequest; exactly one answer comes through the outlet."""
        ...

    def close(self, number: int) -> None:
        """End an attachment."""
        ...

    def close_all(self) -> None:
        """End all of them."""
        ...


class Backend(Protocol):
    """Where attachments lead."""

    def session(self, outlet: Outlet) -> BackendSession:
        """Attachments that deliver to *outlet*."""
        ...

    def replay(self, match_id: str, player_id: str, token: str) -> AsyncIterator[bytes]:
        """A finished match's ReplayResponses for a player, who brought *token*."""
        ...


class Front:
    """Serves `Play`, `Act`, `Watch` and `Replay` of one game as raw bytes."""

    def __init__(self, game: str, backend: Backend, authenticate: Authenticate, verify: VerifyPlayer) -> None:
        self.game = game
        self._backend = backend
        self._authenticate = authenticate
        self._verify = verify
        self._streams: set[ClientStream] = set()
        self._allowances = Allowances()
        self._draining = False

    def handler(self, method: str) -> grpc.RpcMethodHandler[Any, Any] | None:
        """The handler of the call named *method*, or None."""
        if method == "Play":
            return grpc.stream_stream_rpc_method_handler(self._play)
        if method == "Act":
            return grpc.unary_unary_rpc_method_handler(self._act)
        if method == "Watch":
            return grpc.unary_stream_rpc_method_handler(self._watch)
        if method == "Replay":
            return grpc.unary_stream_rpc_method_handler(self._replay)
        return None

    async def drain(self) -> None:
        """End every stream, each saying from where to resume; new ones are refused."""
        self._draining = True
        for stream in list(self._streams):
            stream.drain()
        await asyncio.gather(*(stream.over.wait() for stream in list(self._streams)))

    async def _play(self, _: AsyncIterator[bytes], context: Context) -> None:
        stream = await self._stream(context)
        await self._run(stream, stream.converse(context))

    async def _act(self, data: bytes, context: Context) -> bytes:
        stream = await self._stream(context)
        answer: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        await self._run(stream, stream.act(data, answer))
        return answer.result()

    async def _watch(self, data: bytes, context: Context) -> None:
        request = read_request(data)
        stream = await self._stream(context)
        await self._run(stream, stream.watch(request, context))

    async def _replay(self, data: bytes, context: Context) -> None:
        player = await self._authenticate(context)
        match_id = read_request(data).header.match_id
        token = bearer_token(context.invocation_metadata())
        async for message in self._backend.replay(match_id, player.player_id, token):
            await context.write(message)

    async def _stream(self, context: Context) -> ClientStream:
        player = await self._authenticate(context)
        allowance = self._allowances.of(player.player_id)
        stream = ClientStream(self.game, player, self._backend, self._verify, allowance)
        if self._draining:
            stream.drain()
        return stream

    async def _run(self, stream: ClientStream, work: Awaitable[None]) -> None:
        self._streams.add(stream)
        try:
            await work
        finally:
            self._streams.discard(stream)
            stream.close()
            self._allowances.closed(stream.allowance)


class GameCalls(grpc.GenericRpcHandler):
    """Routes `/<service>/<call>` to the front that serves it; the table may change while the server runs."""

    def __init__(self, fronts: dict[str, Front], incomplete: Callable[[], bool] = lambda: False) -> None:
        """*incomplete* says whether games may be missing from the table that will come yet."""
        self._fronts = fronts
        self._incomplete = incomplete

    def service(self, handler_call_details: grpc.HandlerCallDetails) -> grpc.RpcMethodHandler[Any, Any] | None:
        """The handler of the call, or None if no front serves it."""
        service, _, method = str(handler_call_details.method).removeprefix("/").rpartition("/")
        front = self._fronts.get(service)
        if front is not None:
            return front.handler(method)
        return _NOT_YET.get(method) if self._incomplete() else None


async def _no_service(_: Any, __: Context) -> None:
    raise Unavailable("NO_SERVICE")


_NOT_YET: dict[str, grpc.RpcMethodHandler[Any, Any]] = {
    "Play": grpc.stream_stream_rpc_method_handler(_no_service),
    "Act": grpc.unary_unary_rpc_method_handler(_no_service),
    "Watch": grpc.unary_stream_rpc_method_handler(_no_service),
    "Replay": grpc.unary_stream_rpc_method_handler(_no_service),
}
"""What a gateway answers for a game whose pods have not described it yet: come again, and not "no such method"."""
