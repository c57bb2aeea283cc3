"""`tortuga bench rules`: random legal actions a second over the rules of every installed game alone."""

from __future__ import annotations

import secrets
from typing import Annotated

import typer

from services.cli import output
from services.cli.bench import figures
from services.cli.bench.figures import Spread
from services.cli.bench.stage import chosen_game
from services.cli.progress import progress
from services.cli.simulate import Found, Run, play
from services.kit.game import AnyGame, installed_games


def rules(
    game: Annotated[list[str] | None, typer.Option(help="Only this game; may be repeated.")] = None,
    matches: Annotated[int, typer.Option(min=1, help="Matches of a slice.")] = 200,
    slices: Annotated[int, typer.Option(min=1, help="Slices of each game and number of seats.")] = 5,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as one line of JSON.")] = False,
) -> None:
    """Play random legal matches as `tortuga simulate` does, with the fewest seats of a game and with the most."""
    games = [chosen_game(each) for each in game or installed_games()]
    plan = [(each, seats) for each in games for seats in _sizes(each)]
    played: dict[tuple[str, int], list[Found]] = {(each.id, seats): [] for each, seats in plan}
    seed = secrets.randbelow(1 << 32)
    with progress("bench rules", slices * len(plan)) as bar:
        for number in range(slices):
            for each, seats in plan:
                played[each.id, seats].append(_play(each, seats, matches, seed + number))
                bar.advance()
    spreads = {key: _spreads(found) for key, found in played.items()}
    told = [{"game": name, "seats": seats, **figures.as_json(spread)} for (name, seats), spread in spreads.items()]
    text = figures.table(
        f"Random legal actions a second of one core, {slices} slices of {matches} matches, seed {seed}",
        ("game", "seats", "actions/s of CPU", "quartiles", "actions/s"),
        [
            (name, str(seats), f"{cpu.median:,.0f}", cpu.quartiles(), f"{wall.median:,.0f}")
            for (name, seats), spread in spreads.items()
            for cpu, wall in [(spread["actions_per_cpu_second"], spread["actions_per_second"])]
        ],
    )
    output.result({"games": told, "seed": seed, "matches": matches, "slices": slices}, as_json=as_json, text=text)


def _sizes(game: AnyGame) -> list[int]:
    return sorted({game.description.min_seats, game.description.max_seats})


def _play(game: AnyGame, seats: int, matches: int, seed: int) -> Found:
    found = play(Run(game, game.wire.read_options(b""), "", seats, matches, seed, check=False))
    if found.violations:
        output.fail(f"{game.id} breaks a promise: tortuga simulate {game.id} --seats {seats} --seed {seed} --check")
    return found


def _spreads(found: list[Found]) -> dict[str, Spread]:
    return {
        "actions_per_second": Spread.of(each.actions / each.seconds for each in found),
        "actions_per_cpu_second": Spread.of(each.actions_per_second for each in found),
    }
