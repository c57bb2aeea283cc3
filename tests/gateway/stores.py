"""Stores for the conformance suite, one per adapter, and what it fills them with."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from gateway.store.port import Filed, Filing, GatewayStore, Made
from tortuga.gateway.v1.matchmaking_service_pb2 import Wish
from tortuga.play.v1.match_pb2 import Match

Open = Callable[[], Awaitable[GatewayStore]]


@dataclass
class Data:
    """One adapter's data, and the stores opened over it so far."""

    make: Open
    opened: list[GatewayStore] = field(default_factory=list)

    async def reopen(self) -> GatewayStore:
        """Close what is open, and open the data anew."""
        for store in self.opened:
            await store.close()
        self.opened = [await self.make()]
        return self.opened[0]


def filing(player: str, ticket: str, seats: int = 2, wish: str = "g", **changes: object) -> Filing:
    """A ticket of *player*, for a wish that is equal to others of the same name and seats."""
    content = Wish(game=wish, seats=seats, options=b"o").SerializeToString(deterministic=True)
    plain = Filing(ticket, player, f"request of {ticket}", b"digest", wish, content, seats, 1_000)
    return plain._replace(**changes)  # type: ignore[arg-type]  # fields of a Filing


async def file(store: GatewayStore, *filings: Filing, pair: bool = True) -> list[Filed]:
    """File them one after the other."""
    return [await store.file_ticket(one, pair=pair, limit=10) for one in filings]


def players_of(made: Made | None) -> list[str]:
    """Who sits where in the match that was ordered."""
    assert made is not None
    return [seat.player_id for seat in Match.FromString(made.order.match).seats]
