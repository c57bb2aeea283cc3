"""A client's tokens: the access token on every call, and the refresh token that gets the next one in time."""

from __future__ import annotations

import asyncio
import base64
import json
import time
from collections.abc import Awaitable, Callable

from services.client.errors import ClientError, Refused
from tortuga.gateway.v1.identity_service_pb2 import Tokens as WireTokens

_RENEW_AT = 0.8
"""Part of an access token's life after which the next one is fetched."""

_AGAIN_SECONDS = 5.0
"""Pause after a renewal that failed because the platform was away."""


class Tokens:
    """What lets a player in. `keep` is called with every new pair, before the pair is used.

    How long an access token lives is read from the token itself and measured by the monotonic clock from its arrival,
    so that a wrong clock of this machine renews neither too late nor for ever.
    """

    def __init__(
        self, access: str, refresh: str, fetch: Callable[[str], Awaitable[WireTokens]], keep: Callable[[Tokens], None]
    ) -> None:
        """*fetch* exchanges a refresh token for the next pair: RefreshTokens."""
        self.access, self.refresh = access, refresh
        self._fetch, self._keep = fetch, keep
        self._one_at_a_time = asyncio.Lock()
        self._not_before = float("-inf")
        self._renew_at = _renewal_of_old(access)

    def take(self, tokens: WireTokens) -> None:
        """Use *tokens* from now on."""
        self.access, self.refresh = tokens.access_token, tokens.refresh_token
        begun, ends = _life(tokens.access_token)
        self._renew_at = time.monotonic() + (ends - begun) * _RENEW_AT if ends else float("inf")
        self._keep(self)

    async def fresh(self) -> None:
        """See to it that the access token has some life left, if there is a way to.

        A platform that is away, or a refresh token that holds no more, is no reason to fail before the access token is
        refused: then nothing changes.
        """
        if self.refresh and time.monotonic() >= max(self._renew_at, self._not_before):
            await self.replace(self.access)

    async def replace(self, access: str) -> bool:
        """Get a successor of *access*, unless another task has; returns whether there is one."""
        try:
            await self.exchange(access)
        except ClientError as error:
            self._not_before = time.monotonic() + _AGAIN_SECONDS
            if isinstance(error, Refused) and error.reason in {"REFRESH_INVALID", "REFRESH_REUSED"}:
                self.refresh = ""
        return self.access != access

    async def exchange(self, access: str) -> None:
        """As `replace`, but failure is raised. Raises Refused (REFRESH_INVALID, REFRESH_REUSED) or Unreachable."""
        # To its end even if the caller goes away: an answer that nobody kept is a sign-in lost.
        await asyncio.shield(asyncio.ensure_future(self._exchange(access)))

    async def after(self, access: str) -> str:
        """Wait until *access* has a successor, renewing it when it is time; for ever if there is no way to."""
        while self.access == access:
            due = max(self._renew_at, self._not_before) - time.monotonic()
            await asyncio.sleep(min(max(due, 0.05), _AGAIN_SECONDS))
            await self.fresh()
        return self.access

    async def _exchange(self, access: str) -> None:
        async with self._one_at_a_time:
            if self.access == access:
                self.take(await self._fetch(self.refresh))


def expiry_of(access: str) -> int:
    """When the access token expires, in seconds since 1970 by the platform's clock; 0 if it does not say."""
    return _life(access)[1]


def _life(access: str) -> tuple[int, int]:
    """When the token was issued and when it ends; zeros if it does not say."""
    try:
        payload = access.split(".")[1]
        claims = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
        return int(claims["iat"]), int(claims["exp"])
    except (ValueError, IndexError, KeyError, TypeError):
        return 0, 0


def _renewal_of_old(access: str) -> float:
    """When a token whose arrival was not seen should be renewed: by this machine's clock, there is no better one."""
    begun, ends = _life(access)
    if access and not ends:
        return float("inf")
    return time.monotonic() + (begun + (ends - begun) * _RENEW_AT) - time.time()
