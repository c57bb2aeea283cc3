"""Watching tickets: every change arrives, a stream keeps its ticket alive, and ends when there is no more to say."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import grpc
import pytest

from gateway.matchmaking.lifetimes import Lifetimes
from gateway.matchmaking.watches import MOST_PER_TICKET, Watches
from tests.gateway.harness import Gateway, Guest, Refused, TicketState, a_wish, refused, running

WAITING = TicketState.TICKET_STATE_WAITING
ASSIGNED = TicketState.TICKET_STATE_ASSIGNED
CANCELLED = TicketState.TICKET_STATE_CANCELLED
EXPIRED = TicketState.TICKET_STATE_EXPIRED


async def test_a_watch_sees_the_queue_move(gateway: Gateway) -> None:
    """At once as it stands, then each change: who joins, who leaves, and the match, with which it ends."""
    guests = [await gateway.guest() for _ in range(4)]
    wish = a_wish(seats=3)
    ahead = await gateway.take(guests[0], wish=wish)
    mine = await gateway.take(guests[1], wish=wish)
    watching = gateway.watch(guests[1], mine)
    assert await watching.next() == mine
    assert (mine.position, mine.players_missing) == (2, 1)
    await gateway.give_back(guests[0], ahead)
    moved = await watching.next()
    assert moved is not None
    assert (moved.position, moved.players_missing) == (1, 2)
    await gateway.take(guests[2], wish=wish)
    moved = await watching.next()
    assert moved is not None
    assert (moved.position, moved.players_missing) == (1, 1)
    last = await gateway.take(guests[3], wish=wish)
    settled = await watching.next()
    assert settled is not None
    assert (settled.state, settled.match_id) == (ASSIGNED, last.match_id)
    assert await watching.next() is None


async def test_a_settled_ticket_is_told_and_that_is_all(gateway: Gateway) -> None:
    """A stream on a ticket that has left its queue says so once."""
    guest = await gateway.guest()
    ticket = await gateway.take(guest)
    watching = gateway.watch(guest, ticket)
    await watching.next()
    cancelled = await gateway.give_back(guest, ticket)
    assert await watching.next() == cancelled
    assert await watching.next() is None
    late = gateway.watch(guest, ticket)
    assert [await late.next(), await late.next()] == [cancelled, None]


async def test_watchers_learn_of_their_match_in_time(gateway: Gateway) -> None:
    """Two waiting players know their match within a hundred milliseconds, at the median of twenty."""
    guests = [await gateway.guest() for _ in range(2)]
    spans: list[float] = []
    for number in range(20):
        first = await gateway.take(guests[0], f"r{number}")
        watching = gateway.watch(guests[0], first)
        await watching.next()
        started = time.perf_counter()
        _, settled = await asyncio.gather(gateway.take(guests[1], f"r{number}"), watching.until(ASSIGNED))
        spans.append(time.perf_counter() - started)
        assert await watching.next() is None
        await gateway.platform.orders.made(settled.match_id)
    assert sorted(spans)[10] < 0.1


async def test_only_the_newest_watches_of_a_ticket_live(gateway: Gateway) -> None:
    """A client that comes back again and again costs no more than a few streams; the oldest one ends."""
    guest = await gateway.guest()
    ticket = await gateway.take(guest)
    watches = [gateway.watch(guest, ticket) for _ in range(MOST_PER_TICKET)]
    assert [await watch.next() for watch in watches] == [ticket] * MOST_PER_TICKET
    newest = gateway.watch(guest, ticket)
    assert await newest.next() == ticket
    ended = await asyncio.gather(*(refused(watch.next()) for watch in watches[:1]))
    assert ended == [Refused(grpc.StatusCode.ABORTED, "WATCH_REPLACED", {})]
    await gateway.give_back(guest, ticket)
    for watch in [*watches[1:], newest]:
        assert (await watch.until(CANCELLED)).state == CANCELLED


async def test_a_ticket_that_nobody_asks_for_expires(tmp_path: Path) -> None:
    """It leaves the queue; who waits behind it moves up; its player is told on the next look."""
    async with running(tmp_path, ticket_seconds=0.5) as gateway:
        anna, bo = await gateway.guest(), await gateway.guest()
        wish = a_wish(seats=3)
        forgotten = await gateway.take(anna, wish=wish)
        watching = gateway.watch(bo, await gateway.take(bo, wish=wish))
        first = await watching.next()
        assert first is not None
        assert first.position == 2
        moved = await watching.next()
        assert moved is not None
        assert (moved.position, moved.players_missing) == (1, 2)
        assert (await gateway.look(anna, forgotten)).state == EXPIRED


async def test_streams_and_polls_keep_a_ticket_alive(tmp_path: Path) -> None:
    """Neither a watched nor a polled ticket expires; without the stream the time runs anew."""
    async with running(tmp_path, ticket_seconds=1) as gateway:
        watcher, poller = await gateway.guest(), await gateway.guest()
        wish = a_wish(seats=4)
        watched, polled = await gateway.take(watcher, wish=wish), await gateway.take(poller, wish=wish)
        stream = gateway.watch(watcher, watched)
        await stream.next()
        until = time.monotonic() + 1.5
        while time.monotonic() < until:
            assert (await gateway.look(poller, polled)).state == WAITING
            await asyncio.sleep(0.2)
        stream.call.cancel()
        probe = await gateway.guest()
        ahead = gateway.watch(probe, await gateway.take(probe, wish=wish))
        while (state := await ahead.next()) is not None and state.position > 1:
            pass
        assert (await gateway.look(watcher, watched)).state == EXPIRED


async def test_a_restart_gives_tickets_a_new_life(tmp_path: Path) -> None:
    """Tickets that waited wait on, and expire if nobody comes back for them."""
    async with running(tmp_path) as gateway:
        guest = await gateway.guest()
        ticket = await gateway.take(guest)
    async with running(tmp_path, ticket_seconds=0.2) as gateway:
        settled = await _settled_without_asking(gateway, ticket.ticket_id)
        assert settled == EXPIRED


async def _settled_without_asking(gateway: Gateway, ticket_id: str) -> TicketState.ValueType:
    """Wait for the ticket's end by the store, because asking the gateway would keep it alive."""
    for _ in range(200):
        ticket = await gateway.store.ticket(ticket_id)
        assert ticket is not None
        if ticket.state != WAITING:
            return ticket.state
        await asyncio.sleep(0.05)
    raise AssertionError("it waits for ever")


async def test_a_draining_gateway_ends_its_watches(tmp_path: Path) -> None:
    """Streams end with UNAVAILABLE / DRAINING, and the client watches again elsewhere."""
    async with running(tmp_path) as gateway:
        guest = await gateway.guest()
        ticket = await gateway.take(guest)
        watching = gateway.watch(guest, ticket)
        await watching.next()
        await gateway.platform.close()
        draining = Refused(grpc.StatusCode.UNAVAILABLE, "DRAINING", {})
        assert await refused(watching.next()) == draining
        assert await refused(gateway.watch(guest, ticket).next()) == draining
        assert await refused(gateway.take(guest, "another")) == draining
        assert await refused(gateway.give_back(guest, ticket)) == draining
    async with running(tmp_path) as gateway:
        again = await gateway.watch(guest, ticket).next()
        assert again == ticket


async def test_a_stream_ends_a_minute_after_its_token(gateway: Gateway) -> None:
    """TOKEN_EXPIRED: here the minute is over as soon as the token is."""
    token = gateway.keyring.issue_player_token("p_x", 2)
    guest = Guest("p_x", (("authorization", f"Bearer {token}"),))
    ticket = await gateway.take(guest)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("gateway.matchmaking.service._EXPIRED_GRACE_MS", 0)
        watching = gateway.watch(guest, ticket)
        assert await watching.next() == ticket
    assert await refused(watching.next()) == Refused(grpc.StatusCode.UNAUTHENTICATED, "TOKEN_EXPIRED", {})


async def test_watches_leave_nothing_behind(gateway: Gateway) -> None:
    """Streams that were cut off, refused, or have ended are forgotten."""
    guest, other = await gateway.guest(), await gateway.guest()
    ticket = await gateway.take(guest)
    cut = [gateway.watch(guest, ticket) for _ in range(3)]
    for watching in cut:
        await watching.next()
        watching.call.cancel()
    await refused(gateway.watch(other, ticket).next())
    await gateway.give_back(guest, ticket)
    for _ in range(100):
        if not _open(gateway.platform.watches):
            return
        await asyncio.sleep(0.02)
    raise AssertionError("streams that are gone are still held")


def _open(watches: Watches) -> int:
    return len(watches._watches)


def test_lifetimes_run_from_the_last_touch() -> None:
    """A table of what keeps a ticket: touches, holds, and what ends it."""
    now = [0.0]
    lives = Lifetimes(10, lambda: now[0])
    lives.touch("polled")
    lives.touch("held")
    lives.hold("held")
    lives.hold("held")
    lives.touch("gone")
    lives.drop("gone")
    assert lives.next_in() == 10
    now[0] = 9
    lives.touch("polled")
    now[0] = 12
    assert lives.overdue() == []
    lives.release("held", waits=True)
    lives.touch("held")
    now[0] = 19
    assert lives.overdue() == ["polled"]
    assert lives.overdue() == []
    assert lives.next_in() is None
    assert not lives.begun.is_set()
    lives.release("held", waits=True)
    assert lives.begun.is_set()
    now[0] = 29
    assert lives.overdue() == ["held"]
    lives.hold("settled")
    lives.release("settled", waits=False)
    assert lives.next_in() is None
