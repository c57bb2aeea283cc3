"""How fast a client is read: what is free, what costs, and what nobody answers yet."""

from __future__ import annotations

import asyncio

import pytest

from services.kit.allowance import (
    BURST_BYTES,
    BYTES_PER_SECOND,
    FREE_BYTES,
    WORK_BYTES,
    Allowance,
    Allowances,
    cost_of,
)
from services.kit.errors import Exhausted
from services.kit.stream import ATTACHING, IN_FLIGHT_BYTES
from tests.links.scripted import Call, Fronted, action, attach
from tortuga.play.v1 import play_pb2


class Clock:
    """Seconds in the test's hand."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_small_requests_are_free() -> None:
    """However many: only size and work cost."""
    assert cost_of(FREE_BYTES) == 0
    assert cost_of(FREE_BYTES + 1) == FREE_BYTES + 1
    assert cost_of(10, work=True) == WORK_BYTES
    assert cost_of(60_000, work=True) == 60_000


def test_allowance_is_spent_and_comes_back() -> None:
    """At a steady rate, up to where it began; nobody owes more than he could ever have spent at once."""
    clock = Clock()
    allowance = Allowance(clock)
    allowance.spend(BURST_BYTES)
    assert allowance.seconds_owed == 0
    allowance.spend(BYTES_PER_SECOND)
    assert allowance.seconds_owed == 1
    with pytest.raises(Exhausted) as refused:
        allowance.admit(FREE_BYTES + 1)
    assert (refused.value.reason, refused.value.params) == ("TOO_FAST", {"retry_after_ms": "1001"})
    allowance.admit(0)
    clock.now += 1
    assert allowance.seconds_owed == 0
    allowance.admit(BYTES_PER_SECOND)
    assert allowance.seconds_owed == 1
    for _ in range(10):
        allowance.spend(BURST_BYTES)
    assert allowance.seconds_owed == BURST_BYTES / BYTES_PER_SECOND
    clock.now += 1000
    assert (allowance.seconds_spent, allowance.seconds_owed) == (0, 0)


def test_new_stream_begins_where_the_last_one_ended() -> None:
    """A player's allowance outlives the streams for as long as it is not whole, and no longer."""
    clock = Clock()
    allowances = Allowances(clock)
    first = allowances.of("p0")
    assert allowances.of("p0") is first
    first.spend(2 * BURST_BYTES)
    allowances.closed(first)
    del first
    assert allowances.of("p0").seconds_owed > 0
    assert allowances.of("p1").seconds_owed == 0
    assert len(allowances) == 1
    clock.now += 1000
    assert allowances.of("p0").seconds_spent == 0
    assert len(allowances) == 0


async def test_stream_is_not_read_while_attaches_wait() -> None:
    """Four may have no answer; each answer lets another one in, a refusal too."""
    call = Call(*[attach(f"m{number}") for number in range(10)])
    task, session = await Fronted().play(call)
    await session.opened(ATTACHING)
    await _rest()
    assert len(session.opens) == ATTACHING
    session.welcome(1)
    session.outlet.end(2, "MATCH_UNKNOWN")
    await session.opened(ATTACHING + 2)
    await _rest()
    assert len(session.opens) == ATTACHING + 2
    await _end(task)


async def test_large_requests_wait_for_answers_across_matches() -> None:
    """Two of 64 KiB may be unanswered on a stream, whatever their matches; small ones pass by the eight of each."""
    matches = [f"m{number}" for number in range(4)]
    call = Call(*[attach(match_id) for match_id in matches])
    task, session = await Fronted().play(call)
    for count in range(1, 5):
        number, _ = await session.opened(count)
        session.welcome(number)
    await call.count(4)
    call.send(*[_large(match_id) for match_id in matches], *[action("small", match_id) for match_id in matches])
    await session.until(lambda session: len(session.messages) >= 3)
    await _rest()
    assert sum(len(data) for _, data in session.messages[:2]) < IN_FLIGHT_BYTES
    assert len(session.messages) == 3
    session.refuse(1, "large", "MALFORMED")
    await session.until(lambda session: len(session.messages) >= 4)
    await _end(task)


async def test_player_who_sends_much_is_read_slowly() -> None:
    """Beyond the burst nothing more is read for a while, on a second stream neither; another player is not held up."""
    fronted = Fronted()
    frames = [_large("n") for _ in range(20)]
    task, session = await fronted.play(call := Call(*frames))
    await call.count(BURST_BYTES // len(frames[0]) + 1)
    await _rest()
    assert call.requests.qsize() == len(frames) - len(call.written)
    assert call.requests.qsize() >= len(frames) - 6
    second, _ = await fronted.play(waiting := Call(attach()))
    await _rest()
    assert waiting.requests.qsize() == 1
    refused, _ = await fronted.act(_large("n"))
    with pytest.raises(Exhausted):
        await refused
    fronted.token = "p1:1000"
    third, session = await fronted.play(Call(attach()))
    await session.opened(1)
    for each in (task, second, third):
        await _end(each)


def _large(match_id: str) -> bytes:
    request = play_pb2.PlayRequest.FromString(action("large", match_id))
    request.kit.reason = "r" * 60_000
    return request.SerializeToString()


async def _rest() -> None:
    """Let everything happen that can."""
    for _ in range(100):
        await asyncio.sleep(0)


async def _end(task: asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
