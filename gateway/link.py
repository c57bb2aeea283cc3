"""A link on the gateway's side: one stream to one pod, kept up for as long as the pod is known.

Usable means: the pod has described its game, the link stands, and a ping was answered within 2 s. A link that is lost,
stalls or drains gives every attachment back to its stream, which opens it again elsewhere.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import AsyncIterator, Callable
from typing import TYPE_CHECKING

import grpc
from google.protobuf.message import DecodeError

from gateway.discovery.port import Pod
from gateway.games import BrokenDescription, ServedGame
from services.kit.attachment import Delivery, Outlet
from services.kit.link import MOST_WAITING_BYTES, LinkSender
from services.kit.shell import logs, metrics
from services.kit.shell.server import channel_options
from services.kit.stream import REHOME
from services.kit.tokens import Keyring
from tortuga.host.v1 import host_service_pb2, link_pb2
from tortuga.host.v1.host_service_pb2_grpc import HostServiceStub
from tortuga.play.v1 import play_pb2

if TYPE_CHECKING:
    from tortuga.host.v1.host_service_pb2_grpc import HostServiceAsyncStub

PING_SECONDS = 0.5
PONG_SECONDS = 2.0
"""A pod that has not answered a ping for so long is not usable."""

CALL_SECONDS = 5.0
_FIRST_PAUSE, _LONGEST_PAUSE = 0.05, 1.0

_EXPECTED = (grpc.aio.AioRpcError, BrokenDescription, DecodeError, OSError, asyncio.InvalidStateError)
"""How a pod's going shows: the last one is what writing to a call raises that is over already."""

_FRAME_BYTES = 24
"""What a frame's own fields take beside its message, at most."""


class Link:
    """One pod as this gateway sees it."""

    def __init__(self, pod: Pod, keyring: Keyring, changed: Callable[[Link], None]) -> None:
        self.pod = pod
        self.usable = False
        self.served: ServedGame | None = None
        """The pod's last description, kept while it is away."""
        self._keyring = keyring
        self._changed = changed
        self._sender: LinkSender[link_pb2.LinkRequest] = LinkSender(link_pb2.LinkRequest)
        self._sinks: dict[int, tuple[Outlet, int, str]] = {}
        """By attachment: where its frames go, under which number, and its match."""
        self._numbers = 0
        self._pings = 0
        self._ponged = 0.0
        self._life: asyncio.Task[None] | None = None
        self._stub: HostServiceAsyncStub | None = None

    def start(self) -> None:
        """Begin to connect, for ever."""
        self._life = asyncio.create_task(self._live(), name=f"link {self.pod.address}")

    async def close(self) -> None:
        """Let go of the pod; attachments that are left are opened elsewhere by their streams."""
        if self._life is not None:
            self._life.cancel()
            await asyncio.gather(self._life, return_exceptions=True)

    async def create_match(self, request: host_service_pb2.CreateMatchRequest) -> host_service_pb2.CreateMatchResponse:
        """Call the pod, as the next two do.

        Raises:
            ConnectionError: there is no link.
            grpc.aio.AioRpcError: the pod's refusal, or no answer.
        """
        return await self._host.CreateMatch(request, metadata=self._token(), timeout=CALL_SECONDS)

    async def list_results(self, request: host_service_pb2.ListResultsRequest) -> host_service_pb2.ListResultsResponse:
        """Call the pod."""
        return await self._host.ListResults(request, metadata=self._token(), timeout=CALL_SECONDS)

    async def acknowledge_results(
        self, request: host_service_pb2.AcknowledgeResultsRequest
    ) -> host_service_pb2.AcknowledgeResultsResponse:
        """Call the pod."""
        return await self._host.AcknowledgeResults(request, metadata=self._token(), timeout=CALL_SECONDS)

    async def replay(self, service: str, match_id: str, token: str) -> AsyncIterator[bytes]:
        """Call the pod's typed `Replay` with a player's token.

        Raises:
            grpc.aio.AioRpcError: the pod's refusal, or no answer.
        """
        request = play_pb2.PlayRequest(header=play_pb2.RequestHeader(match_id=match_id)).SerializeToString()
        async with grpc.aio.insecure_channel(self.pod.address, options=channel_options()) as channel:
            method: grpc.aio.UnaryStreamMultiCallable[bytes, bytes] = channel.unary_stream(f"/{service}/Replay")
            async for message in method(request, metadata=(("authorization", f"Bearer {token}"),)):
                yield message

    # Attachments: only while usable.

    def open(self, outlet: Outlet, number: int, wanted: link_pb2.Open) -> int:
        """Begin an attachment that delivers to *outlet* under *number*; returns its number on this link."""
        self._numbers += 1
        self._sinks[self._numbers] = (outlet, number, wanted.match_id)
        self._sender.put_prompt(
            link_pb2.RequestFrame(attachment=self._numbers, open=wanted), wanted.ByteSize() + _FRAME_BYTES
        )
        return self._numbers

    def message(self, attachment: int, data: bytes) -> None:
        """Pass a client's bytes on."""
        if attachment in self._sinks:
            frame = link_pb2.RequestFrame(attachment=attachment, message=data)
            self._sender.put(frame, len(data) + _FRAME_BYTES)

    def close_attachment(self, attachment: int) -> None:
        """End an attachment, after what was sent for it."""
        if self._sinks.pop(attachment, None) is not None:
            frame = link_pb2.RequestFrame(attachment=attachment, close=link_pb2.Close())
            self._sender.put(frame, _FRAME_BYTES)

    def rehome(self, stays: Callable[[str], bool]) -> None:
        """Another pod has come: give back the attachments of matches that do not stay here."""
        leaving = {attachment: sink for attachment, sink in self._sinks.items() if not stays(sink[2])}
        self._count_rehomed("pod_joined", len(leaving))
        for attachment, (outlet, number, _) in leaving.items():
            self.close_attachment(attachment)
            outlet.end(number, f"{REHOME} pod_joined")

    # The link's life.

    async def _live(self) -> None:
        pause = _FIRST_PAUSE
        while True:
            cause = "link_lost"
            options = channel_options()
            async with (
                grpc.aio.insecure_channel(self.pod.address, options=options) as calls,
                grpc.aio.insecure_channel(self.pod.address, options=options) as stream,
            ):
                try:
                    stub: HostServiceAsyncStub = HostServiceStub(calls)
                    await self._describe(stub)
                    self._stub = stub
                    cause = await self._carry(HostServiceStub(stream))
                except _EXPECTED as error:
                    code = error.code().name if isinstance(error, grpc.aio.AioRpcError) else type(error).__name__
                    logs.logger().debug("link_failed", pod=self.pod.address, game=self.pod.game, code=code)
                except Exception as error:  # whatever it was, the pod is tried again
                    logs.logger().error("link_broken", pod=self.pod.address, exception=logs.describe(error))
                finally:
                    self._stub = None
                    was_usable, self.usable = self.usable, False
                    if was_usable:
                        self._changed(self)
                    self._give_back(cause)
            pause = _FIRST_PAUSE if was_usable else min(pause * 2, _LONGEST_PAUSE)
            await asyncio.sleep(pause * random.uniform(0.5, 1.0))  # noqa: S311 - jitter is no secret

    async def _describe(self, stub: HostServiceAsyncStub) -> None:
        request = host_service_pb2.DescribeGameRequest()
        response = await stub.DescribeGame(request, metadata=self._token(), timeout=CALL_SECONDS)
        served = ServedGame.read(response)
        if served.id != self.pod.game:
            logs.logger().error("wrong_game", pod=self.pod.address, expected=self.pod.game, found=served.id)
            raise BrokenDescription("WRONG_GAME")
        if self.served is None or self.served.digest != served.digest:
            self.served = served

    async def _carry(self, stub: HostServiceAsyncStub) -> str:
        """Carry frames until the link ends; returns why it did."""
        self._sender = LinkSender(link_pb2.LinkRequest)
        call = stub.Link(metadata=self._token())
        self._ponged = time.monotonic()
        tasks = [
            asyncio.create_task(self._sender.run(call.write)),
            asyncio.create_task(self._read(call)),
            asyncio.create_task(self._ping()),
            asyncio.create_task(self._overfull(self._sender)),
        ]
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            return next(iter(done)).result() or "link_lost"
        finally:
            for task in tasks:
                task.cancel()
            call.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _ping(self) -> str:
        while True:
            self._pings += 1
            self._sender.say(ping=self._pings)
            await asyncio.sleep(PING_SECONDS)
            if time.monotonic() - self._ponged > PONG_SECONDS:
                return "stalled"

    async def _overfull(self, sender: LinkSender[link_pb2.LinkRequest]) -> str:
        await sender.overfull.wait()
        logs.logger().error("link_overfull", pod=self.pod.address, game=self.pod.game, limit=MOST_WAITING_BYTES)
        return "stalled"

    async def _read(self, call: grpc.aio.StreamStreamCall[link_pb2.LinkRequest, link_pb2.LinkResponse]) -> str:
        while True:
            response = await call.read()
            if not isinstance(response, link_pb2.LinkResponse):
                return "link_lost"
            if response.done:
                self._sender.credit_returned(response.done)
            if response.pong:
                self._heard()
            for frame in response.frames:
                self._deliver(frame)
            if response.batch:
                self._sender.return_credit(response.batch)
            if response.draining:
                return "drain"

    def _heard(self) -> None:
        self._ponged = time.monotonic()
        if not self.usable:
            self.usable = True
            self._changed(self)

    def _deliver(self, frame: link_pb2.ResponseFrame) -> None:
        shared = frame.shared
        sinks = self._sinks
        for delivery in frame.deliveries:
            for attachment in delivery.attachments:
                sink = sinks.get(attachment)
                if sink is None:
                    continue
                outlet, number, _ = sink
                if delivery.own or shared:
                    outlet.deliver(shared, (Delivery((number,), delivery.seq, delivery.own, delivery.answer),))
                if frame.HasField("close"):
                    sinks.pop(attachment, None)
                    outlet.end(number, frame.close.reason)

    def _give_back(self, cause: str) -> None:
        """Every attachment is opened again by its stream, on this pod or another, when one is usable."""
        sinks, self._sinks = self._sinks, {}
        self._count_rehomed(cause, len(sinks))
        for outlet, number, _ in sinks.values():
            outlet.end(number, f"{REHOME} {cause}")

    def _count_rehomed(self, cause: str, count: int) -> None:
        if count:
            metrics.attachments_rehomed(cause).inc(count)
            logs.logger().info("rehoming", pod=self.pod.address, game=self.pod.game, cause=cause, count=count)

    @property
    def _host(self) -> HostServiceAsyncStub:
        if self._stub is None:
            raise ConnectionError(self.pod.address)
        return self._stub

    def _token(self) -> tuple[tuple[str, str]]:
        return (("authorization", f"Bearer {self._keyring.issue_service_token(self.pod.game)}"),)
