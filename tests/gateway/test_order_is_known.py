"""Whoever learns of a match from its ticket can be attached to it: the order is known before."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from gateway.store.port import Filed
from tests.gateway.harness import Gateway, TicketState


async def test_nobody_learns_of_a_match_before_its_order_is_known(
    gateway: Gateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The match is on disk and the writer is slow to say so: a look at the ticket waits for what comes of it."""
    guests = [await gateway.guest() for _ in range(2)]
    ticket = await gateway.take(guests[0])
    orders, file = gateway.platform.orders, gateway.store._file
    added: set[str] = set()
    add, tell = orders.add, file._tell
    committed, go_on = threading.Event(), threading.Event()

    def noted(order: Any) -> None:
        added.add(order.match_id)
        add(order)

    def dawdle(done: Any) -> None:
        if any(isinstance(each.result, Filed) and each.result.made for each in done):
            committed.set()
            go_on.wait(10)
        tell(done)

    monkeypatch.setattr(orders, "add", noted)
    monkeypatch.setattr(file, "_tell", dawdle)
    filing = asyncio.create_task(gateway.take(guests[1]))
    await asyncio.to_thread(committed.wait, 10)
    looking = asyncio.create_task(gateway.look(guests[0], ticket))
    known: list[bool] = []
    looking.add_done_callback(lambda looked: known.append(looked.result().match_id in added))
    await asyncio.wait([looking], timeout=0.3)
    go_on.set()
    assert (await looking).state == TicketState.TICKET_STATE_ASSIGNED
    assert known == [True]
    await filing
