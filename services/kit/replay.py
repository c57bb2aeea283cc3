"""A finished match from its beginning, one message an entry, as far as the reader may see it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator

from services.kit import chain
from services.kit.encoding import bytes_field
from services.kit.errors import Forbidden, NotFound, Refusal, Unavailable
from services.kit.game import AnyGame
from services.kit.judge import Divergence, Judge
from services.kit.rules import Seat
from services.kit.step import ENDED, Step
from services.kit.store.port import MatchStore, StoredEntry, StoredMatch, StoreError
from services.kit.telling import Teller
from services.kit.viewers import may_watch, seat_of
from tortuga.play.v1 import match_pb2, play_pb2

_YIELD_SECONDS = 0.005


async def replay(store: MatchStore, game: AnyGame, match_id: str, player_id: str) -> AsyncIterator[bytes]:
    """Messages of the game's ReplayResponse: first the match, then one an entry, the last with outcome and seed.

    Raises:
        NotFound: MATCH_UNKNOWN.
        Refusal: MATCH_RUNNING: it is not over.
        Forbidden: SPECTATORS_REFUSED.
        Unavailable: STORE_UNAVAILABLE, or MATCH_BROKEN if the log does not replay.
    """
    try:
        stored = await store.load(match_id)
        if stored is None:
            raise NotFound("MATCH_UNKNOWN")
        reader = _Reader(game, stored, player_id)  # who may not watch learns nothing, not even that it runs
        if stored.state < ENDED:
            raise Refusal("MATCH_RUNNING")
        entries = await store.entries(stored.row)
    except StoreError:
        raise Unavailable("STORE_UNAVAILABLE") from None
    yield reader.first()
    since = time.perf_counter()
    for entry in entries:
        yield reader.next(entry)
        if time.perf_counter() - since > _YIELD_SECONDS:
            await asyncio.sleep(0)
            since = time.perf_counter()


class _Reader:
    """One reader's way through one log."""

    def __init__(self, game: AnyGame, stored: StoredMatch, player_id: str) -> None:
        match = match_pb2.Match.FromString(stored.fixed)
        self._seat = seat_of(match, player_id)
        if self._seat is None and not may_watch(match, stored.spectator_key, ""):
            raise Forbidden("SPECTATORS_REFUSED")
        self._game = game
        self._judge = Judge(game, match, stored.seed, stored.blind_key)
        self._teller = Teller(game, match, stored.seed)
        self._last = self._judge.before_first()

    def first(self) -> bytes:
        """The match before its first entry."""
        return self._teller.whole(self._last, self._seat)

    def next(self, entry: StoredEntry) -> bytes:
        """The update of one entry, with its record."""
        try:
            step = self._judge.replay(self._last, entry.revision, entry.head, entry.data)
        except Divergence:
            raise Unavailable("MATCH_BROKEN") from None
        self._last = step
        return self._teller.public(step) + self._teller.replayed(step, self._seat) + self._record(step)

    def _record(self, step: Step) -> bytes:
        blinding = self._judge.blinding(step.revision)
        if self._opens(step):
            fingerprint = step.game.fingerprint() if step.game is not None else b""
            record = play_pb2.Record(entry=step.data, blind=blinding, fingerprint=fingerprint)
        else:
            record = play_pb2.Record(leaf=chain.leaf(blinding, step.data))
        return bytes_field(9, record.SerializeToString())

    def _opens(self, step: Step) -> bool:
        """Kit actions open to everyone; the game says which of its own stay sealed, and for whom."""
        actor: Seat | None = step.entry.seat
        return step.kit is not None or self._game.opens_after(step.entry.text, actor, self._seat)
