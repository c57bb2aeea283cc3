"""A grpc.aio server with what each of ours has: options, errors and counting, health, reflection; and channel options.

Options of both sides stand here together, because keepalive must agree: a client that pings faster than its server
allows loses the connection and every stream in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import grpc

from services.kit.shell.health import Health
from services.kit.shell.interceptors import ErrorsInterceptor
from services.kit.shell.reflection import Reflection, Source

Options: TypeAlias = "list[tuple[str, str | int | bytes]]"

CLIENT_MESSAGE_BYTES = 64 * 1024
"""Largest message that a server takes from a player's client."""

LINK_MESSAGE_BYTES = 4 * 1024 * 1024
"""Largest message between the platform's own processes: a batch of 256 KiB, or one larger frame alone."""

_PING_MS = 20_000
_PING_TIMEOUT_MS = 10_000
_LEAST_PING_MS = 5_000


_WINDOW_BYTES = CLIENT_MESSAGE_BYTES - 1
"""What a player's stream may send ahead of being read. gRPC would let it grow with the speed of the connection, to
megabytes a stream: a few hundred clients that are not read filled gigabytes."""


def server_options(max_receive_bytes: int = CLIENT_MESSAGE_BYTES) -> Options:
    """Options of a server that takes messages of up to *max_receive_bytes*: a player's, or a link's larger ones."""
    fixed_window: Options = [("grpc.http2.bdp_probe", 0), ("grpc.http2.lookahead_bytes", _WINDOW_BYTES)]
    return [
        *(fixed_window if max_receive_bytes <= CLIENT_MESSAGE_BYTES else ()),
        ("grpc.so_reuseport", 0),  # else a second server takes the same port without a word
        ("grpc.max_receive_message_length", max_receive_bytes),
        ("grpc.max_send_message_length", -1),
        ("grpc.keepalive_time_ms", _PING_MS),
        ("grpc.keepalive_timeout_ms", _PING_TIMEOUT_MS),
        ("grpc.keepalive_permit_without_calls", 1),
        ("grpc.http2.min_ping_interval_without_data_ms", _LEAST_PING_MS),
        ("grpc.http2.max_pings_without_data", 0),
    ]


def channel_options(max_receive_bytes: int = LINK_MESSAGE_BYTES) -> Options:
    """Options of a channel to one of our servers, which takes messages of up to *max_receive_bytes*."""
    return [
        ("grpc.max_receive_message_length", max_receive_bytes),
        ("grpc.max_send_message_length", -1),
        ("grpc.keepalive_time_ms", _PING_MS),
        ("grpc.keepalive_timeout_ms", _PING_TIMEOUT_MS),
        ("grpc.keepalive_permit_without_calls", 1),
        ("grpc.http2.max_pings_without_data", 0),
        # A process that comes back is found within a second, and not after the default's doubling up to two minutes.
        ("grpc.initial_reconnect_backoff_ms", 100),
        ("grpc.min_reconnect_backoff_ms", 100),
        ("grpc.max_reconnect_backoff_ms", 1_000),
        # Each channel has its own connection: long streams never make unary calls wait for a free stream.
        ("grpc.use_local_subchannel_pool", 1),
        ("grpc.enable_http_proxy", 0),
    ]


class GrpcServer:
    """One server: add servicers to `server`, `start`, and in the end `stop`."""

    def __init__(
        self,
        *services: str,
        max_receive_bytes: int = CLIENT_MESSAGE_BYTES,
        interceptors: Sequence[grpc.aio.ServerInterceptor] = (),
    ) -> None:
        """*services*: full names from this process's generated code, shown by reflection and by health.

        More reflection sources may be put on `reflection` at any time. *interceptors* stand inside the errors
        interceptor: what they raise is told like what handlers raise.
        """
        self.server = grpc.aio.server(
            interceptors=[ErrorsInterceptor(), *interceptors],
            options=server_options(max_receive_bytes),
        )
        self.health = Health(*services)
        self.health.register(self.server)
        self.reflection = Reflection()
        self.reflection.put("", Source.of_generated("grpc.health.v1.Health", *services))
        self.reflection.register(self.server)

    async def start(self, host: str, port: int) -> int:
        """Bind and serve; readiness waits for `health.ready()`. Returns the real port (*port* 0 takes a free one).

        Raises:
            PortTaken: another process has the port.
        """
        address = f"[{host}]" if ":" in host else host
        try:
            bound = self.server.add_insecure_port(f"{address}:{port}")
        except RuntimeError as error:
            raise PortTaken(f"{address}:{port}") from error
        await self.server.start()
        return bound

    async def stop(self, grace_seconds: float = 1.0) -> None:
        """Refuse new calls, give open ones *grace_seconds*, cut the rest.

        Streams do not end by themselves: end them first, each saying from where to resume.
        """
        self.health.drain()
        await self.server.stop(grace_seconds)


class PortTaken(RuntimeError):
    """The address could not be bound."""
