"""Results: listed, kept, and only then acknowledged, whatever dies or fails between; at a pace that costs nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import NoReturn

import pytest

from gateway.history import results
from gateway.store.port import EndedMatch, KeptMatch
from services.kit.errors import DomainError, Internal, NotServed, Unavailable
from services.kit.shell.sqlite import CommitFailed
from tests.gateway.harness import Gateway, Guest, running
from tests.gateway.local_games import GAME, LocalGames
from tests.gateway.test_history import ABORTED, ENDED, RUNNING, ids, play
from tortuga.gateway.v1.catalog_service_pb2 import ListGamesRequest
from tortuga.host.v1.host_service_pb2 import Result
from tortuga.play.v1.match_pb2 import Match, MatchState, Seat


async def until(holds: Callable[[], bool], seconds: float = 10.0) -> None:
    """Wait until *holds*."""
    async with asyncio.timeout(seconds):
        while not holds():
            await asyncio.sleep(0.005)


async def until_over(gateway: Gateway, match_id: str) -> KeptMatch:
    """Wait until the store keeps how the match ended."""
    async with asyncio.timeout(10):
        while (kept := await gateway.store.match(match_id)) is None or kept.state < ENDED:
            await asyncio.sleep(0.005)
    return kept


async def a_match(gateway: Gateway) -> tuple[Match, Guest]:
    """A match that was made, and one of its players."""
    anna = await gateway.guest()
    return await play(gateway, anna, await gateway.guest()), anna


def of_another_store(number: int, *players: str) -> Match:
    """A match that this gateway did not make."""
    seats = [Seat(player_id=player) for player in players]
    return Match(match_id=f"m{number}", game=GAME, seats=seats, created_ms=1_000 + number)


async def away(gateway: Gateway) -> None:
    """The game goes away, and the gateway knows."""
    gateway.games.go()
    assert not (await gateway.catalog.ListGames(ListGamesRequest())).games


@pytest.fixture
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pauses are shorter."""
    monkeypatch.setattr(results, "SHORTEST_PAUSE_SECONDS", 0.05)
    monkeypatch.setattr(results, "LONGEST_PAUSE_SECONDS", 0.4)


async def test_results_come_by_themselves(gateway: Gateway) -> None:
    """A match that ends, or is aborted, is over in the store soon after, and its game need not tell of it again."""
    (first, anna), (second, _) = await a_match(gateway), await a_match(gateway)
    ended, aborted = gateway.games.end(first), gateway.games.end(second, ABORTED)
    assert (await until_over(gateway, first.match_id)).state == ENDED
    kept = await until_over(gateway, second.match_id)
    await until(lambda: not gateway.games.results)
    assert kept.state == ABORTED
    told = Result.FromString(kept.result)
    assert (told.abort_reason, list(told.absent)) == ("NO_SHOW", [1])
    told.match.CopyFrom(second)
    assert told == aborted
    assert ended.match == first
    assert await ids(gateway, anna, live=True) == []


async def test_a_game_that_comes_is_asked_at_once(gateway: Gateway) -> None:
    """However long its pause had become."""
    match, _ = await a_match(gateway)
    for number in range(3):
        await away(gateway)
        gateway.games.end(of_another_store(number))
        asked, before = len(gateway.games.listed), asyncio.get_running_loop().time()
        gateway.games.come()
        await until(lambda: not gateway.games.results)
        assert gateway.games.listed[asked] - before < 0.2
    assert (await until_over(gateway, "m2")).match == of_another_store(2).SerializeToString()
    assert (await gateway.store.matches_of(match.seats[0].player_id, live=True, limit=9))[0].state == RUNNING


async def test_death_between_listing_and_keeping_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The result is with its game as before, and the next process keeps it."""
    games, reached = LocalGames(), asyncio.Event()
    async with running(tmp_path, games) as gateway:
        match, anna = await a_match(gateway)

        async def never(_: Sequence[EndedMatch]) -> NoReturn:
            reached.set()
            await asyncio.get_running_loop().create_future()
            raise AssertionError

        monkeypatch.setattr(gateway.store, "keep_results", never)
        games.end(match)
        await reached.wait()
    assert list(games.results) == [match.match_id]
    async with running(tmp_path, games) as gateway:
        await until_over(gateway, match.match_id)
        await until(lambda: not games.results)
        assert await ids(gateway, anna) == [match.match_id]


async def test_death_between_keeping_and_acknowledging_doubles_nothing(tmp_path: Path) -> None:
    """The result is kept, and listed once more to the next process, which changes nothing and acknowledges it."""
    games = LocalGames()
    games.hold_results.clear()
    async with running(tmp_path, games) as gateway:
        match, anna = await a_match(gateway)
        games.end(match)
        kept = await until_over(gateway, match.match_id)
    assert list(games.results) == [match.match_id]
    games.hold_results.set()
    async with running(tmp_path, games) as gateway:
        await until(lambda: not games.results)
        assert await gateway.store.match(match.match_id) == kept
        assert await ids(gateway, anna) == [match.match_id]


async def test_death_after_acknowledging_needs_nothing_more(tmp_path: Path) -> None:
    """Nothing is listed, and what was kept is there."""
    games = LocalGames()
    async with running(tmp_path, games) as gateway:
        match, anna = await a_match(gateway)
        games.end(match)
        await until(lambda: not games.results)
        kept = await gateway.store.match(match.match_id)
    async with running(tmp_path, games) as gateway:
        await until(lambda: len(games.listed) > 1)
        assert await gateway.store.match(match.match_id) == kept
        assert await ids(gateway, anna) == [match.match_id]


@pytest.mark.usefixtures("hurried")
async def test_what_is_not_kept_is_not_acknowledged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A store that fails is tried again, and the game keeps its result until then."""
    async with running(tmp_path) as gateway:
        match, _ = await a_match(gateway)
        keep, failures = gateway.store.keep_results, [CommitFailed(), RuntimeError("a fault")]

        async def fail_twice(found: Sequence[EndedMatch]) -> int:
            assert list(gateway.games.results) == [match.match_id]
            if failures:
                raise failures.pop()
            return await keep(found)

        monkeypatch.setattr(gateway.store, "keep_results", fail_twice)
        gateway.games.end(match)
        await until(lambda: not gateway.games.results)
        assert not failures
        assert (await until_over(gateway, match.match_id)).state == ENDED


@pytest.mark.parametrize(
    "error", [Unavailable("NO_SERVICE"), NotServed("NOT_SERVED"), Internal("X"), RuntimeError("x")]
)
@pytest.mark.usefixtures("hurried")
async def test_a_game_that_fails_is_asked_again(tmp_path: Path, error: Exception) -> None:
    """Whether it does not list, or does not take the acknowledgement; also one of a release without results."""
    async with running(tmp_path) as gateway:
        match, _ = await a_match(gateway)
        gateway.games.result_failures += [error, error]
        gateway.games.end(match)
        await until(lambda: not gateway.games.results)
        assert not gateway.games.result_failures
        assert (await until_over(gateway, match.match_id)).state == ENDED


async def test_a_backlog_is_taken_in_without_pauses(gateway: Gateway) -> None:
    """Results of matches that this gateway never made: hundreds of them, in a moment, in their players' lists."""
    anna = await gateway.guest()
    count = 3 * results.MOST_AT_ONCE + 7
    for number in range(count):
        gateway.games.end(of_another_store(number, anna.player_id, "p_unknown"))
    await away(gateway)
    asked = len(gateway.games.listed)
    gateway.games.come()
    await until(lambda: not gateway.games.results)
    assert gateway.games.listed[asked + 3] - gateway.games.listed[asked] < results.SHORTEST_PAUSE_SECONDS
    assert await ids(gateway, anna, page_size=2) == [f"m{count - 1}", f"m{count - 2}"]
    assert len(await gateway.store.matches_of(anna.player_id, limit=1_000)) == count


@pytest.mark.usefixtures("hurried")
async def test_a_game_of_which_nothing_is_heard_is_asked_ever_more_rarely(tmp_path: Path) -> None:
    """Pauses double up to the longest; a result shortens them again."""
    games = LocalGames()
    async with running(tmp_path, games):
        await until(lambda: len(games.listed) > 5)
        pauses = [after - before for before, after in pairwise(games.listed)]
        wanted = [0.05, 0.1, 0.2, 0.4, 0.4]
        assert all(pause >= 0.8 * shortest for pause, shortest in zip(pauses, wanted, strict=False))
        games.end(of_another_store(1, "p_a"))
        await until(lambda: not games.results)
        seen = len(games.listed)
        await until(lambda: len(games.listed) > seen)
        assert games.listed[seen] - games.listed[seen - 1] < 0.4 * 0.8


@pytest.mark.usefixtures("hurried")
async def test_a_game_that_does_not_take_our_word_is_not_asked_in_a_hurry(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full page that comes again and again is no backlog."""
    games = LocalGames()

    async def deaf(_: str, match_ids: Sequence[str]) -> None:
        assert len(match_ids) == results.MOST_AT_ONCE

    monkeypatch.setattr(games, "acknowledge_results", deaf)
    for number in range(results.MOST_AT_ONCE):
        games.end(of_another_store(number, "p_a"))
    async with running(tmp_path, games):
        await until(lambda: len(games.listed) > 4)
    assert all(after - before >= 0.04 for before, after in pairwise(games.listed[1:]))


@pytest.mark.parametrize(
    "changes",
    [
        {"match": Match(match_id="x", game="another-game")},
        {"match": Match(match_id="", game=GAME)},
        {"match": Match(match_id="x" * 65, game=GAME)},
        {"state": RUNNING},
        {"state": MatchState.MATCH_STATE_UNSPECIFIED},
        {"ended_ms": 1 << 62},
        {"ended_ms": -1},
    ],
)
async def test_what_is_no_result_of_the_game_stays_with_it(gateway: Gateway, changes: dict[str, object]) -> None:
    """It is neither kept nor acknowledged, and those beside it are."""
    match, anna = await a_match(gateway)
    fields = {"match": of_another_store(1, anna.player_id), "state": ENDED, "ended_ms": 5, **changes}
    odd = Result(**fields)  # type: ignore[arg-type]  # fields of a Result, as above
    gateway.games.results["odd"] = odd
    gateway.games.end(match)
    await gateway.platform.results.collect(GAME)
    await until(lambda: list(gateway.games.results) == ["odd"])
    assert await gateway.store.match(odd.match.match_id) is None
    assert await ids(gateway, anna) == [match.match_id]
    del gateway.games.results["odd"]


async def test_two_gateways_share_the_work(tmp_path: Path) -> None:
    """Over one store both collect, and each match is over once."""
    games = LocalGames()
    async with running(tmp_path, games) as gateway, running(tmp_path, games) as other:
        match, anna = await a_match(gateway)
        games.end(match)
        rounds = (one.platform.results.collect(GAME) for one in (gateway, other) for _ in range(3))
        failures = [
            one for one in await asyncio.gather(*rounds, return_exceptions=True) if isinstance(one, DomainError)
        ]
        assert failures == []
        assert games.results == {}
        assert await ids(other, anna) == await ids(gateway, anna) == [match.match_id]
