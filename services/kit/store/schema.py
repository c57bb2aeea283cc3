"""The tables and statements of the embedded store."""

from __future__ import annotations

import os
import sqlite3
import time
from pathlib import Path

from services.kit.store.port import Append, StoredMatch

_TABLES = """
CREATE TABLE IF NOT EXISTS matches (
    id INTEGER PRIMARY KEY,
    match_id TEXT NOT NULL UNIQUE,
    fixed BLOB NOT NULL,
    spectator_key TEXT NOT NULL,
    seed BLOB NOT NULL,
    blind_key BLOB NOT NULL,
    revision INTEGER NOT NULL,
    head BLOB NOT NULL,
    wake_at INTEGER,
    state INTEGER NOT NULL,
    result BLOB,
    acknowledged INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX IF NOT EXISTS matches_to_wake ON matches (wake_at) WHERE wake_at IS NOT NULL;
CREATE INDEX IF NOT EXISTS results_to_list ON matches (id) WHERE result IS NOT NULL AND acknowledged = 0;
CREATE TABLE IF NOT EXISTS entries (
    id INTEGER PRIMARY KEY,
    match INTEGER NOT NULL REFERENCES matches (id),
    revision INTEGER NOT NULL,
    seat INTEGER NOT NULL,
    action_id TEXT NOT NULL,
    head BLOB NOT NULL,
    data BLOB NOT NULL
);
CREATE UNIQUE INDEX IF NOT EXISTS entries_in_order ON entries (match, revision);
CREATE UNIQUE INDEX IF NOT EXISTS action_ids ON entries (match, seat, action_id);
"""

INSERT_MATCH = """
INSERT INTO matches (match_id, fixed, spectator_key, seed, blind_key, revision, head, wake_at, state)
VALUES (?, ?, ?, ?, ?, 0, ?, ?, 1) ON CONFLICT (match_id) DO NOTHING
"""
_SELECT_MATCH = """
SELECT id, match_id, fixed, spectator_key, seed, blind_key, revision, head, state FROM matches WHERE match_id = ?
"""
SELECT_HEAD = "SELECT revision, head FROM matches WHERE id = ?"
SELECT_RESULTS = "SELECT result FROM matches WHERE result IS NOT NULL AND acknowledged = 0 ORDER BY id LIMIT ?"
ACKNOWLEDGE = "UPDATE matches SET acknowledged = 1 WHERE match_id = ? AND result IS NOT NULL"
SELECT_DUE = "SELECT match_id FROM matches WHERE wake_at <= ? ORDER BY wake_at LIMIT ?"
MOVE_HEAD = """
UPDATE matches SET revision = ?, head = ?, wake_at = ?, state = ?, result = ? WHERE id = ? AND revision = ? AND head = ?
"""
INSERT_ENTRY = "INSERT INTO entries (match, revision, seat, action_id, head, data) VALUES (?, ?, ?, ?, ?, ?)"
SELECT_ENTRY_HEAD = "SELECT head FROM entries WHERE match = ? AND revision = ?"
SELECT_ENTRIES = "SELECT revision, head, data FROM entries WHERE match = ? AND revision > ? ORDER BY revision"
SELECT_ACTION = "SELECT revision, data FROM entries WHERE match = ? AND seat = ? AND action_id = ?"


def connect(path: Path, lock_wait: float) -> sqlite3.Connection:
    """Open the file; transactions are the caller's (`isolation_level=None`). Waits *lock_wait* seconds for locks."""
    connection = sqlite3.connect(path, timeout=lock_wait, isolation_level=None, check_same_thread=False)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute("PRAGMA foreign_keys=ON")
    return connection


def create(path: Path, lock_wait: float) -> None:
    """Make the file, readable by its owner alone from its first byte, and its tables."""
    path.parent.mkdir(parents=True, exist_ok=True)
    os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    connection = connect_patiently(path, lock_wait)
    try:
        connection.executescript(_TABLES)
    finally:
        connection.close()


def connect_patiently(path: Path, lock_wait: float) -> sqlite3.Connection:
    """Connect to a file that another process may be making too: the switch to WAL does not wait for locks by itself."""
    deadline = time.monotonic() + lock_wait
    while True:
        try:
            return connect(path, lock_wait)
        except sqlite3.OperationalError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.01)


def read_match(connection: sqlite3.Connection, match_id: str) -> StoredMatch | None:
    """The match of this id, or None."""
    found = connection.execute(_SELECT_MATCH, (match_id,)).fetchone()
    return None if found is None else StoredMatch(*found)


def head_values(entry: Append) -> tuple[object, ...]:
    """Values of MOVE_HEAD: the match's row moves only from the entry's parent."""
    return (
        entry.revision,
        entry.head,
        entry.wake_at,
        entry.state,
        entry.result,
        entry.row,
        entry.revision - 1,
        entry.parent,
    )


def entry_values(entry: Append) -> tuple[object, ...]:
    """Values of INSERT_ENTRY."""
    return (entry.row, entry.revision, entry.seat, entry.action_id, entry.head, entry.data)
