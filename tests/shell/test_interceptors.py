"""The errors interceptor, over a real server: what the domain raises reaches the caller, anything else does not."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import grpc
import pytest
from google.protobuf.wrappers_pb2 import StringValue
from prometheus_client import REGISTRY

from services.kit import errors
from services.kit.rules import IllegalAction, InvalidAction, InvalidOptions
from services.kit.shell import logs
from services.kit.shell.interceptors import request_id
from tests.shell.echo import METHODS, Echo, call, error_info, serving

HELLO = StringValue(value="hello").SerializeToString()
SECRET = "rd5 sd3 hidden"


def raising(error: BaseException) -> Echo:
    async def fail() -> None:
        raise error

    return Echo(fail)


def handled(method: str, code: str) -> float:
    kind = {"Unary": "unary", "Server": "server_stream", "Client": "client_stream"}.get(method, "bidi_stream")
    labels = {"grpc_type": kind, "grpc_service": "test.v1.Echo", "grpc_method": method, "grpc_code": code}
    return REGISTRY.get_sample_value("grpc_server_handled_total", labels) or 0


async def handled_rises(method: str, code: str, before: float) -> None:
    """Wait until the server has counted the call: the client hears of its end a moment earlier."""
    async with asyncio.timeout(10):
        while handled(method, code) != before + 1:
            await asyncio.sleep(0.005)


@pytest.mark.parametrize("method", METHODS)
async def test_a_call_that_goes_well_is_left_alone(method: str) -> None:
    """Every kind of handler answers as without the interceptor, and is counted as OK."""
    before = handled(method, "OK")
    async with serving(Echo()) as channel:
        answers = await call(channel, method, HELLO)
        assert set(answers) == {HELLO}
        await handled_rises(method, "OK", before)


REFUSALS = [
    (errors.Malformed("MALFORMED"), grpc.StatusCode.INVALID_ARGUMENT),
    (errors.Unauthenticated("TOKEN_EXPIRED"), grpc.StatusCode.UNAUTHENTICATED),
    (errors.Forbidden("NOT_YOURS"), grpc.StatusCode.PERMISSION_DENIED),
    (errors.NotFound("MATCH_UNKNOWN"), grpc.StatusCode.NOT_FOUND),
    (errors.Refusal("MATCH_OVER"), grpc.StatusCode.FAILED_PRECONDITION),
    (errors.Conflict("STALE_DECISION", decision=7), grpc.StatusCode.ABORTED),
    (errors.AlreadyUsed("ACTION_ID_REUSED"), grpc.StatusCode.ALREADY_EXISTS),
    (errors.Exhausted("TOO_FAST", retry_after_ms=250), grpc.StatusCode.RESOURCE_EXHAUSTED),
    (errors.Unavailable("OUTCOME_PENDING"), grpc.StatusCode.UNAVAILABLE),
    (errors.NotServed("NOT_SERVED"), grpc.StatusCode.UNIMPLEMENTED),
    (InvalidAction("UNREADABLE"), grpc.StatusCode.INVALID_ARGUMENT),
    (IllegalAction("TOO_MANY", limit=3), grpc.StatusCode.FAILED_PRECONDITION),
    (InvalidOptions("SEATS", most=4), grpc.StatusCode.INVALID_ARGUMENT),
]


@pytest.mark.parametrize(("error", "status"), REFUSALS, ids=lambda value: type(value).__name__)
async def test_a_refusal_is_its_status_with_reason_and_parameters(error: Any, status: grpc.StatusCode) -> None:
    """Canonical status, the reason as message, and the parameters in ErrorInfo."""
    async with serving(raising(error)) as channel:
        with pytest.raises(grpc.aio.AioRpcError) as raised:
            await call(channel, "Unary", HELLO)
    info = error_info(raised.value)
    assert (raised.value.code(), raised.value.details()) == (status, error.reason)
    assert (info.reason, info.domain, dict(info.metadata)) == (error.reason, "tortuga", error.params)


@pytest.mark.parametrize("method", METHODS)
async def test_every_kind_of_handler_tells_its_refusals(method: str) -> None:
    """Streams too, and in the middle of them; counted under the status."""
    before = handled(method, "Aborted")
    async with serving(raising(errors.Conflict("STALE_DECISION", decision=7))) as channel:
        with pytest.raises(grpc.aio.AioRpcError) as raised:
            await call(channel, method, HELLO)
        assert error_info(raised.value).metadata["decision"] == "7"
        await handled_rises(method, "Aborted", before)


@pytest.mark.parametrize("method", METHODS)
async def test_what_is_unplanned_becomes_a_bare_internal_with_an_id(
    method: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The caller learns an id and nothing else; the log line under that id has no arguments either."""
    logs.configure("info", "test")
    async with serving(raising(ValueError(SECRET))) as channel:
        with pytest.raises(grpc.aio.AioRpcError) as raised:
            await call(channel, method, HELLO)
    info = error_info(raised.value)
    assert (raised.value.code(), raised.value.details()) == (grpc.StatusCode.INTERNAL, "INTERNAL")
    assert (info.reason, list(info.metadata)) == ("INTERNAL", ["id"])
    assert SECRET not in str(raised.value)
    written = capsys.readouterr().err
    assert SECRET not in written
    (line,) = [json.loads(line) for line in written.splitlines() if "internal_error" in line]
    assert (line["error_id"], line["method"]) == (info.metadata["id"], f"test.v1.Echo/{method}")
    assert line["exception"]["type"] == "builtins.ValueError"


@pytest.mark.parametrize("method", METHODS)
async def test_bytes_that_are_no_message_are_malformed(method: str) -> None:
    """gRPC alone would answer with the parser's own words."""
    async with serving(Echo()) as channel:
        with pytest.raises(grpc.aio.AioRpcError) as raised:
            await call(channel, method, b"\xff\xff\xff")
    assert (raised.value.code(), error_info(raised.value).reason) == (grpc.StatusCode.INVALID_ARGUMENT, "MALFORMED")


@pytest.mark.parametrize("method", METHODS)
async def test_a_cancelled_call_is_cancelled_inside(method: str) -> None:
    """The handler sees the cancellation as without the interceptor, and nothing is logged as unplanned."""
    inside, seen = asyncio.Event(), asyncio.Event()

    async def wait() -> None:
        inside.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            seen.set()
            raise

    async with serving(Echo(wait)) as channel:
        calling = asyncio.create_task(call(channel, method, HELLO))
        await asyncio.wait_for(inside.wait(), 10)
        calling.cancel()
        await asyncio.wait_for(seen.wait(), 10)


async def test_an_unknown_method_stays_unimplemented() -> None:
    """Nothing is counted under names that callers make up."""
    async with serving(Echo()) as channel:
        with pytest.raises(grpc.aio.AioRpcError) as raised:
            await call(channel, "Nonsense", HELLO)
    assert raised.value.code() is grpc.StatusCode.UNIMPLEMENTED
    assert handled("Nonsense", "Unimplemented") == 0


async def test_messages_above_the_limit_are_refused() -> None:
    """64 KiB unless the server was made for more."""
    large = StringValue(value="x" * 70_000).SerializeToString()
    async with serving(Echo()) as channel:
        with pytest.raises(grpc.aio.AioRpcError) as raised:
            await call(channel, "Unary", large)
    assert raised.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    async with serving(Echo(), max_receive_bytes=1 << 20) as channel:
        assert await call(channel, "Unary", large) == [large]


@pytest.mark.parametrize("method", ["Unary", "Client", "Writer"])
async def test_log_lines_inside_a_call_carry_its_request_id(method: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The caller's `x-request-id` if it is sound. Generators run in their caller's context and bind it themselves."""
    logs.configure("info", "test")

    async def say() -> None:
        logs.logger().info("inside")

    async with serving(Echo(say)) as channel:
        await call(channel, method, HELLO, metadata=(("x-request-id", "r-17"),))
    (line,) = [json.loads(line) for line in capsys.readouterr().err.splitlines() if "inside" in line]
    assert line["request_id"] == "r-17"


@pytest.mark.parametrize("sent", [(), (("x-request-id", "no spaces"),), (("x-request-id", "x" * 65),)])
def test_a_request_id_that_does_not_hold_is_replaced(sent: tuple[tuple[str, str], ...]) -> None:
    """Nobody writes into our logs by metadata."""

    class Context:
        def invocation_metadata(self) -> tuple[tuple[str, str], ...]:
            return sent

    context: Any = Context()
    assert len(request_id(context)) == 16
    assert request_id(context) != request_id(context)
