"""`tortuga arena`: bots against each other, told with an interval, the same again for the same seed."""

from __future__ import annotations

import asyncio
import json
import sys
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
from typer.testing import CliRunner

from services.cli.arena import Contest, Played, Score, play, play_match, wilson
from services.cli.main import app
from services.kit.game import load_game

CONTEST = Contest("corsari", "prudent", "random", "", seats=2, matches=8, seed=5)


def run(*arguments: str) -> tuple[int, str, str]:
    """Exit code, stdout and stderr of a command in this process."""
    done = CliRunner().invoke(app, ["arena", *arguments])
    return done.exit_code, done.stdout, done.stderr


async def test_the_command_plays_in_processes_and_prints_one_line_of_json() -> None:
    """With all that the contract of the command promises, and win, tie and loss adding up."""
    command = ("arena", "corsari", "prudent", "random", "--matches", "10", "--seed", "3", "--json")
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "services.cli.main", *command),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    out, _ = await asyncio.wait_for(process.communicate(), 60)
    found: dict[str, Any] = json.loads(out)
    assert process.returncode == 0
    assert (found["matches"], found["seats"], found["seed"]) == (10, 2, 3)
    assert found["wins"] + found["ties"] + found["losses"] == 10
    assert found["win_rate"] == (found["wins"] + found["ties"] / 2) / 10
    assert 0 <= found["low"] <= found["win_rate"] <= found["high"] <= 1
    assert set(found["mean_ms"]) == {"prudent", "random"}
    assert found["seconds"] > 0


def test_the_same_seed_plays_the_same_matches() -> None:
    """In one process or in two; another seed plays others."""

    def told(contest: Contest, workers: int) -> tuple[object, ...]:
        score = play(contest, workers)
        return score.wins, score.ties, score.losses, score.decisions

    assert told(CONTEST, 1) == told(CONTEST, 2)
    assert told(CONTEST, 1) != told(replace(CONTEST, seed=6), 1)


def test_every_seat_comes_equally_often(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first bot moves one seat on from match to match, and the second has all others."""
    seen: list[tuple[str, int]] = []

    class Spy:
        """Plays as another bot, and notes where it sits."""

        def __init__(self, level: str, bot: Any) -> None:
            self.level, self.bot = level, bot

        def advise(self, sight: Any, luck: Any, left_ms: Any) -> Any:
            """As the other bot."""
            seen.append((self.level, sight.seat))
            return self.bot.advise(sight, luck, left_ms)

    bots = load_game("corsari").bots()
    spied = replace(load_game("corsari"), bots=lambda: {level: Spy(level, bot) for level, bot in bots.items()})
    monkeypatch.setattr("services.cli.arena.load_game", lambda game: spied)
    for number in range(3):
        seen.clear()
        play_match(replace(CONTEST, seats=3), number)
        assert {seat for level, seat in seen if level == "prudent"} <= {number}
        assert number not in {seat for level, seat in seen if level == "random"}


def test_a_shared_win_counts_half() -> None:
    """And only a win that nobody shares is a win."""
    score = Score()
    for part in (1.0, 0.5, 1 / 3, 0.0):
        score.add(Played(part, "finished", {"one": 3.0, "other": 1.0}, Counter(one=2, other=1)))
    assert (score.wins, score.ties, score.losses, score.win_rate) == (1, 2, 1, 0.5)
    assert score.mean_ms("one") == 1.5


def test_the_interval_is_wilson_s() -> None:
    """Known values; it stays within 0 and 1."""
    assert wilson(0.7, 400) == pytest.approx((0.6534, 0.7429), abs=1e-4)
    assert wilson(1.0, 10) == pytest.approx((0.7225, 1.0), abs=1e-4)
    assert wilson(0.0, 10) == pytest.approx((0.0, 0.2775), abs=1e-4)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("chess", "steady", "prudent"), "there is no game chess; there are: "),
        (("corsari", "steady", "clever"), "corsari has no bot clever; it has: random, prudent, steady"),
        (("corsari", "steady", "prudent", "--seats", "9"), "corsari with 9 seats: PLAYERS"),
        (("corsari", "steady", "prudent", "--variant", "long"), "corsari has no variant long; it has: standard"),
    ],
)
def test_what_is_not_there_is_refused(arguments: tuple[str, ...], said: str) -> None:
    """With status 2 and what there is; nothing is played."""
    status, out, told = run(*arguments)
    assert (status, out) == (2, "")
    assert said in told


@pytest.mark.slow
@pytest.mark.parametrize(("second", "rate"), [("prudent", 0.70), ("random", 0.98)])
def test_steady_is_as_strong_as_asked(second: str, rate: float) -> None:
    """Issue 4: over 400 matches at least 0.70 against prudent, 0.98 against random."""
    score = play(Contest("corsari", "steady", second, "", seats=2, matches=400, seed=0))
    assert score.win_rate >= rate, score
