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
    # Matches that were decided here, and results of others; `match` is play.v1.Match, as made unless `state` (of
    # play.v1.MatchState) is 1. Of a match that is over, `result` is host.v1.Result without the match. Where a match
    # comes in a list, `decided_ms` says; of one that was not decided here it is when its game made it.
    """
    CREATE TABLE IF NOT EXISTS matches (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        match_id TEXT NOT NULL UNIQUE,
        game TEXT NOT NULL,
        match BLOB NOT NULL,
        decided_ms INTEGER NOT NULL,
        state INTEGER NOT NULL DEFAULT 1,
        result BLOB NOT NULL DEFAULT x'',
        ended_ms INTEGER
    )
    """,
    # Whose matches; the key is the order of a player's list, and `game` and `live` repeat what the match says, so that
    # every list is read from an index, and no further than the page.
    """
    CREATE TABLE IF NOT EXISTS match_players (
        player_id TEXT NOT NULL,
        decided_ms INTEGER NOT NULL,
        match_id TEXT NOT NULL REFERENCES matches (match_id) ON DELETE CASCADE,
        game TEXT NOT NULL,
        live INTEGER NOT NULL,
        PRIMARY KEY (player_id, decided_ms, match_id)
    ) WITHOUT ROWID
    """,
    "CREATE INDEX IF NOT EXISTS players_of_match ON match_players (match_id)",
    "CREATE INDEX IF NOT EXISTS matches_by_game ON match_players (player_id, game, decided_ms, match_id)",
    "CREATE INDEX IF NOT EXISTS matches_live ON match_players (player_id, decided_ms, match_id) WHERE live",
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
INSERT_MATCH_PLAYER = """
INSERT INTO match_players (player_id, decided_ms, match_id, game, live) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING
"""
MAKE_MATCH = "UPDATE matches SET match = ?, state = 2 WHERE match_id = ? AND state = 1"
FORGET_MATCH = "DELETE FROM matches WHERE match_id = ? AND state = 1"
END_MATCH = """
UPDATE matches SET match = CASE state WHEN 1 THEN ? ELSE match END, state = ?, result = ?, ended_ms = ?
WHERE match_id = ? AND game = ? AND state < 3
"""
END_MATCH_OF_PLAYERS = "UPDATE match_players SET live = 0 WHERE match_id = ?"
INSERT_ENDED_MATCH = """
INSERT INTO matches (match_id, game, match, decided_ms, state, result, ended_ms) VALUES (?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (match_id) DO NOTHING
"""
SELECT_MATCH = "SELECT match_id, match, decided_ms, state, result FROM matches WHERE match_id = ?"
_PLAYERS_MATCHES = "SELECT m.match_id, m.match, m.decided_ms, m.state, m.result FROM match_players p"
# CROSS, because the player's rows are to be walked in their order, whatever the planner believes of the figures.
_WHERE_PLAYER = "CROSS JOIN matches m ON m.match_id = p.match_id WHERE p.player_id = ?"
_PAGE = "(p.decided_ms, p.match_id) < (?, ?) ORDER BY p.decided_ms DESC, p.match_id DESC LIMIT ?"
SELECT_MATCHES = f"{_PLAYERS_MATCHES} {_WHERE_PLAYER} AND {_PAGE}"
SELECT_MATCHES_BY_GAME = f"{_PLAYERS_MATCHES} INDEXED BY matches_by_game {_WHERE_PLAYER} AND p.game = ? AND {_PAGE}"
SELECT_LIVE_MATCHES = f"""
{_PLAYERS_MATCHES} INDEXED BY matches_live {_WHERE_PLAYER} AND p.live AND (? = '' OR p.game = ?) AND {_PAGE}
"""

INSERT_ORDER = "INSERT INTO orders (match_id, game, match) VALUES (?, ?, ?)"
SELECT_OPEN_ORDERS = "SELECT match_id, game, match FROM orders WHERE closed_ms IS NULL ORDER BY id"
CLOSE_ORDER = "UPDATE orders SET closed_ms = ?, refusal = ? WHERE match_id = ? AND closed_ms IS NULL"
