"""A caller that goes away at any moment stops nothing and breaks nothing: the commit belongs to the match."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import grpc
import pytest

from services.kit.errors import DomainError
from services.kit.front import Front, GameCalls
from services.kit.server import LocalBackend
from services.kit.shell.server import GrpcServer, channel_options
from services.kit.tokens import VerifiedPlayer
from tests.match.cancelling import cancel_at
from tests.match.stones import Move
from tests.match.table import Pod, World
from tests.match.viewer import Viewer
from tortuga.play.v1 import match_pb2

FAR = 1 << 50
WHISPER = Move("whisper", "psst")


class Stream:
    """A call's context in memory: what the client sends, and what it has been sent."""

    def __init__(self, *requests: bytes) -> None:
        self.requests: asyncio.Queue[Any] = asyncio.Queue()
        self.written: list[bytes] = []
        for request in requests:
            self.requests.put_nowait(request)

    async def read(self) -> Any:
        """The next request."""
        await asyncio.sleep(0)
        return await self.requests.get()

    async def write(self, data: bytes) -> None:
        """Take a message, as slowly as a network does."""
        await asyncio.sleep(0)
        self.written.append(data)


def front_of(pod: Pod) -> Front:
    """The typed service of a pod, where everyone is the first player."""

    async def verify(token: str) -> VerifiedPlayer:
        return VerifiedPlayer(token, FAR)

    async def authenticate(_: Any) -> VerifiedPlayer:
        await asyncio.sleep(0)
        return VerifiedPlayer("p0", FAR)

    return Front(pod.host.game.id, LocalBackend(pod.host, pod.store), authenticate, verify)


def _request(pod: Pod, match_id: str, action_id: str, attach: bool = False) -> bytes:
    request: Any = pod.host.game.message("PlayRequest")()
    request.header.match_id = match_id
    if attach:
        request.attach.SetInParent()
    else:
        request.header.action_id = action_id
        request.action.MergeFromString(pod.host.game.wire.write_action(WHISPER))
    data: bytes = request.SerializeToString()
    return data


async def _check(world: World, pod: Pod, viewers: list[Viewer], action_id: str) -> None:
    """The log is whole, the action is in it at most once, its repetition is answered, and the match goes on."""
    match_id = viewers[0].match_id
    await pod.quiet(match_id)
    ids = [entry.action_id for entry in await world.log(pod, match_id)]
    assert ids.count(action_id) <= 1
    answer = await viewers[0].act(WHISPER, decision=0, action_id=action_id)
    assert answer.response.HasField("applied"), answer.response
    log = await world.log(pod, match_id)
    assert [entry.action_id for entry in log].count(action_id) == 1
    assert [entry.revision for entry in log] == list(range(1, len(log) + 1))
    assert pod.match(match_id).last.revision == len(log)
    assert (await viewers[1].act(WHISPER, decision=0)).response.HasField("applied")


async def test_act_cancelled_at_every_await(world: World, stones: Pod) -> None:
    """While the caller is made known, and while its answer is waited for."""
    viewers = await world.running(stones)
    front = front_of(stones)
    for number in range(100):
        data = _request(stones, viewers[0].match_id, f"act-{number}")
        if not await cancel_at(number, front._act(data, Stream())):  # type: ignore[arg-type]  # a context in memory
            break
        await _check(world, stones, viewers, f"act-{number}")
    else:
        raise AssertionError("it never ended")
    assert number == 2
    assert not front._streams


async def test_play_cancelled_at_every_await(world: World, stones: Pod) -> None:
    """While it attaches, sends, reads and writes; the attachment is gone with the call."""
    viewers = await world.running(stones)
    match_id = viewers[0].match_id
    front = front_of(stones)
    for number in range(100):
        requests = [_request(stones, match_id, "", attach=True)]
        requests += [_request(stones, match_id, f"play-{number}-{which}") for which in range(3)]
        stream = Stream(*requests)
        work = front._play(stream, stream)  # type: ignore[arg-type]  # a context in memory
        if not await _cancelled(number, work, stream):
            break
        for which in range(3):
            await _check(world, stones, viewers, f"play-{number}-{which}")
        assert stones.match(match_id)._audience.listeners == len(viewers)
    assert number > 4
    assert not front._streams


async def _cancelled(number: int, work: Any, stream: Stream) -> bool:
    """Cancel *work* at its wait; False if it comes to rest before, with everything answered."""
    running = asyncio.ensure_future(cancel_at(number, work))
    rest = 0
    while not running.done() and rest < 100:
        rest = rest + 1 if len(stream.written) >= 4 else 0
        await asyncio.sleep(0)
    if running.done():
        return running.result()
    running.cancel()
    await asyncio.wait([running])
    return False


@pytest.mark.parametrize("point", ["append", "appended"])
async def test_act_cancelled_while_its_entry_is_written(world: World, stones: Pod, point: str) -> None:
    """Before and after the commit: the entry is told to everyone, and the repetition gets the first answer."""
    viewers = await world.running(stones)
    front = front_of(stones)
    gate = stones.store.hold(point)
    data = _request(stones, viewers[0].match_id, "mine")
    seq = viewers[0].seq
    acting = asyncio.ensure_future(front._act(data, Stream()))  # type: ignore[arg-type]  # a context in memory
    await gate.reached.wait()
    acting.cancel()
    await asyncio.wait([acting])
    gate.open()
    await viewers[0].update(seq + 1)
    await _check(world, stones, viewers, "mine")


async def test_creation_cancelled_at_every_await(world: World, stones: Pod) -> None:
    """The repetition makes the match, or returns the one that was made."""
    for number in range(20):
        wanted = match_pb2.Match(match_id=f"c{number}", seats=[match_pb2.Seat(player_id=f"p{n}") for n in range(2)])
        gone = await cancel_at(number, stones.host.create(wanted, "", False))
        made = await stones.host.create(wanted, "", False)
        assert made == await stones.host.create(wanted, "", False)
        if not gone:
            break
    assert number >= 1


@asynccontextmanager
async def serving(front: Front, service: str) -> AsyncIterator[grpc.aio.Channel]:
    """A real server in front of *front*, and a channel to it."""
    server = GrpcServer()
    server.server.add_generic_rpc_handlers((GameCalls({service: front}),))
    port = await server.start("127.0.0.1", 0)
    async with grpc.aio.insecure_channel(f"127.0.0.1:{port}", options=channel_options()) as channel:
        yield channel
    await server.stop(0)


async def test_calls_cancelled_over_the_wire(world: World, stones: Pod) -> None:
    """A real client cancels its real call after 0, 1, 2 … rounds of the loop."""
    viewers = await world.running(stones)
    service = stones.host.game.service.full_name
    async with serving(front_of(stones), service) as channel:
        act: Any = channel.unary_unary(f"/{service}/Act")
        for rounds in range(30):
            call = act(_request(stones, viewers[0].match_id, f"wire-{rounds}"))
            for _ in range(rounds):
                await asyncio.sleep(0)
            call.cancel()
            await asyncio.wait([asyncio.ensure_future(call.code())])
            await _check(world, stones, viewers, f"wire-{rounds}")


async def test_refused_act_is_refused_at_once(world: World, stones: Pod) -> None:
    """A pod's own matches answer while the call is still sending: the refusal is the call's status."""
    viewers = await world.running(stones)
    front = front_of(stones)
    request: Any = stones.host.game.message("PlayRequest")()
    request.header.match_id, request.header.action_id = viewers[0].match_id, "x"
    request.action.text = "steal 1"
    with pytest.raises(DomainError) as refused:
        await front._act(request.SerializeToString(), Stream())  # type: ignore[arg-type]  # a context in memory
    assert refused.value.reason == "UNREADABLE"
