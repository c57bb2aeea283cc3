"""One attachment in a test: what it sends, and everything that it is sent, read as a client would."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from services.kit.attachment import APPLIED, NO_ANSWER, REFUSED, Answerable, Delivery
from services.kit.game import AnyGame
from services.kit.host import Host
from services.kit.rules import Seat
from services.kit.session import Session
from tortuga.host.v1 import link_pb2
from tortuga.play.v1 import match_pb2, play_pb2

PATIENCE = 10.0
_names = count(1)


@dataclass(eq=False)
class Message:
    """One delivery."""

    data: bytes
    seq: int
    answer: int
    response: Any
    """The game's PlayResponse."""

    @property
    def reason(self) -> str:
        """Why a request was refused; empty if none was."""
        return str(self.response.refused.reason)

    @property
    def kit(self) -> int:
        """The kit action that it shows; 0 if none."""
        return int(self.response.kit.action.kind)


@dataclass(eq=False)
class Ticket:
    """Counts the answers that a batch waits for."""

    count: int = 0

    def answered(self) -> None:
        """One more."""
        self.count += 1


@dataclass(eq=False)
class Viewer:
    """A player's or spectator's attachment to one match on one pod; the outlet of its own session."""

    host: Host
    match_id: str
    player_id: str
    messages: list[Message] = field(default_factory=list)
    ended: str | None = None
    """Why the pod ended the attachment."""
    ticket: Ticket = field(default_factory=Ticket)

    def __post_init__(self) -> None:
        self.game: AnyGame = self.host.game
        self.session = Session(self.host, self)
        self.number = 0
        self.seq = 0
        self.decision = 0
        self.seat: Seat | None = None
        self.status = match_pb2.Status()
        self._read = 0
        self._news = asyncio.Event()
        self._response = self.game.message("PlayResponse")
        self._request = self.game.message("PlayRequest")
        self._expect_any_seq = False

    # What it does.

    def attach(self, after: int = 0, spectate: bool = False, resume: bool = False, live: bool = True) -> Viewer:
        """Attach, or attach anew; without *live* as `Act` does."""
        if self.number:
            self.session.close(self.number)
        self.number += 1
        self.ended = None
        wanted = link_pb2.Open(match_id=self.match_id, player_id=self.player_id, resume=resume)
        if live:
            wanted.attach.after_seq = after
            wanted.attach.spectate = spectate
        self.seq = after
        self._expect_any_seq = True
        self.session.open(self.number, wanted)
        return self

    def leave(self) -> None:
        """End the attachment."""
        self.session.close(self.number)

    def send(
        self,
        action: Any = None,
        kit: play_pb2.KitAction | None = None,
        action_id: str | None = None,
        decision: int | None = None,
    ) -> str:
        """Send a request; returns its action id. The decision is the open one unless it is given."""
        name = f"{self.player_id}-{next(_names)}" if action_id is None else action_id
        request: Any = self._request()
        request.header.match_id = self.match_id
        request.header.action_id = name
        if kit is not None:
            request.kit.CopyFrom(kit)
        else:
            request.header.decision = self.decision if decision is None else decision
            request.action.MergeFromString(self.game.wire.write_action(action))
        self.send_bytes(request.SerializeToString())
        return name

    def send_bytes(self, data: bytes, ticket: Answerable | None = None) -> None:
        """Send whatever bytes."""
        self.session.message(self.number, data, ticket or self.ticket)

    async def act(self, action: Any = None, **how: Any) -> Message:
        """Send a request and wait for its answer."""
        self._read = len(self.messages)
        self.send(action, **how)
        return await self.answer()

    async def contribute(self, content: bytes = b"", **how: Any) -> Message:
        """Send the contribution and wait for its answer."""
        return await self.act(kit=contribution(content), **how)

    # What it is sent.

    async def until(self, wanted: Callable[[Message], bool]) -> Message:
        """The next message not looked at yet that is *wanted*."""
        async with asyncio.timeout(PATIENCE):
            while True:
                while self._read < len(self.messages):
                    self._read += 1
                    if wanted(self.messages[self._read - 1]):
                        return self.messages[self._read - 1]
                assert self.ended is None, self.ended
                self._news.clear()
                await self._news.wait()

    async def next(self) -> Message:
        """The next message."""
        return await self.until(lambda _: True)

    async def answer(self) -> Message:
        """The next answer to a request."""
        return await self.until(lambda message: message.answer != NO_ANSWER)

    async def update(self, seq: int) -> Message:
        """The update of this number, whether it has come before or is still to come."""
        async with asyncio.timeout(PATIENCE):
            while self.seq < seq:
                self._news.clear()
                await self._news.wait()
        return next(message for message in reversed(self.messages) if message.seq == seq)

    async def shown(self, kind: int) -> Message:
        """The next update that shows this kit action."""
        return await self.until(lambda message: message.kit == kind)

    async def in_state(self, state: int) -> None:
        """Wait until the viewer has been told that the match is in *state* or a later one."""
        async with asyncio.timeout(PATIENCE):
            while self.status.state < state:
                self._news.clear()
                await self._news.wait()

    async def until_ended(self) -> str:
        """Wait for the end of the attachment; returns the reason."""
        async with asyncio.timeout(PATIENCE):
            while self.ended is None:
                self._news.clear()
                await self._news.wait()
        return self.ended

    # The outlet.

    def deliver(self, shared: bytes, deliveries: Sequence[Delivery], prompt: bool = False) -> None:
        """Take what is sent, and hold the promises that hold for every message."""
        for numbers, seq, own, answer in deliveries:
            if self.number not in numbers:
                continue
            data = shared + own
            response: Any = self._response.FromString(data)
            self.messages.append(Message(data, seq, answer, response))
            self._follow(seq, answer, response)
        self._news.set()

    def end(self, number: int, reason: str) -> None:
        """Note the end."""
        if number == self.number:
            self.ended = reason
        self._news.set()

    def _follow(self, seq: int, answer: int, response: Any) -> None:
        assert response.header.match_id == self.match_id
        assert answer == (APPLIED if response.HasField("applied") else REFUSED if answer == REFUSED else NO_ANSWER)
        if response.HasField("attached"):
            self.seat = Seat(response.attached.seat) if response.attached.HasField("seat") else None
        if response.HasField("status"):
            self.status = response.status
        if not response.header.time_ms:
            return  # no update
        assert seq in {0, response.header.seq}
        if not response.HasField("attached") and not self._expect_any_seq:
            assert response.header.seq == self.seq + 1
        self._expect_any_seq = False
        self.seq = response.header.seq
        self.decision = response.header.decision


def contribution(content: bytes = b"") -> play_pb2.KitAction:
    """A seat's randomness."""
    return play_pb2.KitAction(kind=play_pb2.KIT_KIND_CONTRIBUTE, contribution=content)


RESIGN = play_pb2.KitAction(kind=play_pb2.KIT_KIND_RESIGN)
ABORT = play_pb2.KitAction(kind=play_pb2.KIT_KIND_ABORT)
