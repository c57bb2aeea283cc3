"""Where commands get a finished match from: a file, or the platform by `Replay`."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Annotated, Any, TypeVar

import grpc
import typer

from services.cli.output import fail
from services.cli.replaying import replay
from services.client import Client, ClientError, Refused
from services.kit.export import MOST_BYTES, Collector, Export, read
from services.kit.game import AnyGame, UnknownGame, installed_games, load_game

MatchOrFile = Annotated[str, typer.Argument(metavar="MATCH|FILE", help="A match's id, or a file that `export` wrote.")]
MatchId = Annotated[str, typer.Argument(metavar="MATCH", help="The match's id.")]
GameId = Annotated[str, typer.Option("--game", help="The match's game; by default all installed ones are asked.")]
Target = Annotated[
    str, typer.Option(envvar="TORTUGA_TARGET", metavar="HOST:PORT", help="The gateway.", show_default=True)
]
Token = Annotated[
    str, typer.Option(envvar="TORTUGA_TOKEN", help="A player's access token; by default a new guest asks.")
]

DEFAULT_TARGET = "127.0.0.1:7070"
CANNOT = 2
"""Exit status if there was nothing to look at: unreachable, unknown, still running."""

_INTERRUPTED = 130
_PATIENCE_SECONDS = 10.0
_EXPLAINED = {
    "MATCH_RUNNING": "the match is not over: its log opens when it is",
    "MATCH_UNKNOWN": "there is no such match",
    "SPECTATORS_REFUSED": "only its players may look at this match",
}

T = TypeVar("T")


def obtain(source: str, game: str, target: str, token: str) -> tuple[Export, AnyGame]:
    """The match that *source* names, a file or an id, and its game. Ends the command with CANNOT if it cannot be had.

    Raises:
        BadExport: the file is none.
    """
    export = from_file(Path(source)) if names_file(source) else from_platform(source, game, target, token)
    return export, the_game(export.match.game)


def names_file(source: str) -> bool:
    """Whether *source* is meant as a file's name; a match's id has neither a slash nor a dot."""
    return "/" in source or "." in source or Path(source).is_file()


def from_file(path: Path) -> Export:
    """Read a file, no further than the largest export.

    Raises:
        BadExport: it is none.
    """
    try:
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
    except OSError as error:
        fail(f"{path}: {error.strerror}", CANNOT)
    return read(data)


def from_platform(match_id: str, game: str, target: str, token: str) -> Export:
    """Fetch a finished match. Ends the command if that cannot be done.

    Raises:
        BadExport: the platform's answer is none.
    """
    return on_platform(match_id, _fetch(match_id, game, target, token))


def on_platform(match_id: str, work: Coroutine[Any, Any, T]) -> T:
    """Do *work* with the platform; what it refuses, and silence, end the command in words."""
    try:
        return asyncio.run(work)
    except Refused as refused:
        fail(f"{match_id}: {_EXPLAINED.get(refused.reason, refused.reason or refused.code.name)}", CANNOT)
    except ClientError as error:
        fail(f"{match_id}: {type(error).__name__} {error}".rstrip(), CANNOT)
    except KeyboardInterrupt:
        fail("interrupted", _INTERRUPTED)


async def signed_in(client: Client, token: str) -> None:
    """Make *client* somebody: whose *token* it is, or a new guest."""
    if not token:
        await client.sign_in_as_guest()


def client_of(target: str, token: str = "") -> Client:
    """A client that gives up soon: whoever waits is a person."""
    return Client(target, token=token, patience=_PATIENCE_SECONDS)


async def find_game(client: Client, match_id: str, game: str) -> AnyGame:
    """The game of a match, over or not: *game*, else whichever installed one knows it. Raises Refused: none does."""
    games = await _asked(client, game)
    if len(games) == 1:
        return games[0]
    for candidate in games:
        try:
            async with aclosing(replay(client, match_id, candidate.id)) as messages:
                await anext(messages)
        except Refused as refused:
            if _is_elsewhere(refused):
                continue
        return candidate
    raise Refused("MATCH_UNKNOWN", grpc.StatusCode.NOT_FOUND, {})


def the_game(game: str) -> AnyGame:
    """The installed game of this id. Ends the command if there is none."""
    try:
        return load_game(game)
    except UnknownGame:
        fail(f"there is no game {game!r}; there are: {', '.join(installed_games()) or 'none'}", CANNOT)


async def _asked(client: Client, game: str) -> Sequence[AnyGame]:
    """*game*, else every installed game that the platform serves now."""
    if game:
        return [the_game(game)]
    served = {description.game for description in await client.games()}
    return [the_game(name) for name in installed_games() if name in served]


async def _fetch(match_id: str, wanted: str, target: str, token: str) -> Export:
    async with client_of(target, token) as client:
        await signed_in(client, token)
        for game in await _asked(client, wanted):
            collector = Collector()
            try:
                async for message in replay(client, match_id, game.id):
                    collector.take(message)
            except Refused as refused:
                if _is_elsewhere(refused):
                    continue
                raise
            return collector.export()
    raise Refused("MATCH_UNKNOWN", grpc.StatusCode.NOT_FOUND, {})


def _is_elsewhere(refused: Refused) -> bool:
    """Whether this game does not know the match, or is not served: another one may."""
    return refused.code in (grpc.StatusCode.NOT_FOUND, grpc.StatusCode.UNIMPLEMENTED)
