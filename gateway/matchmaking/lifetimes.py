"""How long a waiting ticket lives: by a stream, or by a poll now and then. Bookkeeping only; `Upkeep` acts on it.

Kept in memory, one number a waiting ticket: a gateway that restarts gives every ticket a fresh life.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Sequence


class Lifetimes:
    """Knows which waiting tickets nobody has asked for lately. Times are seconds of a clock that never goes back."""

    def __init__(self, seconds: float, now: Callable[[], float] = time.monotonic) -> None:
        """*seconds*: how long a ticket lives after a poll, or after its last stream."""
        self._seconds = seconds
        self._now = now
        self._deadlines: OrderedDict[str, float] = OrderedDict()  # soonest first: every touch adds the same
        self._held: Counter[str] = Counter()
        self.begun = asyncio.Event()
        """Set while a deadline is running."""

    def touch(self, ticket_id: str) -> None:
        """The ticket waits, and somebody has just asked for it."""
        if ticket_id not in self._held:
            self._deadlines[ticket_id] = self._now() + self._seconds
            self._deadlines.move_to_end(ticket_id)
            self.begun.set()

    def hold(self, ticket_id: str) -> None:
        """A stream watches the ticket: until as many `release` as `hold` it cannot expire."""
        self._held[ticket_id] += 1
        self._drop_deadline(ticket_id)

    def release(self, ticket_id: str, *, waits: bool) -> None:
        """A stream has ended; if it was the last one and the ticket still *waits*, its time runs from now on."""
        self._held[ticket_id] -= 1
        if self._held[ticket_id] <= 0:
            del self._held[ticket_id]
            if waits:
                self.touch(ticket_id)

    def drop(self, ticket_id: str) -> None:
        """The ticket waits no more."""
        self._drop_deadline(ticket_id)

    def overdue(self) -> Sequence[str]:
        """Take out the tickets whose time has run out, and return them."""
        now = self._now()
        late: list[str] = []
        for ticket_id, deadline in self._deadlines.items():
            if deadline > now:
                break
            late.append(ticket_id)
        for ticket_id in late:
            self._drop_deadline(ticket_id)
        return late

    def next_in(self) -> float | None:
        """Seconds until the next ticket's time runs out, at least 0; None if none is running."""
        for deadline in self._deadlines.values():
            return max(0.0, deadline - self._now())
        return None

    def _drop_deadline(self, ticket_id: str) -> None:
        self._deadlines.pop(ticket_id, None)
        if not self._deadlines:
            self.begun.clear()
