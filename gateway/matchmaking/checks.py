"""Whether a game accepts a wish, by `CreateMatch{validate_only}`: asked once per wish, remembered, bounded."""

from __future__ import annotations

import asyncio
from collections import OrderedDict

from gateway.background import Background
from gateway.games import Games, ServedGame
from gateway.ids import new_match_id
from gateway.matchmaking.pairing import Waiting, match_of
from services.kit.errors import AlreadyUsed, DomainError, Malformed, NotServed, Refusal
from tortuga.host.v1.host_service_pb2 import CreateMatchRequest

_MOST_REMEMBERED = 4096
_FINAL = {Malformed.status, Refusal.status, NotServed.status, AlreadyUsed.status}


def is_final(error: DomainError) -> bool:
    """Whether the game has said no to the request itself, so that repeating it is vain."""
    return error.status in _FINAL


class WishChecks:
    """Asks games, and remembers the wishes they accept for as long as they describe themselves alike."""

    def __init__(self, games: Games, background: Background) -> None:
        self._games = games
        self._background = background
        self._accepted: OrderedDict[tuple[bytes, bytes], None] = OrderedDict()
        self._asking: dict[tuple[bytes, bytes], asyncio.Task[None]] = {}

    async def check(self, served: ServedGame, wish: bytes, seats: int) -> None:
        """Return if *served* accepts *wish* (bytes of the complete one, for *seats* seats).

        Raises:
            DomainError: `is_final`: what the game says against it; else it could not be asked (NO_SERVICE …).
        """
        key = (served.digest, wish)
        if key in self._accepted:
            self._accepted.move_to_end(key)
            return
        asking = self._asking.get(key)
        if asking is None:
            asking = self._asking[key] = self._background.start(self._ask(served, wish, seats), "check wish")
            asking.add_done_callback(lambda _: self._asking.pop(key, None))
        await asyncio.shield(asking)

    def forget(self, wish: bytes) -> None:
        """Ask about *wish* again: its game has refused after all."""
        for key in [key for key in self._accepted if key[1] == wish]:
            del self._accepted[key]

    async def _ask(self, served: ServedGame, wish: bytes, seats: int) -> None:
        nobody = [Waiting("", f"p_{seat}") for seat in range(seats)]
        match = match_of(wish, new_match_id(), nobody)
        await self._games.create_match(served.id, CreateMatchRequest(match=match, validate_only=True))
        self._accepted[served.digest, wish] = None
        if len(self._accepted) > _MOST_REMEMBERED:
            self._accepted.popitem(last=False)
