"""The way to the platform: two connections, one for streams and one for single calls, and patience with both."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from functools import partial
from typing import TypeVar

import grpc

from services.client.errors import Refused, TokenExpired, Unreachable
from services.client.tokens import Tokens
from tortuga.gateway.v1.identity_service_pb2 import RefreshTokensRequest
from tortuga.gateway.v1.identity_service_pb2 import Tokens as WireTokens
from tortuga.gateway.v1.identity_service_pb2_grpc import IdentityServiceStub

Answer = TypeVar("Answer")

# Pools of their own: a single call never waits behind long streams. Pings are rarer than our servers allow, and go out
# on idle streams too (`max_pings_without_data` 0), so that a peer that vanished is noticed within 40 s.
_OPTIONS = (
    ("grpc.use_local_subchannel_pool", 1),
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.min_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 1000),
    ("grpc.keepalive_time_ms", 30_000),
    ("grpc.keepalive_timeout_ms", 10_000),
    ("grpc.http2.max_pings_without_data", 0),
)
_CALL_SECONDS, _FIRST_PAUSE, _LONGEST_PAUSE = 5.0, 0.05, 2.0


class Patience:
    """Paces attempts: pauses double from 50 ms to 2 s, each cut by up to half at random, until *seconds* of silence."""

    def __init__(self, seconds: float) -> None:
        self._seconds, self._since, self._pause = seconds, time.monotonic(), _FIRST_PAUSE

    def alive(self, *, progress: bool) -> None:
        """Something was heard; with *progress* the next pause is a short one again."""
        self._since = time.monotonic()
        self._pause = _FIRST_PAUSE if progress else self._pause

    async def wait(self, cause: Refused | None) -> None:
        """Wait before the next attempt, at least as long as *cause* asks. Raises Unreachable when patience ends."""
        if time.monotonic() - self._since > self._seconds:
            raise Unreachable from cause
        pause = self._pause * random.uniform(0.5, 1)  # noqa: S311 - spreads clients, hides nothing
        self._pause = min(2 * self._pause, _LONGEST_PAUSE)
        await asyncio.sleep(max(pause, cause.retry_after if cause else 0.0))


class Connection:
    """Two channels to one target, and the player's token, renewed in time, on every call."""

    def __init__(
        self,
        target: str,
        credentials: grpc.ChannelCredentials | None,
        token: str,
        patience: float,
        *,
        refresh_token: str = "",
        keep: Callable[[Tokens], None] = lambda _: None,
    ) -> None:
        """*keep* is called with every new pair of tokens."""
        self.patience = patience
        self.tokens = Tokens(token, refresh_token, self._exchange, keep)
        dial = partial(grpc.aio.secure_channel, credentials=credentials) if credentials else grpc.aio.insecure_channel
        self.calls, self.streams = dial(target, options=_OPTIONS), dial(target, options=_OPTIONS)

    @property
    def token(self) -> str:
        """The access token; empty before sign-in."""
        return self.tokens.access

    @property
    def metadata(self) -> tuple[tuple[str, str], ...]:
        """What names the player; empty before sign-in."""
        return (("authorization", f"Bearer {self.token}"),) if self.token else ()

    async def fresh(self) -> None:
        """Renew the access token if it is time; before a stream is opened."""
        await self.tokens.fresh()

    async def replaced(self, cause: Refused, token: str) -> bool:
        """Whether *cause* says that *token* has expired, and there is a new one by now."""
        return isinstance(cause, TokenExpired) and bool(self.tokens.refresh) and await self.tokens.replace(token)

    async def call(self, method: Callable[..., Awaitable[Answer]], request: object) -> Answer:
        """Call *method*, which may be repeated, while the platform is away. Raises Refused or Unreachable."""
        await self.fresh()
        return await self._call(method, request, named=True)

    async def call_unnamed(self, method: Callable[..., Awaitable[Answer]], request: object) -> Answer:
        """As `call`, for what asks for no token."""
        return await self._call(method, request, named=False)

    async def _call(self, method: Callable[..., Awaitable[Answer]], request: object, *, named: bool) -> Answer:
        patience = Patience(self.patience)
        while True:
            token = self.token
            try:
                return await method(request, metadata=self.metadata if named else (), timeout=_CALL_SECONDS)
            except grpc.aio.AioRpcError as error:
                cause = Refused.by_status(error)
            if named and await self.replaced(cause, token):
                continue
            if not cause.retryable and cause.code is not grpc.StatusCode.DEADLINE_EXCEEDED:
                raise cause
            await patience.wait(cause)

    async def _exchange(self, refresh_token: str) -> WireTokens:
        request = RefreshTokensRequest(refresh_token=refresh_token)
        return (await self.call_unnamed(IdentityServiceStub(self.calls).RefreshTokens, request)).tokens
