"""How fast a client is read: small requests freely, large and costly ones at a steady rate, shared by all its streams.

An honest request has a few hundred bytes. Whoever sends much more is not refused on a stream; it is read no faster than
this allows, so that a crowd of such clients takes little of the loop that everybody shares.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable
from weakref import WeakValueDictionary

from services.kit.errors import Exhausted

FREE_BYTES = 4 * 1024
"""A request up to this size costs nothing, unless it asks for work."""

WORK_BYTES = 4 * 1024
"""What a request for work costs at least: an attach brings a whole view, a renewal a signature to check."""

BURST_BYTES = 64 * WORK_BYTES
"""What may be spent at once: enough to attach to all the matches that a stream may hold. Nobody owes more than that."""

BYTES_PER_SECOND = 16 * 1024
"""What comes back."""

Now = Callable[[], float]
"""Seconds of a clock that never goes back."""


def cost_of(size: int, work: bool = False) -> int:
    """What a request of *size* bytes costs, which asks for *work* or not."""
    if work:
        return max(size, WORK_BYTES)
    return size if size > FREE_BYTES else 0


class Allowance:
    """What one player may still spend, in bytes."""

    def __init__(self, now: Now = time.monotonic) -> None:
        self._now = now
        self._left = float(BURST_BYTES)
        self._as_of = now()

    def spend(self, cost: int) -> None:
        """Spend *cost*, whether or not there is enough."""
        if cost:
            self._left = max(self._now_left() - cost, -BURST_BYTES)

    def admit(self, cost: int) -> None:
        """Spend *cost* if nothing is owed.

        Raises:
            Exhausted: TOO_FAST, with when to come again.
        """
        if cost and (owed := self.seconds_owed):
            raise Exhausted("TOO_FAST", retry_after_ms=round(owed * 1000) + 1)
        self.spend(cost)

    async def regained(self) -> None:
        """Wait until nothing is owed; other streams of the player may spend meanwhile."""
        while seconds := self.seconds_owed:  # noqa: ASYNC110 - time alone brings it back, no event does
            await asyncio.sleep(seconds)

    @property
    def seconds_owed(self) -> float:
        """For how long to take nothing more; 0 while something is left."""
        return max(0.0, -self._now_left() / BYTES_PER_SECOND)

    @property
    def seconds_spent(self) -> float:
        """How long until it is whole again."""
        return max(0.0, BURST_BYTES - self._now_left()) / BYTES_PER_SECOND

    def _now_left(self) -> float:
        now = self._now()
        self._left = min(float(BURST_BYTES), self._left + (now - self._as_of) * BYTES_PER_SECOND)
        self._as_of = now
        return self._left


class Allowances:
    """Those of all players who have streams, or had some and have not regained yet what they spent."""

    def __init__(self, now: Now = time.monotonic) -> None:
        self._now = now
        self._by_player: WeakValueDictionary[str, Allowance] = WeakValueDictionary()
        self._spent: deque[tuple[float, Allowance]] = deque()

    def __len__(self) -> int:
        return len(self._by_player)

    def of(self, player_id: str) -> Allowance:
        """The player's, the same for all streams; to be held while the stream is open."""
        while self._spent and self._spent[0][0] <= self._now():
            self._spent.popleft()
        return self._by_player.setdefault(player_id, Allowance(self._now))

    def closed(self, allowance: Allowance) -> None:
        """A stream is over: what it spent is remembered, so that another one begins where this has ended."""
        if seconds := allowance.seconds_spent:
            self._spent.append((self._now() + seconds, allowance))
