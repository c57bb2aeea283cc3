"""Finished matches of the game from outside: replayed, exported, verified offline, and refused if they were touched."""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path
from typing import Any

import pytest

from services.kit.entry import Entry
from tests.fifth_game.conftest import Platform
from tests.fifth_game.environments import Environment

pytestmark = pytest.mark.slow

DRAWS = {"by_options": 4, "by_variant": 4}
"""Four heaps without a lot for the first seat; three heaps with one."""


@pytest.fixture(scope="module", params=DRAWS)
def name(request: pytest.FixtureRequest) -> str:
    """Each match that was played through the gateway."""
    return str(request.param)


@pytest.fixture(scope="module")
def record(
    name: str,
    played: dict[str, Any],
    environment: Environment,
    platform: Platform,
    tmp_path_factory: pytest.TempPathFactory,
) -> Path:
    """The match as a file, exported through the gateway by a stranger."""
    file = tmp_path_factory.mktemp("records") / f"{name}.json"
    match_id = played[name]["match_ids"][0]
    where = ("--game", "nim", "--target", platform.gateway)
    environment.run("tortuga", "export", match_id, *where, "-o", str(file), timeout=60)
    return file


def test_a_replay_tells_what_was_seen(name: str, played: dict[str, Any]) -> None:
    """Through the gateway: first the match, then an entry a message, typed; the last one has outcome and seed."""
    watched = played[name]["spectator"]
    first, *entries = watched["replayed"]
    assert first["attached"]["match"]["game"] == "nim"
    assert "view" in next(entry["update"] for entry in entries if "update" in entry)
    _check_entries(entries)
    taken = [entry for entry in entries if "taken" in str(entry.get("update", {}).get("events"))]
    assert len(taken) == sum(seen["moves"] for seen in played[name]["players"])
    assert entries[-1]["status"]["outcome"] == watched["outcome"]
    assert base64.b64decode(entries[-1]["status"]["seed"]).hex() == watched["seed"]


def test_the_pod_replays_by_itself(played: dict[str, Any]) -> None:
    """The same call past the gateway."""
    first, *entries = played["at_the_pod"]["replayed"]
    assert first["attached"]["match"]["game"] == "nim"
    _check_entries(entries)
    assert entries[-1]["status"]["state"] == "MATCH_STATE_ENDED"


def test_it_is_verified_in_full(name: str, record: Path, environment: Environment) -> None:
    """Offline, from the file: every entry judged anew, every lot drawn anew from the revealed seed."""
    verdict = json.loads(environment.run("tortuga", "verify", str(record), "--json", timeout=60).stdout)
    assert (verdict["verdict"], verdict["game"], verdict["sealed"]) == ("full", "nim", 0)
    assert verdict["draws"] == DRAWS[name]
    assert verdict["entries"] == verdict["replayed"] == len(json.loads(record.read_text())["entries"])


def test_it_is_verified_by_its_id(
    name: str, played: dict[str, Any], environment: Environment, platform: Platform
) -> None:
    """Fetched through the gateway."""
    where = (played[name]["match_ids"][0], "--game", "nim", "--target", platform.gateway)
    said = environment.run("tortuga", "verify", *where, timeout=60).stdout
    assert said.splitlines()[0] == "full"


def test_a_touched_record_is_refused(record: Path, environment: Environment, tmp_path: Path) -> None:
    """An action that reads otherwise: refused, naming the entry."""
    found = json.loads(record.read_text())
    number, entry = next(
        (number, entry) for number, entry in enumerate(found["entries"], 1) if '"take ' in entry["entry"]
    )
    entry["entry"] = re.sub(r'"take (\d+) from \d"', lambda took: f'"take {int(took[1]) + 1} from 0"', entry["entry"])
    touched = tmp_path / "touched.json"
    touched.write_text(json.dumps(found))
    said = environment.run("tortuga", "verify", str(touched), "--json", timeout=60, status=1).stdout
    verdict = json.loads(said)
    assert (verdict["verdict"], verdict["entry"]) == ("refused", number)


def test_it_is_shown_step_by_step(record: Path, environment: Environment, played: dict[str, Any], name: str) -> None:
    """`tortuga replay`: every action in its text form, and what everyone saw of it."""
    said = environment.run("tortuga", "replay", str(record), timeout=60).stdout
    for event in played[name]["spectator"]["events"]:
        assert event in said
    texts = [Entry.read(entry["entry"].encode()).text for entry in json.loads(record.read_text())["entries"]]
    assert all(text in said for text in texts)


def test_spectators_watch_it_on_the_command_line(
    name: str, played: dict[str, Any], environment: Environment, platform: Platform
) -> None:
    """`tortuga watch`, here of a match that is over: how it stands at the end."""
    match_id = played[name]["match_ids"][0]
    said = environment.run("tortuga", "watch", match_id, "--game", "nim", "--target", platform.gateway, timeout=60)
    assert "heaps [0, 0, 0" in said.stdout


def _check_entries(entries: list[Any]) -> None:
    """Each message is an entry that is opened whole, and they are numbered without gaps."""
    assert [int(entry["header"]["seq"]) for entry in entries] == list(range(1, len(entries) + 1))
    assert all(entry["record"].keys() >= {"entry", "blind"} for entry in entries)
