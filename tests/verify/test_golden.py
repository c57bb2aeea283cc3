"""Old logs still replay: every golden log of every release, checked by today's rules."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from services.kit.entry import Entry, parse_kit
from services.kit.export import Export, read, write
from services.kit.game import installed_games, load_game
from services.kit.step import ABORTED
from services.kit.verify import verify
from tests.verify import independent
from tests.verify.golden import FOLDER, logs_of, record
from tortuga.play.v1 import play_pb2

LOGS = sorted(path for game in installed_games() for path in logs_of(game).glob("*.json"))


def each_log() -> pytest.MarkDecorator:
    return pytest.mark.parametrize("path", LOGS, ids=[f"{path.parents[1].name}/{path.stem}" for path in LOGS])


@each_log()
def test_golden_log_is_true(path: Path) -> None:
    """It verifies in full, and reads and writes back to the same bytes. If not, a version's rules were changed."""
    data = path.read_bytes()
    export = read(data)
    verdict = verify(export, load_game(export.match.game))
    assert verdict.full
    assert verdict.entries == verdict.replayed == len(export.entries)
    assert write(export).encode() == data


@each_log()
def test_golden_log_satisfies_the_page(path: Path) -> None:
    """Who checks it by docs/fairness.md alone finds commitment, chain and key to fit; each address is a stream."""
    key, entries = independent.check_file(path.read_text(encoding="utf-8"))
    addresses = [address for entry in entries for address in entry[5]]
    assert bool(key) == ("@begin" in {entry[3] for entry in entries})
    assert len(addresses) == len(set(addresses))
    assert all(sorted(independent.shuffle(key, address, 9)) == list(range(9)) for address in addresses)


@pytest.mark.parametrize("name", installed_games())
def test_golden_logs_show_every_way_to_end(name: str) -> None:
    """All numbers of seats, every option changed, a silent seat, a resigned one whose turns are played, both aborts."""
    game = load_game(name)
    exports = [read(path.read_bytes()) for path in logs_of(name).glob("*.json")]
    seats = Counter(len(export.match.seats) for export in exports if export.outcome is not None)
    assert set(seats) == set(range(game.description.min_seats, game.description.max_seats + 1))
    kinds = [_kinds(export) for export in exports]
    assert any(play_pb2.KIT_KIND_TIMEOUT in each for each in kinds)
    assert any(0 < each[play_pb2.KIT_KIND_CONTRIBUTE] < each[play_pb2.KIT_KIND_RETURN] for each in kinds)
    assert {entry.seat for export in exports if export.state == ABORTED for entry in _entries(export)[-1:]} > {None}
    assert any(_all_changed(export) for export in exports)


def test_recording_adds_and_never_changes(tmp_path: Path) -> None:
    """A second run writes nothing; a file that is there stays as it is, whatever is in it."""
    [game, *_] = installed_games()
    new = record(tmp_path, [game], "9.9.9")
    assert len(new) >= 6
    new[0].write_text("kept", encoding="utf-8")
    new[1].unlink()
    assert record(tmp_path, [game], "9.9.9") == [new[1]]
    assert new[0].read_text(encoding="utf-8") == "kept"
    assert len(record(tmp_path, [game], "9.9.10")) == len(new)


def test_every_installed_game_has_golden_logs() -> None:
    """And no log lies where it is not checked."""
    assert {path.parents[1].name for path in LOGS} == set(installed_games())
    assert set(FOLDER.glob("*/logs/*")) == set(LOGS)


def _entries(export: Export) -> list[Entry]:
    return [Entry.read(entry.data) for entry in export.entries]


def _kinds(export: Export) -> Counter[play_pb2.KitKind.ValueType]:
    """How often each kit action occurs."""
    return Counter(parse_kit(entry.text, entry.seat).kind for entry in _entries(export) if entry.text.startswith("@"))


def _all_changed(export: Export) -> bool:
    """Whether no option has its default."""
    game = load_game(export.match.game)
    message = game.message("Options").FromString(export.match.options)
    return all(getattr(message, option.name) != option.default_value for option in game.description.options)
