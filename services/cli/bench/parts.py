"""What single parts of an action cost, each alone and over the actions of a real match: where the microseconds go.

They run in the bench's own process, so they say what the code costs and not what waiting costs.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

from services.cli.bench.audit import LoggedMatch
from services.cli.bench.cores import settle
from services.kit import chain
from services.kit.attachment import NO_ANSWER
from services.kit.chance import Chance
from services.kit.game import AnyGame
from services.kit.judge import Judge
from services.kit.rules import Seat
from services.kit.step import Step
from services.kit.telling import Teller, applied
from tortuga.host.v1 import link_pb2
from tortuga.play.v1 import play_pb2

_MOST_ACTIONS = 320
_ROUNDS = 15
_BATCH = 16
"""Frames of a link message, about as many as with 32 matches."""

Moment = tuple[Step, Step]
"""An action: the step before it and its own."""


def measure_parts(match: LoggedMatch, game: AnyGame) -> dict[str, float]:
    """Microseconds per action of each part, by name; the least of a few rounds. Empty if *match* has no actions."""
    judge = match.judge(game)
    steps = match.steps(judge)
    moments = [(last, step) for last, step in pairwise(steps) if step.kit is None][:_MOST_ACTIONS]
    if not moments:
        return {}
    parts = _Parts(game, judge, moments)
    settle()
    return {
        "parse": _least(parts.parse, moments),
        "copy": _least(parts.copy, moments),
        "rules": _least(parts.rules, moments) - _least(parts.copy, moments),
        "entry": _least(parts.entry, moments),
        "hashes": _least(parts.hashes, moments),
        "judge": _least(parts.judge, moments),
        "encode": _least(parts.encode, moments),
        "frames": _least_of_batches(parts),
    }


class _Parts:
    """The parts, as functions of a moment."""

    def __init__(self, game: AnyGame, judge: Judge, moments: Sequence[Moment]) -> None:
        self._judge = judge
        self._rules, self._wire = game.rules, game.wire
        self._teller = Teller(game, judge.match, judge.seed)
        self._seats = [Seat(seat) for seat in range(judge.seats)]
        self._actions = {step.revision: game.rules.parse(step.entry.text) for _, step in moments}
        self._request: Any = game.message("PlayRequest")
        self._requests = {step.revision: self._written(game, last, step) for last, step in moments}
        self._told = [self._tell(step) for _, step in moments]

    def parse(self, _: Step, step: Step) -> None:
        """From a request's bytes to the rules' action."""
        request = self._request.FromString(self._requests[step.revision])
        if request.HasField("action") and request.header.match_id:
            self._wire.read_action(request.action.SerializeToString())

    def copy(self, last: Step, _: Step) -> None:
        """The copy that an action is judged on."""
        if last.game is not None:
            last.game.copy()

    def rules(self, last: Step, step: Step) -> None:
        """Copy, and the rules' own work."""
        if last.game is not None:
            seat: Any = step.entry.seat
            chance = Chance(last.standing.key, last.spent)
            last.game.copy().apply(seat, self._actions[step.revision], chance)

    def entry(self, _: Step, step: Step) -> None:
        """The entry's text and canonical bytes."""
        str(self._actions[step.revision])
        step.entry.data()

    def hashes(self, last: Step, step: Step) -> None:
        """The chain's link."""
        chain.next_head(last.head, chain.leaf(self._judge.blinding(step.revision), step.data))

    def judge(self, last: Step, step: Step) -> None:
        """All of judging: copy, rules, entry, hashes, and what is asked next."""
        seat: Any = step.entry.seat
        entry = step.entry
        self._judge.judge_action(last, seat, self._actions[step.revision], entry.action_id, entry.time_ms)

    def encode(self, _: Step, step: Step) -> None:
        """The update's public bytes, every seat's own ones, and the acknowledgement."""
        step.public = None
        self._tell(step)

    def frames(self, number: int) -> None:
        """A batch of the link both ways: built, written and read by protobuf. *number* is of its first action."""
        told = self._told[number : number + _BATCH]
        sent = [link_pb2.RequestFrame(attachment=1, message=data) for data in self._written_batch(number)]
        received = link_pb2.LinkRequest.FromString(link_pb2.LinkRequest(batch=1, frames=sent).SerializeToString())
        for frame in received.frames:
            frame.WhichOneof("kind")
            _ = frame.message
        frames = [
            link_pb2.ResponseFrame(
                shared=public,
                deliveries=[link_pb2.Delivery(attachments=(1,), seq=9, own=own, answer=NO_ANSWER) for own in owns],
            )
            for public, owns in told
        ]
        back = link_pb2.LinkResponse.FromString(link_pb2.LinkResponse(batch=1, frames=frames).SerializeToString())
        for answer in back.frames:
            shared = answer.shared
            for delivery in answer.deliveries:
                _ = shared + delivery.own

    @property
    def batches(self) -> range:
        """First actions of all whole batches; at least one batch, if need be a smaller one."""
        return range(0, max(1, len(self._told) - _BATCH + 1), _BATCH)

    @property
    def framed(self) -> int:
        """Actions in all batches."""
        return min(len(self._told), len(self.batches) * _BATCH)

    def _tell(self, step: Step) -> tuple[bytes, list[bytes]]:
        seq = step.seq(step.entry.seat)
        owns = [self._teller.own(step, seat) for seat in self._seats]
        owns[0] += applied(step.entry.action_id, seq)
        return self._teller.public(step), owns

    def _written(self, game: AnyGame, last: Step, step: Step) -> bytes:
        data = game.wire.write_action(self._actions[step.revision])
        header = play_pb2.RequestHeader(
            match_id=self._judge.match.match_id,
            action_id=step.entry.action_id,
            decision=last.decision(step.entry.seat),
        )
        action = game.message("Action").FromString(data)
        written: bytes = self._request(header=header, action=action).SerializeToString()
        return written

    def _written_batch(self, number: int) -> list[bytes]:
        return list(self._requests.values())[number : number + _BATCH]


def _least(part: Callable[[Step, Step], None], moments: Sequence[Moment]) -> float:
    """Microseconds of *part* per moment: the least of a few rounds over all of them."""

    def once() -> None:
        for last, step in moments:
            part(last, step)

    return _least_seconds(once) / len(moments) * 1e6


def _least_of_batches(parts: _Parts) -> float:
    def once() -> None:
        for number in parts.batches:
            parts.frames(number)

    return _least_seconds(once) / parts.framed * 1e6


def _least_seconds(once: Callable[[], None]) -> float:
    return min(_seconds(once) for _ in range(_ROUNDS))


def _seconds(once: Callable[[], None]) -> float:
    """Processor time of this thread: what else the machine does in between does not count."""
    started = time.thread_time()
    once()
    return time.thread_time() - started
