"""A match as the fold of its log: it becomes what entries say and tells its viewers, whoever wrote them."""

from __future__ import annotations

import asyncio
import time

from services.kit.attachment import Attachment
from services.kit.audience import Audience
from services.kit.errors import Internal
from services.kit.faults import unplanned
from services.kit.judge import Divergence, Judge
from services.kit.rules import Seat
from services.kit.shell import logs, metrics
from services.kit.step import Step
from services.kit.store.port import MatchStore, StoredMatch, StoreError
from services.kit.telling import Teller, applied
from services.kit.written import append_of

RETRY_SECONDS = 0.5

_YIELD_SECONDS = 0.005


class FoldedMatch:
    """The part of a live match that follows the log. Made at its first step; `_fold` brings it up to date."""

    def __init__(self, store: MatchStore, judge: Judge, stored: StoredMatch) -> None:
        self.match_id = stored.match_id
        self.judge = judge
        self.match = judge.match
        self.last = judge.before_first()
        self._store = store
        self._row = stored.row
        self._teller = Teller(judge.game, judge.match, judge.seed)
        self._audience = Audience(self._teller)
        self._answers: dict[tuple[Seat | None, str], tuple[str, int]] = {}
        """Per actor and action id: the entry's text, and the actor's update that shows it."""
        self._broken = False

    @property
    def broken(self) -> bool:
        """Whether the log does not replay, or nobody can be shown it."""
        return self._broken

    @property
    def row(self) -> int:
        """The store's key of the match."""
        return self._row

    @property
    def has_listeners(self) -> bool:
        """Whether updates go to anybody."""
        return self._audience.listeners > 0

    def _append(self, step: Step) -> asyncio.Future[None]:
        return self._store.append(append_of(self._row, self.match, self.last.head, step))

    def _become(self, step: Step, actor: Attachment | None = None) -> Internal | None:
        """Take *step* as the newest and tell it, to *actor* as the answer to what it sent.

        Returns the fault if the game's codec fails: the entry stands, but nobody can be shown it.
        """
        self.last = step
        entry = step.entry
        seq = step.shown_at(entry.seat)
        self._answers[(entry.seat, entry.action_id)] = (entry.text, seq)
        try:
            self._audience.tell(step, actor, b"" if actor is None else applied(entry.action_id, seq))
        except Exception as error:
            self._broken = True
            fault = unplanned(error, self.match_id, step.revision)
            self._audience.dismiss("MATCH_BROKEN")
            return fault
        return None

    async def _fold(self) -> None:
        """Become and tell what the log holds beyond the last step; gives way to the loop every 5 ms.

        Raises:
            StoreError: the log could not be read; the match stands where it stood.
            Divergence: the log does not replay.
        """
        since = time.perf_counter()
        for stored in await self._store.entries(self._row, self.last.revision):
            try:
                step = self.judge.replay(self.last, stored.revision, stored.head, stored.data)
            except Divergence as error:
                self._broken = True
                metrics.REPLAY_DIVERGENCE.inc()
                logs.logger().error("divergence", match_id=self.match_id, revision=error.revision, what=error.what)
                raise
            self._become(step)
            if time.perf_counter() - since > _YIELD_SECONDS:
                await asyncio.sleep(0)
                since = time.perf_counter()

    async def _fold_until_it_works(self) -> None:
        """Fold, however long the store is away; a log that does not replay breaks the match."""
        while True:
            try:
                await self._fold()
            except StoreError:
                await asyncio.sleep(RETRY_SECONDS)
            except Divergence:
                return
            else:
                return
