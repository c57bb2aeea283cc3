"""`Client.replay`: each message once, in order, whatever breaks meanwhile."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import grpc
import pytest

from services.cli.replaying import replay
from services.client import Client, Refused, Unreachable
from services.kit.game import load_game

GAME = load_game("corsari")


class _Replays(grpc.GenericRpcHandler):
    """Serves `Replay` of five messages. Call number n breaks as `breaks[n]` says: after so many, with a status."""

    def __init__(self, breaks: list[tuple[int, grpc.StatusCode]]) -> None:
        self._breaks = breaks
        self.asked: list[str] = []

    def service(self, handler_call_details: grpc.HandlerCallDetails) -> grpc.RpcMethodHandler[Any, Any] | None:
        """The one method."""
        if not str(handler_call_details.method).endswith("/Replay"):
            return None
        return grpc.unary_stream_rpc_method_handler(self._replay)

    async def _replay(self, data: bytes, context: grpc.aio.ServicerContext[Any, Any]) -> AsyncIterator[bytes]:
        request: Any = GAME.message("ReplayRequest").FromString(data)
        self.asked.append(request.header.match_id)
        most, status = self._breaks.pop(0) if self._breaks else (5, None)
        response: Any = GAME.message("ReplayResponse")
        for seq in range(most):
            yield response(header={"seq": seq}).SerializeToString()
        if status is not None:
            await context.abort(status, "")


async def replayed(breaks: list[tuple[int, grpc.StatusCode]], patience: float = 20.0) -> tuple[list[int], int]:
    """The seqs that a client brings, and how often it called."""
    handler = _Replays(breaks)
    server = grpc.aio.server()
    server.add_generic_rpc_handlers((handler,))
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    try:
        async with Client(f"127.0.0.1:{port}", patience=patience) as client:
            seqs = [message.header.seq async for message in replay(client, "m", GAME.id)]
    finally:
        await server.stop(0)
    assert set(handler.asked) == {"m"}
    return seqs, len(handler.asked)


async def test_a_broken_replay_goes_on_where_it_was() -> None:
    """After two breaks, one of them before anything came, no message is missing and none comes twice."""
    breaks = [(3, grpc.StatusCode.UNAVAILABLE), (0, grpc.StatusCode.UNAVAILABLE)]
    assert await replayed(breaks) == ([0, 1, 2, 3, 4], 3)


async def test_a_refused_replay_raises() -> None:
    """A refusal is not repeated."""
    with pytest.raises(Refused):
        await replayed([(0, grpc.StatusCode.FAILED_PRECONDITION)])


async def test_patience_ends() -> None:
    """Without progress for as long as patience lasts, the iterator gives up."""
    with pytest.raises(Unreachable):
        await replayed([(0, grpc.StatusCode.UNAVAILABLE)] * 50, patience=0.2)
