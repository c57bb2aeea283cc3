"""HistoryService: lists, pages, single matches, and who may see them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import grpc
import pytest
from google.protobuf.timestamp_pb2 import Timestamp
from hypothesis import given
from hypothesis import strategies as st

from gateway.history.pages import Query, page_start, page_token
from gateway.store.port import EndedMatch, Mark
from services.kit.errors import Malformed
from tests.gateway.harness import Gateway, Guest, Refused, a_wish, refused, running
from tests.gateway.local_games import GAME, LocalGames
from tortuga.gateway.v1.history_service_pb2 import GetMatchRequest, ListMatchesRequest, MatchSummary
from tortuga.play.v1.match_pb2 import Match, MatchSettings, MatchState, Outcome, Place, Seat, Spectators

GATHERING = MatchState.MATCH_STATE_GATHERING
RUNNING = MatchState.MATCH_STATE_RUNNING
ENDED = MatchState.MATCH_STATE_ENDED
ABORTED = MatchState.MATCH_STATE_ABORTED
UNKNOWN = Refused(grpc.StatusCode.NOT_FOUND, "MATCH_UNKNOWN", {})
BAD_TOKEN = Refused(grpc.StatusCode.INVALID_ARGUMENT, "PAGE_TOKEN", {})


async def play(gateway: Gateway, *guests: Guest, tag: str = "r", **settings: Any) -> Match:
    """A match of *guests*, made."""
    wish = a_wish(seats=len(guests), settings=MatchSettings(**settings))
    match_id = [await gateway.take(guest, tag, wish) for guest in guests][-1].match_id
    await gateway.platform.orders.made(match_id)
    while (await get(gateway, guests[0], match_id)).state == GATHERING:
        continue  # the order is closed a moment after the match is made
    return gateway.games.matches[match_id]


async def played_before(gateway: Gateway, guest: Guest, count: int, game: str = GAME) -> list[str]:
    """Give *guest* so many matches that are over, oldest first; their ids."""
    ids = [f"{game}-{number}" for number in range(count)]
    await gateway.store.keep_results(
        [
            EndedMatch(
                match_id, game, Match(match_id=match_id).SerializeToString(), n, (guest[0],), ENDED, b"\x30\x05", 5
            )
            for n, match_id in enumerate(ids, 1_000)
        ]
    )
    return ids


async def get(gateway: Gateway, guest: Guest, match_id: str) -> MatchSummary:
    """Read one match."""
    answer = await gateway.history.GetMatch(GetMatchRequest(match_id=match_id), metadata=guest.metadata)
    return answer.match


async def page(gateway: Gateway, guest: Guest, **fields: Any) -> tuple[Sequence[MatchSummary], str]:
    """Read one page."""
    answer = await gateway.history.ListMatches(ListMatchesRequest(**fields), metadata=guest.metadata)
    return answer.matches, answer.next_page_token


async def pages(gateway: Gateway, guest: Guest, **fields: Any) -> AsyncIterator[list[str]]:
    """The ids on each page, to the end."""
    token = ""
    while True:
        matches, token = await page(gateway, guest, page_token=token, **fields)
        yield [summary.match.match_id for summary in matches]
        if not token:
            return


async def ids(gateway: Gateway, guest: Guest, **fields: Any) -> list[str]:
    """Ids of the first page."""
    return [summary.match.match_id for summary in (await page(gateway, guest, **fields))[0]]


async def test_a_match_is_shown_as_far_as_the_gateway_knows(gateway: Gateway) -> None:
    """GATHERING while the game makes it, RUNNING as made, ENDED with outcome and time; alike in list and alone."""
    anna, bo = await gateway.guest(), await gateway.guest()
    gateway.games.open.clear()
    match_id = (await gateway.take(anna), await gateway.take(bo))[1].match_id
    gathering = await get(gateway, anna, match_id)
    assert (gathering.state, gathering.match.commitment, gathering.match.game) == (GATHERING, b"", GAME)
    assert [seat.player_id for seat in gathering.match.seats] == [anna.player_id, bo.player_id]
    assert await page(gateway, bo, live=True) == ([gathering], "")
    gateway.games.open.set()
    await gateway.platform.orders.made(match_id)
    made = gateway.games.matches[match_id]
    while (shown := await get(gateway, anna, match_id)).state == GATHERING:
        continue
    assert shown == MatchSummary(match=made, state=RUNNING)
    result = gateway.games.end(made)
    await gateway.platform.results.collect(GAME)
    over = await get(gateway, bo, match_id)
    time = Timestamp(seconds=result.ended_ms // 1000, nanos=result.ended_ms % 1000 * 1_000_000)
    assert over == MatchSummary(match=made, state=ENDED, outcome=result.outcome, end_time=time)
    assert await page(gateway, anna) == await page(gateway, bo) == ([over], "")
    assert await page(gateway, anna, live=True) == ([], "")


async def test_an_aborted_match_has_no_outcome(gateway: Gateway) -> None:
    """It is over, and says when."""
    anna = await gateway.guest()
    match = await play(gateway, anna, await gateway.guest())
    gateway.games.end(match, ABORTED)
    await gateway.platform.results.collect(GAME)
    (summary,), _ = await page(gateway, anna)
    assert (summary.state, summary.HasField("outcome"), summary.HasField("end_time")) == (ABORTED, False, True)


async def test_everyone_has_a_list_of_their_own(gateway: Gateway) -> None:
    """Newest first; nobody else's; by game, and only what is live, if that is asked for."""
    anna, bo, cleo = await gateway.guest(), await gateway.guest(), await gateway.guest()
    elsewhere = await played_before(gateway, anna, 1, "another-game")
    first = await play(gateway, anna, bo, tag="r1")
    second = await play(gateway, bo, cleo, tag="r2")
    third = await play(gateway, anna, cleo, tag="r3")
    assert await ids(gateway, anna) == [third.match_id, first.match_id, *elsewhere]
    assert await ids(gateway, bo) == [second.match_id, first.match_id]
    assert await ids(gateway, anna, game=GAME) == [third.match_id, first.match_id]
    assert await ids(gateway, anna, game="another-game") == elsewhere
    assert await ids(gateway, anna, game="no such game") == await ids(gateway, await gateway.guest()) == []
    gateway.games.end(third)
    await gateway.platform.results.collect(GAME)
    assert await ids(gateway, anna, live=True) == [first.match_id]
    assert await ids(gateway, cleo, live=True, game=GAME) == [second.match_id]


async def test_a_list_comes_in_pages(gateway: Gateway) -> None:
    """20 unless told otherwise, 100 at most; the last page says that it is the last."""
    anna = await gateway.guest()
    newest_first = (await played_before(gateway, anna, 120))[::-1]
    assert await ids(gateway, anna) == newest_first[:20]
    assert [one async for one in pages(gateway, anna, page_size=50)] == [
        newest_first[:50],
        newest_first[50:100],
        newest_first[100:],
    ]
    assert [len(one) async for one in pages(gateway, anna, page_size=40)] == [40, 40, 40]
    assert await ids(gateway, anna, page_size=1) == newest_first[:1]
    too_large = gateway.history.ListMatches(ListMatchesRequest(page_size=101), metadata=anna.metadata)
    assert await refused(too_large) == Refused(grpc.StatusCode.INVALID_ARGUMENT, "PAGE_SIZE", {"max": "100"})


async def test_a_page_token_outlives_the_gateway(tmp_path: Path) -> None:
    """It may be used after a restart, again, and with pages of another size."""
    async with running(tmp_path) as gateway:
        anna = await gateway.guest()
        newest_first = (await played_before(gateway, anna, 9))[::-1]
        _, token = await page(gateway, anna, page_size=3)
    async with running(tmp_path) as gateway:
        for _ in range(2):
            assert await ids(gateway, anna, page_size=5, page_token=token) == newest_first[3:8]


async def test_a_page_token_is_of_one_query(gateway: Gateway) -> None:
    """Garbled, somebody else's, or of other filters: PAGE_TOKEN."""
    anna, bo = await gateway.guest(), await gateway.guest()
    await played_before(gateway, anna, 3)
    _, token = await page(gateway, anna, page_size=1, game=GAME)
    assert token

    async def asked(guest: Guest = anna, page_token: str = token, **fields: Any) -> Refused:
        request = ListMatchesRequest(page_token=page_token, **{"game": GAME, **fields})
        return await refused(gateway.history.ListMatches(request, metadata=guest.metadata))

    assert await ids(gateway, anna, game=GAME, page_token=token)
    garbled = [token[:-1], token + "A", token + "=", token[1:], token[::-1], "A", "none", "é", "A" * 60_000]
    garbled += [
        token[:place] + ("A" if letter != "A" else "B") + token[place + 1 :] for place, letter in enumerate(token)
    ]
    assert [await asked(page_token=one) for one in garbled] == [BAD_TOKEN] * len(garbled)
    assert await asked(bo) == await asked(game="") == await asked(game="other") == await asked(live=True) == BAD_TOKEN


async def test_a_match_is_for_its_players_and_for_those_who_may_watch(gateway: Gateway) -> None:
    """One that is closed to spectators, or comes by link, is to others as if there were none."""
    anna, bo, stranger = await gateway.guest(), await gateway.guest(), await gateway.guest()
    open_one = await play(gateway, anna, bo, tag="r1")
    closed = await play(gateway, anna, bo, tag="r2", spectators=Spectators.SPECTATORS_NONE)
    by_link = Match(
        match_id="by-link",
        game=GAME,
        seats=[Seat(player_id=anna.player_id), Seat(bot="weak")],
        settings=MatchSettings(spectators=Spectators.SPECTATORS_LINK),
    )
    gateway.games.end(by_link)
    await gateway.platform.results.collect(GAME)
    assert (await get(gateway, stranger, open_one.match_id)).match == open_one
    for match in (closed, by_link):
        assert (await get(gateway, anna, match.match_id)).match == match
        request = GetMatchRequest(match_id=match.match_id)
        assert await refused(gateway.history.GetMatch(request, metadata=stranger.metadata)) == UNKNOWN
    for match_id in ("", "no-such-match", "x" * 60_000):
        request = GetMatchRequest(match_id=match_id)
        assert await refused(gateway.history.GetMatch(request, metadata=anna.metadata)) == UNKNOWN
    assert await ids(gateway, stranger) == []


async def test_history_is_read_while_the_game_is_away(tmp_path: Path) -> None:
    """The store alone answers, after a restart too, and of a game that nobody serves any more."""
    async with running(tmp_path) as gateway:
        anna = await gateway.guest()
        match = await play(gateway, anna, await gateway.guest())
        gateway.games.end(match)
        await gateway.platform.results.collect(GAME)
    games = LocalGames()
    games.go()
    games.unknown = True
    async with running(tmp_path, games) as gateway:
        (summary,), _ = await page(gateway, anna, game=GAME)
        assert (summary.match, summary.state) == (match, ENDED)
        assert summary.outcome == Outcome(
            reason="finished", places=[Place(seat=0, rank=1), Place(seat=1, rank=2, points=-1)]
        )


@given(
    st.text(), st.text(), st.booleans(), st.integers(-(1 << 63), (1 << 63) - 1), st.text(st.characters(codec="utf-8"))
)
def test_a_page_token_reads_back(player: str, game: str, live: bool, decided_ms: int, match_id: str) -> None:
    """Of any query and place; as plain letters that travel in any URL."""
    query, last = Query(player, game, live), Mark(decided_ms, match_id)
    token = page_token(query, last)
    assert token.replace("-", "").replace("_", "").isalnum()
    assert token.isascii()
    assert page_start(query, token) == last
    assert page_start(query, "") is None
    for other in (
        query._replace(player_id=player + "x"),
        query._replace(game=game + "x"),
        query._replace(live=not live),
    ):
        with pytest.raises(Malformed, match="PAGE_TOKEN"):
            page_start(other, token)


@given(st.text(min_size=1))
def test_what_is_no_page_token_is_refused(text: str) -> None:
    """Whatever it is, the answer is PAGE_TOKEN and nothing else."""
    with pytest.raises(Malformed, match="PAGE_TOKEN"):
        page_start(Query("p_a", "", False), text)
