"""A live match: a queue of requests, one of them in hand at a time, the fold of its log, and its viewers.

Judge on a copy → append → become → tell → answer. The commit belongs to the match, not to whoever asked: it is a
callback of the store's future, so a caller that goes away stops nothing. No task and no lock per action: a request
that finds the match busy waits in the queue.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Coroutine
from dataclasses import replace
from functools import partial

from services.kit import due
from services.kit.attachment import REFUSED, Attachment, Delivery
from services.kit.clock import StoreClock
from services.kit.entry import KitStep
from services.kit.errors import (
    AlreadyUsed,
    Conflict,
    DomainError,
    Forbidden,
    Refusal,
    Unavailable,
)
from services.kit.faults import unplanned
from services.kit.fold import RETRY_SECONDS, FoldedMatch
from services.kit.guard import require_open
from services.kit.judge import Divergence, Judge
from services.kit.requests import Act, Attach, Request, System
from services.kit.rules import RuleError, Seat
from services.kit.shell import metrics
from services.kit.step import GATHERING, Step
from services.kit.store.port import (
    ActionIdTaken,
    MatchStore,
    OutcomeUnknown,
    StaleHead,
    StoredMatch,
    StoreError,
)
from services.kit.telling import applied, refusal
from services.kit.viewers import may_watch
from tortuga.play.v1 import play_pb2

MAX_TRIES = 5
"""Attempts at one action against other writers before it is refused as CONTENDED."""

QUEUE_LIMIT = 256
"""Requests that may wait in one match; more are refused. With 8 in flight each, players never meet it."""


class LiveMatch(FoldedMatch):
    """One match in memory. Made empty; `load` folds its log, then the queue runs."""

    def __init__(self, store: MatchStore, clock: StoreClock, judge: Judge, stored: StoredMatch) -> None:
        super().__init__(store, judge, stored)
        self.spectator_key = stored.spectator_key
        self._seats = {seat.player_id: Seat(number) for number, seat in enumerate(self.match.seats) if seat.player_id}
        self.used_at = time.monotonic()
        self._clock = clock
        self._queue: deque[Request] = deque()
        self._busy = True
        self._folding = True
        self._unsettled = False
        self._system_rests = False
        self._arriving: set[Seat] = set()
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def idle(self) -> bool:
        """Whether nobody listens and nothing is under way: the match may leave memory."""
        return not (self._busy or self._queue or self._audience.listeners)

    @property
    def committing(self) -> bool:
        """Whether an append is in flight whose outcome the store still owes."""
        return self._busy and not self._unsettled and not self._broken

    async def load(self) -> None:
        """Fold the whole log, then let the queue run.

        Raises:
            StoreUnavailable: nothing was folded; the match is of no use.
            Divergence: the log does not replay.
        """
        started = time.perf_counter()
        await self._fold()
        metrics.FOLD_SECONDS.observe(time.perf_counter() - started)
        self._go_on()

    def submit(self, request: Request) -> None:
        """Take a request; it is answered exactly once, through its attachment."""
        self.used_at = time.monotonic()
        if self._unsettled and not isinstance(request, Attach):
            self._refuse(request, Unavailable("OUTCOME_PENDING"))
        elif self._unsettled or not (self._busy or self._queue):
            self._handle(request)
        elif len(self._queue) >= QUEUE_LIMIT:
            self._refuse(request, Unavailable("MATCH_BUSY"))
        else:
            if self._folding and isinstance(request, Act):
                request.park()
            self._queue.append(request)
        self._pump()

    def look(self) -> None:
        """Read what other pods may have written, unless something is under way that finds out anyway."""
        if not (self._busy or self._broken):
            self._look_at_log(None)

    def detach(self, attachment: Attachment) -> None:
        """Send *attachment* nothing any more."""
        attachment.closed = True
        if attachment.live:
            self._audience.leave(attachment)

    def arrive(self, seat: Seat) -> None:
        """*seat*'s player is here; before the start that is an entry, so that every pod knows who has come."""
        if (
            self.last.standing.state == GATHERING
            and not self.last.standing.present[seat]
            and seat not in self._arriving
        ):
            self._arriving.add(seat)
            kit = KitStep(play_pb2.KIT_KIND_RETURN, seat)
            self.submit(System(due.SystemAction(kit, f"return:{seat}")))

    # The queue.

    def _pump(self) -> None:
        while not self._busy:
            owed = None if self._system_rests or self._broken else due.at_once(self.last)
            if owed is not None:
                self._handle(System(owed))
            elif self._queue:
                self._handle(self._queue.popleft())
            else:
                return

    def _go_on(self) -> None:
        self._busy = self._folding = False
        self._pump()

    def _handle(self, request: Request) -> None:
        if isinstance(request, Act):
            self._act(request)
        elif isinstance(request, Attach):
            self._attach(request)
        elif isinstance(request, System):
            self._act_for_system(request)
        elif self._broken:
            return
        elif (owed := due.overdue(self.last, self.match, self._clock.now_ms())) is None:
            self._look_at_log(None)  # the store thinks otherwise: another pod wrote
        else:
            self._act_for_system(System(owed))

    def _attach(self, request: Attach) -> None:
        attachment = request.attachment
        if attachment.closed:
            return
        wish = request.wish
        seat = self._seats.get(attachment.player_id)
        if seat is not None and not (wish is not None and wish.spectate):
            attachment.seat = seat
        elif not may_watch(self.match, self.spectator_key, "" if wish is None else wish.spectator_key):
            self._refuse(request, Forbidden("SPECTATORS_REFUSED"))
            return
        if not request.looked and (not self._audience.listeners or self._is_ahead(request)):
            request.looked = True  # perhaps another pod has gone on with the match
            self._look_at_log(request)
            return
        attachment.admitted = True
        if wish is not None:
            attachment.live = True
            try:
                self._audience.join(attachment, self.last, wish.after_seq, request.resume)
            except Exception as error:
                self._refuse(request, unplanned(error, self.match_id, self.last.revision))
                return
        if attachment.seat is not None:
            self.arrive(attachment.seat)

    def _act(self, request: Act) -> None:
        if not request.attachment.admitted:
            request.park()
            return
        seat = request.attachment.seat
        try:
            if request.fault is not None:
                raise request.fault
            if seat is None:
                raise Refusal("NOT_SEATED")
            kit = replace(request.kit, seat=seat) if request.kit is not None else None
            text = str(kit or request.action)
            first = self._answers.get((seat, request.action_id))
            if first is not None:
                self._answer_again(request, text, *first)
                return
            if self._broken:
                raise Unavailable("MATCH_BROKEN")
            now_ms = self._clock.now_ms()
            if kit is not None:
                step = self.judge.judge_kit(self.last, kit, seat, request.action_id, now_ms)
            else:
                require_open(self.last, seat, request)
                step = self.judge.judge_action(self.last, seat, request.action, request.action_id, now_ms)
        except (DomainError, RuleError) as error:
            self._refuse(request, error)
        except Exception as error:
            self._refuse_unplanned(request, error)
        else:
            self._commit(step, request)

    def _act_for_system(self, request: System) -> None:
        try:
            now_ms = self._clock.now_ms()
            step = self.judge.judge_kit(self.last, request.action.kit, None, request.action.action_id, now_ms)
        except (DomainError, RuleError) as error:
            # Somebody else was first, or it is too late. Should it still be owed, that waits a little.
            if request.action.kit.kind == play_pb2.KIT_KIND_RETURN:
                self._forget_arrival(request)
            else:
                self._refuse(request, error)
        except Exception as error:
            self._refuse_unplanned(request, error)
            self._broken = True
        else:
            self._commit(step, request)

    # Committing.

    def _commit(self, step: Step, request: Act | System) -> None:
        self._busy = True
        self._append(step).add_done_callback(partial(self._committed, step, request))

    def _committed(self, step: Step, request: Act | System, future: asyncio.Future[None]) -> None:
        error = future.exception()
        if error is None:
            metrics.ACTIONS.inc()
            fault = self._become(step, request.attachment if isinstance(request, Act) else None)
            if fault is not None:
                self._refuse(request, fault)
            elif isinstance(request, Act) and request.ticket is not None:
                request.ticket.answered()
            self._go_on()
        elif isinstance(error, StaleHead | ActionIdTaken):
            self._start(self._fold_and_retry(request))
        elif isinstance(error, OutcomeUnknown):
            self._start(self._settle(step, request))
        else:
            self._refuse(request, Unavailable("STORE_UNAVAILABLE"))
            self._go_on()

    async def _fold_and_retry(self, request: Act | System) -> None:
        """Somebody else wrote: become and tell what it was, then judge the request anew."""
        self._folding = True
        for waiting in (request, *self._queue):
            if isinstance(waiting, Act):
                waiting.park()
        request.tries += 1
        try:
            await self._fold()
        except (StoreError, Divergence) as error:
            self._refuse(request, Unavailable("MATCH_BROKEN" if isinstance(error, Divergence) else "STORE_UNAVAILABLE"))
        else:
            if isinstance(request, System):
                self._forget_arrival(request)  # whether it is still owed follows from what was folded
            elif request.tries < MAX_TRIES:
                self._queue.appendleft(request)
            else:
                self._refuse(request, Conflict("CONTENDED"))
        self._go_on()
        self._let_arrive()

    async def _settle(self, step: Step, request: Act | System) -> None:
        """The entry may or may not be in the log: append it again until the store says which. Accept nothing else."""
        self._unsettled = True
        self._refuse(request, Unavailable("OUTCOME_PENDING"))
        held, self._queue = self._queue, deque()
        for waiting in held:
            if isinstance(waiting, Attach):
                self._attach(waiting)
            else:
                self._refuse(waiting, Unavailable("OUTCOME_PENDING"))
        wait = 0.02
        while self._unsettled:
            try:
                await self._append(step)
                metrics.ACTIONS.inc()
                self._become(step)
                self._unsettled = False
            except (StaleHead, ActionIdTaken):
                await self._fold_until_it_works()
                self._unsettled = False
            except StoreError:
                await asyncio.sleep(wait)
                wait = min(wait * 2, 1.0)
        metrics.OUTCOMES_SETTLED.inc()
        self._go_on()

    def _is_ahead(self, request: Attach) -> bool:
        """Whether the viewer holds more than is known here."""
        return request.wish is not None and request.wish.after_seq > self.last.seq(request.attachment.seat)

    def _look_at_log(self, request: Attach | None) -> None:
        """Fold what others may have written, then go on with *request*; after the settling, if one is under way."""
        if self._unsettled:
            if request is not None:
                self._queue.append(request)
            return
        self._busy = self._folding = True
        for waiting in self._queue:
            if isinstance(waiting, Act):
                waiting.park()
        self._start(self._fold_before(request))

    async def _fold_before(self, request: Attach | None) -> None:
        try:
            await self._fold()
        except StoreError:
            if request is not None and self._is_ahead(request):
                self._refuse(request, Unavailable("STORE_UNAVAILABLE"))
                request = None
        except Divergence:
            if request is not None:
                self._refuse(request, Unavailable("MATCH_BROKEN"))
                request = None
        if request is not None:
            self._queue.appendleft(request)
        self._go_on()

    def _start(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    # Answers.

    def _answer_again(self, request: Act, text: str, first_text: str, seq: int) -> None:
        if text != first_text:
            self._refuse(request, AlreadyUsed("ACTION_ID_REUSED"))
            return
        metrics.DUPLICATE_ACTIONS.inc()
        self._audience.answer_again(request.attachment, applied(request.action_id, seq), seq)
        if request.ticket is not None:
            request.ticket.answered()

    def _refuse(self, request: Request, error: DomainError | RuleError) -> None:
        if isinstance(request, System):
            self._forget_arrival(request)
            self._system_rests = True
            asyncio.get_running_loop().call_later(RETRY_SECONDS, self._let_system_act)
        if not isinstance(request, Act):
            if isinstance(request, Attach):
                request.attachment.outlet.end(request.attachment.number, error.reason)
            return
        attachment = request.attachment
        if not attachment.closed:
            own = refusal(self.match_id, request.action_id, error)
            attachment.outlet.deliver(b"", [Delivery((attachment.number,), 0, own, REFUSED)])
        if request.ticket is not None:
            request.ticket.answered()

    def _refuse_unplanned(self, request: Act | System, error: Exception) -> None:
        self._refuse(request, unplanned(error, self.match_id, self.last.revision))

    def _forget_arrival(self, request: System) -> None:
        if request.action.kit.kind == play_pb2.KIT_KIND_RETURN and request.action.kit.seat is not None:
            self._arriving.discard(request.action.kit.seat)

    def _let_system_act(self) -> None:
        self._system_rests = False
        self._let_arrive()
        self._pump()

    def _let_arrive(self) -> None:
        """Whoever listens has come."""
        if self.last.standing.state == GATHERING:
            for seat in self._audience.seats():
                self.arrive(seat)
