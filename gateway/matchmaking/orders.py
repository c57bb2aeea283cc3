"""Orders: what pairing decided is carried out by `CreateMatch`, as often as it takes, across restarts."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from gateway.background import Background
from gateway.games import Games
from gateway.matchmaking.checks import is_final
from gateway.store.port import Order, OrderStore, Ticket
from services.kit.clock import StoreClock
from services.kit.errors import DomainError, Unavailable
from services.kit.shell import logs
from tortuga.host.v1.host_service_pb2 import CreateMatchRequest
from tortuga.play.v1.match_pb2 import Match

T = TypeVar("T")

_MOST_AT_ONCE = 64
_FIRST_PAUSE_SECONDS = 0.1
_LONGEST_PAUSE_SECONDS = 5.0


class Orders:
    """Carries out open orders. Making a match is idempotent by its id, so an order is tried until it is settled."""

    def __init__(self, store: OrderStore, games: Games, clock: StoreClock, wait_seconds: float) -> None:
        """*wait_seconds*: how long `made` waits if it is not told otherwise."""
        self._store = store
        self._games = games
        self._clock = clock
        self._wait_seconds = wait_seconds
        self._making: dict[str, asyncio.Future[None]] = {}
        self._turn = asyncio.Semaphore(_MOST_AT_ONCE)
        self._background = Background()
        self._closed = False
        self.on_refused: Callable[[Sequence[Ticket]], None] = lambda _: None
        """Called with tickets that wait again, because the game refused their match."""

    async def start(self) -> None:
        """Take up the orders that are open in the store."""
        for order in await self._store.open_orders():
            self.add(order)

    def add(self, order: Order) -> None:
        """Carry out *order*, which is in the store. From here on `made` knows of its match."""
        if order.match_id not in self._making and not self._closed:
            self._making[order.match_id] = asyncio.get_running_loop().create_future()
            self._background.start(self._carry_out(order), f"order {order.match_id}")

    def is_making(self, match_id: str) -> bool:
        """Whether `made` would wait."""
        return match_id in self._making

    async def made(self, match_id: str, timeout: float | None = None) -> None:  # noqa: ASYNC109 - the answer is a refusal, not a TimeoutError
        """Wait while the match is being made, at most *timeout* seconds (by default what the settings say).

        Returns at once, for the price of a look into a dict, for any match that is not being made: one that exists, or
        one that nobody knows.

        Raises:
            Unavailable: MATCH_STARTING: it is still being made; try again.
        """
        making = self._making.get(match_id)
        if making is None:
            return
        await asyncio.wait([making], timeout=self._wait_seconds if timeout is None else timeout)
        if not making.done():
            raise Unavailable("MATCH_STARTING")

    async def close(self) -> None:
        """Stop; what is open stays so in the store, for the next start or for another gateway."""
        self._closed = True
        await self._background.close()
        for making in self._making.values():
            making.cancel()

    async def _carry_out(self, order: Order) -> None:
        match = await self._make(order)
        self._making.pop(order.match_id).set_result(None)
        if match is not None:
            made = match.SerializeToString()
            await self._insist(
                order.match_id, lambda: self._store.finish_order(order.match_id, made, self._clock.now_ms())
            )

    async def _make(self, order: Order) -> Match | None:
        """The match, however long it takes; None if the game refuses it."""
        request = CreateMatchRequest(match=Match.FromString(order.match))
        pauses = _Pauses(self._games)
        while True:
            try:
                async with self._turn:
                    return await self._games.create_match(order.game, request)
            except DomainError as error:
                if is_final(error):
                    await self._refuse(order, error.reason)
                    return None
                logs.logger().info("order_delayed", match_id=order.match_id, reason=error.reason)
            except Exception as error:  # a fault of ours or of the network; the order must not die of it
                logs.logger().error("order_failed", match_id=order.match_id, exception=logs.describe(error))
            await pauses.next()

    async def _refuse(self, order: Order, reason: str) -> None:
        logs.logger().warning("order_refused", match_id=order.match_id, game=order.game, reason=reason)
        returned = await self._insist(
            order.match_id, lambda: self._store.refuse_order(order.match_id, reason, self._clock.now_ms())
        )
        self.on_refused(returned)

    async def _insist(self, match_id: str, write: Callable[[], Awaitable[T]]) -> T:
        """What *write* returns, called until the store takes it: repeating it is harmless."""
        pauses = _Pauses(self._games)
        while True:
            try:
                return await write()
            except Exception as error:  # the order is open in the store for as long as this does not succeed
                logs.logger().error("order_not_closed", match_id=match_id, exception=logs.describe(error))
            await pauses.next()


class _Pauses:
    """Doubling pauses between tries, with chance in them; cut short when pods come or go."""

    def __init__(self, games: Games) -> None:
        self._games = games
        self._seen = games.changes.count
        self._seconds = _FIRST_PAUSE_SECONDS

    async def next(self) -> None:
        try:
            async with asyncio.timeout(self._seconds * random.uniform(0.5, 1.0)):  # noqa: S311 - no secret
                self._seen = await self._games.changes.after(self._seen)
        except TimeoutError:
            self._seconds = min(self._seconds * 2, _LONGEST_PAUSE_SECONDS)
