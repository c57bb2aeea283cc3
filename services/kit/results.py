"""What the gateway is told once a match is over."""

from __future__ import annotations

from services.kit.step import Step
from services.kit.telling import outcome_message
from tortuga.host.v1 import host_service_pb2
from tortuga.play.v1 import match_pb2


def result_of(match: match_pb2.Match, step: Step) -> bytes | None:
    """Bytes of host.v1.Result once *step* ended the match, else None; kept with the entry that ended it."""
    standing = step.standing
    if not standing.over:
        return None
    result = host_service_pb2.Result(
        match=match,
        state=standing.state,
        abort_reason=standing.abort_reason,
        absent=standing.away,
        ended_ms=step.entry.time_ms,
    )
    if standing.outcome is not None:
        result.outcome.CopyFrom(outcome_message(standing.outcome))
    return result.SerializeToString()
