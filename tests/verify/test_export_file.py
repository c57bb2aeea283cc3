"""The file: what is written reads back; what is no export is refused with its place; so is a replay that is none."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from services.kit.export import FORMAT, MOST_BYTES, BadExport, Collector, read, write
from services.kit.game import load_game
from tests.verify.recording import Recording
from tests.verify.test_verdicts import sealed_match
from tortuga.play.v1 import match_pb2, play_pb2


def whole(seats: int = 2) -> Recording:
    recording = Recording(load_game("corsari"), seats, "file")
    recording.begin()
    recording.play()
    return recording


TEXT = write(whole().export())


def test_a_file_reads_back_and_is_written_alike() -> None:
    """Opened and sealed entries, with an outcome and without."""
    aborted = Recording(load_game("corsari"), 2, "aborted")
    aborted.wait(20_000)
    for export in (whole().export(), sealed_match()[1].export(), aborted.export()):
        text = write(export)
        assert read(text.encode()) == export
        assert write(read(text.encode())) == text
        assert len(text.splitlines()) >= len(export.entries)
        assert json.loads(text)["format"] == FORMAT


def wrecked(change: Callable[[Any], None]) -> bytes:
    value = json.loads(TEXT)
    change(value)
    return json.dumps(value).encode()


def put(*path: Any, value: Any) -> Callable[[Any], None]:
    """Set the value at *path*."""

    def change(file: Any) -> None:
        for key in path[:-1]:
            file = file[key]
        file[path[-1]] = value

    return change


def drop(*path: Any) -> Callable[[Any], None]:
    """Remove the key at the end of *path*."""

    def change(file: Any) -> None:
        for key in path[:-1]:
            file = file[key]
        del file[path[-1]]

    return change


SPOILT = [
    (put("format", value="tortuga/replay/2"), "format", "UNKNOWN"),
    (put("format", value=1), "format", "NOT_A_STRING"),
    (drop("format"), "format", "UNKNOWN"),
    (drop("seed"), "seed", "MISSING"),
    (put("blind_key", value="00"), "", "UNKNOWN_KEY"),
    (put("state", value="RUNNING"), "state", "UNKNOWN"),
    (put("seed", value="00" * 31), "seed", "LENGTH"),
    (put("seed", value="0G" * 32), "seed", "NOT_HEX"),
    (put("seed", value="0 " * 32), "seed", "NOT_HEX"),
    (put("seed", value=f"{10**63 + 0xA:064X}".upper()), "seed", "NOT_HEX"),
    (put("seed", value=None), "seed", "NOT_A_STRING"),
    (put("match", value=[]), "match", "NOT_AN_OBJECT"),
    (put("match", "created_ms", value=True), "match.created_ms", "NOT_AN_INTEGER"),
    (put("match", "created_ms", value=1.0), "match.created_ms", "NOT_AN_INTEGER"),
    (put("match", "created_ms", value=-1), "match.created_ms", "RANGE"),
    (put("match", "created_ms", value=1 << 63), "match.created_ms", "RANGE"),
    (put("match", "settings", value="ff"), "match.settings", "MALFORMED"),
    (put("match", "seats", value={}), "match.seats", "NOT_A_LIST"),
    (put("match", "seats", value=[{}] * 257), "match.seats", "TOO_MANY"),
    (put("match", "seats", 1, "player_id", value="\ud800"), "match.seats[1].player_id", "NOT_TEXT"),
    (drop("match", "seats", 1, "bot"), "match.seats[1].bot", "MISSING"),
    (put("outcome", "places", 0, "points", value=1 << 31), "outcome.places[0].points", "RANGE"),
    (put("outcome", "awards", value=[{"code": "x", "seats": ["0"]}]), "outcome.awards[0].seats[0]", "NOT_AN_INTEGER"),
    (put("entries", value="none"), "entries", "NOT_A_LIST"),
    (put("entries", 3, value=None), "entries[3]", "NOT_AN_OBJECT"),
    (put("entries", 3, "entry", value=""), "entries[3].entry", "EMPTY"),
    (put("entries", 3, "blind", value="00"), "entries[3].blind", "LENGTH"),
    (put("entries", 3, "fingerprint", value="00"), "entries[3].fingerprint", "LENGTH"),
    (drop("entries", 3, "head"), "entries[3].head", "MISSING"),
    (put("entries", 3, "note", value=""), "entries[3]", "UNKNOWN_KEY"),
    (put("entries", 3, "leaf", value="00" * 32), "entries[3]", "UNKNOWN_KEY"),
]


@pytest.mark.parametrize(("change", "place", "what"), SPOILT, ids=[f"{place} {what}" for _, place, what in SPOILT])
def test_what_is_no_export_is_refused_with_its_place(change: Callable[[Any], None], place: str, what: str) -> None:
    """The place, a code, and the entry that is concerned."""
    with pytest.raises(BadExport) as raised:
        read(wrecked(change))
    assert (raised.value.place, raised.value.what) == (place, what)
    assert raised.value.entry == (4 if place.startswith("entries[3]") else 0)


@pytest.mark.parametrize(
    "data",
    [b"", b"\xff", b"[" * 200_000, TEXT[:-10].encode(), b'{"a":1,"a":2}', b"9" * 10_000, TEXT.encode("utf-16")],
    ids=["nothing", "not UTF-8", "nested", "cut off", "a key twice", "a long number", "UTF-16"],
)
def test_what_is_no_json_is_refused(data: bytes) -> None:
    """Without a traceback, whatever it is."""
    with pytest.raises(BadExport, match="NOT_JSON"):
        read(data)


@pytest.mark.parametrize("data", [b"[]", b"17", b'"x"', b"null"])
def test_json_that_is_no_object_is_refused(data: bytes) -> None:
    """An export is an object."""
    with pytest.raises(BadExport, match="NOT_AN_OBJECT"):
        read(data)


def test_too_large_a_file_is_not_even_parsed() -> None:
    """Beyond the limit nothing is looked at."""
    with pytest.raises(BadExport, match="TOO_LARGE"):
        read(bytes(MOST_BYTES + 1))


def test_a_replay_that_breaks_its_promise_is_refused() -> None:
    """No match first, a record neither open nor sealed or both, an entry that is no text, an end that is none."""
    message: Any = play_pb2.PlayResponse
    head = play_pb2.UpdateHeader(head=bytes(32))
    first = message(header=head, attached=play_pb2.Attached(match=match_pb2.Match(match_id="m")))
    full = bytes(32)
    with pytest.raises(BadExport, match="match: MISSING"):
        Collector().take(message(header=head))
    with pytest.raises(BadExport, match="match: MISSING"):
        Collector().export()
    for record in (
        play_pb2.Record(),
        play_pb2.Record(entry=b"x"),
        play_pb2.Record(leaf=b"short"),
        play_pb2.Record(entry=b"x", blind=full, leaf=full),
        play_pb2.Record(leaf=full, fingerprint=full),
        play_pb2.Record(entry=b"\xff", blind=full),
    ):
        collector = Collector()
        collector.take(first)
        with pytest.raises(BadExport, match=r"entries\[0\]") as raised:
            collector.take(message(header=head, record=record))
        assert raised.value.entry == 1
    collector = Collector()
    collector.take(first)
    collector.take(message(header=head, record=play_pb2.Record(entry=b"x", blind=full)))
    with pytest.raises(BadExport, match="state: NOT_OVER"):
        collector.export()
