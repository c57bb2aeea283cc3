"""A gateway's end of a link in a test: a real stream to a real pod, and every frame in the test's hand."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import grpc

from services.kit.front import GameCalls
from services.kit.host_service import HostServicer
from services.kit.server import typed_front
from services.kit.shell.server import LINK_MESSAGE_BYTES, GrpcServer, channel_options
from services.kit.tokens import Keyring, Verifier
from tests.match.table import Pod
from tortuga.host.v1 import link_pb2
from tortuga.host.v1.host_service_pb2_grpc import HostServiceStub, add_HostServiceServicer_to_server
from tortuga.play.v1 import play_pb2

if TYPE_CHECKING:
    from tortuga.host.v1.host_service_pb2_grpc import HostServiceAsyncStub

PATIENCE = 10.0


@dataclass
class ServedPod:
    """A pod behind a real server."""

    pod: Pod
    keyring: Keyring
    servicer: HostServicer
    address: str
    channel: grpc.aio.Channel

    @property
    def stub(self) -> HostServiceAsyncStub:
        """The pod's HostService."""
        return HostServiceStub(self.channel)

    def token(self, token: str | None = None) -> tuple[tuple[str, str], ...]:
        """Metadata with a service token for the pod's game, or another *token*."""
        return (("authorization", f"Bearer {token or self.keyring.issue_service_token(self.pod.host.game.id)}"),)

    async def link(self) -> LinkPeer:
        """A new link."""
        return LinkPeer(self.pod, self.stub.Link(metadata=self.token()))


@asynccontextmanager
async def serving(pod: Pod, folder: Path) -> AsyncIterator[ServedPod]:
    """Serve *pod* as its process would: HostService and the typed service."""
    keyring = Keyring.open(folder)
    verifier = Verifier.of_keyring(keyring)
    servicer = HostServicer(pod.host, pod.store, verifier)
    server = GrpcServer(max_receive_bytes=LINK_MESSAGE_BYTES)
    add_HostServiceServicer_to_server(servicer, server.server)
    front = typed_front(pod.host, pod.store, verifier)
    server.server.add_generic_rpc_handlers((GameCalls({pod.host.game.service.full_name: front}),))
    port = await server.start("127.0.0.1", 0)
    address = f"127.0.0.1:{port}"
    async with grpc.aio.insecure_channel(address, options=channel_options()) as channel:
        yield ServedPod(pod, keyring, servicer, address, channel)
    await server.stop(0)


@dataclass(eq=False)
class LinkPeer:
    """The gateway's end of one link."""

    pod: Pod
    call: Any
    received: list[link_pb2.LinkResponse] = field(default_factory=list)
    returns_credit: bool = True
    """Whether each batch's credit goes back at once."""

    def __post_init__(self) -> None:
        self._response = self.pod.host.game.message("PlayResponse")
        self._request = self.pod.host.game.message("PlayRequest")
        self._batch = 0

    async def send(self, *frames: link_pb2.RequestFrame, credit: bool = True, **fields: Any) -> int:
        """Send one message; returns its batch number, 0 without *credit*."""
        batch = 0
        if credit and frames:
            self._batch += 1
            batch = self._batch
        await self.call.write(link_pb2.LinkRequest(batch=batch, frames=frames, **fields))
        return batch

    async def open(self, attachment: int, match_id: str, player_id: str, live: bool = True) -> None:
        """Open an attachment."""
        wanted = link_pb2.Open(match_id=match_id, player_id=player_id)
        if live:
            wanted.attach.SetInParent()
        await self.send(link_pb2.RequestFrame(attachment=attachment, open=wanted), credit=False)

    async def until(self, seen: Callable[[link_pb2.LinkResponse], bool]) -> link_pb2.LinkResponse:
        """Read on to the next message that is wanted."""
        async with asyncio.timeout(PATIENCE):
            while True:
                message = await self.next()
                assert message is not None, "the link ended"
                if seen(message):
                    return message

    async def next(self) -> link_pb2.LinkResponse | None:
        """The next message; None at the end of the link."""
        async with asyncio.timeout(PATIENCE):
            message = await self.call.read()
        if message is grpc.aio.EOF:
            return None
        assert isinstance(message, link_pb2.LinkResponse)
        self.received.append(message)
        if message.batch and self.returns_credit:
            with suppress(grpc.aio.AioRpcError, asyncio.InvalidStateError):  # the pod may have hung up meanwhile
                await self.call.write(link_pb2.LinkRequest(done=message.batch))
        return message

    async def answers(self, count: int) -> list[tuple[int, Any]]:
        """Read until so many more requests are answered; by attachment, what each answer said."""
        found: list[tuple[int, Any]] = []
        while len(found) < count:
            message = await self.until(lambda _: True)
            found += [(number, read) for number, _, answer, read in self.deliveries(message) if answer]
        return found

    def deliveries(self, message: link_pb2.LinkResponse) -> list[tuple[int, int, int, Any]]:
        """Attachment, seq, answer and the read response of every delivery in *message*."""
        return [
            (number, delivery.seq, delivery.answer, self._response.FromString(frame.shared + delivery.own))
            for frame in message.frames
            for delivery in frame.deliveries
            for number in delivery.attachments
        ]

    def frame(self, attachment: int, match_id: str, action_id: str, what: Any, decision: int = 0) -> Any:
        """A frame with a request: a game's action, a kit action, or raw bytes."""
        if isinstance(what, bytes):
            return link_pb2.RequestFrame(attachment=attachment, message=what)
        request: Any = self._request()
        request.header.match_id, request.header.action_id, request.header.decision = match_id, action_id, decision
        if isinstance(what, play_pb2.KitAction):
            request.kit.CopyFrom(what)
        else:
            request.action.MergeFromString(self.pod.host.game.wire.write_action(what))
        return link_pb2.RequestFrame(attachment=attachment, message=request.SerializeToString())

    async def close(self) -> None:
        """Hang up."""
        self.call.cancel()
        await asyncio.wait([asyncio.ensure_future(self.call.code())])
