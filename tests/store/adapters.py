"""The store's adapters as the conformance suite opens them. A new adapter is one more class in `ADAPTERS`."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path
from typing import Protocol

from services.kit.store.port import MatchStore
from services.kit.store.sqlite import SqliteMatchStore

Observe = Callable[[int, float, int], None]


class Adapter(Protocol):
    """One way to keep matches."""

    def place(self, folder: Path) -> str:
        """A place for a store that is empty and nobody else's. *folder* is the test's own."""
        ...

    async def open(self, place: str, observe: Observe | None = None, lock_wait: float = 5.0) -> MatchStore:
        """A store at *place*. Any number may be open there at once, in any number of processes."""
        ...

    def locked(self, place: str) -> AbstractContextManager[None]:
        """While inside, no store at *place* can write."""
        ...


class Sqlite:
    """One file."""

    def place(self, folder: Path) -> str:
        """The file's path."""
        return str(folder / "matches.db")

    async def open(self, place: str, observe: Observe | None = None, lock_wait: float = 5.0) -> MatchStore:
        """A store on the file."""
        return SqliteMatchStore(Path(place), observe, lock_wait)

    @contextmanager
    def locked(self, place: str) -> Iterator[None]:
        """Hold the file's write lock, as another process that writes would."""
        with closing(sqlite3.connect(place, isolation_level=None)) as connection:
            connection.execute("BEGIN IMMEDIATE")
            yield
            connection.execute("ROLLBACK")


ADAPTERS: dict[str, Adapter] = {"sqlite": Sqlite()}
"""All adapters by name; the suite runs once for each."""
