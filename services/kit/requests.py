"""What waits in a match's queue. Each request is answered exactly once, in the order of its attachment."""

from __future__ import annotations

from typing import Any

from services.kit.attachment import Answerable, Attachment
from services.kit.due import SystemAction
from services.kit.entry import KitStep
from services.kit.errors import DomainError
from services.kit.rules import RuleError
from tortuga.play.v1 import play_pb2


class Attach:
    """A viewer wants the match's updates from somewhere on, or (*wish* is None) only to send."""

    __slots__ = ("attachment", "looked", "resume", "wish")

    def __init__(self, attachment: Attachment, wish: play_pb2.Attach | None, resume: bool) -> None:
        self.attachment = attachment
        self.wish = wish
        self.resume = resume
        """Re-homed: the viewer holds everything up to `after_seq`, even if that is 0."""
        self.looked = False
        """The log was looked at for this request: what is known here is no older than the request."""


class Wake:
    """The match's deadline has passed: do what the system owes."""

    __slots__ = ()


class System:
    """A kit action of the system."""

    __slots__ = ("action", "tries")

    def __init__(self, action: SystemAction) -> None:
        self.action = action
        self.tries = 0


class Act:
    """A message of a seat: a game action, a kit action, or what was wrong with it."""

    __slots__ = ("action", "action_id", "attachment", "decision", "fault", "kit", "ticket", "tries")

    def __init__(
        self,
        attachment: Attachment,
        action_id: str,
        decision: int,
        ticket: Answerable | None,
        *,
        action: Any = None,
        kit: KitStep | None = None,
        fault: DomainError | RuleError | None = None,
    ) -> None:
        self.attachment = attachment
        self.action_id = action_id
        self.decision = decision
        self.action = action
        self.kit = kit
        self.fault = fault
        self.ticket = ticket
        self.tries = 0

    def park(self) -> None:
        """Waits for something slow (a fold, a lost connection): its batch's credit does not wait with it."""
        if self.ticket is not None:
            self.ticket.answered()
            self.ticket = None


Request = Attach | Wake | System | Act
