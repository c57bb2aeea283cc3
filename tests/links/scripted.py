"""A backend in the test's hand behind a client's stream, and a client's call in memory."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any

import grpc

from services.kit.attachment import APPLIED, NO_ANSWER, REFUSED, Delivery, Outlet
from services.kit.errors import Unauthenticated
from services.kit.front import Front, GameCalls
from services.kit.shell.server import GrpcServer, channel_options
from services.kit.tokens import VerifiedPlayer
from tortuga.host.v1 import link_pb2
from tortuga.play.v1 import match_pb2, play_pb2

PATIENCE = 10.0
MATCH = "m"


class ScriptedSession:
    """What one stream asked of the backend, and what the test has it told."""

    def __init__(self, outlet: Outlet) -> None:
        self.outlet = outlet
        self.opens: list[tuple[int, link_pb2.Open]] = []
        self.messages: list[tuple[int, bytes]] = []
        self.closed: list[int] = []
        self._news = asyncio.Event()

    def open(self, number: int, wanted: link_pb2.Open) -> None:
        """Note it."""
        self.opens.append((number, wanted))
        self._news.set()

    def message(self, number: int, data: bytes) -> None:
        """Note it."""
        self.messages.append((number, data))
        self._news.set()

    def close(self, number: int) -> None:
        """Note it."""
        self.closed.append(number)
        self._news.set()

    def close_all(self) -> None:
        """Nothing to do."""

    async def until(self, seen: Callable[[ScriptedSession], bool]) -> None:
        """Wait until the stream has asked for what is wanted."""
        async with asyncio.timeout(PATIENCE):
            while not seen(self):
                self._news.clear()
                await self._news.wait()

    async def opened(self, count: int) -> tuple[int, link_pb2.Open]:
        """The *count*-th attachment."""
        await self.until(lambda session: len(session.opens) >= count)
        return self.opens[count - 1]

    def ids(self, number: int) -> list[str]:
        """Action ids of what was sent to the attachment."""
        return [play_pb2.PlayRequest.FromString(data).header.action_id for to, data in self.messages if to == number]

    # What the pod says.

    def welcome(self, number: int, seq: int = 0) -> None:
        """The whole position."""
        self._say(number, seq, header(seq) + attached(seq) + status())

    def resumed(self, number: int, seq: int) -> None:
        """The answer to an attach that goes on where it was."""
        self._say(number, 0, header() + attached(seq))

    def skipped(self, number: int, first: int, last: int) -> None:
        """A whole position after a gap."""
        gap = play_pb2.PlayResponse(skipped=play_pb2.Skipped(**{"from": first, "to": last})).SerializeToString()
        self._say(number, last, header(last) + attached(last) + status() + gap)

    def update(self, number: int, seq: int, padding: int = 0) -> None:
        """An update."""
        self._say(number, seq, header(seq, padding))

    def over(self, number: int, seq: int) -> None:
        """The update with which the match ends."""
        self._say(number, seq, header(seq) + status(match_pb2.MATCH_STATE_ENDED))

    def apply(self, number: int, action_id: str, seq: int = 0) -> None:
        """An acknowledgement, with its update if it has a *seq*."""
        done = play_pb2.PlayResponse(applied=play_pb2.Applied(action_id=action_id, seq=seq)).SerializeToString()
        self._say(number, seq, header(seq) + done, APPLIED)

    def refuse(self, number: int, action_id: str, reason: str, code: int = 9) -> None:
        """A refusal."""
        refused = play_pb2.Refused(action_id=action_id, code=code, reason=reason)
        self._say(number, 0, header() + play_pb2.PlayResponse(refused=refused).SerializeToString(), REFUSED)

    def _say(self, number: int, seq: int, own: bytes, answer: link_pb2.Answer.ValueType = NO_ANSWER) -> None:
        self.outlet.deliver(b"", [Delivery((number,), seq, own, answer)])


class ScriptedBackend:
    """Gives each stream a scripted session."""

    def __init__(self) -> None:
        self.sessions: list[ScriptedSession] = []

    def session(self, outlet: Outlet) -> ScriptedSession:
        """A new one."""
        self.sessions.append(ScriptedSession(outlet))
        return self.sessions[-1]

    async def replay(self, match_id: str, player_id: str, token: str) -> AsyncIterator[bytes]:
        """Nothing to replay."""
        return
        yield b""  # pragma: no cover - makes it a generator


def header(seq: int = 0, padding: int = 0) -> bytes:
    """Bytes of a response's header; *padding* makes it that much larger."""
    head = play_pb2.UpdateHeader(match_id=MATCH, seq=seq, time_ms=seq and 1, head=b"x" * padding)
    return play_pb2.PlayResponse(header=head).SerializeToString()


def attached(seq: int) -> bytes:
    """Bytes of `attached`."""
    return play_pb2.PlayResponse(attached=play_pb2.Attached(seat=0, seq=seq)).SerializeToString()


def status(state: match_pb2.MatchState.ValueType = match_pb2.MATCH_STATE_RUNNING) -> bytes:
    """Bytes of a status."""
    return play_pb2.PlayResponse(status=match_pb2.Status(state=state)).SerializeToString()


def attach(match_id: str = MATCH, after: int = 0) -> bytes:
    """A client's attach."""
    request = play_pb2.PlayRequest(header=play_pb2.RequestHeader(match_id=match_id))
    request.attach.after_seq = after
    return request.SerializeToString()


def action(action_id: str, match_id: str = MATCH) -> bytes:
    """A client's action."""
    head = play_pb2.RequestHeader(match_id=match_id, action_id=action_id)
    kit = play_pb2.KitAction(kind=play_pb2.KIT_KIND_RESIGN)
    return play_pb2.PlayRequest(header=head, kit=kit).SerializeToString()


def renew(token: str) -> bytes:
    """A client's renewal."""
    return play_pb2.PlayRequest(renew=play_pb2.Renew(access_token=token)).SerializeToString()


class Call:
    """A client's call in memory. It takes what is written while `reading` is set."""

    def __init__(self, *requests: bytes) -> None:
        self.requests: asyncio.Queue[Any] = asyncio.Queue()
        self.written: list[play_pb2.PlayResponse] = []
        self.reading = asyncio.Event()
        self.reading.set()
        self._news = asyncio.Event()
        self.send(*requests)

    def send(self, *requests: bytes) -> None:
        """Send requests."""
        for request in requests:
            self.requests.put_nowait(request)

    def hang_up(self) -> None:
        """End the client's side."""
        self.requests.put_nowait(grpc.aio.EOF)

    async def read(self) -> Any:
        """As the server reads."""
        return await self.requests.get()

    async def write(self, data: bytes) -> None:
        """As the server writes: it waits while the client does not read."""
        await self.reading.wait()
        self.written.append(play_pb2.PlayResponse.FromString(data))
        self._news.set()

    async def count(self, number: int) -> None:
        """Wait until so many messages have been written."""
        async with asyncio.timeout(PATIENCE):
            while len(self.written) < number:
                self._news.clear()
                await self._news.wait()

    @property
    def seqs(self) -> list[int]:
        """Numbers of the updates that were written."""
        return [message.header.seq for message in self.written if message.header.seq]

    @property
    def refusals(self) -> list[tuple[str, str]]:
        """Action ids and reasons of what was refused."""
        said = [message.refused for message in self.written if message.HasField("refused")]
        return [(refused.action_id, refused.reason) for refused in said]


class Fronted:
    """A front over a scripted backend, with calls in memory. Tokens are `player:seconds`, seconds from now."""

    def __init__(self) -> None:
        self.backend = ScriptedBackend()
        self.token = "p0:1000"
        self.front = Front("nim", self.backend, self._authenticate, self._verify)

    async def play(self, call: Any) -> tuple[asyncio.Task[Any], ScriptedSession]:
        """Start a `Play`."""
        return await self._start(self.front._play(call, call))

    async def watch(self, data: bytes, call: Any) -> tuple[asyncio.Task[Any], ScriptedSession]:
        """Start a `Watch`."""
        return await self._start(self.front._watch(data, call))

    async def act(self, data: bytes) -> tuple[asyncio.Task[Any], ScriptedSession]:
        """Start an `Act`."""
        call: Any = Call()
        return await self._start(self.front._act(data, call))

    async def _start(self, work: Coroutine[Any, Any, Any]) -> tuple[asyncio.Task[Any], ScriptedSession]:
        count = len(self.backend.sessions)
        task = asyncio.ensure_future(work)
        while len(self.backend.sessions) == count:
            await asyncio.sleep(0)
        return task, self.backend.sessions[-1]

    async def _authenticate(self, _: Any) -> VerifiedPlayer:
        return await self._verify(self.token)

    async def _verify(self, token: str) -> VerifiedPlayer:
        player, _, seconds = token.partition(":")
        if not seconds:
            raise Unauthenticated("TOKEN_INVALID")
        return VerifiedPlayer(player, round((time.time() + float(seconds)) * 1000))


@asynccontextmanager
async def serving(front: Front) -> AsyncIterator[Callable[[], grpc.aio.Channel]]:
    """A real server in front of *front*; gives a maker of channels to it."""
    server = GrpcServer()
    server.server.add_generic_rpc_handlers((GameCalls({"nim": front}),))
    port = await server.start("127.0.0.1", 0)
    channels: list[grpc.aio.Channel] = []

    def channel() -> grpc.aio.Channel:
        channels.append(grpc.aio.insecure_channel(f"127.0.0.1:{port}", options=channel_options()))
        return channels[-1]

    try:
        yield channel
    finally:
        for each in channels:
            await each.close()
        await server.stop(0)
