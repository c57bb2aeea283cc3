"""The errors interceptor: the one place where what the domain raises becomes a gRPC status, and calls are counted.

- A `DomainError` or `RuleError` becomes its canonical status with the reason as message and `google.rpc.ErrorInfo`
  beside it. A request whose bytes are no message of its type becomes INVALID_ARGUMENT / MALFORMED.
- Anything unplanned becomes a bare INTERNAL with an id; the log line under that id holds types and places only.
- Cancellation passes through.

A stream costs one wrapping at its opening; a handler of the reader/writer style costs nothing per message.
"""

from __future__ import annotations

import asyncio
import inspect
import re
import secrets
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import aclosing
from typing import Any, NoReturn, TypeAlias

import grpc
from google.protobuf import any_pb2
from google.protobuf.message import DecodeError
from google.rpc import error_details_pb2, status_pb2

from services.kit.errors import DOMAIN, DomainError, Malformed, code_number, status_of
from services.kit.rules import RuleError
from services.kit.shell import logs, metrics

REQUEST_ID = "x-request-id"
"""Metadata key that carries one request's id through gateway and services."""

_GOOD_ID = re.compile(r"[A-Za-z0-9_.-]{1,64}")
_DETAILS = "grpc-status-details-bin"

Context: TypeAlias = "grpc.aio.ServicerContext[Any, Any]"
Handler: TypeAlias = "grpc.RpcMethodHandler[Any, Any]"
Read: TypeAlias = Callable[[bytes], Any]


def details(status: grpc.StatusCode, reason: str, params: Mapping[str, str]) -> bytes:
    """Bytes of the `google.rpc.Status` that goes with a refusal."""
    info = error_details_pb2.ErrorInfo(reason=reason, domain=DOMAIN, metadata=params)
    packed = any_pb2.Any()
    packed.Pack(info)
    whole: bytes = status_pb2.Status(code=code_number(status), message=reason, details=[packed]).SerializeToString()
    return whole


def error_info(error: grpc.aio.AioRpcError) -> error_details_pb2.ErrorInfo:
    """The reason and parameters of another process's refusal; empty if it brought none that can be read."""
    info = error_details_pb2.ErrorInfo()
    for key, value in error.trailing_metadata() or ():
        if key == _DETAILS and isinstance(value, bytes):
            for packed in status_pb2.Status.FromString(value).details:
                if packed.Unpack(info):
                    return info
    return info


def request_id(context: Context) -> str:
    """The id that the caller sent in `x-request-id`, or a new one if there is none that holds."""
    for key, value in context.invocation_metadata() or ():
        if key == REQUEST_ID and isinstance(value, str) and _GOOD_ID.fullmatch(value):
            return value
    return secrets.token_hex(8)


class ErrorsInterceptor(grpc.aio.ServerInterceptor):
    """Wraps every handler of a server."""

    def __init__(self) -> None:
        # A handler that is the same object at every call (generated code) is wrapped once. Those that a generic
        # handler makes anew are not kept: only the latest per method is.
        self._wrapped: dict[str, tuple[Handler, Handler]] = {}

    async def intercept_service(
        self,
        continuation: Callable[[grpc.HandlerCallDetails], Awaitable[Handler | None]],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> Handler | None:
        """Return the wrapped handler, or what the server has for an unknown method."""
        handler = await continuation(handler_call_details)
        if handler is None:
            return None
        method = str(handler_call_details.method)
        known = self._wrapped.get(method)
        if known is None or known[0] is not handler:
            known = self._wrapped[method] = (handler, _wrap(handler, method))
        return known[1]


def _wrap(handler: Handler, method: str) -> Handler:
    service, _, name = method.removeprefix("/").rpartition("/")
    if not handler.request_streaming and not handler.response_streaming:
        call = _Call(metrics.Rpc("unary", service, name))
        return grpc.unary_unary_rpc_method_handler(
            _unary(call, handler.unary_unary, handler.request_deserializer),
            response_serializer=handler.response_serializer,
        )
    if not handler.request_streaming:
        call = _Call(metrics.Rpc("server_stream", service, name))
        return grpc.unary_stream_rpc_method_handler(
            _streaming(call, handler.unary_stream, handler.request_deserializer),
            response_serializer=handler.response_serializer,
        )
    read = None if handler.request_deserializer is None else _reading(handler.request_deserializer)
    if not handler.response_streaming:
        call = _Call(metrics.Rpc("client_stream", service, name))
        return grpc.stream_unary_rpc_method_handler(
            _unary(call, handler.stream_unary, None),
            request_deserializer=read,
            response_serializer=handler.response_serializer,
        )
    call = _Call(metrics.Rpc("bidi_stream", service, name))
    return grpc.stream_stream_rpc_method_handler(
        _streaming(call, handler.stream_stream, None),
        request_deserializer=read,
        response_serializer=handler.response_serializer,
    )


def _reading(deserializer: Read) -> Read:
    """*deserializer* with the domain's error. grpc would tell the client the exception's own text."""

    def read(data: bytes) -> Any:
        try:
            return deserializer(data)
        except DecodeError:
            raise Malformed("MALFORMED") from None

    return read


def _unary(call: _Call, behaviour: Any, deserializer: Read | None) -> Any:
    """Wrap a handler that returns one response. With a *deserializer* the request comes as bytes and is read here."""
    read = None if deserializer is None else _reading(deserializer)

    async def handle(request: Any, context: Context) -> Any:
        started = time.perf_counter()
        with logs.bind(request_id=request_id(context)):
            try:
                answer = await behaviour(request if read is None else read(request), context)
            except BaseException as error:
                await call.fail(error, context)
            finally:
                call.count(context, time.perf_counter() - started)
        return answer

    return handle


def _streaming(call: _Call, behaviour: Any, deserializer: Read | None) -> Any:
    """Wrap a handler that returns a stream, in its own style: an async generator, or one that writes to its context."""
    read = None if deserializer is None else _reading(deserializer)

    async def write(request: Any, context: Context) -> None:
        with logs.bind(request_id=request_id(context)):
            try:
                await behaviour(request if read is None else read(request), context)
            except BaseException as error:
                await call.fail(error, context)
            finally:
                call.count(context)

    async def generate(request: Any, context: Context) -> AsyncIterator[Any]:
        # No `bind` here: a generator's context is its caller's, and a token must be given back where it was taken.
        try:
            async with aclosing(behaviour(request if read is None else read(request), context)) as responses:
                async for response in responses:
                    yield response
        except GeneratorExit:
            raise
        except BaseException as error:
            await call.fail(error, context)
        finally:
            call.count(context)

    return generate if inspect.isasyncgenfunction(behaviour) else write


class _Call:
    """One method: how its failures are told and its calls counted."""

    def __init__(self, rpc: metrics.Rpc) -> None:
        self._rpc = rpc

    async def fail(self, error: BaseException, context: Context) -> NoReturn:
        """End the call with the status of *error*. Never returns."""
        if isinstance(error, asyncio.CancelledError):
            context.set_code(grpc.StatusCode.CANCELLED)
            raise error
        if isinstance(error, grpc.aio.AbortError) or not isinstance(error, Exception):
            raise error
        if isinstance(error, grpc.aio.InternalError):  # the client hung up while something was written to it
            context.set_code(grpc.StatusCode.CANCELLED)
            raise asyncio.CancelledError from error
        if isinstance(error, DomainError | RuleError):
            status, reason, params = status_of(error), error.reason, error.params
        else:
            status, reason, params = grpc.StatusCode.INTERNAL, "INTERNAL", {"id": secrets.token_hex(8)}
            logs.logger().error(
                "internal_error",
                error_id=params["id"],
                method=f"{self._rpc.service}/{self._rpc.method}",
                exception=logs.describe(error),
            )
        await context.abort(status, reason, ((_DETAILS, details(status, reason, params)),))
        raise AssertionError("abort always raises")

    def count(self, context: Context, seconds: float | None = None) -> None:
        """Count a call that is over; *seconds* for unary ones."""
        code: grpc.StatusCode | None = context.code()  # the stubs forget None, which is a call that went well
        metrics.grpc_handled(self._rpc, _spelled(code or grpc.StatusCode.OK)).inc()
        if seconds is not None:
            metrics.grpc_handling(self._rpc).observe(seconds)


def _spelled(code: grpc.StatusCode) -> str:
    """*code* as the conventional label spells it: `OK`, `NotFound`."""
    return code.name if code is grpc.StatusCode.OK else "".join(part.capitalize() for part in code.name.split("_"))
