"""`tortuga demo`: every installed game, with every number of seats, played to the end over the real platform."""

from __future__ import annotations

import asyncio
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from google.protobuf.json_format import MessageToDict
from rich.console import Console
from rich.table import Table

from services.cli import output
from services.cli.demo_players import Plan, Played, play_all
from services.cli.fleet import Fleet
from services.cli.member import NeverReady
from services.cli.progress import progress
from services.kit.game import AnyGame, UnknownGame, installed_games, load_game
from tortuga.play.v1.match_pb2 import Outcome

_SECONDS = 120.0
_INTERRUPTED = 130
_PIPE_WIDTH = 140


def demo(
    matches_per_size: Annotated[int, typer.Option(min=1, help="Matches with each number of seats.")] = 4,
    seed: Annotated[int | None, typer.Option(help="Seed of the players' choices; a new one by default.")] = None,
    pace: Annotated[float, typer.Option(min=0, help="Seconds for which a player thinks, on average.")] = 0.1,
    data: Annotated[
        Path | None, typer.Option(help="Data folder, kept; by default a temporary one, removed at the end.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as one line of JSON.")] = False,
) -> None:
    """Start the platform, let random-legal players play all games to the end, check the dice, and show the scores."""
    games = [load_game(game) for game in installed_games()]
    plan = Plan.of(games, matches_per_size, seed, pace)
    output.note(f"seed {plan.seed}: {plan.matches} matches, {plan.players} players")
    try:
        with tempfile.TemporaryDirectory(prefix="tortuga-demo-") as temporary:
            played, processes = asyncio.run(_run(plan, games, data or Path(temporary)))
    except (NeverReady, UnknownGame, OSError) as error:
        output.fail(str(error))
    except KeyboardInterrupt:
        output.fail("interrupted", _INTERRUPTED)
    failed = sum(bool(match.failures) for match in played)
    found = {"failed": failed, "seed": plan.seed, "matches": [_as_json(match) for match in played]}
    output.result(found | {"processes": processes}, as_json=as_json, text=_score_board(played))
    if failed:
        output.fail(f"{failed} of {len(played)} matches failed")


async def _run(plan: Plan, games: Sequence[AnyGame], data: Path) -> tuple[list[Played], dict[str, object]]:
    """Start everything, play, stop everything."""
    async with Fleet(data, [game.id for game in games], bots=True, note=output.note) as fleet:
        for member in fleet.members.values():
            output.note(f"{member.name}: process {member.pid}, gRPC {member.address}")
        with progress("matches", plan.matches) as bar:
            played = await play_all(fleet.gateway_address, plan, seconds=_SECONDS, ended=bar.advance)
        processes: dict[str, object] = {
            member.name: {"serves": member.serves, "pid": member.pid, "restarts": member.restarts}
            for member in fleet.members.values()
        }
    return played, processes


def _as_json(match: Played) -> dict[str, object]:
    return {
        "game": match.game,
        "id": match.match_id,
        "seats": match.seats,
        "actions": match.actions,
        "seconds": round(match.seconds, 3),
        "outcome": None if match.outcome is None else _outcome_as_json(match.outcome),
        "failures": match.failures,
    }


def _outcome_as_json(outcome: Outcome) -> dict[str, object]:
    found: dict[str, object] = MessageToDict(
        outcome, preserving_proto_field_name=True, always_print_fields_with_no_presence=True
    )
    return found


def _score_board(played: Sequence[Played]) -> str:
    table = Table("match", "game", "seats", "actions", "seconds", "places", title="Played to the end over gRPC")
    for match in played:
        places = "; ".join(match.failures) if match.outcome is None else _places(match.outcome, match.names)
        numbers = (str(match.seats), str(match.actions), f"{match.seconds:.1f}")
        table.add_row(match.match_id, match.game, *numbers, places)
    console = Console(width=None if sys.stdout.isatty() else _PIPE_WIDTH)
    with console.capture() as captured:
        console.print(table)
    return captured.get().rstrip()


def _places(outcome: Outcome, names: Sequence[str]) -> str:
    ranked = sorted(outcome.places, key=lambda place: place.rank)
    return ", ".join(f"{place.rank}. {names[place.seat]} ({place.points})" for place in ranked)
