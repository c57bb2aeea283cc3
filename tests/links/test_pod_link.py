"""The pod's end of a link, over a real stream: who may open one, credit, faults of single frames, drain."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from typing import Any

import grpc
import pytest
from structlog.testing import capture_logs

from services.kit import link as links
from services.kit import pod_link
from services.kit.tokens import Keyring
from tests.gateway.harness import refusal_of
from tests.links.peer import LinkPeer, ServedPod
from tests.match.stones import Move
from tests.match.table import World
from tests.match.viewer import contribution
from tortuga.host.v1 import host_service_pb2, link_pb2
from tortuga.play.v1 import match_pb2

WHISPER = Move("whisper", "psst")
TAKE = Move("take", "1")


def _tokens(served: ServedPod) -> dict[str, str]:
    past = Keyring(served.keyring._keys, now=lambda: time.time() - 1000)
    return {
        "garbage": "abc",
        "a player's": served.keyring.issue_player_token("p0", 300),
        "expired": past.issue_service_token("stones", 300),
        "another game's": served.keyring.issue_service_token("nim"),
    }


@pytest.mark.parametrize("whose", ["garbage", "a player's", "expired", "another game's", "none"])
async def test_link_needs_a_service_token(served: ServedPod, whose: str) -> None:
    """Without one for this very game: UNAUTHENTICATED, for every call of the service, and nothing is opened."""
    metadata = None if whose == "none" else served.token(_tokens(served)[whose])
    reason = {"none": "TOKEN_MISSING", "expired": "TOKEN_EXPIRED"}.get(whose, "TOKEN_INVALID")
    call: Any = served.stub.Link(metadata=metadata)
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await call.read()
    found = refusal_of(refused.value)
    assert (found.status, found.reason) == (grpc.StatusCode.UNAUTHENTICATED, reason)
    assert not served.servicer._links
    for unary, request in (
        (served.stub.DescribeGame, host_service_pb2.DescribeGameRequest()),
        (served.stub.CreateMatch, host_service_pb2.CreateMatchRequest()),
        (served.stub.ListResults, host_service_pb2.ListResultsRequest()),
        (served.stub.AcknowledgeResults, host_service_pb2.AcknowledgeResultsRequest()),
    ):
        method: Any = unary
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await method(request, metadata=metadata)
        assert refusal_of(refused.value).reason == reason


async def _playing(world: World, served: ServedPod, link: LinkPeer, first: int = 1) -> str:
    """A running match whose two players are attached as *first* and the number after it."""
    match_id = await world.match(served.pod)
    for seat in range(2):
        await link.open(first + seat, match_id, f"p{seat}")
        await link.send(link.frame(first + seat, match_id, "contribute", contribution()))
        await link.answers(1)
    await served.pod.quiet(match_id)
    return match_id


async def test_players_meet_over_one_link(world: World, served: ServedPod) -> None:
    """Attach, contribute, act: both are told, shared bytes once and each one's own behind them."""
    link = await served.link()
    match_id = await _playing(world, served, link)
    await link.send(link.frame(1, match_id, "a", TAKE, 1))
    message = await link.until(lambda message: any(answer for _, _, answer, _ in link.deliveries(message)))
    (frame,) = [frame for frame in message.frames if len(frame.deliveries) > 1]
    assert frame.shared
    told = {number: (seq, answer, read) for number, seq, answer, read in link.deliveries(message)}
    assert told[1][0] == told[2][0]
    assert (told[1][1], told[2][1]) == (link_pb2.ANSWER_APPLIED, link_pb2.ANSWER_UNSPECIFIED)
    assert told[1][2].update.events == told[2][2].update.events
    assert (told[1][2].header.decision, told[2][2].header.decision) == (0, 1)
    await link.close()


async def test_credit_returns_after_the_answers_of_its_batch(world: World, served: ServedPod) -> None:
    """In the same message as the last of them, however the batch is mixed."""
    link = await served.link()
    match_id = await _playing(world, served, link)
    other = await _playing(world, served, link, 3)
    batch = await link.send(
        link.frame(1, match_id, "a", WHISPER),
        link.frame(1, match_id, "b", b"\xff"),
        link.frame(3, other, "a", WHISPER),
        link.frame(77, match_id, "x", WHISPER),
        link_pb2.RequestFrame(attachment=4, close=link_pb2.Close()),
        link_pb2.RequestFrame(attachment=5),
        link.frame(2, match_id, "a", TAKE, 9),
    )
    start = len(link.received)
    await link.until(lambda message: message.done == batch)
    answered = [
        number for message in link.received[start:] for number, _, answer, _ in link.deliveries(message) if answer
    ]
    assert sorted(answered) == [1, 1, 2, 3]
    await link.close()


async def test_batch_of_nothing_returns_its_credit(served: ServedPod) -> None:
    """Frames that need no answer, or that mean nothing, hold no credit."""
    link = await served.link()
    batch = await link.send(link_pb2.RequestFrame(attachment=5), link.frame(6, "m", "x", WHISPER))
    await link.until(lambda message: message.done == batch)
    await link.close()


async def test_one_batch_of_the_pod_is_outstanding(world: World, served: ServedPod) -> None:
    """Without credit nothing more comes but answers to opens and pings; with it, all that gathered comes at once."""
    link = await served.link()
    match_id = await _playing(world, served, link)
    link.returns_credit = False
    await link.send(link.frame(1, match_id, "a", WHISPER))
    first = await link.until(lambda message: bool(message.batch))
    for number in range(5):
        await link.send(link.frame(1, match_id, f"b{number}", WHISPER))
    await link.open(9, match_id, "watcher")
    await link.send(ping=4)
    start = len(link.received)
    while not {"opened", "pong"} <= {what for message in link.received[start:] for what in _news(link, message)}:
        await link.until(lambda _: True)
    assert {(message.batch, message.done) for message in link.received[start:]} == {(0, 0)}
    await served.pod.quiet(match_id)
    await link.send(done=first.batch)
    second = await link.until(lambda message: bool(message.batch))
    assert second.batch == first.batch + 1
    assert sum(bool(answer) for both in (first, second) for _, _, answer, _ in link.deliveries(both)) == 6
    await link.close()


def _news(link: LinkPeer, message: link_pb2.LinkResponse) -> list[str]:
    opened = any(number == 9 for number, *_ in link.deliveries(message))
    return ["opened"] * opened + ["pong"] * bool(message.pong)


async def test_frame_that_fails_answers_its_own_attachment(world: World, served: ServedPod) -> None:
    """A fault of the codec or the rules is one refusal; everyone else on the link plays on."""
    link = await served.link()
    match_id = await _playing(world, served, link)
    other = await _playing(world, served, link, 3)
    await link.send(
        link.frame(1, match_id, "a", Move("break the codec")),
        link.frame(1, match_id, "b", Move("crash"), 1),
        link.frame(3, other, "c", TAKE, 1),
    )
    answers = [(number, read.refused.reason) for number, read in await link.answers(3)]
    assert sorted(answers) == [(1, "INTERNAL"), (1, "INTERNAL"), (3, "")]
    await link.close()


async def test_refused_attachment_is_closed_with_its_reason(world: World, served: ServedPod) -> None:
    """A match that there is not, one that may not be watched, one that breaks: the link stands."""
    link = await served.link()
    hidden = await world.match(served.pod, spectators=match_pb2.SPECTATORS_NONE)
    await link.open(1, "nothing", "p0")
    await link.open(2, hidden, "stranger")
    match_id = await _playing(world, served, link, 3)
    await link.send(link.frame(3, match_id, "g", Move("garble"), 1))
    closed: dict[int, str] = {}
    while len(closed) < 4:
        for message in (link.received, [await link.until(lambda _: True)])[bool(closed)]:
            for frame in message.frames:
                if frame.HasField("close"):
                    closed.update({n: frame.close.reason for d in frame.deliveries for n in d.attachments})
    assert closed == {1: "MATCH_UNKNOWN", 2: "SPECTATORS_REFUSED", 3: "MATCH_BROKEN", 4: "MATCH_BROKEN"}
    await _playing(world, served, link, 5)
    await link.close()


async def test_spectators_of_a_link_share_one_delivery(world: World, served: ServedPod) -> None:
    """Their update is encoded and sent once for all of them."""
    link = await served.link()
    match_id = await _playing(world, served, link)
    for number in range(10, 15):
        await link.open(number, match_id, f"w{number}")
        await link.until(lambda message: bool(message.frames))
    await link.send(link.frame(1, match_id, "a", TAKE, 1))
    message = await link.until(lambda message: any(answer for _, _, answer, _ in link.deliveries(message)))
    shared = [list(each.attachments) for frame in message.frames for each in frame.deliveries]
    assert [10, 11, 12, 13, 14] in shared
    await link.close()


async def test_lost_link_takes_its_attachments_along(world: World, served: ServedPod) -> None:
    """Nobody listens any more; the match stays, and another link finds it as it was."""
    link = await served.link()
    match_id = await _playing(world, served, link)
    await link.close()
    match = served.pod.match(match_id)
    async with asyncio.timeout(5):
        while match._audience.listeners:
            await asyncio.sleep(0)
    again = await served.link()
    await again.open(1, match_id, "p0")
    message = await again.until(lambda message: bool(message.frames))
    assert again.deliveries(message)[0][3].header.seq == match.last.seq(None)
    assert served.pod.match(match_id) is match
    await again.close()


async def test_drain_says_so_and_ends_the_link(world: World, served: ServedPod) -> None:
    """What is in flight is answered first; new links are refused."""
    link = await served.link()
    match_id = await _playing(world, served, link)
    gate = served.pod.store.hold("append")
    await link.send(link.frame(1, match_id, "a", TAKE, 1))
    await gate.reached.wait()
    closing = asyncio.create_task(served.pod.host.close())
    await asyncio.sleep(0)
    gate.open()
    await closing
    served.servicer.drain()
    start = len(link.received)
    await link.until(lambda message: message.draining)
    assert served.servicer._links  # it waits for the gateway to hang up
    await link.close()
    answered = [read for message in link.received[start:] for _, _, answer, read in link.deliveries(message) if answer]
    assert [read.applied.action_id for read in answered] == ["a"]
    another = await served.link()
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await another.call.read()
    assert refusal_of(refused.value).reason == "DRAINING"


async def test_drained_link_ends_although_nobody_hangs_up(
    world: World, served: ServedPod, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A gateway that does not listen keeps no pod alive."""
    monkeypatch.setattr(pod_link, "HANG_UP_SECONDS", 0.05)
    link = await served.link()
    await link.send(ping=1)
    await link.next()
    served.servicer.drain()
    async with asyncio.timeout(5):
        while served.servicer._links:
            await asyncio.sleep(0.005)
    await link.close()


async def test_gateway_that_takes_nothing_is_let_go(
    world: World, served: ServedPod, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its link ends once too much waits for it, with a line in the log; other links and the match go on."""
    monkeypatch.setattr(links, "MOST_WAITING_BYTES", 2000)
    deaf, other = await served.link(), await served.link()
    match_id = await _playing(world, served, deaf)
    deaf.returns_credit = False
    with capture_logs() as lines:
        with suppress(asyncio.InvalidStateError, grpc.aio.AioRpcError):  # it may be let go while it still sends
            for number in range(100):
                await deaf.send(deaf.frame(1, match_id, f"a{number}", WHISPER), credit=False)
            while await deaf.next() is not None:
                continue
        async with asyncio.timeout(10):
            while len(served.servicer._links) != 1:
                await asyncio.sleep(0.001)
    assert [line["event"] for line in lines] == ["link_overfull"]
    await deaf.close()
    await other.open(1, match_id, "p0")
    await other.send(other.frame(1, match_id, "last", WHISPER))
    assert (await other.answers(1))[0][1].HasField("applied")
    await other.close()


async def test_fault_in_reading_ends_the_link_with_a_line(served: ServedPod, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever it was: the gateway begins anew, and the log says where it happened. A mere end leaves no line."""

    def broken(*_: object) -> None:
        raise RuntimeError("secret")

    with capture_logs() as lines:
        link = await served.link()
        await link.send(ping=1)
        await link.next()
        await link.close()
        while served.servicer._links:
            await asyncio.sleep(0.001)
    assert lines == []
    link = await served.link()
    with capture_logs() as lines:
        monkeypatch.setattr(pod_link.PodLink, "_take", broken)
        await link.send(ping=1)
        assert await link.next() is None
    assert [line["event"] for line in lines] == ["link_broken"]
    assert "secret" not in str(lines)
    await link.close()
