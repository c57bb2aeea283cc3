"""`tortuga demo`, as a newcomer types it."""

from __future__ import annotations

import json
import os
import re
import signal
import sqlite3
import subprocess
import time
from collections import Counter
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

from services.kit.entry import KIT_MARK, Entry
from services.kit.game import installed_games, load_game
from tests.e2e.conftest import TORTUGA

_PROCESS = re.compile(r"^(\S+): process (\d+), gRPC ", re.MULTILINE)


def test_demo_plays_every_game_with_every_number_of_seats() -> None:
    """Exit 0; one line of JSON says that nothing failed, and what was played; progress is plain lines on stderr."""
    command = (*TORTUGA, "demo", "--matches-per-size", "1", "--pace", "0", "--seed", "7", "--json")
    done = subprocess.run(command, capture_output=True, text=True, timeout=110, check=False)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    assert (found["failed"], found["seed"]) == (0, 7)
    sizes = [(match["game"], match["seats"]) for match in found["matches"]]
    wanted = []
    for name in installed_games():
        game = load_game(name).description
        wanted += [(name, seats) for seats in range(game.min_seats, game.max_seats + 1)]
    assert sorted(sizes) == sorted(wanted)
    for match in found["matches"]:
        assert match["id"]
        assert match["actions"] > 0
        assert match["seconds"] > 0
        assert len(match["outcome"]["places"]) == match["seats"]
    assert set(found["processes"]) == {"gateway", "bots", *installed_games()}
    assert "matches: 3/3" in done.stderr
    assert "\x1b" not in done.stderr, "no bar in a pipe"
    assert not any(_is_alive(int(pid)) for _, pid in _PROCESS.findall(done.stderr))


def test_killed_game_processes_come_back_and_the_demo_ends_well(tmp_path: Path) -> None:
    """kill -9 of every game's process: exit 0, the same matches, and as many actions logged as were played."""
    command = (*TORTUGA, "demo", "--matches-per-size", "2", "--pace", "0.2", "--data", str(tmp_path), "--json")
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as demo:
        games = {name: pid for name, pid in _wait_for_start(demo) if name not in {"gateway", "bots"}}
        before = _wait_until_played(tmp_path, games)
        for pid in games.values():
            os.kill(int(pid), signal.SIGKILL)
        said, complaints = demo.communicate(timeout=100)
    assert demo.returncode == 0, complaints
    found = json.loads(said)
    assert found["failed"] == 0
    assert all(found["processes"][name]["restarts"] >= 1 for name in games)
    played = {match["id"]: match["actions"] for match in found["matches"]}
    assert before <= set(played)
    logged = {match_id: number for name in games for match_id, number in _actions(tmp_path / f"{name}.db").items()}
    assert logged == played


def test_interrupt_stops_everything() -> None:
    """Ctrl-C in mid-demo leaves no process behind."""
    command = (*TORTUGA, "demo", "--pace", "5")
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True) as demo:
        started = _wait_for_start(demo)
        assert all(_is_alive(int(pid)) for _, pid in started)
        demo.send_signal(signal.SIGINT)
        began = time.monotonic()
        demo.wait(20)
        assert time.monotonic() - began < 12
    assert demo.returncode == 130
    assert not any(_is_alive(int(pid)) for _, pid in started)


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def _wait_for_start(demo: subprocess.Popen[str]) -> list[tuple[str, str]]:
    """The demo's processes, by name, once it has told them all."""
    assert demo.stderr is not None
    said = ""
    while len(started := _PROCESS.findall(said)) < 2 + len(installed_games()):
        said += demo.stderr.readline()
        assert demo.poll() is None, said
    return started


def _wait_until_played(data: Path, games: Iterable[str]) -> set[str]:
    """The matches under way, once every game's log holds a dozen actions."""
    while True:
        played = [_actions(data / f"{name}.db") for name in games]
        if all(sum(actions.values()) >= 12 for actions in played):
            return {match_id for actions in played for match_id in actions}
        time.sleep(0.02)


def _actions(file: Path) -> dict[str, int]:
    """How many actions of seats, kit actions left out, a log holds per match."""
    found: Counter[str] = Counter()
    with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as connection:
        rows = connection.execute("SELECT match_id, data FROM entries JOIN matches ON matches.id = entries.match")
        for match_id, data in rows:
            found[match_id] += not Entry.read(data).text.startswith(KIT_MARK)
    return dict(found)
