"""A link on the pod's side: frames of many attachments in, deliveries out."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence

from services.kit.attachment import Delivery
from services.kit.host import Host
from services.kit.link import MOST_WAITING_BYTES, LinkSender
from services.kit.session import Session
from services.kit.shell import logs
from tortuga.host.v1 import link_pb2

HANG_UP_SECONDS = 1.0
"""How long a drained link waits for the gateway to hang up: ending it first could cut off what it was told last."""

Write = Callable[[link_pb2.LinkResponse], Awaitable[None]]


class _Batch:
    """Counts the answers that a gateway's batch still waits for; the credit returns with the last of them."""

    __slots__ = ("_left", "_number", "_sender")

    def __init__(self, sender: LinkSender[link_pb2.LinkResponse], number: int, messages: int) -> None:
        self._sender = sender
        self._number = number
        self._left = messages + 1  # one for the reader itself, so that early answers do not finish the batch

    def answered(self) -> None:
        """One answer less is owed."""
        self._left -= 1
        if self._left == 0:
            self._sender.return_credit_after_queue(self._number)


class PodLink:
    """One gateway's link; it is the outlet of that gateway's attachments."""

    def __init__(self, host: Host) -> None:
        self._sender: LinkSender[link_pb2.LinkResponse] = LinkSender(link_pb2.LinkResponse)
        self._session = Session(host, self)

    async def run(self, requests: AsyncIterator[link_pb2.LinkRequest], write: Write) -> None:
        """Serve the link until the gateway ends it, takes nothing any more, or `drain` is called."""
        writing = asyncio.create_task(self._sender.run(write))
        reading = asyncio.create_task(self._read(requests))
        overfull = asyncio.create_task(self._sender.overfull.wait())
        tasks = (writing, reading, overfull)
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            if overfull.done():
                logs.logger().error("link_overfull", limit=MOST_WAITING_BYTES)
            else:
                await asyncio.wait((reading, overfull), timeout=HANG_UP_SECONDS, return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._session.close_all()
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    def drain(self) -> None:
        """Send what is queued, tell the gateway to go elsewhere, and end."""
        self._sender.close(draining=True)

    async def _read(self, requests: AsyncIterator[link_pb2.LinkRequest]) -> None:
        try:
            async for request in requests:
                self._take(request)
        except Exception as error:  # the link ends, its attachments go elsewhere; why, only this line says
            logs.logger().error("link_broken", exception=logs.describe(error))

    def _take(self, request: link_pb2.LinkRequest) -> None:
        sender, session = self._sender, self._session
        if request.done:
            sender.credit_returned(request.done)
        if request.ping:
            sender.say(pong=request.ping)
        batch = _Batch(sender, request.batch, len(request.frames)) if request.batch else None
        for frame in request.frames:
            kind = frame.WhichOneof("kind")
            if kind == "message":
                session.message(frame.attachment, frame.message, batch)
                continue
            if kind == "open":
                session.open(frame.attachment, frame.open)
            elif kind == "close":
                session.close(frame.attachment)
            if batch is not None:
                batch.answered()
        if batch is not None:
            batch.answered()

    # The outlet.

    def deliver(self, shared: bytes, deliveries: Sequence[Delivery], prompt: bool = False) -> None:
        """Queue one frame for all of *deliveries*."""
        frame = link_pb2.ResponseFrame(
            shared=shared,
            deliveries=[
                link_pb2.Delivery(attachments=numbers, seq=seq, own=own, answer=answer)
                for numbers, seq, own, answer in deliveries
            ],
        )
        size = len(shared) + sum(len(delivery.own) + 16 for delivery in deliveries)
        if prompt:
            self._sender.put_prompt(frame, size)
        else:
            self._sender.put(frame, size)

    def end(self, number: int, reason: str) -> None:
        """Tell the gateway that the attachment is over."""
        self._session.close(number)
        frame = link_pb2.ResponseFrame(
            deliveries=[link_pb2.Delivery(attachments=[number])],
            close=link_pb2.Close(reason=reason),
        )
        self._sender.put(frame, 32)  # behind what was answered before, or the gateway would drop that
