"""All matches of one pod: made, loaded on demand, woken when overdue, let go when nobody needs them."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Callable

from services.kit import chain, due
from services.kit.attachment import Attachment
from services.kit.clock import StoreClock
from services.kit.errors import DomainError, Malformed, NotFound, Unavailable
from services.kit.faults import unplanned
from services.kit.game import AnyGame
from services.kit.judge import Divergence, Judge
from services.kit.match import QUEUE_LIMIT, LiveMatch
from services.kit.requests import Act, Attach, Request, Wake
from services.kit.shell import metrics
from services.kit.shell.rounds import every
from services.kit.store.port import MatchStore, NewMatch, OutcomeUnknown, StoredMatch, StoreError
from tortuga.play.v1 import match_pb2

MATCH_ID_BYTES = 64
WAKE_SECONDS = 0.25
"""How often the store is asked for overdue matches: the most by which a deadline is late."""

FOLLOW_SECONDS = 1.0
"""How often the store is asked whether another pod wrote to a match that somebody listens to here."""

STILL_SECONDS = 3.0
"""A loop that stood still for longer doubts what it has in memory: other pods may have gone on meanwhile."""

IDLE_SECONDS = 60.0
"""A match that nobody used for so long leaves memory; its log brings it back."""

MOST_LOADED = 20_000
"""Matches in memory at most: beyond, new loads are refused until idle ones have left."""

_CREATE_TRIES = 5


class Host:
    """The matches of one game in one process."""

    def __init__(
        self, game: AnyGame, store: MatchStore, clock: StoreClock, still_seconds: Callable[[], float] = lambda: 0.0
    ) -> None:
        """*still_seconds*: for how long the loop has not turned, as far as is known."""
        self.game = game
        self._store = store
        self._clock = clock
        self._still_seconds = still_seconds
        self._matches: dict[str, LiveMatch] = {}
        self._waiting: dict[str, list[Request]] = {}
        self._loads: set[asyncio.Task[None]] = set()
        self._rounds: list[asyncio.Task[None]] = []
        self._closing = False
        self._draining = False
        self._broken: set[str] = set()
        """Matches whose log does not replay: whoever asks for them is told, but nothing wakes them."""

    def start(self) -> None:
        """Begin to wake overdue matches, to follow other pods, and to let idle matches go."""
        rounds = ((self._wake, WAKE_SECONDS), (self._follow, FOLLOW_SECONDS), (self._sweep, IDLE_SECONDS / 4))
        self._rounds = [asyncio.create_task(every(seconds, work, StoreError)) for work, seconds in rounds]

    def refuse_new(self) -> None:
        """Make no more matches: the process drains."""
        self._closing = True

    async def close(self) -> None:
        """Take nothing new; return once every append in flight has been answered."""
        self._draining = True
        for task in (*self._rounds, *self._loads):
            task.cancel()
        await asyncio.gather(*self._rounds, *self._loads, return_exceptions=True)
        while any(match.committing for match in self._matches.values()):
            await self._store.flush()

    async def create(self, wanted: match_pb2.Match, spectator_key: str, validate_only: bool) -> match_pb2.Match:
        """Make a match, once per id; with *validate_only* just check that it could be made.

        Raises:
            Malformed, InvalidOptions: the match cannot be played like this.
            Unavailable: STORE_UNAVAILABLE, or DRAINING.
        """
        if self._closing or self._draining:
            raise Unavailable("DRAINING")
        if not validate_only and not 0 < len(wanted.match_id.encode()) <= MATCH_ID_BYTES:
            raise Malformed("MATCH_ID", limit=MATCH_ID_BYTES)
        options = self.game.wire.read_options(wanted.options)
        self.game.rules.check(options, len(wanted.seats))
        match = match_pb2.Match()
        match.CopyFrom(wanted)
        match.game = self.game.id
        match.rules_version = self.game.rules.versions[0]
        match.created_ms = self._clock.now_ms()
        if validate_only:
            return match
        seed, blind_key = secrets.token_bytes(chain.SEED_BYTES), secrets.token_bytes(32)
        match.commitment = chain.commitment(match.match_id, seed)
        judge = Judge(self.game, match, seed, blind_key)
        first = judge.before_first()
        stored = await self._keep(
            NewMatch(
                match_id=match.match_id,
                fixed=match.SerializeToString(deterministic=True),
                spectator_key=spectator_key,
                seed=seed,
                blind_key=blind_key,
                head=first.head,
                wake_at=due.wake_at(first, match),
            )
        )
        return match_pb2.Match.FromString(stored.fixed)

    def submit(self, match_id: str, request: Request) -> None:
        """Pass *request* to its match, which is loaded first if it is not in memory.

        While the host drains, requests get no answer any more: the gateway repeats them elsewhere.
        """
        if self._draining:
            if isinstance(request, Act):
                request.park()
            return
        self.stood_still(self._still_seconds())
        match = self._matches.get(match_id)
        if match is not None:
            match.submit(request)
            return
        waiting = self._waiting.get(match_id)
        if waiting is None:
            waiting = self._waiting[match_id] = []
            task = asyncio.create_task(self._load(match_id))
            self._loads.add(task)
            task.add_done_callback(self._loads.discard)
        if isinstance(request, Act):
            request.park()
        if len(waiting) < QUEUE_LIMIT:
            waiting.append(request)
        elif isinstance(request, Attach | Act):
            request.attachment.outlet.end(request.attachment.number, "MATCH_BUSY")

    def detach(self, attachment: Attachment) -> None:
        """Send *attachment* nothing any more."""
        attachment.closed = True
        match = self._matches.get(attachment.match_id)
        if match is not None:
            match.detach(attachment)

    def stood_still(self, seconds: float) -> None:
        """The loop did not turn for so long: after a sleep, read every log before anything is answered or told."""
        if seconds > STILL_SECONDS:
            for match in self._matches.values():
                match.look()

    async def _keep(self, match: NewMatch) -> StoredMatch:
        for attempt in range(_CREATE_TRIES):
            try:
                return await self._store.create(match)
            except OutcomeUnknown:
                await asyncio.sleep(0.02 * 2**attempt)  # creating is idempotent: ask again
            except StoreError:
                break
        raise Unavailable("STORE_UNAVAILABLE")

    async def _load(self, match_id: str) -> None:
        """Bring a match back from its log, then give it what waited."""
        error: DomainError
        try:
            match = await self._fold(match_id)
        except StoreError:
            error = Unavailable("STORE_UNAVAILABLE")
        except Divergence:
            error = Unavailable("MATCH_BROKEN")
            self._broken.add(match_id)
        except DomainError as failure:
            error = failure
        except Exception as failure:
            error = unplanned(failure, match_id)
            self._broken.add(match_id)
        else:
            self._broken.discard(match_id)
            self._matches[match_id] = match
            for request in self._waiting.pop(match_id):
                if isinstance(request, Attach):
                    request.looked = True
                match.submit(request)
            return
        for request in self._waiting.pop(match_id):
            if isinstance(request, Attach):
                request.attachment.outlet.end(request.attachment.number, error.reason)

    async def _fold(self, match_id: str) -> LiveMatch:
        if len(self._matches) >= MOST_LOADED:
            raise Unavailable("POD_FULL")
        stored = await self._store.load(match_id)
        if stored is None:
            raise NotFound("MATCH_UNKNOWN")
        fixed = match_pb2.Match.FromString(stored.fixed)
        judge = Judge(self.game, fixed, stored.seed, stored.blind_key)
        match = LiveMatch(self._store, self._clock, judge, stored)
        await match.load()
        return match

    async def _wake(self) -> None:
        for match_id in await self._store.due(self._clock.now_ms(), limit=100 + len(self._broken)):
            match = self._matches.get(match_id)
            if match is not None and match.broken:
                self._broken.add(match_id)
            if match_id not in self._broken:
                self.submit(match_id, Wake())

    async def _follow(self) -> None:
        """What other pods write reaches the listeners here, though nobody acts here."""
        metrics.MATCHES_LIVE.set(sum(not match.last.standing.over for match in self._matches.values()))
        followed = {match.row: match for match in self._matches.values() if match.has_listeners}
        if followed:
            for row, (revision, _) in (await self._store.heads(followed)).items():
                if revision > followed[row].last.revision:
                    followed[row].look()

    async def _sweep(self) -> None:
        limit = time.monotonic() - IDLE_SECONDS
        for match_id, match in list(self._matches.items()):
            if match.idle and match.used_at < limit:
                del self._matches[match_id]
