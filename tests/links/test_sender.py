"""The sending half of a link: one batch outstanding, bounds, credit in order, prompt frames past everything."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from services.kit.link import MAX_BYTES, MAX_FRAMES, MOST_WAITING_BYTES, LinkSender
from tortuga.host.v1 import link_pb2


class Wire:
    """What a sender has written, and a peer that takes it as slowly as the test wants."""

    def __init__(self) -> None:
        self.sender: LinkSender[link_pb2.LinkRequest] = LinkSender(link_pb2.LinkRequest)
        self.written: list[link_pb2.LinkRequest] = []
        self.open = asyncio.Event()
        self.open.set()
        self._seen = 0

    async def write(self, message: link_pb2.LinkRequest) -> None:
        """Take a message."""
        await self.open.wait()
        self.written.append(message)

    async def settled(self) -> list[link_pb2.LinkRequest]:
        """What has been written since the last time, once the sender has come to rest."""
        for _ in range(20):
            await asyncio.sleep(0)
        new = self.written[self._seen :]
        self._seen = len(self.written)
        return new

    def put(self, *attachments: int, size: int = 10) -> None:
        """Queue frames."""
        for attachment in attachments:
            self.sender.put(link_pb2.RequestFrame(attachment=attachment), size)

    def put_prompt(self, *attachments: int, size: int = 10) -> None:
        """Queue prompt frames."""
        for attachment in attachments:
            self.sender.put_prompt(link_pb2.RequestFrame(attachment=attachment), size)


@asynccontextmanager
async def running() -> AsyncIterator[Wire]:
    """A sender at work."""
    wire = Wire()
    task = asyncio.create_task(wire.sender.run(wire.write))
    yield wire
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


def _numbers(message: link_pb2.LinkRequest) -> list[int]:
    return [frame.attachment for frame in message.frames]


async def test_one_batch_is_outstanding() -> None:
    """What comes while a batch is out waits for its credit, and then goes together, in order."""
    async with running() as wire:
        wire.put(1)
        (first,) = await wire.settled()
        assert (first.batch, _numbers(first)) == (1, [1])
        wire.put(2, 3)
        wire.put(4)
        assert await wire.settled() == []
        wire.sender.credit_returned(1)
        (second,) = await wire.settled()
        assert (second.batch, _numbers(second)) == (2, [2, 3, 4])
        assert (wire.sender.batches, wire.sender.frames) == (2, 4)


async def test_only_the_newest_batchs_credit_counts() -> None:
    """A credit said twice, or one of an older batch, lets nothing out."""
    async with running() as wire:
        wire.put(1)
        await wire.settled()
        wire.sender.credit_returned(1)
        wire.put(2)
        await wire.settled()
        wire.put(3)
        for stale in (1, 0, 7):
            wire.sender.credit_returned(stale)
            assert await wire.settled() == []
        wire.sender.credit_returned(2)
        assert [_numbers(message) for message in await wire.settled()] == [[3]]


async def test_prompt_frames_take_no_credit() -> None:
    """They pass what waits, in their own order, in messages without a number."""
    async with running() as wire:
        wire.put(1)
        await wire.settled()
        wire.put(2)
        wire.put_prompt(10, 11)
        (message,) = await wire.settled()
        assert (message.batch, _numbers(message)) == (0, [10, 11])
        wire.put_prompt(12)
        wire.sender.credit_returned(1)
        assert [(message.batch, _numbers(message)) for message in await wire.settled()] == [(0, [12]), (2, [2])]


async def test_pings_wait_for_nothing() -> None:
    """Alone, or with whatever goes out anyway."""
    async with running() as wire:
        wire.put(1)
        await wire.settled()
        wire.put(2)
        wire.sender.say(ping=5)
        (message,) = await wire.settled()
        assert (message.batch, message.ping, _numbers(message)) == (0, 5, [])
        wire.sender.say(ping=6)
        wire.sender.credit_returned(1)
        (message,) = await wire.settled()
        assert (message.batch, message.ping, _numbers(message)) == (2, 6, [2])


async def test_credit_goes_back_with_the_last_frame_before_it() -> None:
    """The answers of a batch and its credit are one message: the other side may then send the next."""
    async with running() as wire:
        wire.put(1, 2)
        wire.sender.return_credit_after_queue(7)
        (message,) = await wire.settled()
        assert (message.done, _numbers(message)) == (7, [1, 2])


async def test_credit_never_passes_frames_before_it() -> None:
    """Answers that wait hold their batch's credit; frames queued behind it do not."""
    async with running() as wire:
        wire.put(1)
        await wire.settled()
        wire.sender.return_credit_after_queue(7)
        (message,) = await wire.settled()
        assert (message.done, message.batch, _numbers(message)) == (7, 0, [])
        wire.put(2)
        wire.sender.return_credit_after_queue(8)
        wire.put(3)
        assert await wire.settled() == []
        wire.sender.credit_returned(1)
        (message,) = await wire.settled()
        assert (message.done, _numbers(message)) == (8, [2, 3])


async def test_credit_returns_at_once_if_asked() -> None:
    """The gateway passes updates on as they come: the pod need not wait for anything queued here."""
    async with running() as wire:
        wire.put(1)
        await wire.settled()
        wire.put(2)
        wire.sender.return_credit(4)
        (message,) = await wire.settled()
        assert (message.done, message.batch, _numbers(message)) == (4, 0, [])


async def test_credit_behind_a_full_batch_follows_it() -> None:
    """256 frames fill a batch; the credit behind them needs no further batch."""
    async with running() as wire:
        wire.put(*range(1, MAX_FRAMES + 1))
        wire.sender.return_credit_after_queue(3)
        messages = await wire.settled()
        assert [(message.batch, len(message.frames), message.done) for message in messages] == [
            (1, MAX_FRAMES, 0),
            (0, 0, 3),
        ]


async def test_batch_has_at_most_256_frames() -> None:
    """The rest waits for the next, for prompt frames too."""
    async with running() as wire:
        wire.put(*range(1, 2 * MAX_FRAMES + 2))
        (first,) = await wire.settled()
        assert _numbers(first) == list(range(1, MAX_FRAMES + 1))
        wire.sender.credit_returned(1)
        (second,) = await wire.settled()
        assert len(second.frames) == MAX_FRAMES
        wire.put_prompt(*range(1000, 1000 + MAX_FRAMES + 1))
        assert [len(message.frames) for message in await wire.settled()] == [MAX_FRAMES, 1]


async def test_batch_has_at_most_256_kib() -> None:
    """Bytes bound it too; a single frame that is larger travels alone and stops nobody."""
    async with running() as wire:
        wire.put(1, 2, 3, size=MAX_BYTES // 2)
        wire.put(4, size=MAX_BYTES * 3)
        wire.put(5)
        sent = []
        for batch in range(1, 6):
            sent += [_numbers(message) for message in await wire.settled()]
            wire.sender.credit_returned(batch)
        assert sent == [[1, 2], [3], [4], [5]]
        wire.put_prompt(11, size=MAX_BYTES * 3)
        wire.put_prompt(12, 13, size=MAX_BYTES // 2)
        wire.put_prompt(14)
        assert [_numbers(message) for message in await wire.settled()] == [[11], [12, 13], [14]]


async def test_slow_peer_makes_frames_wait_in_order() -> None:
    """While a write is under way everything gathers, and nothing overtakes its like."""
    async with running() as wire:
        wire.open.clear()
        wire.put_prompt(1)
        await wire.settled()
        wire.put_prompt(2)
        wire.put(3)
        wire.put_prompt(4)
        wire.open.set()
        assert [_numbers(message) for message in await wire.settled()] == [[1], [2, 4], [3]]


async def test_close_sends_everything_first() -> None:
    """Prompt frames, whatever waits for credit, credits: then the last words, and the writer returns."""
    wire = Wire()
    writing = asyncio.create_task(wire.sender.run(wire.write))
    wire.put(1)
    await wire.settled()
    wire.put(*range(2, MAX_FRAMES + 3))
    wire.sender.return_credit_after_queue(5)
    wire.put_prompt(1000)
    wire.sender.close(ping=9)
    async with asyncio.timeout(5):
        await writing
    sent = [(message.batch, _numbers(message)[:1], message.done, message.ping) for message in wire.written]
    last = MAX_FRAMES + 2
    assert sent == [(1, [1], 0, 0), (0, [1000], 0, 0), (2, [2], 0, 0), (3, [last], 5, 0), (0, [], 0, 9)]


async def test_peer_that_takes_nothing_costs_a_bounded_queue() -> None:
    """Beyond 64 MiB nothing more is queued, and whoever runs the link is told; what has been sent counts no more."""
    async with running() as wire:
        for attachment in range(1, 5):
            wire.put(attachment, size=MOST_WAITING_BYTES // 2)
            wire.put_prompt(10 + attachment, size=MOST_WAITING_BYTES // 2)
            assert len(await wire.settled()) == 2
            wire.sender.credit_returned(attachment)
        wire.open.clear()
        wire.put(5, size=MOST_WAITING_BYTES)
        await wire.settled()
        wire.put(6, size=MOST_WAITING_BYTES // 2)
        wire.put_prompt(7, size=MOST_WAITING_BYTES // 2)
        assert not wire.sender.overfull.is_set()
        wire.put(8, size=1)
        assert wire.sender.overfull.is_set()
        wire.sender.credit_returned(5)
        wire.open.set()
        assert [_numbers(message) for message in await wire.settled()] == [[5], [7], [6]]
