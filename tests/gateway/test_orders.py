"""Orders and games that come and go: every decided match is made once, whatever dies; every ticket is tried again."""

from __future__ import annotations

import asyncio
import sqlite3
from pathlib import Path

import grpc
import pytest

from services.kit.errors import Malformed, Relayed, Unavailable
from services.kit.shell.sqlite import CommitFailed
from tests.gateway.harness import Gateway, Refused, TicketState, Watching, a_wish, refused, running
from tests.gateway.local_games import CONTRADICTION, LocalGames
from tortuga.gateway.v1.matchmaking_service_pb2 import CreateTicketRequest, Ticket

WAITING = TicketState.TICKET_STATE_WAITING
ASSIGNED = TicketState.TICKET_STATE_ASSIGNED


async def pair_up(gateway: Gateway, request_id: str = "r") -> str:
    """Two new guests take equal tickets; the id of their match."""
    await gateway.take(await gateway.guest(), request_id)
    return (await gateway.take(await gateway.guest(), request_id)).match_id


async def test_attachments_wait_for_a_match_that_is_being_made(gateway: Gateway) -> None:
    """`made` waits, not for ever, and returns at once for matches that exist or that nobody knows."""
    orders = gateway.platform.orders
    await orders.made("no such match")
    gateway.games.open.clear()
    match_id = await pair_up(gateway)
    assert orders.is_making(match_id)
    with pytest.raises(Unavailable, match="MATCH_STARTING"):
        await orders.made(match_id, timeout=0.05)
    waiting = asyncio.create_task(orders.made(match_id))
    await asyncio.sleep(0)
    assert not waiting.done()
    gateway.games.open.set()
    await waiting
    assert match_id in gateway.games.matches
    assert not orders.is_making(match_id)
    await orders.made(match_id)


async def test_a_pod_that_fails_is_asked_again(gateway: Gateway) -> None:
    """Whatever went wrong that repeating may mend: the same match id, until it is made, and once only."""
    gateway.games.failures += [Unavailable("NO_SERVICE"), RuntimeError("a fault"), Relayed(13, "INTERNAL", {})]
    match_id = await pair_up(gateway)
    await gateway.platform.orders.made(match_id)
    assert gateway.games.made == {match_id: 4}
    assert list(gateway.games.matches) == [match_id]


async def test_an_order_survives_the_gateway(tmp_path: Path) -> None:
    """A gateway that ends between decision and match is followed by one that makes it, under the same id."""
    games = LocalGames()
    games.open.clear()
    async with running(tmp_path, games) as gateway:
        anna = await gateway.guest()
        ticket = await gateway.take(anna)
        match_id = (await gateway.take(await gateway.guest())).match_id
    assert not games.matches
    games.open.set()
    async with running(tmp_path, games) as gateway:
        await gateway.platform.orders.made(match_id)
        assert games.matches[match_id].seats[0].player_id == anna.player_id
        assert (await gateway.look(anna, ticket)).match_id == match_id
        await closed(gateway)
    async with running(tmp_path, games) as gateway:
        assert not gateway.platform.orders.is_making(match_id)
        await is_kept(gateway, match_id)
    assert games.made == {match_id: 2}


async def is_kept(gateway: Gateway, match_id: str) -> None:
    """The match is in the store as the game made it."""
    kept = await gateway.store.match(match_id)
    assert kept is not None
    assert kept.match == gateway.games.matches[match_id].SerializeToString()


async def closed(gateway: Gateway) -> None:
    """Wait until no order is open."""
    for _ in range(200):
        if not await gateway.store.open_orders():
            return
        await asyncio.sleep(0.01)
    raise AssertionError("an order stays open")


async def test_a_refused_match_gives_the_places_back(gateway: Gateway) -> None:
    """A game that refuses after all: tickets wait again, say why, and are served when it takes the wish."""
    anna, bo = await gateway.guest(), await gateway.guest()
    gateway.games.refuse_next(Relayed(3, "NOT_ANY_MORE", {}))
    first = await gateway.take(anna)
    match_id = (await gateway.take(bo)).match_id
    await gateway.platform.orders.made(match_id)
    back = await gateway.look(anna, first)
    assert (back.state, back.match_id, back.position, back.waiting_for) == (WAITING, "", 1, "NOT_ANY_MORE")
    assert back.waiting_since_time == first.waiting_since_time
    watching = gateway.watch(anna, first)
    await watching.next()
    gateway.games.come()
    settled = await watching.until(ASSIGNED)
    assert settled.match_id != match_id
    await gateway.platform.orders.made(settled.match_id)
    assert list(gateway.games.matches) == [settled.match_id]


async def test_tickets_wait_for_a_game_that_is_away(gateway: Gateway) -> None:
    """They are taken, say NO_SERVICE, and are paired in order of arrival when a pod is back."""
    gateway.games.go()
    guests = [await gateway.guest() for _ in range(5)]
    tickets = [await gateway.take(guest) for guest in guests]
    assert [(ticket.position, ticket.waiting_for, ticket.players_missing) for ticket in tickets] == [
        (place, "NO_SERVICE", 0) for place in range(1, 6)
    ]
    watches = [gateway.watch(guest, ticket) for guest, ticket in zip(guests, tickets, strict=True)]
    for watch, ticket in zip(watches, tickets, strict=True):
        assert await watch.next() == ticket
    gateway.games.come()
    settled = await asyncio.gather(*(watch.until(ASSIGNED) for watch in watches[:4]))
    assert settled[0].match_id == settled[1].match_id != settled[2].match_id == settled[3].match_id
    last = await until_waiting_for(watches[4], "PLAYERS_MISSING")
    assert (last.position, last.players_missing) == (1, 1)


async def until_waiting_for(watch: Watching, reason: str) -> Ticket:
    """Read *watch* until its ticket is the first of its queue and says *reason*."""
    while (ticket := await watch.next()) is not None:
        if ticket.waiting_for == reason and ticket.position == 1:
            return ticket
    raise AssertionError("the stream ended before")


async def test_a_watch_sees_its_game_go_and_come(gateway: Gateway) -> None:
    """The reason changes with the pods."""
    guest = await gateway.guest()
    watching = gateway.watch(guest, await gateway.take(guest))
    await until_waiting_for(watching, "PLAYERS_MISSING")
    gateway.games.go()
    await until_waiting_for(watching, "NO_SERVICE")
    gateway.games.come()
    await until_waiting_for(watching, "PLAYERS_MISSING")


async def test_a_wish_taken_unchecked_is_checked_when_it_is_tried(gateway: Gateway) -> None:
    """A wish that the game refuses waits and says the game's code; equal tickets are refused at once from then on."""
    gateway.games.go()
    guest = await gateway.guest()
    wish = a_wish(options=CONTRADICTION)
    ticket = await gateway.take(guest, wish=wish)
    assert ticket.waiting_for == "NO_SERVICE"
    watching = gateway.watch(guest, ticket)
    await watching.next()
    gateway.games.come()
    assert (await until_waiting_for(watching, "OPTIONS_CONTRADICT")).state == WAITING
    again = CreateTicketRequest(request_id="r", wish=wish)
    other = await gateway.guest()
    assert await refused(gateway.matchmaking.CreateTicket(again, metadata=other.metadata)) == Refused(
        grpc.StatusCode.INVALID_ARGUMENT, "OPTIONS_CONTRADICT", {}
    )


async def test_a_check_that_broke_is_made_again(gateway: Gateway) -> None:
    """A pod that could not be asked costs the players a pause, not their match."""
    gateway.games.refuse_checks = Unavailable("NO_SERVICE")
    anna, bo = await gateway.guest(), await gateway.guest()
    first, second = await gateway.take(anna), await gateway.take(bo)
    assert (first.state, second.state) == (WAITING, WAITING)
    watching = gateway.watch(anna, first)
    await watching.next()
    gateway.games.refuse_checks = None
    assert (await watching.until(ASSIGNED)).match_id


async def test_tickets_are_paired_after_a_restart(tmp_path: Path) -> None:
    """What waited for its game in an earlier process is paired in this one."""
    games = LocalGames()
    games.go()
    async with running(tmp_path, games) as gateway:
        anna = await gateway.guest()
        ticket = await gateway.take(anna)
        await gateway.take(await gateway.guest())
    games.come()
    async with running(tmp_path, games) as gateway:
        assert (await gateway.watch(anna, ticket).until(ASSIGNED)).match_id


async def test_a_client_that_leaves_does_not_stop_its_match(gateway: Gateway) -> None:
    """A call that is cut off while it is being answered: the ticket counts, and the match is made."""
    gateway.games.hold_checks.clear()
    anna, bo = await gateway.guest(), await gateway.guest()
    waiting = asyncio.create_task(gateway.take(anna))
    request = CreateTicketRequest(request_id="r", wish=a_wish())
    call = gateway.matchmaking.CreateTicket(request, metadata=bo.metadata)
    while gateway.games.checked < 1:
        await asyncio.sleep(0.01)
    call.cancel()
    gateway.games.hold_checks.set()
    first = await waiting
    watching = gateway.watch(anna, first)
    settled = await watching.until(ASSIGNED)
    await gateway.platform.orders.made(settled.match_id)
    assert (await gateway.take(bo)).match_id == settled.match_id


async def test_an_order_is_closed_although_the_store_failed(gateway: Gateway, monkeypatch: pytest.MonkeyPatch) -> None:
    """A commit that fails after the match was made holds up nobody, and is done again."""
    finish, failures = gateway.store.finish_order, [CommitFailed(), sqlite3.OperationalError("disk I/O error")]

    async def fail_twice(match_id: str, match: bytes, now_ms: int) -> None:
        if failures:
            raise failures.pop()
        await finish(match_id, match, now_ms)

    monkeypatch.setattr(gateway.store, "finish_order", fail_twice)
    match_id = await pair_up(gateway)
    await gateway.platform.orders.made(match_id)
    await closed(gateway)
    await is_kept(gateway, match_id)


async def test_a_final_refusal_is_not_repeated(gateway: Gateway) -> None:
    """The pod is asked once about a match that it refuses for good."""
    gateway.games.refuse_next(Malformed("NEVER"))
    match_id = await pair_up(gateway)
    await gateway.platform.orders.made(match_id)
    assert gateway.games.made == {match_id: 1}
    assert await gateway.store.open_orders() == []
    assert await gateway.store.match(match_id) is None
