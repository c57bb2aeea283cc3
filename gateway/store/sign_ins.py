"""The store's port for refresh tokens: sign-ins, each a chain of tokens of which the newest alone is good.

No token is kept, only SHA-256 of it. Of a token that was exchanged the store keeps the random *salt* that its successor
was made with (from the token and the salt, see gateway/identity/refresh.py): who presents the token again within the
grace gets the same successor, and nobody can make it from the store's file alone.
"""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple, Protocol


class Exchange(NamedTuple):
    """A refresh token is presented. Digests are SHA-256; times are the store's, in milliseconds since 1970."""

    digest: bytes
    """Of the token that was presented."""
    salt: bytes
    """What its successor is made with, if it has none yet; 32 bytes."""
    successor: bytes
    """Digest of that successor."""
    now_ms: int
    """When."""
    expires_ms: int
    """Until when the successor is good."""
    grace_ms: int
    """How long after its exchange a token may be presented again, if its successor never was."""


class Verdict(Enum):
    """What became of it."""

    EXCHANGED = "exchanged"
    """The sign-in goes on, with the successor made with `Exchanged.salt`."""
    REUSED = "reused"
    """The token had been exchanged before: the whole sign-in is revoked."""
    INVALID = "invalid"
    """No such token, one that has expired, or one of a sign-in that was revoked."""


class Exchanged(NamedTuple):
    """The answer to an `Exchange`."""

    verdict: Verdict
    player_id: str = ""
    salt: bytes = b""


class SignInStore(Protocol):
    """Keeps sign-ins. Every method is durable before it returns and raises Unavailable (STORE_UNAVAILABLE)."""

    async def begin_sign_in(self, player_id: str, digest: bytes, now_ms: int, expires_ms: int, most: int) -> None:
        """Begin a sign-in of the player with this token; of more than *most* the longest unused are revoked."""
        ...

    async def exchange_token(self, exchange: Exchange) -> Exchanged:
        """Exchange a token for its successor, in one step."""
        ...

    async def forget_sign_ins(self, now_ms: int) -> int:
        """Forget tokens that had expired by *now_ms*, and sign-ins without any; return how many tokens."""
        ...

    async def rename_player(self, player_id: str, display_name: str) -> bool:
        """Change the player's display name; returns whether the player is known."""
        ...

    async def erase_player(self, player_id: str) -> None:
        """Forget the player's name and sign-ins. Tickets and matches keep the opaque id. Repeating is harmless."""
        ...

    async def waiting_tickets_of(self, player_id: str) -> list[str]:
        """Ids of the player's WAITING tickets."""
        ...
