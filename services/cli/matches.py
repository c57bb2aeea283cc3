"""`tortuga matches`: a player's matches, live and over, newest first."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import Annotated

import typer
from google.protobuf.json_format import MessageToDict

from services.cli import output
from services.cli.lines import date, printable, status_line
from services.cli.records import CANNOT, DEFAULT_TARGET, Target, client_of, on_platform
from services.client import Client
from tortuga.gateway.v1.history_service_pb2 import ListMatchesRequest, MatchSummary
from tortuga.gateway.v1.history_service_pb2_grpc import HistoryServiceStub
from tortuga.play.v1.match_pb2 import Status

_LARGEST_PAGE = 100


def matches(
    game: Annotated[str, typer.Option(help="Only matches of this game.")] = "",
    live: Annotated[bool, typer.Option("--live", help="Only matches that are not over.")] = False,
    most: Annotated[int, typer.Option(min=1, help="How many at most.")] = 20,
    target: Target = DEFAULT_TARGET,
    token: Annotated[str, typer.Option(envvar="TORTUGA_TOKEN", help="The player's access token.")] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as one line of JSON.")] = False,
) -> None:
    """List the matches of the player whose token it is."""
    if not token:
        output.fail("whose matches? Give the player's access token by --token or TORTUGA_TOKEN", CANNOT)
    found = on_platform("matches", _fetch(target, token, game, live, most))
    text = "\n".join(map(_line, found)) or "there are none"
    output.result(
        {"matches": [MessageToDict(one, preserving_proto_field_name=True) for one in found]}, as_json=as_json, text=text
    )


async def list_matches(
    client: Client, game: str = "", *, live: bool = False, page_size: int = 0
) -> AsyncGenerator[MatchSummary, None]:
    """The matches of the player who *client* is, newest first, read page by page as they are asked for.

    *game*: only that one's. *live*: only those that are not over. *page_size*: 1 to 100, 0 for the platform's choice.

    Raises:
        Refused: the token does not hold.
        Unreachable: the platform was away for as long as patience lasts.
    """
    method = HistoryServiceStub(client.calls).ListMatches
    request = ListMatchesRequest(game=game, live=live, page_size=page_size)
    while True:
        answer = await client.call(method, request)
        for summary in answer.matches:
            yield summary
        if not answer.next_page_token:
            return
        request.page_token = answer.next_page_token


async def _fetch(target: str, token: str, game: str, live: bool, most: int) -> Sequence[MatchSummary]:
    found: list[MatchSummary] = []
    async with client_of(target, token) as client:
        pages = list_matches(client, game, live=live, page_size=min(most, _LARGEST_PAGE))
        async with aclosing(pages):
            async for summary in pages:
                found.append(summary)
                if len(found) == most:
                    break
    return found


def _line(summary: MatchSummary) -> str:
    """A match on one line; one that is still being made has no date yet."""
    match = summary.match
    when = date(match.created_ms) if match.created_ms else ""
    status = Status(state=summary.state)
    if summary.HasField("outcome"):
        status.outcome.CopyFrom(summary.outcome)
    return printable(f"{match.match_id}  {match.game:<12} {len(match.seats)} seats  {when:<27}  {status_line(status)}")
