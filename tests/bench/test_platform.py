"""The benchmarks over the real platform, in their smallest shape."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

import pytest

from services.cli.fleet import Fleet
from tests.bench.commands import bench, printed

TINY = ("--slices", "1", "--seconds-per-slice", "0.2")

FIGURES = {"echo_rps", "platform_rps", "ratio", "cpu_ratio", "p50_ms", "p99_ms", "link_batch", "commit_batch", "where"}
"""What the issue asks `bench actions` for."""


def test_actions_are_counted_and_found_in_the_log() -> None:
    """One object with the promised keys; every acknowledged action is in the log, and every match verifies."""
    found = printed(bench("actions", "--matches", "3", *TINY, "--json"))
    assert found.keys() >= FIGURES
    assert 0 < found["counted"] <= found["acknowledged"] == found["logged"]
    assert (found["lost"], found["refused"]) == (0, {})
    assert (found["verified"], found["replayed"]) == (found["matches_made"], 0)
    assert found["where"].keys() == {"echo", "gateway", "service", "parts_us"}
    assert found["where"]["gateway"].keys() == {"us", "user_us", "system_us"}
    parts = {"parse", "copy", "rules", "entry", "hashes", "judge", "encode", "append", "frames"}
    assert found["where"]["parts_us"].keys() == parts
    assert found["quartiles"].keys() >= {"ratio", "cpu_ratio", "p50_ms", "p99_ms"}


def test_fanout_reaches_everyone() -> None:
    """Each entry goes to every player and spectator, and is encoded for spectators once."""
    found = printed(bench("fanout", "--players", "3", "--spectators", "5", *TINY, "--json"))
    assert found.keys() >= {"deliveries_per_second", "p50_ms", "p99_ms", "encodings_per_entry", "us_per_delivery"}
    assert found["deliveries_per_second"] == pytest.approx(8 * found["entries_per_second"], rel=1e-3)
    assert found["skipped"] == 0
    assert 3 < found["encodings_per_entry"] <= 5, "the shared part, three seats, all spectators together"


def test_idle_weighs_streams() -> None:
    """One object with the promised keys, and the marks that the figures come from."""
    found = printed(bench("idle", "--streams", "8", "--connections", "2", "--settle", "0.1", "--json"))
    assert found.keys() >= {f"{server}_kib_per_{what}" for server in SERVERS for what in ("stream", "spectator")}
    assert found.keys() >= {"service_kib_per_match"}
    assert (found["streams"], found["matches"]) == (8, 4)
    assert list(found["resident_kib"]) == ["start", "matches", "seats", "spectators"]
    assert all(mark.keys() == SERVERS and min(mark.values()) > 0 for mark in found["resident_kib"].values())


SERVERS = {"gateway", "service"}


@pytest.mark.slow
def test_a_sweep_measures_every_number_of_matches() -> None:
    """1, 8, 32 and 128 matches beside the number that was asked for, each with all figures."""
    found = printed(bench("actions", "--matches", "2", "--sweep", *TINY, "--json"))
    assert [level["matches"] for level in found["sweep"]] == [1, 2, 8, 32, 128]
    assert all(level.keys() >= {"platform_rps", "ratio", "cpu_ratio", "p50_ms", "p99_ms"} for level in found["sweep"])


@pytest.mark.slow
def test_people_get_tables() -> None:
    """Without --json the same is told in tables with medians and quartiles, and one sentence about the log."""
    result = bench("actions", "--matches", "2", "--slices", "2", "--seconds-per-slice", "0.2")
    assert result.exit_code == 0, result.stderr
    assert all(word in result.stdout for word in ("CPU ratio", "median", "quartiles", "gateway", "0 lost"))


@pytest.mark.slow
def test_a_match_that_ends_is_replaced() -> None:
    """Matches are played to their ends and on: the load never runs dry, and all of them verify."""
    found = printed(bench("actions", "--matches", "2", "--slices", "8", "--seconds-per-slice", "1", "--json"))
    assert found["matches_played_out"] > 0, "no match ended: too slow a machine for this test"
    assert (found["lost"], found["verified"]) == (0, found["matches_made"])


@pytest.mark.slow
async def test_a_cluster_of_somebody_else_is_loaded_by_its_address(tmp_path: Path) -> None:
    """--target needs nothing but the address; what only the processes' owner can know is null or missing."""
    async with Fleet(tmp_path / "data", ["corsari"]) as fleet:
        command = ("bench", "actions", "--target", fleet.gateway_address, "--matches", "2", *TINY, "--json")
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "services.cli.main", *command), stdout=asyncio.subprocess.PIPE
        )
        out, _ = await process.communicate()
    assert process.returncode == 0
    found = json.loads(out)
    assert found["platform_rps"] > 0
    assert found["acknowledged"] > 0
    assert (found["echo_rps"], found["cpu_ratio"], found["commit_batch"]) == (None, None, None)
    assert not {"logged", "where"} & found.keys()


def test_a_target_that_is_not_there_is_said_in_words() -> None:
    """Status 1, a line on stderr, nothing on stdout."""
    result = bench("actions", "--target", "127.0.0.1:1", *TINY, "--json")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "the load actions ended with status 1" in result.stderr
