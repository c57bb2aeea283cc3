"""Tokens that expire, processes that drain, and clients that do not read."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import grpc
import pytest

from services.kit import stream as streams
from services.kit.stream import WAITING_UPDATES
from tests.gateway.harness import refusal_of
from tests.links.scripted import Call, Fronted, ScriptedSession, action, attach, renew, serving
from tests.links.test_stream import _attached, _end, _ended
from tortuga.play.v1 import play_pb2


@pytest.fixture
def graceless(monkeypatch: pytest.MonkeyPatch) -> None:
    """A token's grace is over at once."""
    monkeypatch.setattr(streams, "EXPIRY_GRACE_SECONDS", 0.0)


async def test_stream_lives_60_seconds_beyond_its_token() -> None:
    """The timer stands at the token's expiry and a minute."""
    fronted = Fronted()
    fronted.token = "p0:100"
    _, task, _ = await _attached(fronted)
    (stream,) = fronted.front._streams
    left = stream._expiry.when() - asyncio.get_running_loop().time()
    assert left == pytest.approx(160, abs=2)
    await _end(task)


async def test_expired_stream_ends(graceless: None) -> None:
    """UNAUTHENTICATED / TOKEN_EXPIRED, after what waited has been written."""
    fronted = Fronted()
    fronted.token = "p0:0.1"
    started = time.monotonic()
    call, task, _ = await _attached(fronted)
    error = await _ended(task)
    assert (error.reason, error.status) == ("TOKEN_EXPIRED", grpc.StatusCode.UNAUTHENTICATED)
    assert time.monotonic() - started >= 0.09
    assert call.seqs == [1]


async def test_renewed_stream_lives_on(graceless: None) -> None:
    """A fresh token of the same player moves the end; it is answered by nothing."""
    fronted = Fronted()
    fronted.token = "p0:0.1"
    call, task, session = await _attached(fronted, renew("p0:1000"))
    await asyncio.sleep(0.15)  # beyond the first token's end: what must not happen has had its time
    assert not task.done()
    session.update(1, 2)
    await call.count(2)
    assert call.refusals == []
    await _end(task)


@pytest.mark.parametrize("token", ["p1:1000", "garbage", ""])
async def test_token_of_another_player_renews_nothing(graceless: None, token: str) -> None:
    """It is refused, and the stream ends when its own token does."""
    fronted = Fronted()
    fronted.token = "p0:0.1"
    call, task, _ = await _attached(fronted, renew(token))
    assert (await _ended(task)).reason == "TOKEN_EXPIRED"
    assert [reason for _, reason in call.refusals] == ["TOKEN_INVALID"]


async def test_draining_front_ends_its_streams() -> None:
    """Each says how far its matches were delivered; whoever comes later is refused the same way."""
    fronted = Fronted()
    call, task, session = await _attached(fronted)
    acting, act_session = await fronted.act(action("a"))
    await act_session.opened(1)
    session.update(1, 2)
    await fronted.front.drain()
    error = await _ended(task)
    assert (error.reason, error.params) == ("DRAINING", {"m": "2"})
    assert call.seqs == [1, 2]
    assert (await _ended(acting)).reason == "DRAINING"
    late, _ = await fronted.play(Call(attach()))
    assert (await _ended(late)).reason == "DRAINING"


async def test_client_that_does_not_read_stops_no_drain(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is cut off after its last words' time; a process drains although a client has gone to sleep."""
    monkeypatch.setattr(streams, "LAST_WORDS_SECONDS", 0.05)
    fronted = Fronted()
    call, task, session = await _attached(fronted)
    call.reading.clear()
    session.update(1, 2)
    async with asyncio.timeout(5):
        await fronted.front.drain()
    assert (await _ended(task)).reason == "DRAINING"


async def _behind(session: ScriptedSession, first: int, number: int = 1) -> int:
    """Send updates until the reader is detached; returns the first one that it did not get any more."""
    seq = first
    while number not in session.closed:
        session.update(number, seq)
        seq += 1
        await asyncio.sleep(0)
    return seq - 1


async def test_slow_reader_is_detached_and_told_what_it_missed() -> None:
    """32 updates wait for it, and not one more; once it has read them it is attached again where it is."""
    call, task, session = await _attached(Fronted())
    call.reading.clear()
    missed = await _behind(session, 2)
    (stream,) = [stream for stream in [session.outlet] if isinstance(stream, streams.ClientStream)]
    assert len(stream._out) <= WAITING_UPDATES
    for seq in range(missed + 1, missed + 100):
        session.update(1, seq)
    assert len(stream._out) <= WAITING_UPDATES
    call.reading.set()
    _, wanted = await session.opened(2)
    assert (wanted.resume, wanted.attach.after_seq) == (True, missed - 1)
    session.skipped(2, missed, missed + 100)
    session.update(2, missed + 101)
    await call.count(missed + 1)
    assert call.seqs == [*range(1, missed), missed + 100, missed + 101]
    skipped = next(message.skipped for message in call.written if message.HasField("skipped"))
    assert (getattr(skipped, "from"), skipped.to) == (missed, missed + 100)
    await _end(task)


async def test_answer_in_a_dropped_update_comes_again() -> None:
    """An acknowledgement that found no room is asked for again under the same action id."""
    call, task, session = await _attached(Fronted(), action("mine"))
    await session.until(lambda session: bool(session.messages))
    call.reading.clear()
    for seq in range(2, 2 + WAITING_UPDATES + 1):
        session.update(1, seq)
    session.apply(1, "mine", 2 + WAITING_UPDATES + 1)
    assert session.closed == [1]
    call.reading.set()
    number, wanted = await session.opened(2)
    assert session.ids(number) == ["mine"]
    session.resumed(number, wanted.attach.after_seq)
    session.apply(number, "mine")
    await call.count(WAITING_UPDATES + 2)
    assert sum(message.HasField("applied") for message in call.written) == 1
    await _end(task)


async def test_client_that_only_sends_is_not_read_for_ever() -> None:
    """Refusals that nobody reads do not pile up: beyond 256 of them the stream is not read."""
    call = Call(*[action(f"a{n}") for n in range(1000)])
    call.reading.clear()
    task, session = await Fronted().play(call)
    before = -1
    while call.requests.qsize() != before:
        before = call.requests.qsize()
        for _ in range(10):
            await asyncio.sleep(0)
    assert 1000 - 256 - 5 <= call.requests.qsize() <= 1000 - 256
    assert session.messages == []
    call.reading.set()
    await call.count(1000)
    assert [action_id for action_id, _ in call.refusals] == [f"a{n}" for n in range(1000)]
    await _end(task)


async def test_slow_reader_over_the_wire_costs_a_bounded_ring() -> None:
    """A real client that does not read: the server holds 32 updates of it, however many there are, and heals it."""
    fronted = Fronted()
    async with serving(fronted.front) as channel:
        play: Any = channel().stream_stream("/nim/Play")
        call = play()
        await call.write(attach())
        while not fronted.backend.sessions:
            await asyncio.sleep(0.001)
        session = fronted.backend.sessions[0]
        await session.opened(1)
        session.welcome(1, 1)
        seq = 1
        async with asyncio.timeout(20):
            while 1 not in session.closed:
                seq += 1
                session.update(1, seq, padding=32_000)
                await asyncio.sleep(0.0005)
        (stream,) = fronted.front._streams
        assert len(stream._out) <= WAITING_UPDATES
        received = [play_pb2.PlayResponse.FromString(await call.read()).header.seq for _ in range(seq - 1)]
        assert received == list(range(1, seq))
        number, wanted = await session.opened(2)
        assert (wanted.resume, wanted.attach.after_seq) == (True, seq - 1)
        session.skipped(number, seq, seq + 50)
        last = play_pb2.PlayResponse.FromString(await call.read())
        assert (last.header.seq, getattr(last.skipped, "from"), last.skipped.to) == (seq + 50, seq, seq + 50)
        call.cancel()


async def test_sleeping_client_over_the_wire_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    """The drain of a real server ends although a real client does not read, and those that do are told."""
    monkeypatch.setattr(streams, "LAST_WORDS_SECONDS", 0.05)
    fronted = Fronted()
    async with serving(fronted.front) as channel:
        plays: list[Any] = [channel().stream_stream("/nim/Play") for _ in range(2)]
        calls = [play() for play in plays]
        for call in calls:
            await call.write(attach())
        while len(fronted.backend.sessions) < 2:
            await asyncio.sleep(0.001)
        for session in fronted.backend.sessions:
            await session.opened(1)
            session.welcome(1, 1)
        awake, asleep = [await _awake(call) for call in calls], fronted.backend.sessions
        assert awake == [1, 1]
        for seq in range(2, 400):
            asleep[0].update(1, seq, padding=32_000)
            await asyncio.sleep(0.0005)
        async with asyncio.timeout(5):
            await fronted.front.drain()
        ends = await asyncio.gather(*[_reason(call) for call in calls], return_exceptions=True)
        assert "DRAINING" in ends
        calls[0].cancel()


async def _awake(call: Any) -> int:
    return play_pb2.PlayResponse.FromString(await call.read()).header.seq


async def _reason(call: Any) -> str:
    """Read to the end of the call, and say how it was refused."""
    try:
        while await call.read() is not grpc.aio.EOF:
            continue
    except grpc.aio.AioRpcError as error:
        return refusal_of(error).reason
    raise AssertionError("the call ended well")
