"""The pool: so many worker processes, always; a bounded queue of questions; and a budget that is kept.

A question's time runs from its arrival, waiting included. When it is over, the asker is told so, and a worker that
still thinks is killed and another one started: a bot that hangs costs its own question and nothing else. Whoever plays
(`urgent`) goes before those who only want advice.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from contextlib import suppress

from services.bots.questions import Question
from services.bots.refusals import TooLate
from services.bots.worker import Lost, Worker
from services.kit.errors import Exhausted, Unavailable
from services.kit.shell import logs, metrics

SLACK_SECONDS = 0.1
"""How long after its budget a bot is killed: one that uses it up still gets its answer through."""

_MOST_RESERVE = 0.05
"""Seconds of the budget, but no more than a tenth, of which a bot is not told: they are for the way back."""

_FIRST_PAUSE, _LONGEST_PAUSE = 0.1, 5.0
"""Seconds before a worker is started again that died before it was ready; doubled each time."""

_RETRY_MS = 250
"""When to ask again if the queue is full."""


class Pool:
    """*workers* processes; at most *waiting* questions wait for one that is free, half of them for advice."""

    def __init__(self, workers: int, waiting: int, log_level: str = "info") -> None:
        self._count = workers
        self._most_waiting = waiting
        self._log_level = log_level
        self._workers: set[Worker] = set()
        self._idle: deque[Worker] = deque()
        self._urgent: deque[asyncio.Future[Worker]] = deque()
        self._patient: deque[asyncio.Future[Worker]] = deque()
        self._keepers: list[asyncio.Task[None]] = []
        self._thinking: set[asyncio.Task[bytes]] = set()
        self._open = False
        self._up = asyncio.Event()

    @property
    def pids(self) -> set[int]:
        """Process ids of all workers that are not known to have ended."""
        return {worker.pid for worker in self._workers if worker.alive}

    async def start(self) -> None:
        """Start the workers; returns when the first one is ready. They are kept up until `close`."""
        self._open = True
        self._keepers = [asyncio.create_task(self._keep(), name=f"worker {n}") for n in range(self._count)]
        await self._up.wait()

    def refuse_new(self) -> None:
        """Take no more questions; those that are taken are answered."""
        self._open = False

    async def close(self) -> None:
        """Kill all workers. What still waits or thinks is refused."""
        self._open = False
        for keeper in self._keepers:
            keeper.cancel()
        await asyncio.gather(*self._keepers, return_exceptions=True)
        for waiting in (*self._urgent, *self._patient):
            if not waiting.done():
                waiting.set_exception(Unavailable("DRAINING"))
        await asyncio.gather(*self._thinking, return_exceptions=True)

    async def ask(self, question: Question, *, urgent: bool) -> bytes:
        """A worker's answer to *question*, within its budget and `SLACK_SECONDS`.

        Raises:
            TooLate: BUDGET_SPENT.
            Exhausted: BOTS_BUSY: too many wait already.
            Unavailable: BOT_LOST: the worker died of it, or in the middle of it; DRAINING.
        """
        if not self._open:
            raise Unavailable("DRAINING")
        deadline = asyncio.get_running_loop().time() + question.budget_ms / 1000
        try:
            async with asyncio.timeout_at(deadline):
                worker = await self._free_worker(urgent)
        except TimeoutError:
            raise TooLate("BUDGET_SPENT", budget_ms=question.budget_ms) from None
        # Who stops waiting leaves the worker with the question, which is answered or cut off all the same.
        thinking = asyncio.create_task(self._answer_of(worker, question, deadline), name="thinking")
        self._thinking.add(thinking)
        thinking.add_done_callback(self._thought)
        return await asyncio.shield(thinking)

    async def _answer_of(self, worker: Worker, question: Question, deadline: float) -> bytes:
        started = time.perf_counter()
        left = deadline - asyncio.get_running_loop().time()
        try:
            async with asyncio.timeout_at(deadline + SLACK_SECONDS):
                answer = await worker.answer(left - min(left / 10, _MOST_RESERVE), question.request)
        except TimeoutError:
            worker.kill()
            logs.logger().warning("budget_spent", game=question.game, bot=question.level, pid=worker.pid)
            raise TooLate("BUDGET_SPENT", budget_ms=question.budget_ms) from None
        except Lost:
            raise Unavailable("BOT_LOST") from None
        finally:
            metrics.bot_seconds(question.game, question.level).observe(time.perf_counter() - started)
        self._free(worker)
        return answer

    def _thought(self, thinking: asyncio.Task[bytes]) -> None:
        self._thinking.discard(thinking)
        if not thinking.cancelled():
            thinking.exception()  # whoever asked may be gone; then nobody else takes note of it

    async def _free_worker(self, urgent: bool) -> Worker:
        """A worker that is free, the asker's from now on; waits for one in the queue."""
        while self._idle:
            if (worker := self._idle.popleft()).alive:
                return worker
        waiting = len(self._urgent) + len(self._patient)
        if waiting >= self._most_waiting or (not urgent and len(self._patient) >= self._most_waiting // 2):
            raise Exhausted("BOTS_BUSY", retry_after_ms=_RETRY_MS)
        queue = self._urgent if urgent else self._patient
        place: asyncio.Future[Worker] = asyncio.get_running_loop().create_future()
        queue.append(place)
        try:
            return await place
        except asyncio.CancelledError:
            if place.done() and not place.cancelled():
                self._free(place.result())  # it came at the very moment at which the asker left
            raise
        finally:
            if place in queue:
                queue.remove(place)

    def _free(self, worker: Worker) -> None:
        """Give *worker* to whoever waits, else keep it ready."""
        if not worker.alive:
            return
        for queue in (self._urgent, self._patient):
            while queue:
                if not (place := queue.popleft()).done():
                    place.set_result(worker)
                    return
        self._idle.append(worker)

    async def _keep(self) -> None:
        """Keep one worker up, and start another one whenever it has ended."""
        pause = _FIRST_PAUSE
        while True:
            try:
                worker = await Worker.start(self._log_level)
            except OSError as error:  # no memory, no processes, no descriptors: that may change
                logs.logger().error("worker_not_started", exception=logs.describe(error))
                await asyncio.sleep(_LONGEST_PAUSE)
                continue
            self._workers.add(worker)
            try:
                await worker.ready()
                pause = _FIRST_PAUSE
                self._up.set()
                self._free(worker)
                status = await worker.ended()
                logs.logger().warning("worker_ended", pid=worker.pid, status=status)
            except Lost:
                logs.logger().error("worker_not_ready", pid=worker.pid, status=await worker.ended())
                await asyncio.sleep(pause)
                pause = min(2 * pause, _LONGEST_PAUSE)
            finally:
                worker.kill()
                await worker.ended()
                self._workers.discard(worker)
                with suppress(ValueError):
                    self._idle.remove(worker)
