"""A match's viewers: who listens through which outlet, the ring of newest steps, and the telling of each."""

from __future__ import annotations

from collections import deque

import grpc

from services.kit.attachment import APPLIED, NO_ANSWER, Attachment, Delivery, Outlet
from services.kit.errors import code_number
from services.kit.rules import Seat
from services.kit.step import Step
from services.kit.telling import Teller, refused

RING = 32
"""Updates that a viewer may be behind and still get one by one (design §1.2)."""

_RING_STEPS = 256
"""Steps kept at most, where many of them show some viewer nothing."""


class Audience:
    """The viewers of one match."""

    __slots__ = ("_groups", "_ring", "_teller", "listeners")

    def __init__(self, teller: Teller) -> None:
        self._teller = teller
        self._ring: deque[Step] = deque(maxlen=_RING_STEPS)
        self._groups: dict[Outlet, list[Attachment]] = {}
        self.listeners = 0

    def remember(self, step: Step) -> None:
        """Keep *step* for viewers who come back; let go of what no viewer can ask for any more."""
        ring = self._ring
        ring.append(step)
        if len(ring) < 2 * RING:
            return
        while len(ring) > RING and all(new - old >= RING for new, old in zip(step.seqs, ring[0].seqs, strict=True)):
            ring.popleft()

    def join(self, attachment: Attachment, last: Step, after: int, resume: bool) -> None:
        """Send *attachment* everything from now on, beginning with the answer to its attach (play.proto says which)."""
        self._groups.setdefault(attachment.outlet, []).append(attachment)
        self.listeners += 1
        seat = attachment.seat
        seq = last.seq(seat)
        if after > seq:
            self._send(attachment, seq, self._teller.whole(last, seat) + _REWOUND)
        elif after == 0 and not resume:
            self._send(attachment, seq, self._teller.whole(last, seat))
        elif (missing := self._missing(_index(seat), after, seq)) is None:
            self._send(attachment, seq, self._teller.whole(last, seat, skipped=(after + 1, seq)))
        else:
            self._send(attachment, 0, self._teller.resumed(last, seat))
            for step in missing:
                own = self._teller.own(step, seat)
                self._send(attachment, step.seq(seat), own, self._teller.public(step))

    def leave(self, attachment: Attachment) -> None:
        """Send *attachment* nothing any more."""
        group = self._groups.get(attachment.outlet, [])
        if attachment in group:
            group.remove(attachment)
            self.listeners -= 1
            if not group:
                del self._groups[attachment.outlet]

    def seats(self) -> set[Seat]:
        """The seats that listen."""
        groups = self._groups.values()
        return {attachment.seat for group in groups for attachment in group if attachment.seat is not None}

    def dismiss(self, reason: str) -> None:
        """End every attachment for the coded *reason*."""
        for group in list(self._groups.values()):
            for attachment in list(group):
                attachment.outlet.end(attachment.number, reason)

    def tell(self, step: Step, actor: Attachment | None, applied: bytes) -> None:
        """Send the update that *step* is to everyone whom it shows something; the actor's has *applied* in it."""
        self.remember(step)
        answered = actor is None or actor.closed
        for outlet, group in list(self._groups.items()):  # an outlet may detach a reader that is too slow
            deliveries: list[Delivery] = []
            watching: list[int] = []
            for attachment in group:
                if attachment is actor:
                    answered = True
                    deliveries.append(self._acknowledgement(step, attachment, applied))
                elif not step.shows(_index(attachment.seat)):
                    continue
                elif attachment.seat is None:
                    watching.append(attachment.number)
                else:
                    own = self._teller.own(step, attachment.seat)
                    deliveries.append(Delivery((attachment.number,), step.seq(attachment.seat), own, NO_ANSWER))
            if watching:
                deliveries.append(Delivery(watching, step.seq(None), self._teller.own(step, None), NO_ANSWER))
            if deliveries:
                outlet.deliver(self._teller.public(step), deliveries)
        if not answered and actor is not None:
            actor.outlet.deliver(self._teller.public(step), [self._acknowledgement(step, actor, applied)])

    def answer_again(self, attachment: Attachment, applied: bytes, seq: int) -> None:
        """Acknowledge an action that was applied before; who gets no updates otherwise gets it whole, if it is held."""
        if attachment.closed:
            return
        if not attachment.live:
            for step in reversed(self._ring):
                if step.seq(attachment.seat) == seq and step.shows(_index(attachment.seat)):
                    delivery = self._acknowledgement(step, attachment, applied)
                    attachment.outlet.deliver(self._teller.public(step), [delivery])
                    return
        own = self._teller.plain_header + applied
        attachment.outlet.deliver(b"", [Delivery((attachment.number,), 0, own, APPLIED)])

    def _acknowledgement(self, step: Step, actor: Attachment, applied: bytes) -> Delivery:
        if not step.shows(_index(actor.seat)):
            return Delivery((actor.number,), 0, self._teller.plain_header + applied, APPLIED)
        own = self._teller.own(step, actor.seat) + applied
        return Delivery((actor.number,), step.seq(actor.seat) if actor.live else 0, own, APPLIED)

    def _missing(self, index: int, after: int, seq: int) -> list[Step] | None:
        """The steps that the viewer lacks, or None if they are too many or not held any more."""
        if seq == after:
            return []
        if seq - after > RING or not self._ring or self._ring[0].before[index] > after:
            return None
        return [step for step in self._ring if step.shows(index) and step.seqs[index] > after]

    def _send(self, attachment: Attachment, seq: int, own: bytes, shared: bytes = b"") -> None:
        attachment.outlet.deliver(shared, [Delivery((attachment.number,), seq, own, NO_ANSWER)], prompt=True)


def _index(seat: Seat | None) -> int:
    """Where the viewer's count stands in `Step.seqs`."""
    return 0 if seat is None else seat + 1


_REWOUND = refused("", code_number(grpc.StatusCode.OUT_OF_RANGE), "HISTORY_REWOUND", {})
