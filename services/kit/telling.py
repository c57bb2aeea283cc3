"""What viewers receive: bytes made once per step and audience, followed by each viewer's own (design §5).

Public: status (if changed), the kit action, the game's public events; the view on `begin`. Own: header, applied, own
events, what is legal. The order of the pieces is the promise of `play.proto`: public first, own after.
"""

from __future__ import annotations

from functools import lru_cache

from services.kit.encoding import bytes_field, number_field, update_field, varint
from services.kit.errors import DomainError, code_number, status_of
from services.kit.game import AnyGame
from services.kit.rules import Outcome, RuleError, Seat
from services.kit.step import StatusLine, Step
from tortuga.play.v1 import match_pb2, play_pb2


class Teller:
    """Encodes the steps of one match."""

    __slots__ = ("_header_start", "_match", "_seed", "_wire", "plain_header")

    def __init__(self, game: AnyGame, match: match_pb2.Match, seed: bytes) -> None:
        self._wire = game.wire
        self._match = match
        self._seed = seed
        self._header_start = bytes_field(1, match.match_id.encode())
        self.plain_header = bytes_field(1, self._header_start)
        """Header of a message that is no update: the match id alone."""

    def public(self, step: Step) -> bytes:
        """The public bytes of the update that *step* is."""
        if step.public is None:
            status = self.status(step) if step.status_changed else b""
            kit = step.kit.event() if step.kit is not None else b""
            update = self._wire.public_events(step.events) if step.events else b""
            if step.shows_view():
                update = self._wire.public_view(step.game) + update
            step.public = status + kit + update_field(update)
        return step.public

    def own(self, step: Step, seat: Seat | None) -> bytes:
        """A viewer's own bytes of the update: header, own events and what is legal."""
        header = self.header(step, seat)
        if seat is None or step.game is None:
            return header
        update = self._wire.own_events(step.events, seat) if step.events else b""
        if step.shows_view():
            update = self._wire.own_view(step.game, seat) + update
        return header + update_field(update + self._legal(step, seat))

    def replayed(self, step: Step, seat: Seat | None) -> bytes:
        """A reader's own bytes of the update in a replay: as `own`, without what was legal."""
        if seat is None or step.game is None:
            return self.header(step, seat)
        update = self._wire.own_events(step.events, seat) if step.events else b""
        if step.shows_view():
            update = self._wire.own_view(step.game, seat) + update
        return self.header(step, seat) + update_field(update)

    def header(self, step: Step, seat: Seat | None) -> bytes:
        """Field 1: the update's place in the viewer's sequence, and the viewer's open decision."""
        time_ms = step.times[0 if seat is None else seat + 1]
        if time_ms != step.entry.time_ms:  # of an attach after an entry that showed the viewer nothing
            return self._headed(self._stamp(time_ms, step.head), step, seat)
        if step.stamp is None:
            step.stamp = self._stamp(time_ms, step.head)
        return self._headed(step.stamp, step, seat)

    def _stamp(self, time_ms: int, head: bytes) -> bytes:
        return self._header_start + b"\x18" + varint(time_ms) + b"\x22\x20" + head

    def _headed(self, stamp: bytes, step: Step, seat: Seat | None) -> bytes:
        content = stamp + number_field(2, step.seq(seat)) + number_field(5, step.decision(seat))
        return b"\x0a" + varint(len(content)) + content

    def whole(self, step: Step, seat: Seat | None, skipped: tuple[int, int] | None = None) -> bytes:
        """The answer to an attach that brings everything: header, status, attached, view, what is legal."""
        message = self.header(step, seat) + self.status(step) + self._attached(step, seat)
        if skipped is not None:
            gap = play_pb2.Skipped(**{"from": skipped[0], "to": skipped[1]})
            message += bytes_field(6, gap.SerializeToString())
        if step.game is None:
            return message
        update = self._wire.public_view(step.game)
        if seat is not None:
            update += self._wire.own_view(step.game, seat) + self._legal(step, seat)
        return message + update_field(update)

    def resumed(self, step: Step, seat: Seat | None) -> bytes:
        """The answer to an attach that goes on where it was: no update itself, the missing ones follow it.

        If the match is over it says so, since perhaps no update follows that would.
        """
        over = self.status(step) if step.standing.over else b""
        return self.plain_header + over + self._attached(step, seat)

    def status(self, step: Step) -> bytes:
        """Field 2, whole."""
        standing = step.standing
        if not standing.over:
            return _running_status(step.status)
        status = match_pb2.Status(state=standing.state, away=standing.away, seed=self._seed)
        if standing.outcome is not None:
            status.outcome.CopyFrom(outcome_message(standing.outcome))
        return bytes_field(2, status.SerializeToString())

    def _attached(self, step: Step, seat: Seat | None) -> bytes:
        attached = play_pb2.Attached(seat=seat, seq=step.seq(seat), match=self._match)
        return bytes_field(3, attached.SerializeToString())

    def _legal(self, step: Step, seat: Seat) -> bytes:
        return b"" if step.standing.over else self._wire.legal(step.game, seat)


def applied(action_id: str, seq: int) -> bytes:
    """Field 4: the action is durable, and which update of the actor shows it."""
    name = action_id.encode()
    content = b"\x0a" + varint(len(name)) + name + number_field(2, seq)
    return b"\x22" + varint(len(content)) + content


def refused(action_id: str, code: int, reason: str, params: dict[str, str]) -> bytes:
    """Field 5: the request changed nothing."""
    message = play_pb2.Refused(action_id=action_id, code=code, reason=reason, metadata=params)
    return bytes_field(5, message.SerializeToString(deterministic=True))


def refusal(match_id: str, action_id: str, error: DomainError | RuleError) -> bytes:
    """The whole message that refuses the request *action_id* about *match_id*; both empty if it named none."""
    header = play_pb2.PlayResponse(header=play_pb2.UpdateHeader(match_id=match_id)).SerializeToString()
    return header + refused(action_id, code_number(status_of(error)), error.reason, error.params)


def outcome_message(outcome: Outcome) -> match_pb2.Outcome:
    """The rules' outcome on the wire."""
    return match_pb2.Outcome(
        reason=outcome.reason,
        places=[match_pb2.Place(seat=place.seat, rank=place.rank, points=place.points) for place in outcome.places],
        awards=[match_pb2.Award(code=award.code, seats=award.seats) for award in outcome.awards],
    )


@lru_cache(maxsize=4096)
def _running_status(line: StatusLine) -> bytes:
    asked = [match_pb2.Asked(seat=seat) for seat in line.asked]
    status = match_pb2.Status(state=line.state, asked=asked, away=line.away)
    return bytes_field(2, status.SerializeToString())
