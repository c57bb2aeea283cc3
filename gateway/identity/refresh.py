"""Refresh tokens: opaque, kept as digests, exchanged once, each for its successor.

The answer that brings the successor can be lost, by a crash or a broken connection, and the client then holds nothing
but the token it has just given away. So the last token before the newest may be presented again within `GRACE_MS`, as
long as the newest was never presented; it is answered with the same newest token. That is why a successor is made from
its predecessor and a random salt that is kept: it need not be stored to be told twice. Whoever presents any other token
that was exchanged, or this one too late, shows that two hold tokens of one sign-in: it is revoked whole.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
from typing import NamedTuple

from gateway.store.sign_ins import Exchange, SignInStore, Verdict
from services.kit.clock import StoreClock
from services.kit.errors import Unauthenticated

GRACE_MS = 10_000
"""Covers a restart of the gateway and the retries of a client."""

MOST_SIGN_INS = 10
"""Sign-ins of one player at a time; a new one more revokes the longest unused."""

_BYTES = 32
_LENGTH = 43  # of 32 bytes in base64url without padding


class Renewed(NamedTuple):
    """A refresh token was good: whose it is, and the next one."""

    player_id: str
    token: str


class RefreshTokens:
    """Begins sign-ins and exchanges their tokens."""

    def __init__(self, store: SignInStore, clock: StoreClock, days: int) -> None:
        """*days*: how long a token is good for."""
        self._store = store
        self._clock = clock
        self._lifetime_ms = days * 24 * 3600 * 1000

    async def begin(self, player_id: str) -> str:
        """The first token of a new sign-in.

        Raises:
            Unavailable: STORE_UNAVAILABLE.
        """
        secret, now_ms = secrets.token_bytes(_BYTES), self._clock.now_ms()
        await self._store.begin_sign_in(player_id, _digest(secret), now_ms, now_ms + self._lifetime_ms, MOST_SIGN_INS)
        return _text(secret)

    async def exchange(self, token: str) -> Renewed:
        """Exchange *token* for its successor; durable before this returns.

        Raises:
            Unauthenticated: REFRESH_INVALID, or REFRESH_REUSED: it had been exchanged, now its sign-in is revoked.
            Unavailable: STORE_UNAVAILABLE.
        """
        secret, salt, now_ms = _bytes(token), secrets.token_bytes(_BYTES), self._clock.now_ms()
        successor = _successor(secret, salt)
        exchanged = await self._store.exchange_token(
            Exchange(_digest(secret), salt, _digest(successor), now_ms, now_ms + self._lifetime_ms, GRACE_MS)
        )
        if exchanged.verdict is not Verdict.EXCHANGED:
            raise Unauthenticated(f"REFRESH_{exchanged.verdict.name}")
        return Renewed(exchanged.player_id, _text(_successor(secret, exchanged.salt)))

    async def forget_expired(self) -> int:
        """Forget what has expired; returns how many tokens."""
        return await self._store.forget_sign_ins(self._clock.now_ms())


def _successor(secret: bytes, salt: bytes) -> bytes:
    return hmac.digest(salt, b"tortuga/refresh/v1" + secret, "sha256")


def _digest(secret: bytes) -> bytes:
    return hashlib.sha256(secret).digest()


def _text(secret: bytes) -> str:
    return base64.urlsafe_b64encode(secret).rstrip(b"=").decode()


def _bytes(token: str) -> bytes:
    try:
        secret = base64.b64decode(token + "=", altchars=b"-_", validate=True) if len(token) == _LENGTH else b""
    except ValueError:
        secret = b""
    if len(secret) != _BYTES or _text(secret) != token:
        raise Unauthenticated("REFRESH_INVALID")
    return secret
