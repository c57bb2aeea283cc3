"""What a match does although nobody acts: deadlines, kept in the store beside the log, and system entries.

All of it is a function of the log, so any pod that adopts an overdue match does the same; the derived action ids make
two pods that act at once collide harmlessly.
"""

from __future__ import annotations

from typing import NamedTuple

from services.kit.entry import KitStep
from services.kit.rules import Asked
from services.kit.step import GATHERING, RUNNING, Step
from tortuga.play.v1 import match_pb2, play_pb2

CONTRIBUTION_WAIT_MS = 5_000
"""After the last player has come, so long the start waits for contributions (design §4)."""


class SystemAction(NamedTuple):
    """A kit action of the system, with its derived action id."""

    kit: KitStep
    action_id: str


def at_once(step: Step) -> SystemAction | None:
    """What the system owes right after *step*: the start once everyone contributed, a resigned seat's time-out step."""
    standing = step.standing
    if standing.state == GATHERING and standing.everyone_contributed:
        return _BEGIN
    if standing.state == RUNNING and (owing := _owing_resigned(step)) is not None:
        kit = KitStep(play_pb2.KIT_KIND_TIMEOUT, owing.seat)
        return SystemAction(kit, f"timeout:{owing.seat}:{owing.decision}")
    return None


def overdue(step: Step, match: match_pb2.Match, now_ms: int) -> SystemAction | None:
    """What the system owes at *now_ms*, by the store's clock."""
    deadline = wake_at(step, match)
    if deadline is None or now_ms < deadline:
        return None
    if (prompt := at_once(step)) is not None:
        return prompt
    if step.standing.gathered_ms:
        return _BEGIN
    return SystemAction(KitStep(play_pb2.KIT_KIND_ABORT, reason="START_LIMIT"), "abort:START_LIMIT")


def wake_at(step: Step, match: match_pb2.Match) -> int | None:
    """When a pod must look at the match although nobody acts, ms by the store's clock; None for never."""
    standing = step.standing
    if standing.over:
        return None
    if at_once(step) is not None:
        return step.entry.time_ms
    if standing.state != GATHERING:
        return None
    if standing.gathered_ms:
        return standing.gathered_ms + CONTRIBUTION_WAIT_MS
    limit = match.settings.start_seconds
    return match.created_ms + limit * 1000 if limit else None


def _owing_resigned(step: Step) -> Asked | None:
    if step.standing.resigned:
        for asked in step.asked:
            if asked.seat in step.standing.resigned:
                return asked
    return None


_BEGIN = SystemAction(KitStep(play_pb2.KIT_KIND_BEGIN), "begin")
