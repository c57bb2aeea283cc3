"""A seat at a match: each update once, in order, none missing; each action once; whatever breaks in between."""

from __future__ import annotations

import asyncio
import hashlib
import secrets
import uuid
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import Any, Protocol, Self

import grpc
from google.protobuf.message import Message

from services.client.connection import Connection, Patience
from services.client.errors import ClientError, FairnessFault, OutcomeUnknown, ProtocolFault, Refused, Unreachable
from services.client.standing import Standing
from services.kit.game import AnyGame
from tortuga.play.v1 import match_pb2, play_pb2

Journal = Callable[[str, Mapping[str, object]], None]
"""Told what goes over the wire: a kind (attached, sent, answered, refused, received, skipped, renewed) and its data."""

_OVER = {match_pb2.MATCH_STATE_ENDED, match_pb2.MATCH_STATE_ABORTED}
_ATTACH_SECONDS = 15.0
_RESEND_SECONDS = 3.0


class Response(Protocol):
    """Any game's PlayResponse; tortuga/play/v1/play.proto says what its fields mean. `update` is the game's own."""

    header: play_pb2.UpdateHeader
    status: match_pb2.Status
    attached: play_pb2.Attached
    applied: play_pb2.Applied
    refused: play_pb2.Refused
    skipped: play_pb2.Skipped
    kit: play_pb2.KitEvent
    update: Any

    def HasField(self, field_name: str, /) -> bool:  # noqa: N802 - protobuf's own name
        """Whether the field is there."""


class Seat(Standing):
    """A match as one viewer sees it: a player, who acts as well, or a spectator.

    `async with` attaches and leaves; `async for` brings the updates, from how things stand to the match's end or abort.
    The first one of a running match has the whole `update.view`, which later ones' events lead on; after a skip a new
    one comes. A player's seat contributes 32 random bytes to the deal by itself. The iterator raises Refused
    (TokenExpired …), Unreachable, ProtocolFault if an update is missing, and after the last update FairnessFault if
    the seed is not the one that was committed to.

    Attributes:
        match, seat: the match's fixed part; the number of the own seat, None for a spectator.
        last, status: the update brought last, None before the first; the status brought last.
        contribution: what the seat gave to the deal; empty before, and if the platform did not take it.
    """

    def __init__(self, link: Connection, game: AnyGame, match_id: str, journal: Journal | None, spectate: bool) -> None:
        self.match_id, self.match, self.status = match_id, match_pb2.Match(), match_pb2.Status()
        self.seat: int | None = None
        self.last: Response | None = None
        self.contribution = b""
        self._link, self._game, self._note, self._spectate = link, game, journal, spectate
        self._request: Callable[..., Message] = game.message("PlayRequest")
        self._patience = Patience(link.patience)
        self._seq, self._begun, self._acted = 0, False, 0
        self._ended = self._finished = False
        self._fault: Exception | None = None
        self._updates: asyncio.Queue[Response | None] = asyncio.Queue()
        self._outbox: asyncio.Queue[bytes | None] | None = None
        self._unanswered: dict[str, tuple[bytes, asyncio.Future[play_pb2.Applied]]] = {}
        self._reading: asyncio.Task[None] | None = None
        self._contributing: asyncio.Task[None] | None = None

    @property
    def game(self) -> AnyGame:
        """The game, with its codecs."""
        return self._game

    @property
    def outcome(self) -> match_pb2.Outcome | None:
        """How the match ended; None while it runs, and if it was aborted."""
        return self.status.outcome if self.status.HasField("outcome") else None

    @property
    def decision(self) -> int:
        """The own open decision as of the last update; 0 if none is, or the seat has acted since."""
        return self._fresh.header.decision if self._fresh else 0

    @property
    def legal(self) -> Sequence[Message]:
        """What may be done now, each ready for `act`; empty if the seat has acted since the last update."""
        return self._fresh.update.legal if self._fresh else ()

    @property
    def _fresh(self) -> Response | None:
        return self.last if self.last is not None and self.last.header.seq >= self._acted else None

    async def act(self, action: Message | str, decision: int | None = None, *, action_id: str = "") -> play_pb2.Applied:
        """Play *action*: the game's `Action`, its text form, or a KitAction. Returns once it is durable.

        *decision* is what it answers, 0 for what is done unasked; default the open one, for a KitAction 0. While the
        platform is away or asks to retry, the action is sent again under the same *action_id*, by default a new one.

        Raises:
            Refused: nothing changed: NOT_YOUR_TURN, STALE_DECISION … NOT_ATTACHED: the match or the seat is over.
            OutcomeUnknown: no answer for as long as patience lasts; repeat it with the same *action_id* to settle it.
            InvalidAction: the text is no action of the game (services.kit.rules).
        """
        action_id = action_id or uuid.uuid4().hex
        request = self._written(action, decision, action_id)
        try:
            async with asyncio.timeout(self._link.patience):
                applied = await self._settle(action_id, request)
        except (TimeoutError, Unreachable) as error:
            raise OutcomeUnknown(action_id) from error
        finally:
            self._unanswered.pop(action_id, None)
        self._acted = max(self._acted, applied.seq)
        return applied

    async def position(self) -> Response:
        """How things stand for this seat now, whole: view, legal, templates. Read afresh over a stream of its own.

        Raises Refused or Unreachable.
        """
        attach = play_pb2.Attach(spectate=self._spectate)
        request = self._request(header={"match_id": self.match_id}, attach=attach).SerializeToString()
        path, answer = f"/{self._game.service.full_name}/Play", self._game.message("PlayResponse")
        play: Any = self._link.streams.stream_stream(path, None, answer.FromString)
        patience = Patience(self._link.patience)
        while True:
            cause: Refused | None = None
            outbox: asyncio.Queue[bytes | None] = asyncio.Queue()
            outbox.put_nowait(request)
            stream = play(_drain(outbox), metadata=self._link.metadata, timeout=_ATTACH_SECONDS)
            try:
                async for response in stream:
                    if response.HasField("refused"):
                        raise Refused.by_message(response.refused)
                    found: Response = response
                    return found
            except grpc.aio.AioRpcError as error:
                cause = Refused.by_status(error)
            finally:
                outbox.put_nowait(None)
                stream.cancel()
            if cause is not None and not cause.broken:
                raise cause
            await patience.wait(cause)

    async def __aenter__(self) -> Self:
        self._reading = asyncio.create_task(self._read())
        return self

    async def __aexit__(self, *_: object) -> None:
        while self._reading is not None and not self._reading.done():
            self._reading.cancel()  # again, should a call that breaks at the same moment have swallowed it
            await asyncio.wait((self._reading,), timeout=1.0)

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Response:
        update = None if self._finished else await self._updates.get()
        if update is None:
            self._finished = True
            raise self._fault or StopAsyncIteration
        self.last = update
        if update.HasField("status"):
            self.status = update.status
            self._finished = self.status.state in _OVER
        return update

    async def _read(self) -> None:
        try:
            while True:
                cause = await self._converse()
                if self._ended and not self._unanswered:
                    return
                await self._patience.wait(cause)
        except Exception as error:
            self._fault = error
        finally:
            self._close()

    async def _converse(self) -> Refused | None:
        """Attach, and read until all is done or the stream breaks; returns what broke it, if that was said."""
        outbox: asyncio.Queue[bytes | None] = asyncio.Queue()
        attach = play_pb2.Attach(after_seq=self._seq, spectate=self._spectate)
        outbox.put_nowait(self._request(header={"match_id": self.match_id}, attach=attach).SerializeToString())
        path, answer = f"/{self._game.service.full_name}/Play", self._game.message("PlayResponse")
        play: Any = self._link.streams.stream_stream(path, None, answer.FromString)
        await self._link.fresh()
        token = self._link.token
        stream, cause = play(_drain(outbox), metadata=self._link.metadata), None
        renewing = asyncio.create_task(self._renew(token, outbox))
        try:
            async with asyncio.timeout(_ATTACH_SECONDS) as limit:
                async for response in stream:
                    limit.reschedule(None)
                    self._receive(response)
                    if response.HasField("attached"):
                        self._outbox = outbox
                        for action_id in self._unanswered:
                            self._send(action_id)
                    if self._ended and not self._unanswered:
                        break
        except TimeoutError:
            pass
        except grpc.aio.AioRpcError as error:
            cause = Refused.by_status(error)
        except Refused as refused:
            cause = refused
        finally:
            self._outbox = None
            renewing.cancel()
            outbox.put_nowait(None)
            stream.cancel()
        if cause is not None and not cause.broken:
            if await self._link.replaced(cause, token):
                return None
            raise cause
        return cause

    async def _renew(self, token: str, outbox: asyncio.Queue[bytes | None]) -> None:
        """Keep the stream open past its token's expiry."""
        while True:
            token = await self._link.tokens.after(token)
            self._journal("renewed")
            outbox.put_nowait(self._request(renew=play_pb2.Renew(access_token=token)).SerializeToString())

    def _receive(self, response: Response) -> None:
        if response.HasField("attached"):
            self._on_attached(response.attached)
        if self._is_new(response):
            self._journal("received", seq=self._seq)
            self._updates.put_nowait(response)
            if response.HasField("status"):
                self._on_status(response.status)
        if response.HasField("applied"):
            self._on_answer(response.applied.action_id, response.applied)
        if response.HasField("refused"):
            self._on_answer(response.refused.action_id, Refused.by_message(response.refused))

    def _is_new(self, response: Response) -> bool:
        """Whether *response* shows something new; the position moves to it then."""
        held, seq = self._seq, response.header.seq
        afresh = not held and response.HasField("attached")
        if response.HasField("skipped"):
            first, last = getattr(response.skipped, "from"), response.skipped.to
            self._journal("skipped", first=first, last=last)
            held = last if first <= held + 1 else held
        rewound = response.refused.reason == "HISTORY_REWOUND"
        if rewound or (seq > held + 1 and not afresh):
            raise ProtocolFault("HISTORY_REWOUND" if rewound else "GAP", self._seq, seq)
        if seq <= self._seq and (self._begun or not afresh):
            return False
        self._seq, self._begun = seq, True
        self._patience.alive(progress=True)
        return True

    def _on_attached(self, attached: play_pb2.Attached) -> None:
        self._journal("attached", after=self._seq, newest=attached.seq)
        self._patience.alive(progress=False)
        if self.match.commitment not in {b"", attached.match.commitment}:
            raise FairnessFault("COMMITMENT_CHANGED")
        self.match, self.seat = attached.match, attached.seat if attached.HasField("seat") else None

    def _on_status(self, status: match_pb2.Status) -> None:
        self._ended = status.state in _OVER
        committed = hashlib.sha256(b"tortuga/seed/v1" + self.match_id.encode() + status.seed).digest()
        if self._ended and committed != self.match.commitment:
            self._fault = FairnessFault("SEED_MISMATCH")  # raised by the iterator, after the last update
        may_contribute = status.state == match_pb2.MATCH_STATE_GATHERING and self.seat is not None
        if may_contribute and self.match.commitment and self._contributing is None:
            self._contributing = asyncio.create_task(self._contribute())

    async def _contribute(self) -> None:
        self.contribution = secrets.token_bytes(32)
        try:
            await self.act(play_pb2.KitAction(kind=play_pb2.KIT_KIND_CONTRIBUTE, contribution=self.contribution))
        except ClientError:
            self.contribution = b""  # the match starts without it; the journal has the reason

    def _written(self, action: Message | str, decision: int | None, action_id: str) -> bytes:
        if self._reading is None or self._reading.done() or self._ended:
            raise self._fault or Refused("NOT_ATTACHED", grpc.StatusCode.FAILED_PRECONDITION, {})
        if isinstance(action, str):
            written = self._game.wire.write_action(self._game.rules.parse(action))
            action = self._game.message("Action").FromString(written)
        part = "kit" if isinstance(action, play_pb2.KitAction) else "action"
        if decision is None and part == "action":
            decision = self.decision
        header = play_pb2.RequestHeader(match_id=self.match_id, action_id=action_id, decision=decision or 0)
        return self._request(header=header, **{part: action}).SerializeToString()

    async def _settle(self, action_id: str, request: bytes) -> play_pb2.Applied:
        patience = Patience(self._link.patience)
        while True:
            answer: asyncio.Future[play_pb2.Applied] = asyncio.get_running_loop().create_future()
            self._unanswered[action_id] = request, answer
            self._send(action_id)
            try:
                async with asyncio.timeout(_RESEND_SECONDS):
                    return await answer
            except TimeoutError:
                continue  # the request or its answer may be lost
            except Refused as refused:
                if not refused.retryable:
                    raise
                await patience.wait(refused)

    def _send(self, action_id: str) -> None:
        """Send an action if a stream is open; if not, the next one begins with it."""
        if self._outbox is not None:
            self._journal("sent", action_id=action_id)
            self._outbox.put_nowait(self._unanswered[action_id][0])

    def _on_answer(self, action_id: str, answer: play_pb2.Applied | Refused) -> None:
        _, waiting = self._unanswered.get(action_id, (b"", None))
        if isinstance(answer, Refused):
            self._journal("refused", action_id=action_id, reason=answer.reason)
            if not action_id:
                raise answer  # the attach itself was refused
            if waiting is not None and not waiting.done():
                waiting.set_exception(answer)
        else:
            self._journal("answered", action_id=action_id, seq=answer.seq)
            if waiting is not None and not waiting.done():
                waiting.set_result(answer)

    def _close(self) -> None:
        if self._contributing is not None:
            self._contributing.cancel()
        for _, answer in self._unanswered.values():
            if not answer.done():
                answer.set_exception(self._fault or Unreachable("the seat was left"))
        self._updates.put_nowait(None)

    def _journal(self, kind: str, **data: object) -> None:
        if self._note is not None:
            self._note(kind, {"match_id": self.match_id, **data})


async def _drain(outbox: asyncio.Queue[bytes | None]) -> AsyncIterator[bytes]:
    while (request := await outbox.get()) is not None:
        yield request
