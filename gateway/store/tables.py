"""Tables and statements of the gateway's SQLite file."""

from __future__ import annotations

VERSION = 1
"""Of the tables, kept in the file's user_version."""

TABLES = (
    """
    CREATE TABLE IF NOT EXISTS players (
        player_id TEXT PRIMARY KEY,
        display_name TEXT NOT NULL,
        created_ms INTEGER NOT NULL
    ) WITHOUT ROWID
    """,
    # What tickets wait for; `wish` is gateway.v1.Wish, complete and deterministically encoded.
    """
    CREATE TABLE IF NOT EXISTS wishes (
        id INTEGER PRIMARY KEY,
        wish BLOB NOT NULL UNIQUE,
        game TEXT NOT NULL,
        seats INTEGER NOT NULL,
        refusal TEXT NOT NULL DEFAULT ''
    )
    """,
    # `id` is the order of arrival, never used again; `state` is gateway.v1.TicketState.
    """
    CREATE TABLE IF NOT EXISTS tickets (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        ticket_id TEXT NOT NULL UNIQUE,
        player_id TEXT NOT NULL,
        request_id TEXT NOT NULL,
        digest BLOB NOT NULL,
        wish INTEGER NOT NULL REFERENCES wishes (id),
        state INTEGER NOT NULL,
        match_id TEXT NOT NULL DEFAULT '',
        created_ms INTEGER NOT NULL,
        settled_ms INTEGER
    )
    """,
    "CREATE UNIQUE INDEX IF NOT EXISTS tickets_by_request ON tickets (player_id, request_id)",
    "CREATE INDEX IF NOT EXISTS tickets_waiting ON tickets (wish, id, player_id, ticket_id) WHERE state = 1",
    "CREATE INDEX IF NOT EXISTS tickets_waiting_of_player ON tickets (player_id) WHERE state = 1",
    "CREATE INDEX IF NOT EXISTS tickets_of_wish ON tickets (wish)",
    "CREATE INDEX IF NOT EXISTS tickets_of_match ON tickets (match_id, id) WHERE match_id <> ''",
    "CREATE INDEX IF NOT EXISTS tickets_settled ON tickets (settled_ms) WHERE settled_ms IS NOT NULL",
    # Matches that were decided; `match` is play.v1.Match, as made once `made_ms` is set.
    """
    CREATE TABLE IF NOT EXISTS matches (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        match_id TEXT NOT NULL UNIQUE,
        game TEXT NOT NULL,
        match BLOB NOT NULL,
        decided_ms INTEGER NOT NULL,
        made_ms INTEGER
    )
    """,
    """
    CREATE TABLE IF NOT EXISTS match_players (
        player_id TEXT NOT NULL,
        match INTEGER NOT NULL REFERENCES matches (id) ON DELETE CASCADE,
        seat INTEGER NOT NULL,
        PRIMARY KEY (player_id, match, seat)
    ) WITHOUT ROWID
    """,
    "CREATE INDEX IF NOT EXISTS players_of_match ON match_players (match)",
    # `closed_ms` is empty while the match is still to be made; `refusal` says why it never will be.
    """
    CREATE TABLE IF NOT EXISTS orders (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        match_id TEXT NOT NULL UNIQUE,
        game TEXT NOT NULL,
        match BLOB NOT NULL,
        closed_ms INTEGER,
        refusal TEXT NOT NULL DEFAULT ''
    )
    """,
    "CREATE INDEX IF NOT EXISTS orders_open ON orders (id) WHERE closed_ms IS NULL",
    "CREATE INDEX IF NOT EXISTS orders_closed ON orders (closed_ms) WHERE closed_ms IS NOT NULL",
)
"""Statements that make them, one by one: a script would end the transaction it runs in."""

INSERT_PLAYER = "INSERT INTO players (player_id, display_name, created_ms) VALUES (?, ?, ?)"
SELECT_PLAYER = "SELECT player_id, display_name, created_ms FROM players WHERE player_id = ?"

INSERT_WISH = "INSERT INTO wishes (wish, game, seats) VALUES (?, ?, ?) ON CONFLICT (wish) DO NOTHING"
SELECT_WISH_ID = "SELECT id FROM wishes WHERE wish = ?"
SELECT_WISH = "SELECT wish, game, seats, refusal FROM wishes WHERE id = ?"
REFUSE_WISH = "UPDATE wishes SET refusal = ? WHERE id = ? AND refusal <> ?"
SELECT_WAITING_WISHES = """
SELECT w.id, w.game, w.wish FROM wishes w
JOIN (SELECT wish, MIN(id) AS first FROM tickets INDEXED BY tickets_waiting WHERE state = 1 GROUP BY wish) t
ON t.wish = w.id ORDER BY t.first
"""

INSERT_TICKET = """
INSERT INTO tickets (ticket_id, player_id, request_id, digest, wish, state, created_ms) VALUES (?, ?, ?, ?, ?, 1, ?)
"""
_SELECT_TICKET = """
SELECT t.id, t.ticket_id, t.player_id, t.wish, t.state, t.match_id, t.created_ms, t.digest,
       w.game, w.wish, w.seats, w.refusal
FROM tickets t JOIN wishes w ON w.id = t.wish
"""
SELECT_TICKET = f"{_SELECT_TICKET} WHERE t.ticket_id = ?"
SELECT_TICKET_OF_REQUEST = f"{_SELECT_TICKET} WHERE t.player_id = ? AND t.request_id = ?"
SELECT_TICKETS_OF_MATCH = f"{_SELECT_TICKET} WHERE t.match_id = ? AND t.match_id <> '' ORDER BY t.id"
# The planner, which knows no figures, would take the indexes of all tickets: those grow, these hold what waits.
COUNT_WAITING_OF_PLAYER = """
SELECT COUNT(*) FROM tickets INDEXED BY tickets_waiting_of_player WHERE player_id = ? AND state = 1
"""
COUNT_AHEAD = "SELECT COUNT(*) FROM tickets INDEXED BY tickets_waiting WHERE wish = ? AND state = 1 AND id <= ?"
SELECT_QUEUE = """
SELECT ticket_id, player_id FROM tickets INDEXED BY tickets_waiting WHERE wish = ? AND state = 1 ORDER BY id
"""
SELECT_WAITING = "SELECT ticket_id FROM tickets INDEXED BY tickets_waiting WHERE state = 1 ORDER BY id"
ASSIGN_TICKET = "UPDATE tickets SET state = 2, match_id = ?, settled_ms = ? WHERE ticket_id = ? AND state = 1"
CANCEL_TICKET = """
UPDATE tickets SET state = 3, settled_ms = ? WHERE ticket_id = ? AND player_id = ? AND state = 1
"""
EXPIRE_TICKET = "UPDATE tickets SET state = 4, settled_ms = ? WHERE ticket_id = ? AND state = 1"
RETURN_TICKETS = """
UPDATE tickets SET state = 1, match_id = '', settled_ms = NULL WHERE match_id = ? AND match_id <> '' AND state = 2
"""
FORGET_TICKETS = "DELETE FROM tickets WHERE settled_ms < ?"
FORGET_WISHES = "DELETE FROM wishes WHERE NOT EXISTS (SELECT 1 FROM tickets WHERE tickets.wish = wishes.id)"
FORGET_ORDERS = "DELETE FROM orders WHERE closed_ms < ?"

INSERT_MATCH = "INSERT INTO matches (match_id, game, match, decided_ms) VALUES (?, ?, ?, ?)"
INSERT_MATCH_PLAYER = "INSERT INTO match_players (player_id, match, seat) VALUES (?, ?, ?)"
SELECT_MATCH = "SELECT match FROM matches WHERE match_id = ?"
MAKE_MATCH = "UPDATE matches SET match = ?, made_ms = ? WHERE match_id = ? AND made_ms IS NULL"
FORGET_MATCH = "DELETE FROM matches WHERE match_id = ? AND made_ms IS NULL"

INSERT_ORDER = "INSERT INTO orders (match_id, game, match) VALUES (?, ?, ?)"
SELECT_OPEN_ORDERS = "SELECT match_id, game, match FROM orders WHERE closed_ms IS NULL ORDER BY id"
CLOSE_ORDER = "UPDATE orders SET closed_ms = ?, refusal = ? WHERE match_id = ? AND closed_ms IS NULL"
