"""Matches and entries for the store's tests: bytes that mean nothing, in a chain that fits."""

from __future__ import annotations

import hashlib
from typing import Any

from services.kit.store.port import Append, NewMatch, StoredMatch

GATHERING, RUNNING, ENDED = 1, 2, 3


def new_match(match_id: str, **changes: Any) -> NewMatch:
    """A match to be made; *changes* are fields of it."""
    match = NewMatch(
        match_id=match_id,
        fixed=b"fixed " + match_id.encode(),
        spectator_key="key",
        seed=b"s" * 32,
        blind_key=b"b" * 32,
        head=hashlib.sha256(match_id.encode()).digest(),
        wake_at=None,
    )
    return match._replace(**changes)


class Log:
    """One writer's idea of a match's log: makes the entry that fits on the newest one it knows of."""

    def __init__(self, stored: StoredMatch) -> None:
        self.row = stored.row
        self.match_id = stored.match_id
        self.revision = stored.revision
        self.head = stored.head

    def entry(self, action_id: str = "", seat: int = 0, content: str = "", **changes: Any) -> Append:
        """The next entry; it counts as written only after `wrote`. *changes* are fields of it."""
        revision = self.revision + 1
        data = f"{revision} {seat} {action_id or revision} {content}".encode()
        entry = Append(
            row=self.row,
            revision=revision,
            parent=self.head,
            head=next_head(self.head, data),
            seat=seat,
            action_id=action_id or f"a{revision}",
            data=data,
            wake_at=None,
            state=RUNNING,
            result=None,
        )
        return entry._replace(**changes)

    def wrote(self, entry: Append) -> Append:
        """Go on from *entry*."""
        self.revision, self.head = entry.revision, entry.head
        return entry

    def next(self, action_id: str = "", seat: int = 0, content: str = "", **changes: Any) -> Append:
        """The next entry, taken to be written."""
        return self.wrote(self.entry(action_id, seat, content, **changes))


def next_head(parent: bytes, data: bytes) -> bytes:
    """The head after an entry of these bytes."""
    return hashlib.sha256(parent + data).digest()
