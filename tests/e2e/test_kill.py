"""The demo's matches while the game's process is killed under them."""

from __future__ import annotations

import asyncio
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from random import Random

import pytest

from services.cli.demo_players import Plan, play_all
from services.cli.fleet import Fleet
from services.client import Journal
from services.kit.entry import KIT_MARK, Entry
from services.kit.game import installed_games, load_game

_KILLS = 2


class _Journal:
    """What all clients sent and received, and an alarm after so many answers."""

    def __init__(self) -> None:
        self.answered: dict[str, Counter[str]] = defaultdict(Counter)
        self.received: dict[tuple[str, int], list[int]] = defaultdict(list)
        self.skipped = 0
        self._answers = 0
        self._alarms: list[tuple[int, asyncio.Event]] = []

    def player(self, number: int) -> Journal:
        """A hook for one player's client."""

        def note(kind: str, data: Mapping[str, object]) -> None:
            match_id = str(data["match_id"])
            if kind == "received":
                self.received[match_id, number].append(int(str(data["seq"])))
            elif kind == "skipped":
                self.skipped += 1
            elif kind == "answered":
                self.answered[match_id][str(data["action_id"])] += 1
                self._answers += 1
                for count, alarm in self._alarms:
                    if self._answers >= count:
                        alarm.set()

        return note

    async def until_answered(self, more: int) -> None:
        """Wait for so many answers more."""
        alarm = asyncio.Event()
        self._alarms.append((self._answers + more, alarm))
        async with asyncio.timeout(60):
            await alarm.wait()


@pytest.mark.parametrize("victim", ["games", pytest.param("gateway", marks=pytest.mark.slow)])
async def test_kill_loses_nothing_and_doubles_nothing(tmp_path: Path, victim: str) -> None:
    """kill -9 in mid-play: every match goes on under its id, and each acknowledged action is in the log once."""
    games = installed_games()
    victims = games if victim == "games" else [victim]
    seed = Random().randrange(1 << 32)
    print("seed", seed)
    plan = Plan([load_game(game) for game in games], matches_per_size=4, seed=seed, pace=0.1)
    journal = _Journal()
    async with Fleet(tmp_path, games) as fleet:
        playing = asyncio.create_task(
            play_all(fleet.gateway_address, plan, seconds=90, ended=lambda: None, journal=journal.player)
        )
        before: set[str] = set()
        for _ in range(_KILLS):
            await journal.until_answered(60)
            before |= set(journal.answered)
            for name in victims:
                fleet.kill(name)
        played = await playing
    assert [match.failures for match in played if match.failures] == []
    assert before <= {match.match_id for match in played}
    assert len(played) == plan.matches
    assert all(fleet.members[name].restarts == _KILLS for name in victims)
    assert journal.skipped == 0
    for game in games:
        for match_id, entries in _logs(tmp_path / f"{game}.db").items():
            logged = Counter(entry.action_id for entry in entries)
            acknowledged = journal.answered[match_id]
            assert [action_id for action_id in acknowledged if logged[action_id] != 1] == []
            actions = sum(not entry.text.startswith(KIT_MARK) for entry in entries)
            assert actions == next(match.actions for match in played if match.match_id == match_id)
    for seqs in journal.received.values():
        assert seqs == list(range(seqs[0], seqs[0] + len(seqs))), "each update once, in order"


def _logs(file: Path) -> dict[str, list[Entry]]:
    """The entries of every match in a log, in order."""
    found: dict[str, list[Entry]] = defaultdict(list)
    with closing(sqlite3.connect(file)) as connection:
        rows = connection.execute(
            "SELECT match_id, data FROM entries JOIN matches ON matches.id = entries.match"
            " ORDER BY match, entries.revision"
        )
        for match_id, data in rows:
            found[match_id].append(Entry.read(data))
    return found
