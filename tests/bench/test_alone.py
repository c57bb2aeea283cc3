"""The benchmarks that need no platform, and that none of them is loaded by a process that serves."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from services.cli.bench import BENCHMARKS
from services.kit.game import installed_games, load_game
from tests.bench.commands import bench, printed


def test_log_appends_together_and_alone(tmp_path: Path) -> None:
    """Both ways with speed, latencies and batches; the log stays where it was asked to be."""
    slices = ("--slices", "2", "--seconds-per-slice", "0.1")
    found = printed(bench("log", "--matches", "8", *slices, "--data", str(tmp_path), "--json"))
    for way in ("grouped", "single"):
        assert found[way].keys() >= {"entries_per_second", "p50_ms", "p99_ms", "cpu_us", "batch"}
        assert found[way]["entries_per_second"] > 0
    assert (found["single"]["batch"], found["grouped"]["batch"] > 1) == (1, True)
    assert found["filesystem"]
    assert (tmp_path / "bench-log.db").stat().st_mode & 0o777 == 0o600


def test_rules_plays_every_installed_game() -> None:
    """Each game with its fewest and its most seats."""
    found = printed(bench("rules", "--matches", "2", "--slices", "2", "--json"))
    sizes = [(game, load_game(game).description) for game in installed_games()]
    wanted = [(game, seats) for game, about in sizes for seats in sorted({about.min_seats, about.max_seats})]
    assert [(each["game"], each["seats"]) for each in found["games"]] == wanted
    assert all(each["actions_per_second"] > 0 and each["actions_per_cpu_second"] > 0 for each in found["games"])


@pytest.mark.parametrize("game", installed_games())
def test_fold_brings_matches_back(game: str) -> None:
    """A match of 100 entries and one of 300, or as long as the game lasts, from a real file."""
    found = printed(bench("fold", "--game", game, "--slices", "2", "--json"))
    assert [each["wanted"] for each in found["folds"]] == [100, 300]
    assert all(0 < each["entries"] <= each["wanted"] and each["ms"] > 0 for each in found["folds"])


@pytest.mark.parametrize(
    "arguments", [("actions", "--game", "atlantis"), ("fold", "--game", "atlantis"), ("fanout", "--players", "99")]
)
def test_what_cannot_be_measured_is_refused(arguments: tuple[str, ...]) -> None:
    """Wrong arguments end with 2 and a line on stderr; nothing is started."""
    result = bench(*arguments, "--json")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("tortuga: ")


def test_help_names_all_of_them() -> None:
    """Each benchmark is listed and says what it does."""
    listed = bench("--help").stdout
    assert all(name in listed for name in BENCHMARKS)
    for name in BENCHMARKS:
        assert "--json" in bench(name, "--help").stdout


def test_serving_loads_no_benchmark() -> None:
    """The console script knows the benchmarks by name alone until one is called for."""
    ask = (
        "import sys, services.cli.main; print([name for name in sys.modules if name.startswith('services.cli.bench.')])"
    )
    assert subprocess.run([sys.executable, "-c", ask], capture_output=True, text=True, check=True).stdout == "[]\n"
