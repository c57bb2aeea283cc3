"""A little server for the shell's tests: one method of each kind, each in one place, failing as it is told."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import grpc
from google.protobuf import any_pb2
from google.protobuf.wrappers_pb2 import StringValue
from google.rpc import error_details_pb2, status_pb2

from services.kit.shell.server import GrpcServer

Fail = Callable[[], Awaitable[None]]


async def well() -> None:
    """Nothing goes wrong."""


class Echo:
    """Answers with what it is sent; awaits *fail* in the middle of it."""

    def __init__(self, fail: Fail = well) -> None:
        self.fail = fail

    async def unary(self, request: StringValue, context: Any) -> StringValue:
        await self.fail()
        return request

    async def server(self, request: StringValue, context: Any) -> AsyncIterator[StringValue]:
        yield request
        await self.fail()
        yield request

    async def client(self, requests: AsyncIterator[StringValue], context: Any) -> StringValue:
        texts = [request.value async for request in requests]
        await self.fail()
        return StringValue(value="".join(texts))

    async def generator(self, requests: AsyncIterator[StringValue], context: Any) -> AsyncIterator[StringValue]:
        async for request in requests:
            yield request
            await self.fail()

    async def writer(self, requests: AsyncIterator[StringValue], context: Any) -> None:
        async for request in requests:
            await context.write(request)
            await self.fail()

    def register(self, server: grpc.aio.Server) -> None:
        kinds: dict[str, tuple[Callable[..., Any], Any]] = {
            "Unary": (grpc.unary_unary_rpc_method_handler, self.unary),
            "Server": (grpc.unary_stream_rpc_method_handler, self.server),
            "Client": (grpc.stream_unary_rpc_method_handler, self.client),
            "Generator": (grpc.stream_stream_rpc_method_handler, self.generator),
            "Writer": (grpc.stream_stream_rpc_method_handler, self.writer),
        }
        handlers = {
            name: make(method, StringValue.FromString, StringValue.SerializeToString)
            for name, (make, method) in kinds.items()
        }
        server.add_generic_rpc_handlers([grpc.method_handlers_generic_handler("test.v1.Echo", handlers)])


@asynccontextmanager
async def serving(echo: Echo, **options: Any) -> AsyncIterator[grpc.aio.Channel]:
    """A channel to a server with *echo* in it."""
    server = GrpcServer(**options)
    echo.register(server.server)
    port = await server.start("127.0.0.1", 0)
    async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
        yield channel
    await server.stop(0)


async def call(channel: grpc.aio.Channel, method: str, *messages: bytes, **how: Any) -> list[bytes]:
    """Call a method with raw *messages* and collect the raw answers."""
    kinds = {"Unary": "unary_unary", "Server": "unary_stream", "Client": "stream_unary"}
    multicallable = getattr(channel, kinds.get(method, "stream_stream"))(f"/test.v1.Echo/{method}")
    calling = multicallable(messages[0] if method in {"Unary", "Server"} else iter(messages), **how)
    if method in {"Unary", "Client"}:
        return [await calling]
    return [answer async for answer in calling]


def error_info(error: grpc.aio.AioRpcError) -> error_details_pb2.ErrorInfo:
    """The one ErrorInfo in the details of *error*, checked against its status and message."""
    metadata = dict(error.trailing_metadata() or ())
    status = status_pb2.Status.FromString(metadata["grpc-status-details-bin"])
    assert (status.code, status.message) == (error.code().value[0], error.details())
    packed: any_pb2.Any
    (packed,) = status.details
    info = error_details_pb2.ErrorInfo()
    assert packed.Unpack(info)
    return info


METHODS = ("Unary", "Server", "Client", "Generator", "Writer")
