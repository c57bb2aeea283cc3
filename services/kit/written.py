"""What of a step is written: the entry, and beside it what the store must know of the match."""

from __future__ import annotations

from services.kit import due
from services.kit.results import result_of
from services.kit.step import Step
from services.kit.store.port import Append
from tortuga.play.v1 import match_pb2


def append_of(row: int, match: match_pb2.Match, parent: bytes, step: Step) -> Append:
    """The append of *step*, judged on the head *parent*, to the match in the store's *row*."""
    entry = step.entry
    return Append(
        row=row,
        revision=entry.revision,
        parent=parent,
        head=step.head,
        seat=-1 if entry.seat is None else entry.seat,
        action_id=entry.action_id,
        data=step.data,
        wake_at=due.wake_at(step, match),
        state=step.standing.state,
        result=result_of(match, step),
    )
