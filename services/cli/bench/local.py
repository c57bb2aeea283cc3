"""A match played inside this process, through the host's own front door for frames: no gRPC, no gateway."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

from services.cli.bench.conversation import Conversation, gathering, over
from services.kit.attachment import Delivery
from services.kit.host import Host
from services.kit.session import Session
from tortuga.host.v1 import link_pb2
from tortuga.play.v1 import match_pb2, play_pb2

Told = Callable[[bytes, Sequence[Delivery]], None]


class Ended(RuntimeError):
    """An attachment was ended by the host; the argument is the reason."""


class LocalTable:
    """One match whose viewers all sit behind one outlet, as behind a gateway's link. One action in flight.

    Attachments 1, 2 … are the seats, those above them spectators.
    """

    def __init__(self, host: Host, match_id: str, seats: int, luck: Random, told: Told | None = None) -> None:
        """*told* gets all that the host delivers."""
        self.match_id = match_id
        self.finished = False
        self._told = told
        self._session = Session(host, self)
        self._decode: Any = host.game.message("PlayResponse").FromString
        self._seats = [Conversation(match_id, luck) for _ in range(seats)]
        self._waiting: dict[int, bytes] = {}
        self._in_flight = False
        self._heads: set[bytes] = set()
        self._most = 0
        self._fault: Exception | None = None
        self._stopped = asyncio.Event()

    @staticmethod
    async def make(host: Host, match_id: str, seats: int) -> None:
        """Make a match with default options, whose players may take their time."""
        match = match_pb2.Match(match_id=match_id, game=host.game.id)
        for seat in range(seats):
            match.seats.add(player_id=f"{match_id}-{seat}")
        match.settings.start_seconds = 0
        await host.create(match, "", validate_only=False)

    async def play(self, entries: int, spectators: int = 0) -> None:
        """Seat everyone and play until *entries* entries were shown, or the match is over.

        Raises:
            Ended: the host let go of an attachment.
            NothingReady: a seat had only templates to choose from.
        """
        self._most = entries
        for number, _ in enumerate(self._seats, 1):
            self._open(number, f"{self.match_id}-{number - 1}", spectate=False)
        for number in range(len(self._seats) + 1, len(self._seats) + spectators + 1):
            self._open(number, f"spectator-{number}", spectate=True)
        await self._stopped.wait()
        if self._fault is not None:
            raise self._fault

    def leave(self) -> None:
        """Close every attachment."""
        self._session.close_all()

    def deliver(self, shared: bytes, deliveries: Sequence[Delivery], prompt: bool = False) -> None:
        """The outlet: what the host sends. It is answered when the host is done sending."""
        if self._told is not None and not prompt:
            self._told(shared, deliveries)
        for numbers, _, own, _ in deliveries:
            for number in numbers:
                if number <= len(self._seats):
                    asyncio.get_running_loop().call_soon(self._hear, number, shared + own)

    def end(self, number: int, reason: str) -> None:
        """The outlet: an attachment is over."""
        self._stop(Ended(reason))

    def _open(self, number: int, player_id: str, *, spectate: bool) -> None:
        attach = play_pb2.Attach(spectate=spectate)
        self._session.open(number, link_pb2.Open(match_id=self.match_id, player_id=player_id, attach=attach))

    def _hear(self, number: int, data: bytes) -> None:
        try:
            response = self._decode(data)
            if response.header.head:
                self._heads.add(response.header.head)
            if response.HasField("applied") or response.HasField("refused"):
                self._in_flight = False
            conversation = self._seats[number - 1]
            if gathering(response):
                self._session.message(number, conversation.contribution())
            action = conversation.action(response)
            if action is not None:
                self._waiting[number] = action
            self.finished = self.finished or over(response)
            self._go_on()
        except Exception as fault:
            self._stop(fault)

    def _go_on(self) -> None:
        """Send the next action, unless that is all. The position before the first entry has a head as well."""
        if self.finished or len(self._heads) > self._most:
            self._stop(None)
        elif self._waiting and not self._in_flight:
            self._in_flight = True
            self._session.message(*self._waiting.popitem())

    def _stop(self, fault: Exception | None) -> None:
        self._fault = self._fault or fault
        self._stopped.set()
