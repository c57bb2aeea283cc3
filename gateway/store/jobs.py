"""What the SQLite adapter does inside its transactions: functions over a connection, one per promise of the port.

A job refuses before it writes anything, so that it is harmless to the others in the same group commit.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from gateway.ids import new_match_id
from gateway.matchmaking.pairing import Waiting, first_match, match_of, players_missing
from gateway.store import sign_in_jobs, tables
from gateway.store.port import (
    MOST_MATCHES_AT_ONCE,
    Filed,
    Filing,
    Made,
    Order,
    Player,
    Queue,
    Ticket,
    WaitingWish,
)
from services.kit.errors import AlreadyUsed, Exhausted
from tortuga.gateway.v1.matchmaking_service_pb2 import TicketState

_WAITING = TicketState.TICKET_STATE_WAITING


def prepare(connection: sqlite3.Connection) -> None:
    """Make the tables of a new file.

    Raises:
        RuntimeError: the file was written by a later release.
    """
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version > tables.VERSION:
        raise RuntimeError(f"the store's tables are of version {version}; this release knows up to {tables.VERSION}")
    for statement in (*tables.TABLES, *sign_in_jobs.TABLES):
        connection.execute(statement)
    connection.execute(f"PRAGMA user_version = {tables.VERSION}")


def add_player(connection: sqlite3.Connection, player: Player) -> None:
    """Keep *player*."""
    connection.execute(tables.INSERT_PLAYER, player)


def players(connection: sqlite3.Connection, player_ids: Sequence[str]) -> dict[str, Player]:
    """Those that are known."""
    found = (connection.execute(tables.SELECT_PLAYER, (player_id,)).fetchone() for player_id in player_ids)
    return {row[0]: Player(*row) for row in found if row is not None}


def file_ticket(connection: sqlite3.Connection, filing: Filing, pair_too: bool, limit: int) -> Filed:
    """Keep a ticket, and make at most one match of its queue."""
    if (known := ticket_of_request(connection, filing.player_id, filing.request_id)) is not None:
        ticket, digest = known
        if digest != filing.digest and ticket.wish != filing.wish:
            raise AlreadyUsed("REQUEST_ID_REUSED")
        return Filed(ticket, repeated=True, made=None)
    (waiting,) = connection.execute(tables.COUNT_WAITING_OF_PLAYER, (filing.player_id,)).fetchone()
    if waiting >= limit:
        raise Exhausted("TOO_MANY_TICKETS", limit=limit)
    wish_id = _wish_id(connection, filing)
    connection.execute(
        tables.INSERT_TICKET,
        (filing.ticket_id, filing.player_id, filing.request_id, filing.digest, wish_id, filing.created_ms),
    )
    made = next(_matches(connection, wish_id, filing.created_ms), None) if pair_too else None
    return Filed(_existing(connection, filing.ticket_id), repeated=False, made=made)


def pair(connection: sqlite3.Connection, wish_id: int, now_ms: int) -> list[Made]:
    """Make matches of the wish's queue."""
    return [made for _, made in zip(range(MOST_MATCHES_AT_ONCE), _matches(connection, wish_id, now_ms), strict=False)]


def ticket_by_id(connection: sqlite3.Connection, ticket_id: str) -> Ticket | None:
    """The ticket, or None."""
    row = connection.execute(tables.SELECT_TICKET, (ticket_id,)).fetchone()
    return None if row is None else _ticket(connection, row)


def ticket_of_request(connection: sqlite3.Connection, player_id: str, request_id: str) -> tuple[Ticket, bytes] | None:
    """The ticket that the request made, and its digest; or None."""
    row = connection.execute(tables.SELECT_TICKET_OF_REQUEST, (player_id, request_id)).fetchone()
    return None if row is None else (_ticket(connection, row), row[7])


def cancel_ticket(connection: sqlite3.Connection, ticket_id: str, player_id: str, now_ms: int) -> Ticket | None:
    """Take the ticket out of its queue, unless it has left it."""
    connection.execute(tables.CANCEL_TICKET, (now_ms, ticket_id, player_id))
    ticket = ticket_by_id(connection, ticket_id)
    return None if ticket is None or ticket.player_id != player_id else ticket


def expire_tickets(connection: sqlite3.Connection, ticket_ids: Iterable[str], now_ms: int) -> list[Ticket]:
    """Take the tickets out of their queues."""
    return [
        _existing(connection, ticket_id)
        for ticket_id in ticket_ids
        if connection.execute(tables.EXPIRE_TICKET, (now_ms, ticket_id)).rowcount
    ]


def queue(connection: sqlite3.Connection, wish_id: int) -> Queue | None:
    """What waits for the wish."""
    waiting = list(_queue(connection, wish_id))
    if not waiting:
        return None
    _, _, seats, refusal = connection.execute(tables.SELECT_WISH, (wish_id,)).fetchone()
    return Queue(seats, refusal, waiting)


def refuse_wish(connection: sqlite3.Connection, wish_id: int, reason: str) -> None:
    """Note why, or with an empty *reason* that it is refused no more."""
    connection.execute(tables.REFUSE_WISH, (reason, wish_id, reason))


def waiting_wishes(connection: sqlite3.Connection) -> list[WaitingWish]:
    """Wishes with a queue."""
    return [WaitingWish(*row) for row in connection.execute(tables.SELECT_WAITING_WISHES)]


def waiting_tickets(connection: sqlite3.Connection) -> list[str]:
    """Tickets in any queue."""
    return [ticket_id for (ticket_id,) in connection.execute(tables.SELECT_WAITING)]


def forget_settled(connection: sqlite3.Connection, before_ms: int) -> int:
    """Delete what is over."""
    forgotten = connection.execute(tables.FORGET_TICKETS, (before_ms,)).rowcount
    connection.execute(tables.FORGET_ORDERS, (before_ms,))
    connection.execute(tables.FORGET_WISHES)
    return forgotten


def open_orders(connection: sqlite3.Connection) -> list[Order]:
    """Orders to be carried out."""
    return [Order(*row) for row in connection.execute(tables.SELECT_OPEN_ORDERS)]


def finish_order(connection: sqlite3.Connection, match_id: str, match: bytes, now_ms: int) -> None:
    """The match exists."""
    connection.execute(tables.CLOSE_ORDER, (now_ms, "", match_id))
    connection.execute(tables.MAKE_MATCH, (match, match_id))


def refuse_order(connection: sqlite3.Connection, match_id: str, reason: str, now_ms: int) -> list[Ticket]:
    """The match will never exist."""
    if not connection.execute(tables.CLOSE_ORDER, (now_ms, reason, match_id)).rowcount:
        return []
    if not connection.execute(tables.FORGET_MATCH, (match_id,)).rowcount:
        return []  # it has ended, so it was made
    rows = connection.execute(tables.SELECT_TICKETS_OF_MATCH, (match_id,)).fetchall()
    connection.execute(tables.RETURN_TICKETS, (match_id,))
    for wish_id in {row[3] for row in rows}:
        refuse_wish(connection, wish_id, reason)
    return [_existing(connection, row[1]) for row in rows]


def _wish_id(connection: sqlite3.Connection, filing: Filing) -> int:
    row = connection.execute(tables.SELECT_WISH_ID, (filing.wish,)).fetchone()
    if row is None:
        connection.execute(tables.INSERT_WISH, (filing.wish, filing.game, filing.seats))
        row = connection.execute(tables.SELECT_WISH_ID, (filing.wish,)).fetchone()
    wish_id: int = row[0]
    return wish_id


def _queue(connection: sqlite3.Connection, wish_id: int) -> Iterator[Waiting]:
    return (Waiting(*row) for row in connection.execute(tables.SELECT_QUEUE, (wish_id,)))


def _matches(connection: sqlite3.Connection, wish_id: int, now_ms: int) -> Iterator[Made]:
    """Make one match after the other, each when it is asked for."""
    found = connection.execute(tables.SELECT_WISH, (wish_id,)).fetchone()
    if found is None:
        return
    wish, game, seats, _ = found
    refuse_wish(connection, wish_id, "")
    while (chosen := first_match(_queue(connection, wish_id), seats)) is not None:
        match_id = new_match_id()
        decided = match_of(wish, match_id, chosen).SerializeToString(deterministic=True)
        order = Order(match_id, game, decided)
        _write_order(connection, order, chosen, now_ms)
        yield Made(order, tuple(_existing(connection, waiting.ticket_id) for waiting in chosen))


def _existing(connection: sqlite3.Connection, ticket_id: str) -> Ticket:
    ticket = ticket_by_id(connection, ticket_id)
    if ticket is None:
        raise LookupError(ticket_id)
    return ticket


def _write_order(connection: sqlite3.Connection, order: Order, chosen: Sequence[Waiting], now_ms: int) -> None:
    connection.executemany(tables.ASSIGN_TICKET, [(order.match_id, now_ms, waiting.ticket_id) for waiting in chosen])
    connection.execute(tables.INSERT_MATCH, (order.match_id, order.game, order.match, now_ms))
    connection.executemany(
        tables.INSERT_MATCH_PLAYER, [(one.player_id, now_ms, order.match_id, order.game, True) for one in chosen]
    )
    connection.execute(tables.INSERT_ORDER, order)


def _ticket(connection: sqlite3.Connection, row: Sequence[Any]) -> Ticket:
    number, ticket_id, player_id, wish_id, state, match_id, created_ms, _, game, wish, seats, refusal = row
    waits = state == _WAITING
    return Ticket(
        ticket_id=ticket_id,
        player_id=player_id,
        game=game,
        wish_id=wish_id,
        wish=wish,
        state=state,
        match_id=match_id,
        created_ms=created_ms,
        position=connection.execute(tables.COUNT_AHEAD, (wish_id, number)).fetchone()[0] if waits else 0,
        players_missing=players_missing(_queue(connection, wish_id), seats) if waits else 0,
        refusal=refusal if waits else "",
    )
