"""Sign-ins in the gateway's SQLite file: tables, and the jobs of writer and reader."""

from __future__ import annotations

import sqlite3

from gateway.store.sign_ins import Exchange, Exchanged, Verdict

_MOST_EXCHANGED = 4096
"""Exchanged tokens that are remembered of one sign-in; 30 days at one in a quarter of an hour are 2880."""

TABLES = (
    # `used_ms` is when it was begun or last exchanged.
    """
    CREATE TABLE IF NOT EXISTS sign_ins (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        player_id TEXT NOT NULL,
        used_ms INTEGER NOT NULL
    )
    """,
    "CREATE INDEX IF NOT EXISTS sign_ins_of_player ON sign_ins (player_id, used_ms)",
    # `exchanged_ms` is null for the newest of its sign-in; `salt` is what the successor of the others was made with.
    """
    CREATE TABLE IF NOT EXISTS refresh_tokens (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        digest BLOB NOT NULL UNIQUE,
        sign_in INTEGER NOT NULL REFERENCES sign_ins (id),
        expires_ms INTEGER NOT NULL,
        exchanged_ms INTEGER,
        salt BLOB
    )
    """,
    "CREATE INDEX IF NOT EXISTS refresh_tokens_of_sign_in ON refresh_tokens (sign_in, id)",
    "CREATE INDEX IF NOT EXISTS refresh_tokens_by_expiry ON refresh_tokens (expires_ms)",
)
"""Statements that make them, one by one."""

_FIND = """
SELECT t.id, t.sign_in, t.exchanged_ms, t.salt, s.player_id FROM refresh_tokens t JOIN sign_ins s ON s.id = t.sign_in
WHERE t.digest = ? AND t.expires_ms > ?
"""
_NEWEST = "SELECT id, exchanged_ms FROM refresh_tokens WHERE sign_in = ? ORDER BY id DESC LIMIT 2"
_KEEP = "INSERT INTO refresh_tokens (digest, sign_in, expires_ms) VALUES (?, ?, ?)"
_SURPLUS = "SELECT id FROM sign_ins WHERE player_id = ? ORDER BY used_ms DESC, id DESC LIMIT -1 OFFSET ?"
_TRIM = """
DELETE FROM refresh_tokens WHERE sign_in = ? AND id <= (
    SELECT id FROM refresh_tokens WHERE sign_in = ? ORDER BY id DESC LIMIT 1 OFFSET ?
)
"""


def begin(
    connection: sqlite3.Connection, player_id: str, digest: bytes, now_ms: int, expires_ms: int, most: int
) -> None:
    """Begin a sign-in."""
    cursor = connection.execute("INSERT INTO sign_ins (player_id, used_ms) VALUES (?, ?)", (player_id, now_ms))
    connection.execute(_KEEP, (digest, cursor.lastrowid, expires_ms))
    for (surplus,) in connection.execute(_SURPLUS, (player_id, most)).fetchall():
        _revoke(connection, surplus)


def exchange(connection: sqlite3.Connection, exchange: Exchange) -> Exchanged:
    """Exchange a token."""
    found = connection.execute(_FIND, (exchange.digest, exchange.now_ms)).fetchone()
    if found is None:
        return Exchanged(Verdict.INVALID)
    token, sign_in, exchanged_ms, salt, player_id = found
    if exchanged_ms is None:
        _go_on(connection, exchange, token, sign_in)
        return Exchanged(Verdict.EXCHANGED, player_id, exchange.salt)
    if exchange.now_ms - exchanged_ms <= exchange.grace_ms and _successor_is_unused(connection, token, sign_in):
        return Exchanged(Verdict.EXCHANGED, player_id, salt)
    _revoke(connection, sign_in)
    return Exchanged(Verdict.REUSED, player_id)


def forget(connection: sqlite3.Connection, now_ms: int) -> int:
    """Forget what has expired."""
    count = connection.execute("DELETE FROM refresh_tokens WHERE expires_ms <= ?", (now_ms,)).rowcount
    if count:
        connection.execute(
            "DELETE FROM sign_ins WHERE NOT EXISTS (SELECT 1 FROM refresh_tokens t WHERE t.sign_in = sign_ins.id)"
        )
    return count


def rename(connection: sqlite3.Connection, player_id: str, display_name: str) -> bool:
    """Change a name."""
    statement = "UPDATE players SET display_name = ? WHERE player_id = ?"
    return connection.execute(statement, (display_name, player_id)).rowcount > 0


def erase(connection: sqlite3.Connection, player_id: str) -> None:
    """Forget a player."""
    connection.execute("DELETE FROM players WHERE player_id = ?", (player_id,))
    for (sign_in,) in connection.execute("SELECT id FROM sign_ins WHERE player_id = ?", (player_id,)).fetchall():
        _revoke(connection, sign_in)


def waiting_tickets(connection: sqlite3.Connection, player_id: str) -> list[str]:
    """What the player waits for."""
    statement = "SELECT ticket_id FROM tickets WHERE player_id = ? AND state = 1"
    return [ticket_id for (ticket_id,) in connection.execute(statement, (player_id,))]


def _go_on(connection: sqlite3.Connection, exchange: Exchange, token: int, sign_in: int) -> None:
    used = "UPDATE refresh_tokens SET exchanged_ms = ?, salt = ? WHERE id = ?"
    connection.execute(used, (exchange.now_ms, exchange.salt, token))
    connection.execute(_KEEP, (exchange.successor, sign_in, exchange.expires_ms))
    connection.execute("UPDATE sign_ins SET used_ms = ? WHERE id = ?", (exchange.now_ms, sign_in))
    connection.execute(_TRIM, (sign_in, sign_in, _MOST_EXCHANGED + 1))


def _successor_is_unused(connection: sqlite3.Connection, token: int, sign_in: int) -> bool:
    """Whether *token* is the last one before the newest."""
    newest, *before = connection.execute(_NEWEST, (sign_in,)).fetchall()
    return newest[1] is None and [row[0] for row in before] == [token]


def _revoke(connection: sqlite3.Connection, sign_in: int) -> None:
    connection.execute("DELETE FROM refresh_tokens WHERE sign_in = ?", (sign_in,))
    connection.execute("DELETE FROM sign_ins WHERE id = ?", (sign_in,))
