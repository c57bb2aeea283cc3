"""The judge finds what it is there for: faults planted into copies of a sound record, one at a time."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import AsyncIterator, Callable
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Any

import pytest
import pytest_asyncio

from services.cli.fleet import Fleet
from tests.crash.players import GAME, Room
from tests.crash.verdict import verdict_on

pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="module")]

Line = dict[str, Any]


class Record:
    """A copy of what a room left behind, to be spoiled."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.database = folder / f"{GAME}.db"

    def lines(self, client: str) -> list[Line]:
        """A client's journal."""
        text = (self.folder / "journals" / f"{client}.jsonl").read_text(encoding="utf-8")
        return [json.loads(line) for line in text.splitlines()]

    def write(self, client: str, lines: list[Line]) -> None:
        """Put a client's journal in the place of its own."""
        text = "".join(json.dumps(line) + "\n" for line in lines)
        (self.folder / "journals" / f"{client}.jsonl").write_text(text, encoding="utf-8")

    def execute(self, statement: str) -> None:
        """Change the database."""
        with closing(sqlite3.connect(self.database)) as connection, connection:
            assert connection.execute(statement).rowcount != 0

    def kinds(self) -> set[str]:
        """What the judge finds."""
        return {str(fault["kind"]) for fault in verdict_on(self.folder)["faults"]}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def sound(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Path]:
    """What one match each of two and three seats left behind."""
    folder = tmp_path_factory.mktemp("sound")
    async with Fleet(folder, [GAME]) as fleet:
        room = Room(fleet.gateway_address, folder, {2: 1, 3: 1}, Random(5), pace=0.0)
        room.open()
        await room.until_playing(len(room.players))
        await room.close(30)
        assert room.failures() == []
    yield folder


@pytest.fixture
def record(sound: Path, tmp_path: Path) -> Record:
    """A copy of the sound record."""
    shutil.copytree(sound, tmp_path / "record")
    return Record(tmp_path / "record")


async def test_sound_record_is_sound(record: Record) -> None:
    """Without a planted fault there is none, and there is something to judge."""
    verdict = verdict_on(record.folder)
    assert verdict["faults"] == []
    assert verdict["matches"] == verdict["verified"] >= 2
    assert verdict["acknowledged"] > 30


def _answers(lines: list[Line]) -> list[int]:
    return [number for number, line in enumerate(lines) if line["kind"] == "answered"]


def _received(lines: list[Line]) -> list[int]:
    return [number for number, line in enumerate(lines) if line["kind"] == "received"]


def lost_entry(record: Record) -> None:
    """An acknowledged action is not in the log."""
    record.execute("DELETE FROM entries WHERE id = (SELECT MAX(id) FROM entries WHERE seat >= 0)")


def lost_tail(record: Record) -> None:
    """The end of a log is gone, as after a rewind of the file: the rest is sound, but an acknowledgement tells."""
    record.execute("DELETE FROM entries WHERE revision = (SELECT revision FROM matches WHERE id = 1) AND match = 1")
    record.execute(
        "UPDATE matches SET (revision, head) = "
        "(SELECT revision, head FROM entries WHERE match = 1 ORDER BY revision DESC LIMIT 1) WHERE id = 1"
    )


def doubled_entry(record: Record) -> None:
    """An action is in the log twice, under one action id."""
    record.execute("DROP INDEX action_ids")
    record.execute(
        "INSERT INTO entries (match, revision, seat, action_id, head, data) "
        "SELECT match, (SELECT MAX(revision) + 1 FROM entries AS all_of WHERE all_of.match = entries.match), "
        "seat, action_id, head, data FROM entries WHERE seat >= 0 LIMIT 1"
    )


def doubled_under_another_id(record: Record) -> None:
    """The client asked once and was answered once; the log has the action a second time, under an id not its own."""
    record.execute(
        "INSERT INTO entries (match, revision, seat, action_id, head, data) "
        "SELECT match, (SELECT MAX(revision) + 1 FROM entries AS all_of WHERE all_of.match = entries.match), "
        "seat, 'again', head, CAST(REPLACE(CAST(data AS TEXT), action_id, 'again') AS BLOB) "
        "FROM entries WHERE seat >= 0 LIMIT 1"
    )


def wrong_seat(record: Record) -> None:
    """An action is logged for another seat than the one whose client sent it."""
    record.execute(
        "UPDATE entries SET data = CAST(REPLACE(CAST(data AS TEXT), ',0,', ',1,') AS BLOB) "
        "WHERE id = (SELECT MIN(id) FROM entries WHERE seat = 0 AND revision > 9)"
    )


def gap_in_updates(record: Record) -> None:
    """A client never received one of its updates."""
    lines = record.lines("player-01")
    del lines[_received(lines)[4]]
    record.write("player-01", lines)


def repeated_update(record: Record) -> None:
    """A client received an update twice."""
    lines = record.lines("player-01")
    again = lines[_received(lines)[4]]
    lines.insert(_received(lines)[4] + 1, again)
    record.write("player-01", lines)


def skip(record: Record) -> None:
    """An honest client was told that it was too slow."""
    lines = record.lines("player-02")
    at = _received(lines)[3]
    lines.insert(at, {"at": 0.0, "kind": "skipped", "match_id": lines[at]["match_id"], "first": 1, "last": 2})
    record.write("player-02", lines)


def phantom_update(record: Record) -> None:
    """A client was shown what the log does not hold: it was told before it was durable, and then lost."""
    lines = record.lines("player-00")
    shown = [line for line in lines if line["kind"] == "shown"]
    shown[5]["head"] = "00" * 32
    record.write("player-00", lines)


def two_answers(record: Record) -> None:
    """The same action was acknowledged twice, as two different updates."""
    lines = record.lines("player-00")
    other = lines[_answers(lines)[2]] | {"seq": 999}
    record.write("player-00", [*lines, other])


def unfinished_match(record: Record) -> None:
    """A match never ended."""
    record.execute("UPDATE matches SET state = 2 WHERE id = 1")


def end_not_seen(record: Record) -> None:
    """A client was never told that its match is over."""
    record.write("player-01", [line for line in record.lines("player-01") if line["kind"] != "over"])


def tampered_log(record: Record) -> None:
    """An entry of the database is not the one that was exported."""
    record.execute(
        "UPDATE entries SET data = CAST(REPLACE(CAST(data AS TEXT), 'stock', 'discard') AS BLOB) "
        "WHERE id = (SELECT MIN(id) FROM entries WHERE CAST(data AS TEXT) LIKE '%draw stock%')"
    )


def tampered_export(record: Record) -> None:
    """An entry of an export is not the one that was played."""
    texts = {path: path.read_text(encoding="utf-8") for path in (record.folder / "exports").glob("*.json")}
    path = next(path for path, text in texts.items() if "draw stock" in text)
    path.write_text(texts[path].replace("draw stock", "draw discard", 1), encoding="utf-8")


def missing_export(record: Record) -> None:
    """A match cannot be had any more."""
    next((record.folder / "exports").glob("*.json")).unlink()


IN_JOURNALS: dict[Callable[[Record], None], str] = {
    gap_in_updates: "GAP",
    repeated_update: "REPEATED",
    skip: "SKIPPED",
    phantom_update: "SHOWN_NOT_LOGGED",
    two_answers: "ANSWERS_DIFFER",
    end_not_seen: "END_NOT_SEEN",
}
"""What a client may have seen, with what the judge must find, and nothing else."""

IN_STORE: dict[Callable[[Record], None], set[str]] = {
    lost_entry: {"LOST"},
    lost_tail: {"LOST"},
    doubled_entry: {"DOUBLED"},
    doubled_under_another_id: {"NEVER_ACKNOWLEDGED"},
    wrong_seat: {"LOST", "NEVER_ACKNOWLEDGED"},
    unfinished_match: {"NOT_ENDED"},
    tampered_log: {"EXPORT_DIFFERS"},
    tampered_export: {"NOT_VERIFIED"},
    missing_export: {"NO_EXPORT"},
}
"""What may have become of log and exports, with what the judge must find. It may find more: one fault shows twice."""


@pytest.mark.parametrize("plant", IN_JOURNALS, ids=lambda plant: plant.__name__)
async def test_fault_that_a_client_saw_is_found(record: Record, plant: Callable[[Record], None]) -> None:
    """Each is found, by its name."""
    plant(record)
    assert record.kinds() == {IN_JOURNALS[plant]}


@pytest.mark.parametrize("plant", IN_STORE, ids=lambda plant: plant.__name__)
async def test_fault_of_the_log_is_found(record: Record, plant: Callable[[Record], None]) -> None:
    """Each is found, by its name."""
    plant(record)
    assert record.kinds() >= IN_STORE[plant]
