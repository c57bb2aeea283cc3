"""Ways to change an export. Some leave the chain as it was; others redo it, as whoever knows the format would."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from services.kit import chain
from services.kit.export import Export, ExportedEntry
from tortuga.play.v1 import match_pb2


def rewritten(export: Export, revision: int, **fields: Any) -> Export:
    """*export* with fields of one entry changed, and every head from there on made to fit."""
    names = ["match_id", "revision", "seat", "text", "action_id", "addresses", "time_ms"]
    values = dict(zip(names, json.loads(export.entries[revision - 1].data), strict=True)) | fields
    return with_data(export, revision, json.dumps(list(values.values()), separators=(",", ":")).encode())


def with_data(export: Export, revision: int, data: bytes) -> Export:
    """*export* with an entry's bytes replaced, and the chain redone."""
    entries = list(export.entries)
    entries[revision - 1] = entries[revision - 1]._replace(data=data)
    return chained(export, entries)


def chained(export: Export, entries: Sequence[ExportedEntry]) -> Export:
    """*entries* as the export's, with heads that fit."""
    redone, head = [], export.head
    for entry in entries:
        head = chain.next_head(head, chain.leaf(entry.blind, entry.data))
        redone.append(entry._replace(head=head))
    return export._replace(entries=redone)


def changed(export: Export, revision: int, **fields: bytes) -> Export:
    """*export* with parts of one entry changed, and nothing else."""
    entries = list(export.entries)
    entries[revision - 1] = entries[revision - 1]._replace(**fields)
    return export._replace(entries=entries)


def refit(export: Export, **fields: Any) -> Export:
    """*export* with the match's fixed part changed, head(0) and all heads made to fit."""
    match = with_match(export, **fields).match
    return chained(export._replace(match=match, head=chain.root(match)), export.entries)


def with_match(export: Export, **fields: Any) -> Export:
    """*export* with the match's fixed part changed, and nothing else."""
    match = match_pb2.Match()
    match.CopyFrom(export.match)
    for name, value in fields.items():
        setattr(match, name, value)
    return export._replace(match=match)


def without(export: Export, revision: int) -> list[ExportedEntry]:
    return [entry for number, entry in enumerate(export.entries, 1) if number != revision]


def swapped(export: Export, revision: int) -> list[ExportedEntry]:
    entries = list(export.entries)
    entries[revision - 1], entries[revision] = entries[revision], entries[revision - 1]
    return entries


def doubled(export: Export, revision: int) -> list[ExportedEntry]:
    return [*export.entries[:revision], *export.entries[revision - 1 :]]


def renumbered(export: Export, entries: Sequence[ExportedEntry]) -> Export:
    """*entries* with revisions in order and the chain redone: whoever removes or inserts well does this."""
    found = []
    for revision, entry in enumerate(entries, 1):
        fields = json.loads(entry.data)
        data = json.dumps([fields[0], revision, *fields[2:]], separators=(",", ":")).encode()
        found.append(entry._replace(data=data))
    return chained(export, found)


def other_seats(export: Export) -> Export:
    """Two players change places."""
    first, second = (export.match.seats[seat].player_id for seat in (0, 1))
    found = with_match(export)
    found.match.seats[0].player_id, found.match.seats[1].player_id = second, first
    return found
