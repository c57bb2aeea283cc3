"""A match played over `Play` streams by its own players, as lean as a client can be.

Not the client library: that one resumes, resends, checks every update and hands it on through a queue, which players
need and which costs half as much again; its core would be full before the servers' and the figures would be the
client's (docs/performance.md). Here a seat is one task that reads a stream and decodes every update; at most one action
of a match is in flight.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

import grpc

from services.cli.bench.conversation import Conversation, gathering, over
from services.cli.bench.lobby import Seated, Token
from services.kit.game import AnyGame


class StreamEnded(RuntimeError):
    """A stream ended before its match did; says how."""


class Table:
    """One match and its players. It waits for `play`, and stops acting at `hold`; updates are read all the time."""

    def __init__(self, game: AnyGame, seated: Seated, channels: Sequence[grpc.aio.Channel], luck: Random) -> None:
        """Each seat's stream goes over one of *channels*."""
        self.match_id = seated.match_id
        self.acked = 0
        """Game actions that were acknowledged."""
        self.refused: Counter[str] = Counter()
        self.latencies: list[float] = []
        """Seconds from sending an action to reading its acknowledgement, since the caller last cleared it."""
        self.heard: Callable[[Any], None] | None = None
        """Told of every response that any seat reads."""
        self.ready = asyncio.Event()
        """Set once a seat owes its first decision."""
        self.quiet = asyncio.Event()
        """Set while no action is in flight."""
        self.quiet.set()
        self.finished = False
        """Whether a seat has been told that the match is over."""
        path = f"/{game.service.full_name}/Play"
        decode = game.message("PlayResponse").FromString
        self._seats = [
            _Seat(seated.match_id, token, channel.stream_stream(path, None, decode), luck)
            for token, channel in zip(seated.tokens, channels, strict=True)
        ]
        self._waiting: dict[_Seat, bytes] = {}
        self._playing = False
        self._left: int | None = None
        self._sent = 0.0

    async def run(self) -> None:
        """Attach every seat and play until the match is over.

        Raises:
            StreamEnded: a stream broke.
        """
        async with asyncio.TaskGroup() as listening:
            for seat in self._seats:
                listening.create_task(self._listen(seat))

    async def play(self, most: int | None = None) -> None:
        """Act from now on, *most* times if that is said."""
        self._playing = True
        self._left = most
        await self._go_on()

    def hold(self) -> None:
        """Act no more; what is in flight is still answered (`quiet`)."""
        self._playing = False

    async def resign(self) -> None:
        """Let the first seat give up, once nothing is in flight: `run` ends when the match is over."""
        self.hold()
        await self.quiet.wait()
        first = self._seats[0]
        if not self.finished:
            await first.call.write(first.conversation.resignation())

    async def _listen(self, seat: _Seat) -> None:
        call = seat.open()
        try:
            await call.write(seat.conversation.attach())
            while (response := await call.read()) is not grpc.aio.EOF:
                if self.heard is not None:
                    self.heard(response)
                if over(response):
                    self._answered(response)
                    self.finished = True
                    return
                if gathering(response):
                    await call.write(seat.conversation.contribution())
                await self._take(seat, response)
            raise StreamEnded(f"{await call.code()} {await call.details()}")
        finally:
            call.cancel()

    async def _take(self, seat: _Seat, response: Any) -> None:
        """Prepare the answer to an open decision, and send it when it is its turn."""
        self._answered(response)
        action = seat.conversation.action(response)
        if action is not None:
            self._waiting[seat] = action
            self.ready.set()
        await self._go_on()

    def _answered(self, response: Any) -> None:
        if not self._sent:
            return
        if response.HasField("applied"):
            self.latencies.append(time.perf_counter() - self._sent)
            self.acked += 1
        elif response.HasField("refused"):
            self.refused[response.refused.reason] += 1
        else:
            return
        self._sent = 0.0
        self.quiet.set()

    async def _go_on(self) -> None:
        if self._playing and self._waiting and not self._sent:
            seat, action = self._waiting.popitem()
            if self._left is not None:
                self._left -= 1
                self._playing = self._left > 0
            self.quiet.clear()
            self._sent = time.perf_counter()
            await seat.call.write(action)


class _Seat:
    """A player's stream."""

    __slots__ = ("_play", "_token", "call", "conversation")

    def __init__(self, match_id: str, token: Token, play: Any, luck: Random) -> None:
        self.conversation = Conversation(match_id, luck)
        self.call: Any = None
        self._token = token
        self._play = play

    def open(self) -> Any:
        """Begin the stream."""
        self.call = self._play(metadata=self._token)
        return self.call
