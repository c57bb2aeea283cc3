"""What identity needs from time to time: keys that are new enough, and no sign-ins that nobody can use."""

from __future__ import annotations

import asyncio

from gateway.background import Background
from gateway.identity.refresh import RefreshTokens
from services.kit.shell import logs
from services.kit.shell.rounds import every
from services.kit.tokens import Keyring

_LOOK_SECONDS = 10.0
"""Between two readings of the keys' folder: several fit into the time for which a new key only is published."""

_FORGET_SECONDS = 3600.0
_DAY_SECONDS = 24 * 3600


class IdentityUpkeep:
    """Runs beside the calls, in every gateway; those that share a folder agree through it."""

    def __init__(self, keyring: Keyring, tokens: RefreshTokens, *, token_seconds: int, key_days: int) -> None:
        """*key_days* 0: no key is made by age."""
        self._keyring = keyring
        self._tokens = tokens
        self._token_seconds = token_seconds
        self._key_days = key_days
        self._background = Background()

    def start(self) -> None:
        """Begin."""
        self._background.start(every(_LOOK_SECONDS, self.tend_keys), "keys")
        self._background.start(every(_FORGET_SECONDS, self._forget), "forget sign-ins")

    async def close(self) -> None:
        """Stop."""
        await self._background.close()

    async def tend_keys(self) -> None:
        """Take up what others did to the folder, make a new key if the newest is too old, remove those not needed.

        Raises:
            BadKeys: a file there is no key.
            OSError: the folder cannot be used.
        """
        await asyncio.to_thread(self._keyring.reload)
        if self._key_days and await asyncio.to_thread(self._keyring.rotate, self._key_days * _DAY_SECONDS):
            logs.logger().info("key_made")
        if removed := await asyncio.to_thread(self._keyring.retire, self._token_seconds):
            logs.logger().info("keys_removed", kids=removed)

    async def _forget(self) -> None:
        if count := await self._tokens.forget_expired():
            logs.logger().info("refresh_tokens_forgotten", count=count)
