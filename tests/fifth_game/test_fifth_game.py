"""The game from outside, played: real processes of an environment with both wheels, and players who run there too."""

from __future__ import annotations

import json
import re
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from services.kit.entry import KIT_MARK, Entry
from tests.fifth_game.conftest import Platform
from tests.fifth_game.environments import Environment

pytestmark = pytest.mark.slow

_BUF = Path(sys.executable).with_name("buf")


def test_the_catalogue_lists_it_with_its_options(played: dict[str, Any]) -> None:
    """The gateway offers what the pod describes: seats, versions, variants, and each option by its descriptor."""
    [game] = played["catalogue"]
    assert (game["game"], game["service"]) == ("nim", "tortuga.nim.v1.NimService")
    assert (game["min_seats"], game["max_seats"], game["rules_versions"]) == (2, 4, ["1"])
    assert [variant["variant"] for variant in game["variants"]] == ["standard", "misere", "subtraction"]
    options = {option.pop("name"): option for option in game["options"]}
    assert [option.pop("number") for option in options.values()] == [1, 2, 3, 4, 5, 6]
    stones = {"type": "OPTION_TYPE_INT", "min": "1", "max": "20"}
    assert options == {
        "heaps": {"type": "OPTION_TYPE_INT", "default_value": "3", "min": "1", "max": "5"},
        "fewest_stones": {**stones, "default_value": "3"},
        "most_stones": {**stones, "default_value": "9"},
        "most_taken": {"type": "OPTION_TYPE_INT", "max": "9"},
        "last_stone": {
            "type": "OPTION_TYPE_ENUM",
            "default_value": "1",
            "values": [{"number": 1, "name": "wins"}, {"number": 2, "name": "loses"}],
        },
        "lot_for_first": {"type": "OPTION_TYPE_BOOL", "default_value": "1"},
    }


def test_both_games_are_installed_side_by_side(played: dict[str, Any]) -> None:
    """One namespace, two wheels: the entry points of both are found."""
    assert played["installed"] == ["corsari", "nim"]


def test_a_ticket_s_options_reach_the_match(played: dict[str, Any]) -> None:
    """What the wish set, the rest by default; three equal tickets made one match, played by those options."""
    match = played["by_options"]
    assert len(set(match["match_ids"])) == 1
    for seen in (*match["players"], match["spectator"]):
        assert seen["rules_version"] == "1"
        assert seen["options"] == {
            "heaps": 4,
            "fewest_stones": 2,
            "most_stones": 6,
            "most_taken": 2,
            "last_stone": "LAST_STONE_WINS",
            "lot_for_first": False,
        }
    heaps, first, taken = _story(match["spectator"])
    assert len(heaps) == 4
    assert all(2 <= stones <= 6 for stones in heaps)
    assert first == 0
    assert {count for _, _, count in taken} <= {1, 2}


def test_a_variant_s_options_are_its_own(played: dict[str, Any]) -> None:
    """A ticket by variant alone; actions sent in their text form. Whoever takes the last stone loses."""
    match = played["by_variant"]
    assert match["players"][0]["options"]["last_stone"] == "LAST_STONE_LOSES"
    _, _, taken = _story(match["spectator"])
    loser = taken[-1][0]
    places = match["spectator"]["outcome"]["places"]
    assert [place["rank"] for place in places] == [2 if seat == loser else 1 for seat in range(2)]


@pytest.mark.parametrize("name", ["by_options", "by_variant"])
def test_a_match_is_played_to_its_end(name: str, played: dict[str, Any]) -> None:
    """Every stone is taken, in turn; each player's and the spectator's own picture agrees with what happened."""
    match = played[name]
    watched = match["spectator"]
    seats = len(match["players"])
    heaps, first, taken = _story(watched)
    assert [seat for seat, _, _ in taken] == [(first + turn) % seats for turn in range(len(taken))]
    counts = [sum(count for seat, _, count in taken if seat == player) for player in range(seats)]
    assert sum(counts) == sum(heaps)
    assert watched["outcome"]["reason"] == "finished"
    assert [place.get("points", 0) for place in watched["outcome"]["places"]] == counts
    assert sorted(seen["seat"] for seen in match["players"]) == list(range(seats))
    assert watched["seat"] is None
    for seen in (*match["players"], watched):
        assert seen["seqs"] == list(range(seen["seqs"][0], seen["seqs"][-1] + 1)), "each update once, in order"
        for part in ("events", "outcome", "seed"):
            assert seen[part] == watched[part], part
        assert set(seen["heaps"]) == {0}
        assert seen["taken"] == counts
    assert sum(seen["moves"] for seen in match["players"]) == len(taken)


def test_every_action_is_in_the_pod_s_log(played: dict[str, Any], platform: Platform) -> None:
    """In its text form, once."""
    logged: dict[str, list[str]] = {}
    with closing(sqlite3.connect(f"file:{platform.data / 'nim.db'}?mode=ro", uri=True)) as connection:
        rows = connection.execute(
            "SELECT match_id, data FROM entries JOIN matches ON matches.id = entries.match ORDER BY entries.id"
        )
        for match_id, data in rows:
            text = Entry.read(data).text
            if not text.startswith(KIT_MARK):
                logged.setdefault(match_id, []).append(text)
    for name in ("by_options", "by_variant"):
        _, _, taken = _story(played[name]["spectator"])
        assert logged[played[name]["match_ids"][0]] == [f"take {count} from {heap}" for _, heap, count in taken]


def test_wishes_that_do_not_fit_are_refused(played: dict[str, Any]) -> None:
    """By the gateway, which knows the descriptor alone; and, where it takes the rules, by the game before any match."""
    assert played["refusals"] == {
        "out of range": ["INVALID_ARGUMENT", "OPTION_RANGE", {"max": "5", "min": "1", "name": "heaps"}],
        "no value": ["INVALID_ARGUMENT", "OPTION_RANGE", {"max": "2", "min": "1", "name": "last_stone"}],
        "unknown": ["INVALID_ARGUMENT", "OPTION_UNKNOWN", {"name": "127"}],
        "across options": ["INVALID_ARGUMENT", "STONES_CROSSED", {"fewest": "9", "most": "8"}],
        "variant": ["NOT_FOUND", "VARIANT_UNKNOWN", {"game": "nim"}],
        "seats": ["INVALID_ARGUMENT", "SEATS", {"max": "4", "min": "2"}],
    }


def test_the_pod_answers_typed_calls_with_the_same_token(played: dict[str, Any]) -> None:
    """`Watch` and `Act` of the game's own service, past the gateway: played to the end, refused with code and limit."""
    found = played["at_the_pod"]
    assert found["without_token"] == "UNAUTHENTICATED TOKEN_MISSING {}"
    for said in found["said"]:
        refused, acknowledged = said[::2], said[1::2]
        assert acknowledged == [f"a{decision}" for decision in range(1, len(acknowledged) + 1)]
        assert acknowledged
        for refusal in refused:
            assert re.fullmatch(r"FAILED_PRECONDITION TOO_MANY \{'count': '4', 'limit': '[123]'\}", refusal)


@pytest.mark.skipif(not _BUF.exists(), reason="buf is not installed")
@pytest.mark.parametrize("where", ["gateway", "pod"])
def test_a_client_without_files_finds_it_by_reflection(where: str, platform: Platform, played: dict[str, Any]) -> None:
    """Gateway and pod list the service and its calls, and describe its messages: a generic client reads a match."""
    address = f"http://{platform.gateway if where == 'gateway' else platform.pod}"
    assert "tortuga.nim.v1.NimService" in _buf("--list-services", address).splitlines()
    calls = {f"tortuga.nim.v1.NimService/{call}" for call in ("Play", "Act", "Watch", "Replay")}
    assert calls <= set(_buf("--list-methods", address).splitlines())
    signed_in = _buf("--data", "{}", f"http://{platform.gateway}/tortuga.gateway.v1.IdentityService/SignInAsGuest")
    token = re.search(r'"accessToken": *"([^"]+)"', signed_in)
    assert token
    match_id = played["by_options"]["match_ids"][0]
    request = f'{{"header": {{"match_id": "{match_id}"}}}}'
    bearer = f"authorization: Bearer {token[1]}"
    seen = _buf("--header", bearer, "--data", request, f"{address}/tortuga.nim.v1.NimService/Watch")
    for part in ('"MATCH_STATE_ENDED"', '"view"', '"heaps"', '"taken"'):
        assert part in seen, part


def test_the_demo_plays_it_as_well(environment: Environment) -> None:
    """`tortuga demo` starts whatever is installed and plays it with every number of seats."""
    command = ("tortuga", "demo", "--matches-per-size", "1", "--pace", "0", "--json")
    found = json.loads(environment.run(*command, timeout=90).stdout)
    assert found["failed"] == 0
    assert sorted(match["seats"] for match in found["matches"] if match["game"] == "nim") == [2, 3, 4]
    assert set(found["processes"]) == {"gateway", "corsari", "nim", "bots"}


def _story(seen: dict[str, Any]) -> tuple[list[int], int, list[tuple[int, int, int]]]:
    """From a viewer's events: the heaps, who began, and what was taken: seat, heap, count."""
    heaps: list[int] = []
    first = -1
    taken = []
    for event in seen["events"]:
        numbers = [int(number) for number in re.findall(r"\d+", event)]
        if re.fullmatch(r"heaps \[[\d, ]+\], \d begins", event):
            *heaps, first = numbers
        else:
            assert re.fullmatch(r"\d took \d+ from \d", event), event
            seat, count, heap = numbers
            taken.append((seat, heap, count))
    return heaps, first, taken


def _buf(*arguments: str) -> str:
    command = [str(_BUF), "curl", "--protocol", "grpc", "--http2-prior-knowledge", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout
