"""One client's stream: which matches it is attached to, what it may send, what waits to be written.

Back-pressure both ways. At most 8 requests of an attachment are unanswered, or 128 KiB of all together; then the
stream is not read. Large requests are read at a steady rate (`services.kit.allowance`). At most 32 updates of an
attachment wait to be written; a slower reader is detached, and attached again once it has caught up: it is told what it
missed by `skipped` and a whole view. The same re-attaching, with unanswered requests sent again, heals a lost link, so
a client notices no more than a pause.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import grpc

from services.kit.allowance import FREE_BYTES, Allowance, cost_of
from services.kit.attachment import APPLIED, Delivery
from services.kit.errors import (
    DomainError,
    Exhausted,
    Forbidden,
    Malformed,
    NotFound,
    Refusal,
    Unauthenticated,
    Unavailable,
)
from services.kit.faults import unplanned
from services.kit.held import Held
from services.kit.incoming import has_more_than, if_short, match_id_of, read_request, wish_of
from services.kit.outgoing import Outgoing, raise_refusal, says_over
from services.kit.shell import metrics
from services.kit.telling import refusal
from services.kit.tokens import VerifiedPlayer
from tortuga.host.v1 import link_pb2
from tortuga.play.v1 import play_pb2

if TYPE_CHECKING:
    from services.kit.front import Backend, Context, VerifyPlayer

IN_FLIGHT = 8
"""Unanswered requests of one attachment."""

IN_FLIGHT_BYTES = 128 * 1024
"""Unanswered requests of all attachments of a stream; only large ones ever come to that."""

ATTACHING = 4
"""Attaches of a stream that have no answer yet: then it is not read. Each may make a pod read a whole log."""

WAITING_UPDATES = 32
"""Updates of one attachment that may wait to be written."""

MOST_ATTACHMENTS = 64
"""Matches that one stream may be attached to."""

EXPIRY_GRACE_SECONDS = 60.0
"""A stream lives so long beyond its token, unless a new one is brought."""

LAST_WORDS_SECONDS = 1.0
"""How long a stream that must end goes on writing what waits."""

REHOME = "REHOME"
"""Reason of an attachment's end that the client is not told: it is opened again, elsewhere. A cause may follow it."""

_END_ERRORS: dict[str, type[DomainError]] = {"MATCH_UNKNOWN": NotFound, "SPECTATORS_REFUSED": Forbidden}
"""Errors of the reasons for which a backend ends an attachment; others are UNAVAILABLE."""

_ACT_SECONDS = 30.0


class ClientStream:
    """A client's conversation; the outlet of its attachments."""

    def __init__(
        self, game: str, player: VerifiedPlayer, backend: Backend, verify: VerifyPlayer, allowance: Allowance
    ) -> None:
        self.over = asyncio.Event()
        self._game = game
        self._player = player
        self._verify = verify
        self._session = backend.session(self)
        self._numbers = 0
        self._by_number: dict[int, Held] = {}
        self._by_match: dict[str, Held] = {}
        self._out = Outgoing()
        self.allowance = allowance
        """Shared by all streams of the player."""
        self._awake = asyncio.Event()
        self._room = asyncio.Event()
        self._failure: DomainError | None = None
        self._until_over = False
        self._writer: asyncio.Task[Any] | None = None
        self._cut_off = False
        self._expiry = self._await_expiry(player)

    # The calls.

    async def converse(self, context: Context) -> None:
        """Serve `Play`."""
        reading = asyncio.create_task(self._read(context))
        try:
            await self._write(context)
        finally:
            reading.cancel()
            await asyncio.gather(reading, return_exceptions=True)

    async def watch(self, request: play_pb2.PlayRequest, context: Context) -> None:
        """Serve `Watch`: an attach, then updates until the match is over."""
        self._until_over = True
        request.attach.SetInParent()
        self._attach(request)
        await self._write(context)

    async def act(self, data: bytes, answer: asyncio.Future[bytes]) -> None:
        """Serve `Act`: send one request, leave its answer in *answer*, or raise why it was refused."""
        self.allowance.admit(cost_of(len(data)))
        request = read_request(data)
        held = Held(match_id_of(request), None)
        held.answer = answer
        held.unanswered.append((time.perf_counter(), data))
        self._open(held)
        waking = asyncio.create_task(self._awake.wait())
        try:
            done, _ = await asyncio.wait((answer, waking), timeout=_ACT_SECONDS, return_when=asyncio.FIRST_COMPLETED)
        finally:
            waking.cancel()
        if answer not in done:
            raise self._failure or Unavailable("OUTCOME_PENDING")
        raise_refusal(answer.result())

    def drain(self) -> None:
        """End the stream, saying how far each match was delivered."""
        self._fail(Unavailable("DRAINING", **{held.match_id: held.last_seq for held in self._by_match.values()}))

    def close(self) -> None:
        """Let go of everything; the client is gone or will be told so by the call's status."""
        self._session.close_all()
        self._by_number.clear()
        self._by_match.clear()
        self._expiry.cancel()
        self.over.set()

    # The outlet.

    def deliver(self, shared: bytes, deliveries: Sequence[Delivery], prompt: bool = False) -> None:
        """Queue messages for the client."""
        for numbers, seq, own, answer in deliveries:
            data = shared + own
            for number in numbers:
                held = self._by_number.get(number)
                if held is not None:  # else: late, from an attachment that was replaced
                    self._receive(held, seq, data, answer)

    def end(self, number: int, reason: str) -> None:
        """The backend has ended an attachment: heal it, or tell the client why not."""
        held = self._by_number.pop(number, None)
        self._session.close(number)
        if held is None:
            return
        held.number = 0
        kind, _, cause = reason.partition(" ")
        if kind == REHOME:
            held.lost = held.lost or (time.monotonic(), cause)
            self._resume(held)
            return
        error = _END_ERRORS.get(reason, Unavailable)(reason)
        if self._until_over or held.answer is not None:
            self._fail(error)
            return
        self._by_match.pop(held.match_id, None)
        self._refuse(held.match_id, "", error)
        for _, data in held.unanswered:
            self._refuse(held.match_id, play_pb2.PlayRequest.FromString(data).header.action_id, error)
        held.unanswered.clear()
        self._room.set()

    def _receive(self, held: Held, seq: int, data: bytes, answer: int) -> None:
        if seq and held.waiting >= WAITING_UPDATES:
            held.behind = True
            self._let_go(held)
            return
        if answer and held.unanswered:
            started, _ = held.unanswered.popleft()
            outcome = "applied" if answer == APPLIED else "refused"
            metrics.action_seconds(self._game, outcome).observe(time.perf_counter() - started)
            self._room.set()
        if held.answer is not None:
            if answer and not held.answer.done():
                held.answer.set_result(data)
            return
        if held.lost is not None:
            since, cause = held.lost
            metrics.resume_seconds(cause).observe(time.monotonic() - since)
            held.lost = None
        if held.resuming:
            held.resuming = False
            if not (seq or answer) and not play_pb2.PlayResponse.FromString(data).HasField("refused"):
                return
        if not held.welcomed:
            held.welcomed = True
            self._room.set()
        if seq:
            held.last_seq = seq
            held.newest = data
            held.waiting += 1
        self._out.put(held if seq else None, data)
        self._awake.set()
        if self._until_over and says_over(data):
            self._by_match.pop(held.match_id, None)

    # Reading and writing.

    async def _read(self, context: Context) -> None:
        try:
            await self._wait_to_read()
            while (data := await context.read()) is not grpc.aio.EOF:
                await self._take(data)
                await self._wait_to_read()
        except DomainError as error:
            self._fail(error)
        except Exception as error:
            self._fail(unplanned(error, ""))
        else:
            self._until_over = True  # the client has said all it wanted to: the rest is watching
            for held in list(self._by_match.values()):
                if held.newest and says_over(held.newest):
                    del self._by_match[held.match_id]
            self._awake.set()

    async def _write(self, context: Context) -> None:
        self._writer = asyncio.current_task()
        try:
            await self._write_all(context)
        except asyncio.CancelledError:
            if self._cut_off and self._failure is not None:
                raise self._failure from None
            raise
        finally:
            self._writer = None

    async def _write_all(self, context: Context) -> None:
        while True:
            while self._out:
                held, data = self._out.take()
                await context.write(data)
                self._room.set()
                if held is not None:
                    held.waiting -= 1
                    if held.behind and not held.waiting:
                        held.behind = False
                        self._resume(held)
            if self._failure is not None:
                raise self._failure
            if self._until_over and not self._by_match:
                return
            self._awake.clear()
            await self._awake.wait()

    async def _take(self, data: bytes) -> None:
        try:
            request = read_request(data)
        except Malformed as error:
            self._refuse("", "", error)
            self.allowance.spend(cost_of(len(data)))
            return
        match_id = request.header.match_id
        try:
            if request.HasField("attach"):
                self._attach(request)
                while self._unwelcomed >= ATTACHING:
                    await self._wait_for_room()
            elif request.HasField("renew"):
                await self._renew(request)
            else:
                await self._pass_on(match_id, data)
        except DomainError as error:
            self._refuse(match_id, request.header.action_id, error)
        is_first = self._numbers <= 1
        work = request.HasField("renew") or (request.HasField("attach") and not is_first)
        self.allowance.spend(cost_of(len(data), work))

    async def _pass_on(self, match_id: str, data: bytes) -> None:
        held = self._by_match.get(match_id)
        if held is None:
            raise Refusal("NOT_ATTACHED")
        held.unanswered.append((time.perf_counter(), data))
        if held.number:
            self._session.message(held.number, data)
        while len(held.unanswered) >= IN_FLIGHT or (len(data) > FREE_BYTES and self._unanswered_is_much):
            await self._wait_for_room()

    @property
    def _unwelcomed(self) -> int:
        return sum(not held.welcomed for held in self._by_match.values())

    @property
    def _unanswered_is_much(self) -> bool:
        unanswered = (len(data) for held in self._by_match.values() for _, data in held.unanswered)
        return sum(unanswered) >= IN_FLIGHT_BYTES

    async def _wait_to_read(self) -> None:
        """Wait until the client has read enough of what it was told, and nothing is owed for what it sent."""
        while self._out.is_much:
            await self._wait_for_room()
        await self.allowance.regained()

    async def _wait_for_room(self) -> None:
        self._room.clear()
        await self._room.wait()

    async def _renew(self, request: play_pb2.PlayRequest) -> None:
        if has_more_than(request, "renew"):
            raise Malformed("MALFORMED")
        player = await self._verify(request.renew.access_token)
        if player.player_id != self._player.player_id:
            raise Unauthenticated("TOKEN_INVALID")
        self._player = player
        self._expiry.cancel()
        self._expiry = self._await_expiry(player)

    # Attachments.

    def _attach(self, request: play_pb2.PlayRequest) -> None:
        if has_more_than(request, "attach"):
            raise Malformed("MALFORMED")
        match_id = match_id_of(request)
        before = self._by_match.get(match_id)
        if before is None and len(self._by_match) >= MOST_ATTACHMENTS:
            raise Exhausted("TOO_MANY_ATTACHMENTS", limit=MOST_ATTACHMENTS)
        held = Held(match_id, wish_of(request.attach))
        if before is not None:
            held.unanswered = before.unanswered
            before.behind = False
            self._let_go(before)
        self._by_match[match_id] = held
        self._open(held)

    def _open(self, held: Held, resume: bool = False) -> None:
        self._numbers += 1
        held.number = self._numbers
        held.resuming = resume
        self._by_number[held.number] = held
        wanted = link_pb2.Open(match_id=held.match_id, player_id=self._player.player_id, resume=resume)
        if held.wish is not None:
            wanted.attach.CopyFrom(held.wish)
            wanted.attach.after_seq = held.last_seq
        self._session.open(held.number, wanted)
        number = held.number
        for _, data in list(held.unanswered):  # a pod's own matches answer, or end the attachment, at once
            self._session.message(number, data)

    def _resume(self, held: Held) -> None:
        """Attach again where the client is, and send again what was not answered: action ids make that harmless."""
        self._open(held, resume=held.wish is not None and held.welcomed)

    def _let_go(self, held: Held) -> None:
        if held.number:
            self._session.close(held.number)
            self._by_number.pop(held.number, None)
            held.number = 0

    # Failing.

    def _refuse(self, match_id: str, action_id: str, error: DomainError) -> None:
        # Ids are echoed if they could be some: what a client sends is not held for it at any length.
        self._out.put(None, refusal(if_short(match_id), if_short(action_id), error))
        self._awake.set()

    def _fail(self, error: DomainError) -> None:
        if self._failure is None:
            self._failure = error
            asyncio.get_running_loop().call_later(LAST_WORDS_SECONDS, self._cut)
        self._awake.set()

    def _cut(self) -> None:
        """End the call although the client does not read what is written."""
        if self._writer is not None:
            self._cut_off = True
            self._writer.cancel()

    def _await_expiry(self, player: VerifiedPlayer) -> asyncio.TimerHandle:
        seconds = max(player.expires_ms / 1000 - time.time(), 0) + EXPIRY_GRACE_SECONDS
        return asyncio.get_running_loop().call_later(seconds, self._fail, Unauthenticated("TOKEN_EXPIRED"))
