"""Results: each game's finished matches are listed, kept, and only then acknowledged.

List → keep → acknowledge: a process that dies between any two of them leaves the result with its game, and the next
round, of this gateway or another, lists it again. Keeping and acknowledging may be repeated without harm.
"""

from __future__ import annotations

import asyncio
import random
from typing import NoReturn

from gateway.background import Background
from gateway.games import Games, is_served
from gateway.store.port import EndedMatch, HistoryStore
from services.kit.errors import DomainError
from services.kit.shell import logs
from tortuga.host.v1.host_service_pb2 import Result
from tortuga.play.v1.match_pb2 import MatchState

MOST_AT_ONCE = 100
"""Results of one round."""

SHORTEST_PAUSE_SECONDS = 1.0
"""Between two rounds of a game whose matches end."""

LONGEST_PAUSE_SECONDS = 4.0
"""Between two rounds of a game of which nothing is heard: the most by which a result is late."""

_OVER = {MatchState.MATCH_STATE_ENDED, MatchState.MATCH_STATE_ABORTED}
_LONGEST_ID = 64
_LAST_MS = 253_402_300_799_999
"""The last moment that a protobuf Timestamp can name."""


class Results:
    """Collects from every game that is served, each at its own pace, at once when it comes."""

    def __init__(self, store: HistoryStore, games: Games) -> None:
        self._store = store
        self._games = games
        self._came: dict[str, asyncio.Event] = {}  # by game; set when a pod of it has become usable
        self._background = Background()

    async def start(self) -> None:
        """Begin."""
        self._background.start(self._follow_games(), "follow games for results")

    async def close(self) -> None:
        """Stop. What was not acknowledged is listed again by whoever comes next."""
        await self._background.close()

    async def collect(self, game: str) -> float | None:
        """One round of *game*. Returns after how many seconds the next one is worth while; None if nothing was found.

        Raises:
            DomainError: the game was not reached, or the store is away: the round is to be repeated.
        """
        listed = await self._games.list_results(game, MOST_AT_ONCE)
        fit = [result for result in listed if _is_fit(result, game)]
        if len(fit) < len(listed):
            logs.logger().error("results_unfit", game=game, count=len(listed) - len(fit))
        if not fit:
            return None
        new = await self._store.keep_results([_ended(result) for result in fit])
        await self._games.acknowledge_results(game, [result.match.match_id for result in fit])
        logs.logger().info("results_kept", game=game, count=len(fit), new=new)
        # A full page has more behind it. But if nothing of it was new, the game may not take our word: no hurry then.
        return 0.0 if new and len(listed) >= MOST_AT_ONCE else SHORTEST_PAUSE_SECONDS

    async def _follow_games(self) -> NoReturn:
        before: set[str] = set()
        while True:
            seen = self._games.changes.count
            served = {game.id for game in self._games.served()}
            for game in served - before:
                self._come(game)
            before = served
            await self._games.changes.after(seen)

    def _come(self, game: str) -> None:
        if game in self._came:
            self._came[game].set()
        else:
            came = self._came[game] = asyncio.Event()
            self._background.start(self._collect_for_ever(game, came), f"results of {game}")

    async def _collect_for_ever(self, game: str, came: asyncio.Event) -> NoReturn:
        pause = 0.0
        while True:
            came.clear()
            wanted = await self._try(game)
            longer = min(max(2 * pause, SHORTEST_PAUSE_SECONDS), LONGEST_PAUSE_SECONDS)
            pause = longer if wanted is None else wanted
            try:
                async with asyncio.timeout(pause * random.uniform(0.8, 1.0)):  # noqa: S311 - spreads gateways
                    await came.wait()
                pause = 0.0
            except TimeoutError:
                continue

    async def _try(self, game: str) -> float | None:
        """A round, if the game is there; what goes wrong in it is repeated with the next one."""
        if not is_served(self._games, game):
            return None
        try:
            return await self.collect(game)
        except DomainError as error:
            logs.logger().info("results_delayed", game=game, reason=error.reason)
        except Exception as error:  # a fault of ours or of the network; results wait in the game's own store
            logs.logger().error("results_failed", game=game, exception=logs.describe(error))
        return None


def _is_fit(result: Result, game: str) -> bool:
    """Whether *result* is one of a match of *game*. What is not stays with the game, for its operator to find."""
    match = result.match
    return (
        match.game == game
        and 1 <= len(match.match_id) <= _LONGEST_ID
        and result.state in _OVER
        and 0 <= match.created_ms <= _LAST_MS
        and 0 <= result.ended_ms <= _LAST_MS
    )


def _ended(result: Result) -> EndedMatch:
    """What is kept of *result*: all of it, and beside it what matches are found by."""
    match = result.match
    rest = Result()
    rest.CopyFrom(result)
    rest.ClearField("match")
    return EndedMatch(
        match_id=match.match_id,
        game=match.game,
        match=match.SerializeToString(),
        created_ms=match.created_ms,
        players=tuple(seat.player_id for seat in match.seats if seat.player_id),
        state=result.state,
        result=rest.SerializeToString(),
        ended_ms=result.ended_ms,
    )
