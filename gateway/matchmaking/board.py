"""The board: whatever happens to tickets in this process is told here, once, and reaches everyone it concerns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from gateway.matchmaking.checks import WishChecks
from gateway.matchmaking.lifetimes import Lifetimes
from gateway.matchmaking.orders import Orders
from gateway.matchmaking.watches import Watches
from gateway.store.port import Made, Ticket
from services.kit.clock import StoreClock
from services.kit.shell.metrics import TICKET_WAIT_SECONDS


class Board:
    """Follows the store's transactions with what they mean for orders, watches and lifetimes.

    Each method is called right after the commit, without waiting for anything in between, so that whoever learns of a
    match from its ticket finds the order known.
    """

    def __init__(
        self, *, orders: Orders, watches: Watches, lifetimes: Lifetimes, checks: WishChecks, clock: StoreClock
    ) -> None:
        self._orders = orders
        self._watches = watches
        self._lifetimes = lifetimes
        self._checks = checks
        self._clock = clock
        orders.on_refused = self.returned

    def waits(self, ticket: Ticket, *, seatable: bool) -> None:
        """A new ticket waits, behind all others: *seatable* if for players, so that fewer are missing now."""
        self._lifetimes.touch(ticket.ticket_id)
        if seatable:
            self._watches.moved(ticket.wish_id)

    def made(self, matches: Iterable[Made]) -> None:
        """Tickets became matches."""
        now_ms = self._clock.now_ms()
        for made in matches:
            self._orders.add(made.order)
            for ticket in made.tickets:
                self._lifetimes.drop(ticket.ticket_id)
                TICKET_WAIT_SECONDS.observe(max(0, now_ms - ticket.created_ms) / 1000)
            self._watches.tell(made.tickets)
            self._watches.moved(made.tickets[0].wish_id)

    def left(self, tickets: Sequence[Ticket]) -> None:
        """Tickets left their queues without a match."""
        for ticket in tickets:
            self._lifetimes.drop(ticket.ticket_id)
        self._watches.tell(tickets)
        for wish_id in {ticket.wish_id for ticket in tickets}:
            self._watches.moved(wish_id)

    def returned(self, tickets: Sequence[Ticket]) -> None:
        """Tickets wait again, because their game refused the match."""
        for ticket in tickets:
            self._checks.forget(ticket.wish)
            self._lifetimes.touch(ticket.ticket_id)
        for wish_id in {ticket.wish_id for ticket in tickets}:
            self._watches.moved(wish_id)
