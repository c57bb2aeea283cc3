"""The sending half of a link, the same on both sides: self-clocked batches (design §6).

One batch is outstanding per direction; all that arrives meanwhile joins the next, so batches grow with load and no
timer is needed. Prompt frames (opens, closes, answers to opens) and pings take no credit and wait for none.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Any, Generic, NamedTuple, TypeVar

from services.kit.shell import metrics

Message = TypeVar("Message")

MAX_FRAMES = 256
MAX_BYTES = 256 * 1024
"""Most frames and bytes in one message; a larger single frame travels alone."""

MOST_WAITING_BYTES = 64 * 1024 * 1024
"""Bytes that wait for a peer which takes nothing; beyond, the link is to end, and what it carried begins anew."""


class _Frame(NamedTuple):
    frame: Any
    size: int


class _Credit(NamedTuple):
    """Returns the other side's credit for *batch*, after everything queued before it."""

    batch: int


class LinkSender(Generic[Message]):
    """Queues frames and packs them into messages (`LinkRequest` or `LinkResponse`: same fields, same rules)."""

    def __init__(self, make: Callable[..., Message]) -> None:
        self._make = make
        self._queue: deque[_Frame | _Credit] = deque()
        self._prompt: deque[_Frame] = deque()
        self._done = 0
        self._extra: dict[str, Any] = {}
        self._batch = 0
        self._outstanding = False
        self._closed = False
        self._last: dict[str, Any] = {}
        self._awake = asyncio.Event()
        self._waiting = 0
        self.overfull = asyncio.Event()
        """Set once too much waits: nothing more is queued, and whoever runs the link has to end it."""
        self.batches = 0
        """Messages that carried credit frames so far, and how many frames those were."""
        self.frames = 0

    def put(self, frame: Any, size: int) -> None:
        """Queue a frame of about *size* bytes; it waits for the batch's credit."""
        self._add(self._queue, _Frame(frame, size))

    def put_prompt(self, frame: Any, size: int) -> None:
        """Queue a frame that takes no credit and waits for none."""
        self._add(self._prompt, _Frame(frame, size))

    def credit_returned(self, done: int) -> None:
        """The other side has dealt with batch *done*: the next may go."""
        if done == self._batch:
            self._outstanding = False
            self._awake.set()

    def return_credit(self, batch: int) -> None:
        """Return the other side's credit at once."""
        self._done = batch
        self._awake.set()

    def return_credit_after_queue(self, batch: int) -> None:
        """Return the other side's credit in the same message as the last frame queued so far."""
        self._queue.append(_Credit(batch))
        self._awake.set()

    def say(self, **fields: Any) -> None:
        """Set fields of the next message, e.g. `ping=3`."""
        self._extra.update(fields)
        self._awake.set()

    def close(self, **last: Any) -> None:
        """Let `run` return once everything queued is sent, credit or none; *last* are fields of the last message."""
        self._closed = True
        self._last = last
        self._awake.set()

    async def run(self, write: Callable[[Message], Awaitable[None]]) -> None:
        """Write messages until closed. One writer a link: a slow peer makes frames wait here, in order."""
        while True:
            message = self._next()
            if message is not None:
                await write(message)
            elif self._closed:
                return
            else:
                self._awake.clear()
                await self._awake.wait()

    def _add(self, queue: deque[Any], item: _Frame) -> None:
        if self._waiting + item.size > MOST_WAITING_BYTES:
            self.overfull.set()
            return
        self._waiting += item.size
        queue.append(item)
        self._awake.set()

    def _next(self) -> Message | None:
        if self._prompt:
            frames, size = _take(self._prompt)
            self._waiting -= size
            return self._make(frames=frames, **self._news())
        if self._queue and (self._closed or not self._outstanding):
            frames, done = self._take_batch()
            self._done = done or self._done
            if frames:
                self._batch += 1
                self._outstanding = True
                self.batches += 1
                self.frames += len(frames)
                metrics.LINK_BATCH.observe(len(frames))
                return self._make(batch=self._batch, frames=frames, **self._news())
        while self._queue and isinstance(credit := self._queue[0], _Credit):
            self._done = credit.batch
            self._queue.popleft()
        news = self._news()
        if not news and self._closed:
            news, self._last = self._last, {}
        return self._make(**news) if news else None

    def _news(self) -> dict[str, Any]:
        """What goes with any message: returned credit, pings."""
        news, self._extra = self._extra, {}
        if self._done:
            news["done"], self._done = self._done, 0
        return news

    def _take_batch(self) -> tuple[list[Any], int]:
        """Frames up to the bounds, and the last credit among them."""
        frames: list[Any] = []
        done = size = 0
        queue = self._queue
        while queue and len(frames) < MAX_FRAMES:
            item = queue[0]
            if isinstance(item, _Credit):
                done = item.batch
            elif frames and size + item.size > MAX_BYTES:
                break
            else:
                frames.append(item.frame)
                size += item.size
            queue.popleft()
        self._waiting -= size
        return frames, done


def _take(prompt: deque[_Frame]) -> tuple[list[Any], int]:
    frames = [prompt[0].frame]
    size = prompt.popleft().size
    while prompt and len(frames) < MAX_FRAMES and size + prompt[0].size <= MAX_BYTES:
        frame, more = prompt.popleft()
        size += more
        frames.append(frame)
    return frames, size
