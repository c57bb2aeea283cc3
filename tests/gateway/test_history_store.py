"""The store's promises on matches and their results, one test each, for every adapter (`data` of conftest.py)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from random import Random

import pytest

from gateway.ids import new_ticket_id
from gateway.store.port import EndedMatch, Filed, GatewayStore, KeptMatch, Mark
from services.kit.errors import Exhausted
from tests.gateway.stores import Data, file, filing
from tortuga.play.v1.match_pb2 import MatchState

GATHERING = MatchState.MATCH_STATE_GATHERING
RUNNING = MatchState.MATCH_STATE_RUNNING
ENDED = MatchState.MATCH_STATE_ENDED
ABORTED = MatchState.MATCH_STATE_ABORTED


def ended(match_id: str, *players: str, created_ms: int = 500, **changes: object) -> EndedMatch:
    """A result of the game "g"; of a match that was not decided here unless *match_id* was."""
    plain = EndedMatch(match_id, "g", b"as made", created_ms, players, ENDED, b"how it ended", 9_000)
    return plain._replace(**changes)  # type: ignore[arg-type]  # fields of an EndedMatch


async def decided(store: GatewayStore, *players: str, at: int = 1_000, game: str = "g") -> str:
    """Decide a match of *players*; its id."""
    filings = (filing(one, new_ticket_id(), seats=len(players), wish=game, created_ms=at) for one in players)
    *_, last = await file(store, *filings)
    assert last.made is not None
    return last.made.order.match_id


async def kept(store: GatewayStore, match_id: str) -> KeptMatch:
    """The match, which must be there."""
    found = await store.match(match_id)
    assert found is not None
    return found


async def listed(
    store: GatewayStore,
    player: str,
    *,
    game: str = "",
    live: bool = False,
    after: Mark | None = None,
    limit: int = 100,
) -> list[str]:
    """Ids of a page."""
    return [one.match_id for one in await store.matches_of(player, game=game, live=live, after=after, limit=limit)]


async def test_a_match_is_kept_from_decision_to_result(store: GatewayStore, data: Data) -> None:
    """GATHERING as ordered, RUNNING as made, ENDED with its result; each survives a restart."""
    match_id = await decided(store, "p1", "p2", at=1_234)
    (order,) = await store.open_orders()
    store = await data.reopen()
    assert await store.match(match_id) == KeptMatch(match_id, order.match, 1_234, GATHERING, b"")
    await store.finish_order(match_id, b"as made", 5)
    store = await data.reopen()
    running = KeptMatch(match_id, b"as made", 1_234, RUNNING, b"")
    assert await store.match(match_id) == running
    assert await store.keep_results([ended(match_id, "p1", "p2", match=b"told otherwise")]) == 1
    store = await data.reopen()
    over = running._replace(state=ENDED, result=b"how it ended")
    assert await store.match(match_id) == over
    assert await store.matches_of("p1", limit=9) == await store.matches_of("p2", limit=9) == [over]
    assert await store.match("another") is None


async def test_a_result_is_kept_once(store: GatewayStore, data: Data) -> None:
    """Whatever is told of a match later, the first result stands, and only that one counts as new."""
    match_id = await decided(store, "p1", "p2")
    first = ended(match_id, "p1", "p2", state=ABORTED, result=b"nobody came")
    assert await store.keep_results([first, first]) == 1
    assert await store.keep_results([ended(match_id, "p1", "p2", ended_ms=9_999), first]) == 0
    store = await data.reopen()
    assert await store.keep_results([first]) == 0
    assert (await kept(store, match_id))[3:] == (ABORTED, b"nobody came")


async def test_a_result_may_overtake_its_order(store: GatewayStore, data: Data) -> None:
    """A gateway that died between making and noting it: the result brings the match as made, the order still ends."""
    match_id = await decided(store, "p1", "p2")
    assert await store.keep_results([ended(match_id, "p1", "p2")]) == 1
    store = await data.reopen()
    assert [order.match_id for order in await store.open_orders()] == [match_id]
    await store.finish_order(match_id, b"made again", 5)
    assert await store.open_orders() == []
    over = await kept(store, match_id)
    assert (over.match, over.state) == (b"as made", ENDED)
    assert await listed(store, "p1", live=True) == []


async def test_results_of_matches_that_were_not_decided_here_are_kept(store: GatewayStore, data: Data) -> None:
    """As their game tells them, in the lists of those who sat in them, at the time they were made."""
    own = await decided(store, "p1", "p2", at=1_000)
    older, newer = ended("older", "p1", "p1", "p9", created_ms=900), ended("newer", "p1", created_ms=1_100)
    assert await store.keep_results([newer, older]) == 2
    assert await store.keep_results([older, newer]) == 0
    store = await data.reopen()
    assert await store.match("older") == KeptMatch("older", b"as made", 900, ENDED, b"how it ended")
    assert await listed(store, "p1") == ["newer", own, "older"]
    assert await listed(store, "p9") == ["older"]
    assert await listed(store, "p1", live=True) == [own]


async def test_a_game_ends_its_own_matches_only(store: GatewayStore) -> None:
    """A result of a match that belongs to another game changes nothing."""
    match_id = await decided(store, "p1", "p2")
    before = await kept(store, match_id)
    assert await store.keep_results([ended(match_id, "p3", game="h")]) == 0
    assert await kept(store, match_id) == before
    assert await listed(store, "p3") == []
    assert await listed(store, "p1", live=True) == [match_id]


async def test_a_refused_match_leaves_the_lists(store: GatewayStore) -> None:
    """It will never exist. One whose result is known stays, and its tickets are spent, whatever its order's end."""
    match_id = await decided(store, "p1", "p2")
    assert await listed(store, "p1", live=True) == [match_id]
    await store.refuse_order(match_id, "NO_GOOD", 5)
    assert await listed(store, "p1") == await listed(store, "p2", live=True) == []
    over = await decided(store, "p3", "p4", game="h")
    await store.keep_results([ended(over, game="h")])
    assert await store.refuse_order(over, "NO_GOOD", 5) == []
    assert await store.open_orders() == []
    assert await listed(store, "p3") == [over]


async def test_matches_come_newest_first_and_filtered(store: GatewayStore) -> None:
    """By when they were decided; of one game, or only those that are not over, or both."""
    matches = [await decided(store, "p1", "p2", at=1_000 + n, game="gh"[n % 2]) for n in range(6)]
    newest_first = matches[::-1]
    await store.finish_order(matches[1], b"made", 5)
    await store.keep_results([ended(matches[0]), ended(matches[3], game="h"), ended(matches[4], state=ABORTED)])
    assert await listed(store, "p1") == await listed(store, "p2") == newest_first
    assert await listed(store, "p1", game="g") == newest_first[1::2]
    assert await listed(store, "p1", game="h") == newest_first[::2]
    assert await listed(store, "p1", live=True) == [matches[5], matches[2], matches[1]]
    assert await listed(store, "p1", game="h", live=True) == [matches[5], matches[1]]
    assert await listed(store, "p1", game="i") == await listed(store, "p3") == await listed(store, "") == []


@pytest.mark.parametrize("filters", [{}, {"game": "g"}, {"live": True}, {"game": "g", "live": True}])
async def test_pages_neither_repeat_nor_miss(store: GatewayStore, filters: dict[str, object]) -> None:
    """Pages of any size make up the whole list, though matches are decided and told of in between."""
    seed = Random().randrange(1 << 32)
    print("seed", seed)
    luck = Random(seed)
    for number in range(12):
        match_id = await decided(store, "p1", "p2", at=1_000 + number // 3, game=luck.choice("gh"))
        if luck.random() < 0.4 and not filters.get("live"):
            await store.keep_results([ended(match_id), ended(match_id, game="h")])
    whole: Sequence[KeptMatch] = await store.matches_of("p1", **filters, limit=100)  # type: ignore[arg-type]  # as above
    assert [one.decided_ms for one in whole] == sorted((one.decided_ms for one in whole), reverse=True)
    assert len(whole) > 2
    read: list[KeptMatch] = []
    after: Mark | None = None
    while page := await store.matches_of("p1", **filters, after=after, limit=luck.randint(1, 4)):  # type: ignore[arg-type]  # as above
        read += page
        after = Mark(page[-1].decided_ms, page[-1].match_id)
        await decided(store, "p1", "p3", at=5_000 + len(read))
        if not filters.get("live"):
            await store.keep_results([ended(f"late {len(read)}", "p1", created_ms=6_000)])
    assert read == list(whole)


async def test_a_page_may_begin_behind_a_match_that_is_gone(store: GatewayStore) -> None:
    """A mark is a place, whether or not there is a match at it."""
    first = await decided(store, "p1", "p2", at=1_000)
    gone = await decided(store, "p1", "p2", at=2_000)
    await store.refuse_order(gone, "NO_GOOD", 5)
    assert await listed(store, "p1", after=Mark(2_000, gone)) == [first]
    assert await listed(store, "p1", after=Mark(1_000, first)) == []
    assert await listed(store, "p1", after=Mark(1_000, "")) == []
    assert await listed(store, "p1", after=Mark(1_001, "")) == [first]


async def test_results_share_a_commit_with_calls_that_fail(store: GatewayStore) -> None:
    """Calls that overlap share a transaction; what is refused in it takes no result with it."""
    match_id = await decided(store, "p1", "p2")
    refused, told = await asyncio.gather(
        store.file_ticket(filing("p1", "t9"), pair=True, limit=0),
        store.keep_results([ended(match_id), ended("foreign", "p5")]),
        return_exceptions=True,
    )
    assert isinstance(refused, Exhausted)
    assert not isinstance(refused, Filed)
    assert told == 2
    assert await listed(store, "p5") == ["foreign"]
