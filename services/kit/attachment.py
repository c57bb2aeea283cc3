"""Attachments on the pod's side: who listens to a match, through which outlet."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from services.kit.rules import Seat
from tortuga.host.v1 import link_pb2

NO_ANSWER = link_pb2.ANSWER_UNSPECIFIED
APPLIED = link_pb2.ANSWER_APPLIED
REFUSED = link_pb2.ANSWER_REFUSED


class Delivery(NamedTuple):
    """The own part of a message, for one or more attachments of the same outlet."""

    attachments: Sequence[int]
    seq: int
    """The update's number for the viewer; 0 if the message is no update."""
    own: bytes
    answer: link_pb2.Answer.ValueType
    """Whether it answers the oldest unanswered message: NO_ANSWER, APPLIED or REFUSED."""


class Outlet(Protocol):
    """Where messages for a group of attachments go: a link to a gateway, or a client's own stream."""

    def deliver(self, shared: bytes, deliveries: Sequence[Delivery], prompt: bool = False) -> None:
        """Pass `shared + own` on to the attachments. *prompt* messages (answers to opens) wait for no credit."""
        ...

    def end(self, number: int, reason: str) -> None:
        """The attachment is over, for the coded *reason*."""
        ...


class Answerable(Protocol):
    """Counts answers still owed to a batch, so that its credit returns after the last of them."""

    def answered(self) -> None:
        """One message less is open."""
        ...


class Attachment:
    """One viewer's connection to one match."""

    __slots__ = ("admitted", "closed", "live", "match_id", "number", "outlet", "player_id", "seat")

    def __init__(self, outlet: Outlet, number: int, match_id: str, player_id: str) -> None:
        self.outlet = outlet
        self.number = number
        self.match_id = match_id
        self.player_id = player_id
        self.seat: Seat | None = None
        self.admitted = False
        """Whether the match knows the viewer; until then nothing it sends counts."""
        self.live = False
        """Whether updates are sent; False for `Act`, which gets answers only."""
        self.closed = False
