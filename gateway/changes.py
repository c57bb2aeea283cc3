"""A change event: who waits is woken once, however much has changed since it last looked."""

from __future__ import annotations

import asyncio


class Changes:
    """Counts the changes of something and wakes whoever waits for the next one.

    A waiter names the count that it has seen, so no change slips between looking and waiting, and any number of changes
    in a row wake it once. Belongs to one event loop.
    """

    __slots__ = ("_next", "count")

    def __init__(self) -> None:
        self.count = 0
        """Changes so far."""
        self._next = asyncio.Event()

    def announce(self) -> None:
        """Say that something has changed."""
        self.count += 1
        happened, self._next = self._next, asyncio.Event()
        happened.set()

    async def after(self, seen: int) -> int:
        """Wait until more than *seen* changes have happened, and return how many have."""
        while self.count <= seen:
            await self._next.wait()
        return self.count
