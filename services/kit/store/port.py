"""The store port: what a match needs of a database, promised in prose and held by one conformance suite.

The log is the truth; a loaded match is a cache of it. All adapters pass `tests/store/test_match_store.py`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol


class StoreError(Exception):
    """Base of what a store raises; messages never hold a match's content."""


class StaleHead(StoreError):
    """The stored head is not the entry's parent: somebody else wrote. Nothing of this entry was kept."""


class OutcomeUnknown(StoreError):
    """The connection broke while committing: append the same entry again to learn what happened."""


class StoreUnavailable(StoreError):
    """The store refused before anything was written (locked, full, unreachable). Nothing was kept."""


class ActionIdTaken(StoreError):
    """The actor used this action id before in this match, in the entry at *revision*."""

    def __init__(self, revision: int, data: bytes) -> None:
        super().__init__("the action id is taken")
        self.revision = revision
        self.data = data


class NewMatch(NamedTuple):
    """A match to be made. The seed and the blind key are secrets that no other place holds."""

    match_id: str
    fixed: bytes
    """Bytes of play.v1.Match."""
    spectator_key: str
    seed: bytes
    blind_key: bytes
    head: bytes
    """head(0) of the chain."""
    wake_at: int | None
    """When some pod must look at the match, ms since 1970 by the store's clock."""


class StoredMatch(NamedTuple):
    """A match as the store has it."""

    row: int
    """The store's own short key, quoted in appends."""
    match_id: str
    fixed: bytes
    spectator_key: str
    seed: bytes
    blind_key: bytes
    revision: int
    """Of the newest entry; 0 before the first."""
    head: bytes
    state: int
    """play.v1.MatchState after the newest entry."""


class Append(NamedTuple):
    """One entry to be made durable, with what changes beside it in the same transaction."""

    row: int
    revision: int
    parent: bytes
    """The head that the entry was judged on."""
    head: bytes
    """The head after it."""
    seat: int
    """Who acted; -1 for the system."""
    action_id: str
    data: bytes
    """Canonical bytes of the entry."""
    wake_at: int | None
    state: int
    """play.v1.MatchState after the entry."""
    result: bytes | None
    """Bytes of host.v1.Result once the match is over, else None."""


class StoredEntry(NamedTuple):
    """An entry as read back."""

    revision: int
    head: bytes
    data: bytes


class MatchStore(Protocol):
    """Keeps matches and their logs."""

    async def create(self, match: NewMatch) -> StoredMatch:
        """Make *match* durable. If its id exists, nothing changes and the stored match is returned.

        Raises:
            StoreUnavailable: nothing was kept.
            OutcomeUnknown: repeat the call.
        """
        ...

    async def load(self, match_id: str) -> StoredMatch | None:
        """The match, or None if there is none."""
        ...

    async def entries(self, row: int, after: int = 0) -> Sequence[StoredEntry]:
        """The match's entries with a revision above *after*, in order, as one consistent snapshot."""
        ...

    def append(self, entry: Append) -> asyncio.Future[None]:
        """Make *entry* durable. When the future has a result, no crash can undo the entry.

        Called on the event loop; all waiting entries go in one transaction, at most one per match, and one that fails
        takes no other with it. Of two writers on the same head, one succeeds. An entry that is stored already, at the
        same revision and with the same head, succeeds again and changes nothing.

        Raises (through the future):
            StaleHead: the stored head is not the entry's parent.
            ActionIdTaken: the parent fits, but the actor used the action id before.
            OutcomeUnknown: append the same entry again to learn.
            StoreUnavailable: nothing was kept.
        """
        ...

    async def heads(self, rows: Iterable[int]) -> dict[int, tuple[int, bytes]]:
        """Revision and head of each match."""
        ...

    async def due(self, now_ms: int, limit: int) -> Sequence[str]:
        """Ids of matches whose `wake_at` has passed, most overdue first."""
        ...

    async def results(self, limit: int) -> Sequence[bytes]:
        """Results (bytes of host.v1.Result) of matches that are over and not acknowledged, oldest match first."""
        ...

    async def acknowledge(self, match_ids: Iterable[str]) -> None:
        """The results of these matches need not be listed again; unknown ids are ignored.

        Raises:
            StoreUnavailable: none is acknowledged.
            OutcomeUnknown: repeat the call.
        """
        ...

    async def flush(self) -> None:
        """Return once every append made before has its outcome."""
        ...

    async def close(self) -> None:
        """Finish what is queued and let go of the store."""
        ...
