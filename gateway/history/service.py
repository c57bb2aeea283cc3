"""HistoryService: the caller's own matches, and single ones that the caller played or may watch."""

from __future__ import annotations

from gateway.callers import Callers, Context
from gateway.history.pages import Query, page_start, page_token
from gateway.store.port import HistoryStore, KeptMatch, Mark
from services.kit.errors import Malformed, NotFound
from tortuga.gateway.v1 import history_service_pb2 as pb
from tortuga.gateway.v1.history_service_pb2_grpc import HistoryServiceServicer
from tortuga.host.v1.host_service_pb2 import Result
from tortuga.play.v1.match_pb2 import Match, Spectators

MOST_MATCHES = 100
"""Matches in one answer."""

_USUAL_MATCHES = 20
_OPEN = {Spectators.SPECTATORS_UNSPECIFIED, Spectators.SPECTATORS_OPEN}


class History(HistoryServiceServicer):
    """Reads what the store keeps; asks no game."""

    def __init__(self, store: HistoryStore, callers: Callers) -> None:
        self._store = store
        self._callers = callers

    async def ListMatches(  # noqa: N802 - gRPC's name
        self, request: pb.ListMatchesRequest, context: Context
    ) -> pb.ListMatchesResponse:
        """A page of the caller's matches, newest first; PAGE_SIZE with max, PAGE_TOKEN."""
        player = await self._callers.player(context)
        if request.page_size > MOST_MATCHES:
            raise Malformed("PAGE_SIZE", max=MOST_MATCHES)
        query = Query(player.player_id, request.game, request.live)
        after = page_start(query, request.page_token)
        size = request.page_size or _USUAL_MATCHES
        # One more than the page, to know whether there is a next one.
        found = await self._store.matches_of(
            query.player_id, game=query.game, live=query.live, after=after, limit=size + 1
        )
        page = found[:size]
        answer = pb.ListMatchesResponse(matches=map(_summary, page))
        if len(found) > size:
            answer.next_page_token = page_token(query, Mark(page[-1].decided_ms, page[-1].match_id))
        return answer

    async def GetMatch(  # noqa: N802 - gRPC's name
        self, request: pb.GetMatchRequest, context: Context
    ) -> pb.GetMatchResponse:
        """One match; MATCH_UNKNOWN if there is none that the caller may know of."""
        player = await self._callers.player(context)
        found = await self._store.match(request.match_id)
        if found is None:
            raise NotFound("MATCH_UNKNOWN")
        summary = _summary(found)
        if not _may_see(summary.match, player.player_id):
            raise NotFound("MATCH_UNKNOWN")
        return pb.GetMatchResponse(match=summary)


def _summary(kept: KeptMatch) -> pb.MatchSummary:
    summary = pb.MatchSummary(match=Match.FromString(kept.match), state=kept.state)
    if kept.result:
        result = Result.FromString(kept.result)
        summary.end_time.FromMilliseconds(result.ended_ms)
        if result.HasField("outcome"):
            summary.outcome.CopyFrom(result.outcome)
    return summary


def _may_see(match: Match, player_id: str) -> bool:
    """Whether the player sat in *match*, or everyone may watch it."""
    return match.settings.spectators in _OPEN or any(seat.player_id == player_id for seat in match.seats)
