"""`tortuga simulate`: what it prints, how it ends, and what it says of the installed games."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any

import pytest
import typer
from typer.testing import CliRunner, Result

from services.cli.checks import KINDS
from services.cli.simulate import Run, play
from services.cli.simulate import simulate as command
from services.corsari.state import Position
from services.kit.chance import Chance
from services.kit.game import installed_games, load_game
from services.kit.rules import InvalidOptions, Seat
from tortuga.play.v1.game_pb2 import OPTION_TYPE_BOOL

SEED = 20261130

KEYS = {"violations", "checks", "matches", "actions", "actions_per_second"}
"""What scripts rely on."""


def simulate(*arguments: str) -> Result:
    """Run the command in this process."""
    app = typer.Typer()
    app.command()(command)
    return CliRunner().invoke(app, arguments)


def found(result: Result) -> dict[str, Any]:
    """The JSON object that the command printed, alone, on stdout."""
    (line,) = result.stdout.splitlines()
    printed = json.loads(line)
    assert isinstance(printed, dict)
    assert printed.keys() >= KEYS
    return printed


def every_table() -> Iterator[tuple[str, str, int]]:
    """Every installed game, variant and number of seats."""
    for game in installed_games():
        about = load_game(game).description
        for variant in about.variants:
            fewest, most = variant.min_seats or about.min_seats, variant.max_seats or about.max_seats
            for seats in range(fewest, most + 1):
                yield game, variant.variant, seats


@pytest.mark.parametrize(("game", "variant", "seats"), list(every_table()))
def test_installed_games_break_no_promise(game: str, variant: str, seats: int) -> None:
    """Random legal play of every variant with every number of seats, with all checks, finds nothing."""
    result = simulate(
        *(game, "--variant", variant, "--seats", str(seats), "--matches", "15", "--seed", "11", "--check", "--json")
    )
    assert result.exit_code == 0, result.stderr
    printed = found(result)
    assert printed["violations"] == 0, printed["violations_by_code"]
    assert printed["matches"] == sum(printed["outcomes"].values()) == 15
    assert set(printed["checks"]) == set(KINDS)
    assert all(printed["checks"].values()), "no kind of check may be idle"


@pytest.mark.parametrize("game", installed_games())
def test_no_choice_of_options_breaks_a_promise(game: str) -> None:
    """The same for random values of all match options together."""
    loaded = load_game(game)
    luck = Random(SEED)
    print(f"Random({SEED})")
    played = 0
    for _ in range(40):
        options = loaded.message("Options")()
        for option in loaded.description.options:
            values = [value.number for value in option.values] or [option.default_value, option.min, option.max]
            values = [0, 1] if option.type == OPTION_TYPE_BOOL else values
            setattr(options, option.name, luck.choice(values))
        seats = luck.randint(loaded.description.min_seats, loaded.description.max_seats)
        read = loaded.wire.read_options(options.SerializeToString())
        with contextlib.suppress(InvalidOptions):  # some options contradict each other, and are refused
            loaded.rules.check(read, seats)
            result = play(Run(loaded, read, "", seats, 2, luck.randrange(1000), check=True))
            assert result.violations == [], f"{options} {result.trace}"
            played += 1
    assert played > 20


def test_a_lost_card_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """A position that loses the lowest card of its stock at every draw breaks the dossier's invariants."""
    honest = Position.apply

    def losing(self: Position, seat: Seat, action: Any, chance: Chance) -> Sequence[Any]:
        events = honest(self, seat, action, chance)
        self.stock = self.stock[1:]
        return events

    monkeypatch.setattr(Position, "apply", losing)
    result = simulate("corsari", "--matches", "3", "--seats", "4", "--seed", "7", "--check", "--json")
    assert result.exit_code == 1
    printed = found(result)
    assert printed["violations"] > 0
    assert any(code.startswith("invariants: ") for code in printed["violations_by_code"])
    assert "match 1, action 1: invariants" in result.stderr


def test_the_console_script_prints_one_object_last(tmp_path: Path) -> None:
    """As installed, from any folder: stdout is one line of JSON; progress is on stderr."""
    tortuga = Path(sys.executable).with_name("tortuga")
    script = [str(tortuga), "simulate", "corsari", "--matches", "5", "--seats", "2", "--seed", "1", "--json"]
    ran = subprocess.run(script, cwd=tmp_path, capture_output=True, text=True, check=True, timeout=60)
    (line,) = ran.stdout.splitlines()
    printed = json.loads(line)
    assert printed["violations"] == 0
    assert printed["actions"] > 0
    assert printed["checks"] == {}
    assert "5/5" in ran.stderr


def test_the_same_seed_plays_the_same() -> None:
    """Only times differ between two runs of one seed; another seed plays other matches."""
    runs = [found(simulate("corsari", "--matches", "5", "--seed", seed, "--json")) for seed in ("3", "3", "4")]
    for run in runs:
        del run["seconds"], run["cpu_seconds"], run["actions_per_second"]
    assert runs[0] == runs[1]
    assert runs[0]["actions"] != runs[2]["actions"]


def test_people_get_sentences() -> None:
    """Without --json the result is told in words, with the same figures."""
    result = simulate("corsari", "--matches", "2", "--seats", "3", "--check")
    assert result.exit_code == 0
    assert "2 matches of corsari with 3 seats" in result.stdout
    assert "violations: 0" in result.stdout
    assert all(kind in result.stdout for kind in KINDS)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["atlantis"], "there is no game atlantis; there are: "),
        (["corsari", "--seats", "9"], "PLAYERS"),
        (["corsari", "--variant", "wild"], "has no variant wild; it has: "),
        (["corsari", "--matches", "0"], "--matches"),
    ],
)
def test_what_cannot_be_played_is_refused(arguments: list[str], said: str) -> None:
    """Wrong arguments end with 2 and a line on stderr; nothing is printed on stdout."""
    result = simulate(*arguments, "--json")
    assert result.exit_code == 2
    assert said in result.stderr
    assert result.stdout == ""
