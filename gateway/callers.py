"""Who calls: the player whom a call's token names."""

from __future__ import annotations

from typing import Any, TypeAlias

import grpc

from services.kit.tokens import VerifiedPlayer, Verifier, bearer_token

Context: TypeAlias = "grpc.aio.ServicerContext[Any, Any]"


class Callers:
    """Reads `authorization: Bearer …`. The token alone decides: whether the player is known, no store is asked."""

    def __init__(self, verifier: Verifier) -> None:
        self._verifier = verifier

    async def player(self, context: Context) -> VerifiedPlayer:
        """The player who makes this call.

        Raises:
            Unauthenticated: TOKEN_MISSING, TOKEN_INVALID or TOKEN_EXPIRED.
            Unavailable: KEYS_UNAVAILABLE.
        """
        return await self._verifier.verify_player(bearer_token(context.invocation_metadata()))
