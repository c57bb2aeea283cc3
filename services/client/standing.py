"""What a seat can say about the match's clocks and seats, and what every game lets it do."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING

from tortuga.play.v1 import match_pb2, play_pb2

if TYPE_CHECKING:
    from google.protobuf.message import Message


class Standing(ABC):
    """The part of a `Seat` that is the same in all games. Times are milliseconds since 1970 by the store's clock."""

    seat: int | None
    status: match_pb2.Status

    @abstractmethod
    async def act(self, action: Message | str, decision: int | None = None, *, action_id: str = "") -> play_pb2.Applied:
        """Play *action*; `Seat.act` says how."""

    def deadline(self, seat: int | None = None) -> int:
        """When the time-out step of *seat* is played, by default of the own one; 0 for never, or if it is not asked."""
        wanted = self.seat if seat is None else seat
        return next((asked.deadline_ms for asked in self.status.asked if asked.seat == wanted), 0)

    @property
    def banks(self) -> Sequence[int]:
        """Time left in the bank by seat, in milliseconds, as of the last status; empty if there are no banks."""
        return self.status.bank_ms

    @property
    def bots(self) -> Sequence[int]:
        """Seats that a bot plays now."""
        return self.status.bots

    @property
    def away(self) -> Sequence[int]:
        """Seats whose player is away."""
        return self.status.away

    @property
    def paused(self) -> bool:
        """Whether the clocks stand still."""
        return self.status.paused

    async def resign(self) -> play_pb2.Applied:
        """Give up."""
        return await self._kit(play_pb2.KIT_KIND_RESIGN)

    async def abort(self) -> play_pb2.Applied:
        """End the match without a result; before the start only."""
        return await self._kit(play_pb2.KIT_KIND_ABORT)

    async def claim(self) -> play_pb2.Applied:
        """Claim the match of an opponent who has fallen silent; in matches of two seats."""
        return await self._kit(play_pb2.KIT_KIND_CLAIM)

    async def pause(self) -> play_pb2.Applied:
        """Stop the clocks; for whom the match's settings name."""
        return await self._kit(play_pb2.KIT_KIND_PAUSE)

    async def resume(self) -> play_pb2.Applied:
        """End a pause."""
        return await self._kit(play_pb2.KIT_KIND_RESUME)

    async def _kit(self, kind: play_pb2.KitKind.ValueType) -> play_pb2.Applied:
        return await self.act(play_pb2.KitAction(kind=kind))
