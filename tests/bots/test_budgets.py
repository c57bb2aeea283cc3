"""Budgets are kept whatever a bot does; workers are replaced; the queue is bounded."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import grpc
import pytest

from services.kit.shell.server import channel_options
from tests.bots.stage import BotsProcess, a_position, bots_process, runs
from tests.gateway.harness import refusal_of, refused
from tortuga.bots.v1.bot_service_pb2 import ChooseRequest, SuggestRequest
from tortuga.bots.v1.bot_service_pb2_grpc import BotServiceStub

if TYPE_CHECKING:
    from tortuga.bots.v1.bot_service_pb2_grpc import BotServiceAsyncStub

SLACK = 0.5
"""Seconds that an answer may come late on a crowded machine; the service itself allows for 0.1."""


async def until(holds: Callable[[], bool]) -> None:
    """Wait until it does."""
    async with asyncio.timeout(20):
        while not holds():
            await asyncio.sleep(0.02)


async def choose(bots: BotServiceAsyncStub, bot: str, **changes: Any) -> bytes:
    answer = await bots.Choose(ChooseRequest(position=a_position(bot, **changes)))
    return answer.action


async def idle(served: BotsProcess, bots: BotServiceAsyncStub) -> int:
    """The process id of the only worker, which has nothing to do."""
    await choose(bots, "wild", budget_ms=5000)
    [worker] = served.workers()
    await until(lambda: not busy(worker))
    return worker


@pytest.mark.parametrize("bot", ["spin", "spin_alone"])
async def test_a_bot_that_hangs_costs_its_own_question_only(
    served: BotsProcess, bots: BotServiceAsyncStub, bot: str
) -> None:
    """BUDGET_SPENT when the time is over; the worker is killed, and another one answers what comes next."""
    [worker] = served.workers()
    asked = ChooseRequest(position=a_position(bot, budget_ms=300))
    began = time.monotonic()
    found = await refused(bots.Choose(asked))
    assert time.monotonic() - began < 0.3 + SLACK
    assert (found.status, found.reason) == (grpc.StatusCode.DEADLINE_EXCEEDED, "BUDGET_SPENT")
    await until(lambda: not runs(worker))
    assert await choose(bots, "wild", budget_ms=5000)
    assert served.workers().isdisjoint({worker})


async def test_who_asks_for_no_budget_has_half_a_second(bots: BotServiceAsyncStub) -> None:
    """0 stands for 500 ms."""
    await choose(bots, "wild", budget_ms=5000)
    asked = ChooseRequest(position=a_position("spin"))
    began = time.monotonic()
    assert (await refused(bots.Choose(asked))).reason == "BUDGET_SPENT"
    assert 0.5 <= time.monotonic() - began < 0.5 + SLACK


async def test_a_bot_that_uses_its_time_up_is_heard(bots: BotServiceAsyncStub) -> None:
    """What `left_ms` allows is not cut off."""
    await choose(bots, "wild", budget_ms=5000)
    assert await choose(bots, "use_up", budget_ms=1000)


async def test_a_bot_that_takes_its_process_along_is_refused_once(
    served: BotsProcess, bots: BotServiceAsyncStub
) -> None:
    """UNAVAILABLE, BOT_LOST; the next question is answered by a new worker."""
    await choose(bots, "wild", budget_ms=5000)
    found = await refused(bots.Choose(ChooseRequest(position=a_position("die"))))
    assert (found.status, found.reason) == (grpc.StatusCode.UNAVAILABLE, "BOT_LOST")
    assert await choose(bots, "wild", budget_ms=5000)


async def test_an_idle_worker_that_is_killed_costs_at_most_one_question(
    served: BotsProcess, bots: BotServiceAsyncStub
) -> None:
    """`kill -9` while nobody asks: of ten questions after it, at most one is refused, and that as BOT_LOST."""
    await choose(bots, "wild", budget_ms=5000)
    [worker] = served.workers()
    os.kill(worker, signal.SIGKILL)
    reasons = []
    for _ in range(10):
        try:
            await choose(bots, "wild", budget_ms=5000)
        except grpc.aio.AioRpcError as error:
            reasons.append(error.details())
    assert reasons in ([], ["BOT_LOST"])


async def test_the_queue_is_bounded_and_players_are_not_crowded_out(
    served: BotsProcess, bots: BotServiceAsyncStub
) -> None:
    """Four may wait, two of them for advice: the others hear BOTS_BUSY at once, and when to come again."""
    worker = await idle(served, bots)
    spinning = asyncio.ensure_future(refused(bots.Choose(ChooseRequest(position=a_position("spin", budget_ms=1500)))))
    wild = a_position(budget_ms=5000)
    await until(lambda: busy(worker))

    async def advise() -> str:
        return await outcome(bots.Suggest(SuggestRequest(position=wild)))

    advising = [asyncio.ensure_future(advise()) for _ in range(3)]
    assert await first(advising) == "BOTS_BUSY 250"
    choosing = [asyncio.ensure_future(outcome(bots.Choose(ChooseRequest(position=wild)))) for _ in range(3)]
    assert await first(choosing) == "BOTS_BUSY 250"
    assert (await spinning).reason == "BUDGET_SPENT"
    assert sorted(await asyncio.gather(*advising)) == ["BOTS_BUSY 250", "answered", "answered"]
    assert sorted(await asyncio.gather(*choosing)) == ["BOTS_BUSY 250", "answered", "answered"]


async def test_who_plays_goes_before_who_wants_advice(served: BotsProcess, bots: BotServiceAsyncStub) -> None:
    """Both wait for the only worker; the one that came later, but plays, is answered first."""
    worker = await idle(served, bots)
    order: list[str] = []
    nap = a_position("nap", budget_ms=5000)

    async def choice(name: str) -> None:
        await bots.Choose(ChooseRequest(position=nap))
        order.append(name)

    async def advice() -> None:
        await bots.Suggest(SuggestRequest(position=nap))
        order.append("advice")

    first_one = asyncio.create_task(choice("first"))
    await until(lambda: busy(worker))
    await asyncio.gather(first_one, advice(), choice("choice"))
    assert order == ["first", "choice", "advice"]


async def test_waiting_is_part_of_the_budget(served: BotsProcess, bots: BotServiceAsyncStub) -> None:
    """Who waits for a worker until its time is over is told so, and the worker is none the worse."""
    worker = await idle(served, bots)
    napping = asyncio.ensure_future(choose(bots, "nap", budget_ms=5000))
    await until(lambda: busy(worker))
    began = time.monotonic()
    found = await refused(bots.Choose(ChooseRequest(position=a_position(budget_ms=100))))
    assert (found.reason, found.params) == ("BUDGET_SPENT", {"budget_ms": "100"})
    assert time.monotonic() - began < 0.1 + SLACK
    assert await napping
    assert served.workers() == {worker}


async def test_who_hangs_up_gets_nobody_else_s_answer(served: BotsProcess, bots: BotServiceAsyncStub) -> None:
    """A call that is broken off leaves its worker with the question: the next one waits, and is answered rightly."""
    worker = await idle(served, bots)
    keen = a_position("keen", budget_ms=5000)
    expected = (await bots.Choose(ChooseRequest(position=keen))).action
    for _ in range(3):
        call = bots.Choose(ChooseRequest(position=a_position("nap", of="two", budget_ms=5000)))
        await until(lambda: busy(worker))
        call.cancel()
        assert (await bots.Choose(ChooseRequest(position=keen))).action == expected
    assert served.workers() == {worker}


_SLOW = pytest.mark.slow


@pytest.mark.parametrize("bot", ["spin", pytest.param("", marks=_SLOW), pytest.param("spin_alone", marks=_SLOW)])
async def test_no_worker_outlives_the_process(tmp_path: Path, bot: str) -> None:
    """`kill -9` of the process, while its workers are idle, think, or think and let no thread run: they end."""
    with bots_process(tmp_path, bot_workers=2) as served:
        await until(lambda: len(served.workers()) == 2)
        workers = served.workers()
        async with grpc.aio.insecure_channel(served.address, options=channel_options()) as channel:
            calls = []
            if bot:
                asked = ChooseRequest(position=a_position(bot, budget_ms=500))
                calls = [BotServiceStub(channel).Choose(asked) for _ in workers]
                await until(lambda: all(busy(worker) for worker in workers))
            os.kill(served.pid, signal.SIGKILL)
            await asyncio.gather(*calls, return_exceptions=True)
        await until(lambda: not any(map(runs, workers)))


@pytest.mark.slow
async def test_what_is_asked_is_answered_before_the_process_ends(tmp_path: Path) -> None:
    """SIGTERM while a bot thinks: its answer arrives, the process ends with 0, and so do its workers."""
    with bots_process(tmp_path, bot_workers=1) as served:
        workers = served.workers()
        async with grpc.aio.insecure_channel(served.address, options=channel_options()) as channel:
            stub: BotServiceAsyncStub = BotServiceStub(channel)
            await choose(stub, "wild", budget_ms=5000)
            asking = asyncio.ensure_future(choose(stub, "use_up", budget_ms=1000))
            await until(lambda: all(busy(worker) for worker in workers))
            served.process.send_signal(signal.SIGTERM)
            assert await asking
        assert await asyncio.to_thread(served.process.wait, 10) == 0
        assert not any(map(runs, workers))


def busy(pid: int) -> bool:
    """Whether the process *pid* is running at this moment."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "R"


async def outcome(call: Awaitable[Any]) -> str:
    """What became of *call*: `answered`, or the reason and when to come again."""
    try:
        await call
    except grpc.aio.AioRpcError as error:
        found = refusal_of(error)
        return f"{found.reason} {found.params.get('retry_after_ms', '')}".strip()
    return "answered"


async def first(tasks: Sequence[asyncio.Future[str]]) -> str:
    """The outcome of whichever ends first."""
    done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    return done.pop().result()
