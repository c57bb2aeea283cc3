"""The log is an independent witness: the audit notices what is missing, and what does not replay."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from random import Random

import pytest

from services.cli.bench.audit import audit, read_log
from services.cli.bench.local import LocalTable
from services.cli.bench.parts import measure_parts
from services.kit.clock import StoreClock
from services.kit.entry import KIT_MARK, Entry
from services.kit.game import AnyGame, installed_games, load_game
from services.kit.host import Host
from services.kit.judge import Divergence
from services.kit.store.sqlite import SqliteMatchStore

TO_THE_END = 100_000
GAME = load_game(installed_games()[0])


async def played(file: Path, game: AnyGame, entries: int) -> None:
    """A match called "m" in the log at *file*."""
    store = SqliteMatchStore(file)
    host = Host(game, store, StoreClock())
    try:
        await LocalTable.make(host, "m", 2)
        table = LocalTable(host, "m", 2, Random(7))
        await table.play(entries)
        table.leave()
        assert table.finished == (entries == TO_THE_END)
    finally:
        await host.close()
        await store.close()


async def test_an_acknowledged_action_that_is_not_there_is_lost(tmp_path: Path) -> None:
    """As many as the log has are fine; one more is one lost; a match that is not there at all loses all of its own."""
    await played(tmp_path / "log.db", GAME, 40)
    log = read_log(tmp_path / "log.db", ["m", "elsewhere"])
    texts = [Entry.read(entry.data).text for entry in log[0].entries]
    actions = sum(not text.startswith(KIT_MARK) for text in texts)
    assert actions == 40 - 5, "two came, two contributed, it began"
    assert audit(log, GAME, {"m": actions}) == (actions, actions, 0, 0, 1)
    assert audit(log, GAME, {"m": actions + 1}).lost == 1
    assert audit(log, GAME, {"m": actions, "elsewhere": 3}).lost == 3


async def test_a_match_that_ended_is_verified(tmp_path: Path) -> None:
    """Played to its end, a match counts as finished: commitment, chain, every entry and the outcome were checked."""
    await played(tmp_path / "log.db", GAME, TO_THE_END)
    assert audit(read_log(tmp_path / "log.db", ["m"]), GAME, {}).finished == 1


async def test_a_changed_entry_does_not_replay(tmp_path: Path) -> None:
    """A log that somebody wrote into is not taken for a measurement."""
    await played(tmp_path / "log.db", GAME, 40)
    with sqlite3.connect(tmp_path / "log.db") as connection:
        connection.execute("UPDATE entries SET data = replace(data, '\"1\"', '\"one\"') WHERE revision = 6")
    with pytest.raises(Divergence):
        audit(read_log(tmp_path / "log.db", ["m"]), GAME, {})


@pytest.mark.parametrize("game", installed_games())
async def test_parts_are_measured_on_a_real_match(tmp_path: Path, game: str) -> None:
    """Every part of every game takes some time, and the whole of judging more than the copy in it."""
    await played(tmp_path / "log.db", load_game(game), 60)
    parts = measure_parts(read_log(tmp_path / "log.db", ["m"])[0], load_game(game))
    assert min(parts[name] for name in parts.keys() - {"rules"}) > 0, "of two measurements a difference may be nothing"
    assert parts["judge"] > parts["copy"]
