"""`tortuga watch`: a live match as spectators see it, a line an update."""

from __future__ import annotations

from typing import Any

from services.cli import output
from services.cli.lines import clock, joined, kit_line, status_line
from services.cli.records import DEFAULT_TARGET, GameId, MatchId, Target, client_of, find_game, on_platform
from services.client import Client, Response
from services.kit.game import AnyGame


def watch(match: MatchId, game: GameId = "", target: Target = DEFAULT_TARGET) -> None:
    """Watch a match until it is over: each update on a line, in the game's text forms."""
    on_platform(match, _watch(match, game, target))


async def _watch(match_id: str, game: str, target: str) -> None:
    async with client_of(target) as client:
        await client.sign_in_as_guest()
        await _follow(client, await find_game(client, match_id, game), match_id)


async def _follow(client: Client, game: AnyGame, match_id: str) -> None:
    async with client.watch(match_id, game.id) as seat:
        async for update in seat:
            if update.HasField("skipped"):
                output.note(f"updates {getattr(update.skipped, 'from')} to {update.skipped.to} were too fast")
            header = update.header
            print(f"{header.seq:>5}  {clock(header.time_ms)}  {_told(game, update)}", flush=True)


def _told(game: AnyGame, update: Response) -> str:
    """What an update says: the kit action, the events or the view, and where the match stands if that changed."""
    parts: list[Any] = [kit_line(update.kit)] if update.HasField("kit") else []
    if update.HasField("update"):
        parts += game.wire.read_events(update.update)
        if update.update.HasField("view"):
            parts.append(game.wire.read_view(update.update, None))
    if update.HasField("status"):
        parts.append(status_line(update.status))
    return joined(parts)
