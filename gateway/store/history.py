"""What the SQLite adapter does for matches that are kept for good: functions over a connection, as in `jobs`."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable

from gateway.store import tables
from gateway.store.port import EndedMatch, KeptMatch, Mark

_BEFORE_ALL = Mark((1 << 63) - 1, "")
"""Where the first page begins: no match is decided that late."""


def keep_results(connection: sqlite3.Connection, results: Iterable[EndedMatch]) -> int:
    """Keep how matches ended; returns of how many it was not known."""
    return sum(_end(connection, result) or _add(connection, result) for result in results)


def match(connection: sqlite3.Connection, match_id: str) -> KeptMatch | None:
    """The match, or None."""
    row = connection.execute(tables.SELECT_MATCH, (match_id,)).fetchone()
    return None if row is None else KeptMatch(*row)


def matches_of(
    connection: sqlite3.Connection, player_id: str, game: str, live: bool, after: Mark | None, limit: int
) -> list[KeptMatch]:
    """A page of the player's matches."""
    page = (*(after or _BEFORE_ALL), limit)
    if live:
        rows = connection.execute(tables.SELECT_LIVE_MATCHES, (player_id, game, game, *page))
    elif game:
        rows = connection.execute(tables.SELECT_MATCHES_BY_GAME, (player_id, game, *page))
    else:
        rows = connection.execute(tables.SELECT_MATCHES, (player_id, *page))
    return [KeptMatch(*row) for row in rows]


def _end(connection: sqlite3.Connection, ended: EndedMatch) -> bool:
    """End a match that was decided here and is not over."""
    values = (ended.match, ended.state, ended.result, ended.ended_ms, ended.match_id, ended.game)
    if not connection.execute(tables.END_MATCH, values).rowcount:
        return False
    connection.execute(tables.END_MATCH_OF_PLAYERS, (ended.match_id,))
    return True


def _add(connection: sqlite3.Connection, ended: EndedMatch) -> bool:
    """Take in a match that nobody here has heard of."""
    values = (ended.match_id, ended.game, ended.match, ended.created_ms, ended.state, ended.result, ended.ended_ms)
    if not connection.execute(tables.INSERT_ENDED_MATCH, values).rowcount:
        return False
    connection.executemany(
        tables.INSERT_MATCH_PLAYER,
        [(player_id, ended.created_ms, ended.match_id, ended.game, False) for player_id in ended.players],
    )
    return True
