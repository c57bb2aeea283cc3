"""Upkeep: what happens to tickets when nobody calls. Games come back, lives run out, old tickets are forgotten."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import NoReturn

from gateway.background import Background
from gateway.games import Games, is_served
from gateway.matchmaking.board import Board
from gateway.matchmaking.checks import WishChecks, is_final
from gateway.matchmaking.lifetimes import Lifetimes
from gateway.matchmaking.watches import Watches
from gateway.store.port import MOST_MATCHES_AT_ONCE, TicketStore, WaitingWish
from services.kit.clock import StoreClock
from services.kit.errors import DomainError, Unavailable
from services.kit.shell import logs
from tortuga.gateway.v1.matchmaking_service_pb2 import Wish

_RETRY_SECONDS = 1.0
_FORGET_EVERY_SECONDS = 3600.0
_HOUR_MS = 3_600_000


class Upkeep:
    """Background work of matchmaking. All of it may be late, and all of it is taken up again after a restart."""

    def __init__(
        self,
        *,
        store: TicketStore,
        games: Games,
        checks: WishChecks,
        lifetimes: Lifetimes,
        watches: Watches,
        board: Board,
        clock: StoreClock,
        keep_hours: int,
    ) -> None:
        """*keep_hours*: how long settled tickets are remembered."""
        self._store = store
        self._games = games
        self._checks = checks
        self._lifetimes = lifetimes
        self._watches = watches
        self._board = board
        self._clock = clock
        self._keep_hours = keep_hours
        self._retry = asyncio.Event()
        self._background = Background()

    async def start(self) -> None:
        """Take up the tickets that wait in the store."""
        for ticket_id in await self._store.waiting_tickets():
            self._lifetimes.touch(ticket_id)
        self._background.start(_for_ever(self._pair_when_games_change), "pair waiting wishes")
        self._background.start(_for_ever(self._announce_games), "announce games")
        self._background.start(_for_ever(self._expire), "expire tickets")
        self._background.start(_for_ever(self._forget), "forget settled tickets")

    def retry(self) -> None:
        """Try the waiting wishes: one was filed that could not be paired, and may be now."""
        self._retry.set()

    async def close(self) -> None:
        """Stop."""
        await self._background.close()

    async def pair_waiting(self) -> bool:
        """Try every wish that waits and whose game is served. False if some could not be tried and should be again."""
        by_game: dict[str, list[WaitingWish]] = {}
        for wish in await self._store.waiting_wishes():
            by_game.setdefault(wish.game, []).append(wish)
        return all(await asyncio.gather(*map(self._try_in_turn, by_game.values())))

    async def _try_in_turn(self, wishes: Sequence[WaitingWish]) -> bool:
        return all([await self._try(wish) for wish in wishes])

    async def _try(self, waiting: WaitingWish) -> bool:
        """Pair the wish's queue, unless its game refuses it or is away. False if that could not be found out."""
        if not is_served(self._games, waiting.game):
            return True
        seats = Wish.FromString(waiting.wish).seats
        try:
            await self._checks.check(self._games.find(waiting.game), waiting.wish, seats)
        except DomainError as error:
            if not is_final(error):
                return False
            await self._store.refuse_wish(waiting.wish_id, error.reason)
            self._watches.moved(waiting.wish_id)
            return True
        while True:
            made = await self._background.finish(self._pair(waiting.wish_id), f"pair wish {waiting.wish_id}")
            if made < MOST_MATCHES_AT_ONCE:
                break
        self._watches.moved(waiting.wish_id)  # if it was refused before, it is no more
        return True

    async def _pair(self, wish_id: int) -> int:
        made = await self._store.pair(wish_id, self._clock.now_ms())
        self._board.made(made)
        return len(made)

    async def _pair_when_games_change(self) -> NoReturn:
        while True:
            seen = self._games.changes.count
            self._retry.clear()
            if await self.pair_waiting():
                await self._games_change_or_retry(seen)
            else:
                await asyncio.sleep(_RETRY_SECONDS)

    async def _games_change_or_retry(self, seen: int) -> None:
        waits = [asyncio.ensure_future(self._games.changes.after(seen)), asyncio.ensure_future(self._retry.wait())]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()

    async def _announce_games(self) -> NoReturn:
        seen = self._games.changes.count
        while True:
            seen = await self._games.changes.after(seen)
            self._watches.refresh_all()

    async def _expire(self) -> NoReturn:
        while True:
            await self._lifetimes.begun.wait()
            await asyncio.sleep(self._lifetimes.next_in() or 0)
            if late := self._lifetimes.overdue():
                try:
                    self._board.left(await self._store.expire_tickets(late, self._clock.now_ms()))
                except Unavailable:
                    for ticket_id in late:
                        self._lifetimes.touch(ticket_id)
                    raise

    async def _forget(self) -> NoReturn:
        while True:
            if forgotten := await self._store.forget_settled(self._clock.now_ms() - self._keep_hours * _HOUR_MS):
                logs.logger().info("tickets_forgotten", count=forgotten)
            await asyncio.sleep(_FORGET_EVERY_SECONDS)


async def _for_ever(work: Callable[[], Awaitable[NoReturn]]) -> NoReturn:
    """Begin *work* again whenever it fails, after a pause."""
    while True:
        try:
            await work()
        except Exception as error:
            logs.logger().error("upkeep_failed", exception=logs.describe(error))
            await asyncio.sleep(_RETRY_SECONDS)
