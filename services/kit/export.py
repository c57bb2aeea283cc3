"""A finished match as a file: what `Replay` gives, kept for checking offline (docs/fairness.md, "The file").

Reading trusts nothing: every key, type, length and range is checked, and what is wrong is named by its place.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from google.protobuf.message import DecodeError

from services.kit.step import ABORTED, ENDED
from services.kit.strict_json import BadJson, Value, parse
from tortuga.play.v1 import match_pb2, play_pb2

FORMAT = "tortuga/replay/1"
MOST_BYTES = 64 * 1024 * 1024
"""Size of a file, at most."""

MOST_ENTRIES = 100_000
MOST_SEATS = 256
HASH_BYTES = 32

_STATES = {"ENDED": ENDED, "ABORTED": ABORTED}
_STATE_NAMES: Mapping[int, str] = {number: name for name, number in _STATES.items()}

_IN_ENTRY = re.compile(r"entries\[(\d+)\]")


class BadExport(Exception):
    """The file, or the replay that it should be made of, is none.

    *place* says where, e.g. `entries[3].blind`, *what* is a code.
    """

    def __init__(self, place: str, what: str) -> None:
        super().__init__(f"{place}: {what}" if place else what)
        self.place = place
        self.what = what

    @property
    def entry(self) -> int:
        """Revision of the entry that is concerned; 0 if none is."""
        found = _IN_ENTRY.match(self.place)
        return int(found[1]) + 1 if found else 0


class ExportedEntry(NamedTuple):
    """One entry as its reader got it: opened (data and blind), or sealed (leaf)."""

    head: bytes
    """head(r), 32 bytes."""
    data: bytes = b""
    """The entry's canonical bytes; empty if it is sealed."""
    blind: bytes = b""
    leaf: bytes = b""
    fingerprint: bytes = b""
    """Of the game's state after the entry; empty while there is none, and if the entry is sealed."""

    @property
    def sealed(self) -> bool:
        """Whether the reader may not see it."""
        return not self.data


class Export(NamedTuple):
    """A finished match as its reader got it."""

    match: match_pb2.Match
    head: bytes
    """head(0), 32 bytes: what the match's fixed part hashes to."""
    state: int
    """play.v1.MatchState: ENDED or ABORTED."""
    seed: bytes
    outcome: match_pb2.Outcome | None
    entries: Sequence[ExportedEntry]


class Replayed(Protocol):
    """Any game's ReplayResponse; tortuga/play/v1/play.proto says what its fields mean. `update` is the game's own."""

    header: play_pb2.UpdateHeader
    status: match_pb2.Status
    attached: play_pb2.Attached
    kit: play_pb2.KitEvent
    record: play_pb2.Record
    update: Any

    def HasField(self, field_name: str, /) -> bool:  # noqa: N802 - protobuf's own name
        """Whether the field is there."""


class Collector:
    """Makes an export of the messages of one `Replay`, taken in their order."""

    def __init__(self) -> None:
        self._match: match_pb2.Match | None = None
        self._head = b""
        self._status = match_pb2.Status()
        self._entries: list[ExportedEntry] = []

    def take(self, message: Replayed) -> None:
        """Take the next message.

        Raises:
            BadExport: it is not what `Replay` promises.
        """
        if message.HasField("status"):
            self._status = message.status
        if self._match is None:
            if not message.HasField("attached"):
                raise BadExport("match", "MISSING")
            self._match, self._head = message.attached.match, message.header.head
            return
        record, place = message.record, f"entries[{len(self._entries)}]"
        opened = record.entry and len(record.blind) == HASH_BYTES and not record.leaf
        sealed = len(record.leaf) == HASH_BYTES and not (record.entry or record.blind or record.fingerprint)
        if not (opened or sealed) or len(message.header.head) != HASH_BYTES:
            raise BadExport(place, "RECORD")
        _require_text(record.entry, place)
        self._entries.append(
            ExportedEntry(message.header.head, record.entry, record.blind, record.leaf, record.fingerprint)
        )

    def export(self) -> Export:
        """The whole match.

        Raises:
            BadExport: messages are missing.
        """
        if self._match is None:
            raise BadExport("match", "MISSING")
        if self._status.state not in _STATE_NAMES:
            raise BadExport("state", "NOT_OVER")
        outcome = self._status.outcome if self._status.HasField("outcome") else None
        return Export(self._match, self._head, self._status.state, self._status.seed, outcome, self._entries)


def write(export: Export) -> str:
    """The file's text, an entry a line; equal exports give equal texts."""
    match = export.match
    head = {
        "format": FORMAT,
        "match": {
            "match_id": match.match_id,
            "game": match.game,
            "rules_version": match.rules_version,
            "options": match.options.hex(),
            "seats": [{"player_id": seat.player_id, "bot": seat.bot, "role": seat.role} for seat in match.seats],
            "settings": match.settings.SerializeToString(deterministic=True).hex(),
            "created_ms": match.created_ms,
            "commitment": match.commitment.hex(),
        },
        "head": export.head.hex(),
        "state": _STATE_NAMES[export.state],
        "seed": export.seed.hex(),
        "outcome": None if export.outcome is None else _outcome_as_json(export.outcome),
    }
    lines = [f"{_line(key)}: {_line(value)}" for key, value in head.items()]
    entries = [_line(_entry_as_json(entry)) for entry in export.entries]
    listed = ",\n".join(entries)
    lines.append(f'"entries": [\n{listed}\n]' if entries else '"entries": []')
    return "{\n" + ",\n".join(lines) + "\n}\n"


def read(data: bytes) -> Export:
    """Read a file's bytes. Whether what it says is true, `verify` finds out.

    Raises:
        BadExport: they are no export; names the place.
    """
    if len(data) > MOST_BYTES:
        raise BadExport("", "TOO_LARGE")
    try:
        return _export(parse(data))
    except BadJson as error:
        raise BadExport(error.place, error.what) from None


def _export(value: Value) -> Export:
    if "format" not in value.keys() or value.at("format").text() != FORMAT:  # noqa: SIM118 - a Value is no mapping
        raise value.at("format").refuse("UNKNOWN")
    value.require_keys("format", "match", "head", "state", "seed", "outcome", "entries")
    state = value.at("state").text()
    if state not in _STATES:
        raise value.at("state").refuse("UNKNOWN")
    outcome = value.at("outcome")
    return Export(
        match=_match(value.at("match")),
        head=value.at("head").hex(HASH_BYTES),
        state=_STATES[state],
        seed=value.at("seed").hex(HASH_BYTES),
        outcome=None if outcome.missing else _outcome(outcome),
        entries=value.at("entries").each(_entry, MOST_ENTRIES),
    )


def _line(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _entry_as_json(entry: ExportedEntry) -> dict[str, str]:
    if entry.sealed:
        return {"leaf": entry.leaf.hex(), "head": entry.head.hex()}
    return {
        "entry": entry.data.decode(),
        "blind": entry.blind.hex(),
        "fingerprint": entry.fingerprint.hex(),
        "head": entry.head.hex(),
    }


def _outcome_as_json(outcome: match_pb2.Outcome) -> dict[str, object]:
    return {
        "reason": outcome.reason,
        "places": [{"seat": place.seat, "rank": place.rank, "points": place.points} for place in outcome.places],
        "awards": [{"code": award.code, "seats": list(award.seats)} for award in outcome.awards],
    }


def _match(value: Value) -> match_pb2.Match:
    value.require_keys("match_id", "game", "rules_version", "options", "seats", "settings", "created_ms", "commitment")
    try:
        settings = match_pb2.MatchSettings.FromString(value.at("settings").hex())
    except DecodeError:
        raise value.at("settings").refuse("MALFORMED") from None
    return match_pb2.Match(
        match_id=value.at("match_id").text(),
        game=value.at("game").text(),
        rules_version=value.at("rules_version").text(),
        options=value.at("options").hex(),
        seats=value.at("seats").each(_seat, MOST_SEATS),
        settings=settings,
        created_ms=value.at("created_ms").number(63),
        commitment=value.at("commitment").hex(HASH_BYTES),
    )


def _seat(value: Value) -> match_pb2.Seat:
    value.require_keys("player_id", "bot", "role")
    return match_pb2.Seat(
        player_id=value.at("player_id").text(), bot=value.at("bot").text(), role=value.at("role").text()
    )


def _outcome(value: Value) -> match_pb2.Outcome:
    value.require_keys("reason", "places", "awards")
    return match_pb2.Outcome(
        reason=value.at("reason").text(),
        places=value.at("places").each(_place, MOST_SEATS),
        awards=value.at("awards").each(_award, MOST_SEATS),
    )


def _place(value: Value) -> match_pb2.Place:
    value.require_keys("seat", "rank", "points")
    return match_pb2.Place(
        seat=value.at("seat").number(32),
        rank=value.at("rank").number(32),
        points=value.at("points").number(32, signed=True),
    )


def _award(value: Value) -> match_pb2.Award:
    value.require_keys("code", "seats")
    return match_pb2.Award(
        code=value.at("code").text(), seats=value.at("seats").each(lambda seat: seat.number(32), MOST_SEATS)
    )


def _entry(value: Value) -> ExportedEntry:
    if "leaf" in value.keys():  # noqa: SIM118 - a Value is no mapping
        value.require_keys("leaf", "head")
        return ExportedEntry(value.at("head").hex(HASH_BYTES), leaf=value.at("leaf").hex(HASH_BYTES))
    value.require_keys("entry", "blind", "fingerprint", "head")
    data = value.at("entry").text().encode()
    if not data:
        raise value.at("entry").refuse("EMPTY")
    return ExportedEntry(
        head=value.at("head").hex(HASH_BYTES),
        data=data,
        blind=value.at("blind").hex(HASH_BYTES),
        fingerprint=value.at("fingerprint").hex(0, HASH_BYTES),
    )


def _require_text(data: bytes, place: str) -> None:
    try:
        data.decode()
    except UnicodeDecodeError:
        raise BadExport(f"{place}.entry", "NOT_TEXT") from None
