"""What gateways are told once a match is over."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from services.kit.errors import Unavailable
from services.kit.step import Step
from services.kit.store.port import MatchStore, StoreError
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


class Results:
    """Results in the store, with the domain's errors. Listing and acknowledging may be repeated without harm."""

    def __init__(self, store: MatchStore) -> None:
        self._store = store

    async def results(self, limit: int) -> Sequence[bytes]:
        """Results that are not acknowledged, oldest match first.

        Raises:
            Unavailable: STORE_UNAVAILABLE.
        """
        try:
            return await self._store.results(limit)
        except StoreError:
            raise Unavailable("STORE_UNAVAILABLE") from None

    async def acknowledge(self, match_ids: Iterable[str]) -> None:
        """These are kept by a gateway.

        Raises:
            Unavailable: STORE_UNAVAILABLE.
        """
        try:
            await self._store.acknowledge(match_ids)
        except StoreError:
            raise Unavailable("STORE_UNAVAILABLE") from None
