"""The embedded adapter: the gateway's store in one SQLite file, for one machine."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path

from gateway.store import history, jobs, sign_in_jobs
from gateway.store.port import (
    EndedMatch,
    Filed,
    Filing,
    KeptMatch,
    Made,
    Mark,
    Order,
    Player,
    Queue,
    Ticket,
    WaitingWish,
)
from gateway.store.sign_ins import Exchange, Exchanged
from services.kit.shell.sqlite import SqliteFile


class SqliteGatewayStore:
    """`GatewayStore` in one file; the promises are the port's. Each call is one job of the file's writer or reader."""

    def __init__(self, file: SqliteFile) -> None:
        """Use `open`."""
        self._file = file

    @classmethod
    async def open(cls, path: Path) -> SqliteGatewayStore:
        """Open the file, made with its tables if it is missing.

        Raises:
            sqlite3.Error: it is no database.
            RuntimeError: a later release has written it.
        """
        return cls(await SqliteFile.open(path, jobs.prepare))

    async def add_player(self, player: Player) -> None:
        """Keep *player*."""
        await self._file.run(partial(jobs.add_player, player=player))

    async def players(self, player_ids: Iterable[str]) -> Mapping[str, Player]:
        """Those that are known, by id."""
        return await self._file.read(partial(jobs.players, player_ids=list(player_ids)))

    async def file_ticket(self, filing: Filing, *, pair: bool, limit: int) -> Filed:
        """Keep a ticket, and with *pair* make the next match of its wish."""
        return await self._file.run(partial(jobs.file_ticket, filing=filing, pair_too=pair, limit=limit))

    async def pair(self, wish_id: int, now_ms: int) -> Sequence[Made]:
        """Make matches of the wish's queue."""
        return await self._file.run(partial(jobs.pair, wish_id=wish_id, now_ms=now_ms))

    async def ticket(self, ticket_id: str) -> Ticket | None:
        """The ticket, or None."""
        # By the writer: a reader may see a commit before the writer has told of it, and a match before its order.
        return await self._file.run(partial(jobs.ticket_by_id, ticket_id=ticket_id))

    async def ticket_of_request(self, player_id: str, request_id: str) -> tuple[Ticket, bytes] | None:
        """The ticket that the request made, with its digest; or None."""
        return await self._file.run(partial(jobs.ticket_of_request, player_id=player_id, request_id=request_id))

    async def cancel_ticket(self, ticket_id: str, player_id: str, now_ms: int) -> Ticket | None:
        """Take the player's ticket out of its queue."""
        job = partial(jobs.cancel_ticket, ticket_id=ticket_id, player_id=player_id, now_ms=now_ms)
        return await self._file.run(job)

    async def expire_tickets(self, ticket_ids: Iterable[str], now_ms: int) -> Sequence[Ticket]:
        """Take the tickets out of their queues."""
        return await self._file.run(partial(jobs.expire_tickets, ticket_ids=list(ticket_ids), now_ms=now_ms))

    async def queue(self, wish_id: int) -> Queue | None:
        """What waits for the wish."""
        return await self._file.read(partial(jobs.queue, wish_id=wish_id))

    async def refuse_wish(self, wish_id: int, reason: str) -> None:
        """Note that the game refuses the wish."""
        await self._file.run(partial(jobs.refuse_wish, wish_id=wish_id, reason=reason))

    async def waiting_wishes(self) -> Sequence[WaitingWish]:
        """Wishes with a queue."""
        return await self._file.read(jobs.waiting_wishes)

    async def waiting_tickets(self) -> Sequence[str]:
        """Tickets in any queue."""
        return await self._file.read(jobs.waiting_tickets)

    async def forget_settled(self, before_ms: int) -> int:
        """Forget what was over before *before_ms*."""
        return await self._file.run(partial(jobs.forget_settled, before_ms=before_ms))

    async def open_orders(self) -> Sequence[Order]:
        """Orders to be carried out."""
        return await self._file.read(jobs.open_orders)

    async def finish_order(self, match_id: str, match: bytes, now_ms: int) -> None:
        """The match exists: close its order."""
        await self._file.run(partial(jobs.finish_order, match_id=match_id, match=match, now_ms=now_ms))

    async def refuse_order(self, match_id: str, reason: str, now_ms: int) -> Sequence[Ticket]:
        """The match will never exist: give its tickets their places back."""
        return await self._file.run(partial(jobs.refuse_order, match_id=match_id, reason=reason, now_ms=now_ms))

    async def keep_results(self, results: Sequence[EndedMatch]) -> int:
        """Keep how matches ended."""
        return await self._file.run(partial(history.keep_results, results=results))

    async def match(self, match_id: str) -> KeptMatch | None:
        """The match, or None."""
        return await self._file.read(partial(history.match, match_id=match_id))

    async def matches_of(
        self, player_id: str, *, game: str = "", live: bool = False, after: Mark | None = None, limit: int
    ) -> Sequence[KeptMatch]:
        """A page of the player's matches."""
        job = partial(history.matches_of, player_id=player_id, game=game, live=live, after=after, limit=limit)
        return await self._file.read(job)

    async def begin_sign_in(self, player_id: str, digest: bytes, now_ms: int, expires_ms: int, most: int) -> None:
        """Begin a sign-in of the player."""
        await self._file.run(
            partial(
                sign_in_jobs.begin, player_id=player_id, digest=digest, now_ms=now_ms, expires_ms=expires_ms, most=most
            )
        )

    async def exchange_token(self, exchange: Exchange) -> Exchanged:
        """Exchange a refresh token."""
        return await self._file.run(partial(sign_in_jobs.exchange, exchange=exchange))

    async def forget_sign_ins(self, now_ms: int) -> int:
        """Forget expired tokens."""
        return await self._file.run(partial(sign_in_jobs.forget, now_ms=now_ms))

    async def rename_player(self, player_id: str, display_name: str) -> bool:
        """Change a name."""
        return await self._file.run(partial(sign_in_jobs.rename, player_id=player_id, display_name=display_name))

    async def erase_player(self, player_id: str) -> None:
        """Forget a player."""
        await self._file.run(partial(sign_in_jobs.erase, player_id=player_id))

    async def waiting_tickets_of(self, player_id: str) -> list[str]:
        """What the player waits for."""
        return await self._file.run(partial(sign_in_jobs.waiting_tickets, player_id=player_id))

    async def close(self) -> None:
        """Finish what is queued and close the file."""
        await self._file.close()
