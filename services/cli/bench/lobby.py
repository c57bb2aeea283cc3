"""Guests who find each other by tickets, a match after the other, as players do."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple, TypeVar

import grpc

from tortuga.gateway.v1 import identity_service_pb2
from tortuga.gateway.v1 import matchmaking_service_pb2 as tickets
from tortuga.gateway.v1.identity_service_pb2_grpc import IdentityServiceStub
from tortuga.gateway.v1.matchmaking_service_pb2_grpc import MatchmakingServiceStub

T = TypeVar("T")
Token = tuple[tuple[str, str]]
"""A player's call metadata."""

_GUESTS = 16
"""Guests of a lobby at least: so many tickets are open at a time. Each may sit at any number of matches."""

_SECONDS = 120.0
_CALL_SECONDS = 10.0


class Seated(NamedTuple):
    """A match that has just been made, and the players who sit at it."""

    match_id: str
    tokens: list[Token]


class NoMatch(RuntimeError):
    """The platform made no matches in time, or seated others with us."""


class Lobby:
    """Makes matches of *game* with *seats* seats through the gateway behind *channel*."""

    def __init__(self, channel: grpc.aio.Channel, game: str, seats: int) -> None:
        self._identity: Any = IdentityServiceStub(channel)
        self._matchmaking: Any = MatchmakingServiceStub(channel)
        self._wish = tickets.Wish(game=game, seats=seats)
        self._seats = seats
        self._guests: list[Token] = []
        self._one_at_a_time = asyncio.Lock()

    async def guest(self) -> Token:
        """A new player."""
        answer = await self._identity.SignInAsGuest(identity_service_pb2.SignInAsGuestRequest(), timeout=_CALL_SECONDS)
        return (("authorization", f"Bearer {answer.tokens.access_token}"),)

    async def matches(self, count: int, use: Callable[[Seated], Awaitable[T]]) -> list[T]:
        """Make *count* matches and give each to *use* as soon as it is there: its players must come within 20 s.

        Raises:
            NoMatch: they were not made in time, or strangers with the same wish came between.
            grpc.aio.AioRpcError: the platform refused.
        """
        async with self._one_at_a_time:
            wanted = max(_GUESTS, self._seats)
            while len(self._guests) < wanted:
                self._guests.append(await self.guest())
            making = _Making(count * self._seats)
            try:
                async with asyncio.timeout(_SECONDS), asyncio.TaskGroup() as group:
                    workers = [group.create_task(self._take_tickets(guest, making, use)) for guest in self._guests]
            except TimeoutError:
                raise NoMatch(f"{making.made} of {count} matches after {_SECONDS:g} s") from None
            if making.made != count:
                raise NoMatch(f"{making.made} of {count} matches; others play this game here")
            return [used for worker in workers for used in worker.result()]

    async def _take_tickets(self, guest: Token, making: _Making, use: Callable[[Seated], Awaitable[T]]) -> list[T]:
        """Take tickets while any are left; who completes a match puts it to use."""
        found: list[T] = []
        while making.left > 0:
            making.left -= 1
            match_id = await self._find(guest)
            tokens = making.seated.setdefault(match_id, [])
            tokens.append(guest)
            if len(tokens) == self._seats:
                del making.seated[match_id]
                making.made += 1
                found.append(await use(Seated(match_id, tokens)))
        return found

    async def _find(self, guest: Token) -> str:
        request = tickets.CreateTicketRequest(request_id=uuid.uuid4().hex, wish=self._wish)
        answer = await self._matchmaking.CreateTicket(request, metadata=guest, timeout=_CALL_SECONDS)
        ticket = answer.ticket
        if ticket.state == tickets.TICKET_STATE_WAITING:
            watch = tickets.WatchTicketRequest(ticket_id=ticket.ticket_id)
            async for news in self._matchmaking.WatchTicket(watch, metadata=guest):
                ticket = news.ticket
        if ticket.state != tickets.TICKET_STATE_ASSIGNED:
            raise NoMatch(f"a ticket ended as {tickets.TicketState.Name(ticket.state)}")
        match_id: str = ticket.match_id
        return match_id


class _Making:
    """What is left to do of one order of matches."""

    def __init__(self, tickets_wanted: int) -> None:
        self.left = tickets_wanted
        self.made = 0
        self.seated: dict[str, list[Token]] = {}
