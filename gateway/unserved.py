"""Services of the contract that this release does not serve: reflection shows them, each call answers NOT_SERVED."""

from __future__ import annotations

from typing import Any, NoReturn

import grpc
from google.protobuf.descriptor import MethodDescriptor, ServiceDescriptor

from gateway.callers import Context
from services.kit.errors import NotServed


class Unserved:
    """Answers for a whole service, whatever its calls are."""

    def __init__(self, service: ServiceDescriptor) -> None:
        self._service = service

    def register(self, server: grpc.aio.Server) -> None:
        """Add the service to *server*."""
        handlers = {method.name: _refusing(method) for method in self._service.methods}
        server.add_generic_rpc_handlers([grpc.method_handlers_generic_handler(self._service.full_name, handlers)])


def _refusing(method: MethodDescriptor) -> grpc.RpcMethodHandler[Any, Any]:
    """A handler that refuses; requests stay bytes, there is nothing to read in them."""
    kind = ("stream" if method.client_streaming else "unary", "stream" if method.server_streaming else "unary")
    make = {
        ("unary", "unary"): grpc.unary_unary_rpc_method_handler,
        ("unary", "stream"): grpc.unary_stream_rpc_method_handler,
        ("stream", "unary"): grpc.stream_unary_rpc_method_handler,
        ("stream", "stream"): grpc.stream_stream_rpc_method_handler,
    }[kind]
    return make(_refuse)


async def _refuse(_: Any, context: Context) -> NoReturn:
    raise NotServed("NOT_SERVED")
