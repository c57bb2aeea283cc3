"""The store's promises on players, tickets and orders, one test each, for every adapter (`data` of conftest.py)."""

from __future__ import annotations

import asyncio

import pytest

from gateway.store.port import MOST_MATCHES_AT_ONCE, Filed, GatewayStore, Player
from services.kit.errors import AlreadyUsed, Exhausted
from tests.gateway.stores import Data, file, filing, players_of
from tortuga.gateway.v1.matchmaking_service_pb2 import TicketState, Wish
from tortuga.play.v1.match_pb2 import Match

WAITING = TicketState.TICKET_STATE_WAITING
ASSIGNED = TicketState.TICKET_STATE_ASSIGNED
CANCELLED = TicketState.TICKET_STATE_CANCELLED
EXPIRED = TicketState.TICKET_STATE_EXPIRED


async def match_of(store: GatewayStore, match_id: str) -> bytes:
    """Bytes of the match, which must be there."""
    found = await store.match(match_id)
    assert found is not None
    return found.match


async def test_players_are_kept(store: GatewayStore, data: Data) -> None:
    """A player is found by id, with the name as given; unknown ones are left out."""
    anna, nameless = Player("p_a", "Anna ☠", 7), Player("p_b", "", 8)
    await store.add_player(anna)
    await store.add_player(nameless)
    store = await data.reopen()
    assert await store.players(["p_b", "p_x", "p_a", "p_a"]) == {"p_a": anna, "p_b": nameless}
    assert await store.players([]) == {}


async def test_a_lone_ticket_waits(store: GatewayStore) -> None:
    """It has a place, and says how many players are missing."""
    (filed,) = await file(store, filing("p1", "t1", seats=3))
    assert not filed.repeated
    assert filed.made is None
    ticket = filed.ticket
    assert (ticket.state, ticket.position, ticket.players_missing) == (WAITING, 1, 2)
    assert (ticket.player_id, ticket.game, ticket.match_id, ticket.refusal) == ("p1", "g", "", "")
    assert ticket.created_ms == 1_000
    assert await store.ticket("t1") == ticket
    assert await store.ticket("t2") is None


async def test_tickets_become_a_match_with_its_order(store: GatewayStore, data: Data) -> None:
    """The ticket that completes a match gets it at once: all ASSIGNED, first come on seat 0, one open order."""
    *_, filed = await file(store, filing("p1", "t1"), filing("p2", "t2"))
    assert filed.made is not None
    order = filed.made.order
    assert players_of(filed.made) == ["p1", "p2"]
    assert [ticket.ticket_id for ticket in filed.made.tickets] == ["t1", "t2"]
    assert {(ticket.state, ticket.match_id, ticket.position) for ticket in filed.made.tickets} == {
        (ASSIGNED, order.match_id, 0)
    }
    match = Match.FromString(order.match)
    assert (match.match_id, match.game, match.options, order.game) == (order.match_id, "g", b"o", "g")
    store = await data.reopen()
    assert await store.open_orders() == [order]
    assert await match_of(store, order.match_id) == order.match
    assert await store.ticket("t1") == filed.made.tickets[0]


async def test_only_equal_wishes_meet(store: GatewayStore) -> None:
    """Different bytes, different queue."""
    filed = await file(
        store,
        filing("p1", "t1"),
        filing("p2", "t2", wish="h"),
        filing("p3", "t3", seats=3),
        filing("p4", "t4"),
    )
    assert [one.made is not None for one in filed] == [False, False, False, True]
    assert players_of(filed[-1].made) == ["p1", "p4"]


async def test_nobody_meets_himself(store: GatewayStore) -> None:
    """A player's second ticket waits for another match, in its place."""
    first, second, third = await file(store, filing("p1", "t1"), filing("p1", "t2"), filing("p2", "t3"))
    assert first.made is second.made is None
    assert (second.ticket.position, second.ticket.players_missing) == (2, 1)
    assert players_of(third.made) == ["p1", "p2"]
    left = await store.ticket("t2")
    assert left is not None
    assert (left.state, left.position) == (WAITING, 1)
    (fourth,) = await file(store, filing("p3", "t4"))
    assert players_of(fourth.made) == ["p1", "p3"]


async def test_without_pairing_tickets_wait_in_order(store: GatewayStore, data: Data) -> None:
    """While a game is away tickets queue up; `pair` then serves them in order of arrival."""
    await file(store, *(filing(f"p{n}", f"t{n}") for n in range(5)), pair=False)
    store = await data.reopen()
    (waiting,) = await store.waiting_wishes()
    queue = await store.queue(waiting.wish_id)
    assert queue is not None
    assert (queue.seats, queue.refusal) == (2, "")
    assert [ticket.player_id for ticket in queue.waiting] == ["p0", "p1", "p2", "p3", "p4"]
    assert await store.waiting_tickets() == ["t0", "t1", "t2", "t3", "t4"]
    made = await store.pair(waiting.wish_id, 2_000)
    assert [players_of(one) for one in made] == [["p0", "p1"], ["p2", "p3"]]
    assert await store.pair(waiting.wish_id, 2_000) == []
    assert await store.waiting_tickets() == ["t4"]
    assert [order.match_id for order in await store.open_orders()] == [one.order.match_id for one in made]


async def test_a_filing_that_may_pair_serves_the_queue_first(store: GatewayStore) -> None:
    """Who waited from before is seated before the one who comes now."""
    await file(store, *(filing(f"p{n}", f"t{n}") for n in range(3)), pair=False)
    (late,) = await file(store, filing("p3", "t3"))
    assert players_of(late.made) == ["p0", "p1"]
    assert (late.ticket.state, late.ticket.position, late.ticket.players_missing) == (WAITING, 2, 0)


async def test_one_pairing_is_bounded(store: GatewayStore) -> None:
    """A long queue is served in parts, none of it twice."""
    count = 2 * MOST_MATCHES_AT_ONCE + 4
    await asyncio.gather(*(store.file_ticket(filing(f"p{n}", f"t{n}"), pair=False, limit=1) for n in range(count)))
    (waiting,) = await store.waiting_wishes()
    first, second = await store.pair(waiting.wish_id, 1), await store.pair(waiting.wish_id, 2)
    assert (len(first), len(second)) == (MOST_MATCHES_AT_ONCE, 2)
    seated = [player for made in [*first, *second] for player in players_of(made)]
    assert sorted(seated) == sorted(f"p{n}" for n in range(count))


async def test_pairing_what_nobody_waits_for_makes_nothing(store: GatewayStore) -> None:
    """An empty queue, an unknown wish."""
    (filed, _) = await file(store, filing("p1", "t1"), filing("p2", "t2"))
    assert await store.pair(filed.ticket.wish_id, 1) == []
    assert await store.pair(999, 1) == []
    assert await store.queue(filed.ticket.wish_id) is None
    assert await store.queue(999) is None


async def test_a_repeated_request_gives_the_first_ticket(store: GatewayStore, data: Data) -> None:
    """As it stands now, whatever id the repetition would have had; nothing else happens."""
    await file(store, filing("p1", "t1"))
    store = await data.reopen()
    again = filing("p1", "t9", request_id="request of t1")
    (filed,) = await file(store, again)
    assert filed.repeated
    assert filed.ticket.ticket_id == "t1"
    assert await store.ticket("t9") is None
    await file(store, filing("p2", "t2"))
    (filed,) = await file(store, again)
    assert filed.made is None
    assert filed.ticket.state == ASSIGNED
    known = await store.ticket_of_request("p1", "request of t1")
    assert known == (filed.ticket, b"digest")
    assert await store.ticket_of_request("p2", "request of t1") is None


async def test_a_repetition_may_be_spelled_otherwise(store: GatewayStore) -> None:
    """The same digest or the same wish is the same request; if both differ it is refused."""
    await file(store, filing("p1", "t1"))
    for same in (
        filing("p1", "t2", request_id="request of t1", digest=b"other"),
        filing("p1", "t2", request_id="request of t1", wish="h"),
    ):
        assert (await file(store, same))[0].ticket.ticket_id == "t1"
    with pytest.raises(AlreadyUsed, match="REQUEST_ID_REUSED"):
        await file(store, filing("p1", "t2", request_id="request of t1", wish="h", digest=b"other"))
    assert await store.waiting_tickets() == ["t1"]


async def test_request_ids_are_the_players_own(store: GatewayStore) -> None:
    """Two players may use the same one."""
    filed = await file(store, filing("p1", "t1", request_id="r"), filing("p2", "t2", request_id="r"))
    assert [one.ticket.ticket_id for one in filed] == ["t1", "t2"]


async def test_waiting_tickets_are_limited_by_player(store: GatewayStore) -> None:
    """One too many is refused and leaves nothing; who got a match, or gave one back, may file again."""
    for number in range(2):
        await store.file_ticket(filing("p1", f"t{number}"), pair=True, limit=2)
    with pytest.raises(Exhausted, match="TOO_MANY_TICKETS") as caught:
        await store.file_ticket(filing("p1", "t2", wish="new"), pair=True, limit=2)
    assert caught.value.params == {"limit": "2"}
    assert [wish.game for wish in await store.waiting_wishes()] == ["g"]
    assert (await store.file_ticket(filing("p1", "t9", request_id="request of t0"), pair=True, limit=2)).repeated
    await store.cancel_ticket("t0", "p1", 5)
    assert (await store.file_ticket(filing("p1", "t2"), pair=True, limit=2)).ticket.position == 2


async def test_a_refused_filing_takes_no_other_with_it(store: GatewayStore) -> None:
    """Calls that overlap share a commit; one that is refused in it is refused alone."""
    results = await asyncio.gather(
        *(store.file_ticket(filing("p1", f"t{n}"), pair=True, limit=3) for n in range(6)), return_exceptions=True
    )
    assert [type(result) for result in results] == [Filed, Filed, Filed, Exhausted, Exhausted, Exhausted]
    assert await store.waiting_tickets() == ["t0", "t1", "t2"]


async def test_cancelling_leaves_the_queue(store: GatewayStore, data: Data) -> None:
    """The ticket is CANCELLED, those behind it move up, it is never paired."""
    await file(store, filing("p1", "t1", seats=3), filing("p2", "t2", seats=3))
    cancelled = await store.cancel_ticket("t1", "p1", 9)
    assert cancelled is not None
    assert (cancelled.state, cancelled.position, cancelled.players_missing) == (CANCELLED, 0, 0)
    store = await data.reopen()
    assert await store.ticket("t1") == cancelled
    left = await store.ticket("t2")
    assert left is not None
    assert (left.position, left.players_missing) == (1, 2)
    *_, last = await file(store, filing("p3", "t3", seats=3), filing("p4", "t4", seats=3))
    assert players_of(last.made) == ["p2", "p3", "p4"]


async def test_cancelling_is_for_the_owner_and_for_what_waits(store: GatewayStore) -> None:
    """Somebody else's ticket does not exist; one that is assigned or cancelled stays as it is."""
    await file(store, filing("p1", "t1"))
    assert await store.cancel_ticket("t1", "p2", 5) is None
    assert await store.cancel_ticket("t9", "p2", 5) is None
    await file(store, filing("p2", "t2"))
    assigned = await store.cancel_ticket("t1", "p1", 6)
    assert assigned is not None
    assert assigned.state == ASSIGNED
    await file(store, filing("p1", "t3"))
    first, second = await store.cancel_ticket("t3", "p1", 7), await store.cancel_ticket("t3", "p1", 8)
    assert first == second


async def test_only_waiting_tickets_expire(store: GatewayStore) -> None:
    """EXPIRED are those that waited; others are not touched, and not returned."""
    await file(store, filing("p1", "t1"), filing("p2", "t2"), filing("p3", "t3"))
    expired = await store.expire_tickets(["t1", "t3", "t9"], 5)
    assert [(ticket.ticket_id, ticket.state) for ticket in expired] == [("t3", EXPIRED)]
    assert await store.expire_tickets(["t3"], 6) == []
    assert await store.waiting_tickets() == []


async def test_a_refused_wish_says_why_until_it_is_paired(store: GatewayStore, data: Data) -> None:
    """The code shows in tickets that wait, and in the queue; a later pairing takes it back."""
    (filed,) = await file(store, filing("p1", "t1"), pair=False)
    wish_id = filed.ticket.wish_id
    await store.refuse_wish(wish_id, "NO_GOOD")
    store = await data.reopen()
    ticket, queue = await store.ticket("t1"), await store.queue(wish_id)
    assert ticket is not None
    assert queue is not None
    assert ticket.refusal == queue.refusal == "NO_GOOD"
    await store.pair(wish_id, 5)
    ticket = await store.ticket("t1")
    assert ticket is not None
    assert ticket.refusal == ""


async def test_a_finished_order_is_closed(store: GatewayStore, data: Data) -> None:
    """Its match is kept as the game made it; finishing twice is once."""
    *_, filed = await file(store, filing("p1", "t1"), filing("p2", "t2"))
    assert filed.made is not None
    match_id = filed.made.order.match_id
    await store.finish_order(match_id, b"as made", 5)
    await store.finish_order(match_id, b"again", 6)
    store = await data.reopen()
    assert await store.open_orders() == []
    assert await match_of(store, match_id) == b"as made"
    assert await store.refuse_order(match_id, "TOO_LATE", 7) == []
    assert await match_of(store, match_id) == b"as made"


async def test_a_refused_order_gives_the_places_back(store: GatewayStore, data: Data) -> None:
    """The tickets wait in their old places, before who came later; they say why; the match is forgotten."""
    *_, filed = await file(store, filing("p1", "t1"), filing("p2", "t2"), filing("p3", "t3"))
    (made,) = await store.open_orders()
    assert filed.ticket.position == 1
    returned = await store.refuse_order(made.match_id, "NO_GOOD", 5)
    assert [(ticket.ticket_id, ticket.state, ticket.match_id) for ticket in returned] == [
        ("t1", WAITING, ""),
        ("t2", WAITING, ""),
    ]
    assert [(ticket.position, ticket.refusal) for ticket in returned] == [(1, "NO_GOOD"), (2, "NO_GOOD")]
    store = await data.reopen()
    assert await store.open_orders() == []
    assert await store.match(made.match_id) is None
    assert await store.waiting_tickets() == ["t1", "t2", "t3"]
    (again,) = await store.pair(filed.ticket.wish_id, 6)
    assert players_of(again) == ["p1", "p2"]
    assert again.order.match_id != made.match_id


async def test_what_is_over_is_forgotten_in_time(store: GatewayStore, data: Data) -> None:
    """Settled tickets and closed orders before a moment; what waits, is newer, or is a match stays."""
    await file(store, filing("p1", "t1"), filing("p2", "t2"))
    (order,) = await store.open_orders()
    await store.finish_order(order.match_id, order.match, 1_001)
    await file(store, filing("p3", "t3"), filing("p4", "t4", wish="h"))
    await store.cancel_ticket("t3", "p3", 1_000)
    await store.cancel_ticket("t4", "p4", 9_000)
    (kept,) = await file(store, filing("p5", "t5"))
    assert await store.forget_settled(2_000) == 3
    store = await data.reopen()
    assert [await store.ticket(ticket_id) is None for ticket_id in ("t1", "t2", "t3", "t4", "t5")] == [
        True,
        True,
        True,
        False,
        False,
    ]
    assert await store.match(order.match_id) is not None
    (filed,) = await file(store, filing("p1", "t6", request_id="request of t1"))
    assert not filed.repeated
    assert filed.made is not None
    assert players_of(filed.made) == [kept.ticket.player_id, "p1"]


async def test_waiting_wishes_come_longest_waiting_first(store: GatewayStore) -> None:
    """By their first ticket that still waits; those without one are left out."""
    await file(store, filing("p1", "t1", wish="a"), filing("p2", "t2", wish="b"), filing("p3", "t3", wish="c"))
    await file(store, filing("p4", "t4", wish="a", seats=3), filing("p5", "t5", wish="b"))
    assert [(wish.game, Wish.FromString(wish.wish).seats) for wish in await store.waiting_wishes()] == [
        ("a", 2),
        ("c", 2),
        ("a", 3),
    ]
