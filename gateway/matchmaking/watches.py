"""Watches: streams that read a ticket at each change. In memory, woken by what this process does; nothing polls.

A watch holds the ticket's newest state and nothing else, so a slow reader costs what a fast one does and sees fewer of
the states between.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from gateway.background import Background
from gateway.matchmaking.pairing import Waiting, players_missing
from gateway.store.port import Queue, Ticket, TicketStore
from services.kit.errors import Conflict, DomainError, Unavailable
from tortuga.gateway.v1.matchmaking_service_pb2 import TicketState

MOST_PER_TICKET = 4
"""Streams that may watch one ticket; of more, the oldest ends: its client has most likely come back on a new one."""

_LONG_QUEUE = 200
_PAUSE_PER_TICKET_SECONDS = 0.001
_LONGEST_PAUSE_SECONDS = 5.0
_WAITING = TicketState.TICKET_STATE_WAITING


class Watch:
    """One stream's view of one ticket."""

    __slots__ = ("_error", "_news", "missed", "ticket", "ticket_id")

    def __init__(self, ticket_id: str) -> None:
        self.ticket_id = ticket_id
        self.ticket: Ticket | None = None
        """The newest state; None until a first one is known."""
        self.missed = False
        """The queue moved while there was no first state to move with it."""
        self._news = asyncio.Event()
        self._error: DomainError | None = None

    def tell(self, ticket: Ticket) -> None:
        """Take in a newer state."""
        if ticket != self.ticket:
            self.ticket = ticket
            self._news.set()

    def refresh(self) -> None:
        """Wake the reader though the ticket is the same: what it is waiting for may have changed."""
        self._news.set()

    def end(self, error: DomainError) -> None:
        """Make the reader raise *error*."""
        self._error = error
        self._news.set()

    async def news(self) -> Ticket:
        """Wait for a state that was not read yet, and return the newest.

        Raises:
            DomainError: what `end` was given.
        """
        while True:
            await self._news.wait()
            self._news.clear()
            if self._error is not None:
                raise self._error
            if self.ticket is not None:
                return self.ticket


class Watches:
    """All watches of this process."""

    def __init__(self, store: TicketStore) -> None:
        self._store = store
        self._watches: dict[str, list[Watch]] = {}
        self._refreshing: dict[int, bool] = {}  # wishes whose queue is being read, and whether to read it again
        self._background = Background()
        self._closed = False

    def open(self, ticket_id: str) -> Watch:
        """Begin to watch. Open first and read the ticket then, so that no change falls between.

        Raises:
            Unavailable: DRAINING.
        """
        if self._closed:
            raise Unavailable("DRAINING")
        watch = Watch(ticket_id)
        self._watches.setdefault(ticket_id, []).append(watch)
        return watch

    def keep_newest(self, ticket_id: str) -> None:
        """End the oldest watches of a ticket that has too many: WATCH_REPLACED."""
        for watch in self._watches.get(ticket_id, [])[:-MOST_PER_TICKET]:
            watch.end(Conflict("WATCH_REPLACED"))

    def close_one(self, watch: Watch) -> None:
        """Stop watching."""
        watches = self._watches[watch.ticket_id]
        watches.remove(watch)
        if not watches:
            del self._watches[watch.ticket_id]

    def tell(self, tickets: Iterable[Ticket]) -> None:
        """Tell who watches *tickets* how they stand now."""
        for ticket in tickets:
            for watch in self._watches.get(ticket.ticket_id, ()):
                watch.tell(ticket)

    def refresh_all(self) -> None:
        """Games have come or gone: let every reader look again at what its ticket waits for."""
        for watches in self._watches.values():
            for watch in watches:
                watch.refresh()

    def moved(self, wish_id: int) -> None:
        """The queue of a wish has changed: tell everyone in it, soon, once for any number of changes."""
        if not self._watches or self._closed:
            return
        if wish_id in self._refreshing:
            self._refreshing[wish_id] = True
        else:
            self._refreshing[wish_id] = False
            self._background.start(self._refresh(wish_id), f"queue of wish {wish_id}")

    async def close(self) -> None:
        """End all watches: DRAINING."""
        self._closed = True
        for watches in self._watches.values():
            for watch in watches:
                watch.end(Unavailable("DRAINING"))
        await self._background.close()

    async def _refresh(self, wish_id: int) -> None:
        try:
            again = True
            while again:
                self._refreshing[wish_id] = False
                queue = await self._store.queue(wish_id)
                if queue is not None:
                    await self._tell_places(queue)
                again = self._refreshing[wish_id]
        finally:
            del self._refreshing[wish_id]

    async def _tell_places(self, queue: Queue) -> None:
        """Tell everyone in *queue* where they stand. A long queue is told in parts, and less often."""
        missing = players_missing(queue.waiting, queue.seats)
        for place, waiting in enumerate(queue.waiting, 1):
            if place % _LONG_QUEUE == 0:
                await asyncio.sleep(0)
            self._tell_place(waiting, place, missing, queue.refusal)
        if len(queue.waiting) >= _LONG_QUEUE:
            await asyncio.sleep(min(len(queue.waiting) * _PAUSE_PER_TICKET_SECONDS, _LONGEST_PAUSE_SECONDS))

    def _tell_place(self, waiting: Waiting, place: int, missing: int, refusal: str) -> None:
        for watch in self._watches.get(waiting.ticket_id, ()):
            if watch.ticket is None:
                watch.missed = True
            elif watch.ticket.state == _WAITING:
                watch.tell(watch.ticket._replace(position=place, players_missing=missing, refusal=refusal))
