"""What the bots answer, and how they refuse."""

from __future__ import annotations

import time
from random import Random
from typing import TYPE_CHECKING, Any

import grpc
import httpx
import pytest

from tests.bots.stage import BotsProcess, a_position
from tests.bots.troubled import GAME
from tests.conformance.small_game.parts import Action
from tests.gateway.harness import refused
from tortuga.bots.v1.bot_service_pb2 import ChooseRequest, Position, SuggestRequest, SuggestResponse

if TYPE_CHECKING:
    from tortuga.bots.v1.bot_service_pb2_grpc import BotServiceAsyncStub


async def choice(bots: BotServiceAsyncStub, position: Position) -> str:
    """The text form of what the bot plays."""
    action: Action = GAME.wire.read_action((await bots.Choose(ChooseRequest(position=position))).action)
    return str(action)


async def advice(bots: BotServiceAsyncStub, position: Position, limit: int = 0) -> list[str]:
    """The text forms of what the bot suggests."""
    answer: SuggestResponse = await bots.Suggest(SuggestRequest(position=position, limit=limit))
    return [str(GAME.wire.read_action(each.action)) for each in answer.suggestions]


async def test_the_same_position_and_seed_give_the_same_answer(bots: BotServiceAsyncStub) -> None:
    """Luck comes from the seed alone: other seeds give other answers, the same one never does."""
    answers = {}
    for seed in map(str, range(6)):
        asked = a_position()
        asked.seed = Random(seed).randbytes(32)
        answers[seed] = await choice(bots, asked)
        assert await choice(bots, asked) == answers[seed]
    assert len(set(answers.values())) > 1


async def test_without_a_level_the_best_bot_answers(bots: BotServiceAsyncStub) -> None:
    """Empty stands for the last level of the game's description."""
    asked = a_position("keen")
    best = await advice(bots, asked)
    asked.bot = ""
    assert await advice(bots, asked) == best
    assert GAME.description.bots[-1] == "keen"


async def test_suggestions_come_best_first_with_worth_and_reason(bots: BotServiceAsyncStub) -> None:
    """Three unless another number is wanted; the first is what Choose plays."""
    asked = a_position("keen")
    answer = await bots.Suggest(SuggestRequest(position=asked))
    worths = [each.worth for each in answer.suggestions]
    assert len(worths) == 3
    assert worths == sorted(worths, reverse=True)
    assert {each.reason for each in answer.suggestions} == {"HIGH_CARD"}
    assert (await advice(bots, asked))[0] == await choice(bots, asked)
    assert len(await advice(bots, asked, limit=1)) == 1
    assert len(await advice(bots, asked, limit=20)) > 3


NOT_FOUND, INVALID = grpc.StatusCode.NOT_FOUND, grpc.StatusCode.INVALID_ARGUMENT


@pytest.mark.parametrize(
    ("changes", "status", "reason"),
    [
        ({"game": "chess"}, NOT_FOUND, "GAME_UNKNOWN"),
        ({"game": "\n" * 70}, NOT_FOUND, "GAME_UNKNOWN"),
        ({"rules_version": "0"}, NOT_FOUND, "RULES_UNKNOWN"),
        ({"bot": "oracle"}, NOT_FOUND, "BOT_UNKNOWN"),
        ({"seed": b""}, INVALID, "SEED"),
        ({"seed": bytes(33)}, INVALID, "SEED"),
        ({"budget_ms": 5001}, INVALID, "BUDGET"),
        ({"seat": 4_000_000_000}, INVALID, "POSITION"),
        ({"update": b"\xff\xff"}, INVALID, "POSITION"),
        ({"options": b"\xff\xff"}, INVALID, "OPTION_MALFORMED"),
        ({"update": b""}, INVALID, "POSITION"),
        ({"bot": "leave"}, INVALID, "POSITION"),
        ({"bot": "eat"}, INVALID, "POSITION"),
        ({"bot": "speechless"}, INVALID, "POSITION"),
    ],
)
async def test_a_wrong_question_is_refused_by_a_code(
    bots: BotServiceAsyncStub, changes: dict[str, Any], status: grpc.StatusCode, reason: str
) -> None:
    """Each mistake has its own status and reason, in both calls."""
    asked = a_position(**changes)
    found = await refused(bots.Choose(ChooseRequest(position=asked)))
    assert (found.status, found.reason) == (status, reason)
    assert await refused(bots.Suggest(SuggestRequest(position=asked))) == found


async def test_who_may_do_nothing_gets_no_advice(bots: BotServiceAsyncStub) -> None:
    """A seat's whole view, with nothing legal in it."""
    asked = a_position()
    update: Any = GAME.message("Update").FromString(asked.update)
    update.ClearField("legal")
    update.ClearField("templates")
    asked.update = update.SerializeToString()
    found = await refused(bots.Choose(ChooseRequest(position=asked)))
    assert (found.status, found.reason) == (grpc.StatusCode.FAILED_PRECONDITION, "NOTHING_LEGAL")


async def test_too_many_suggestions_are_refused(bots: BotServiceAsyncStub) -> None:
    """At most twenty."""
    found = await refused(bots.Suggest(SuggestRequest(position=a_position(), limit=21)))
    assert found == (INVALID, "SUGGESTIONS", {"most": "20"})


async def test_garbage_costs_no_worker(served: BotsProcess, bots: BotServiceAsyncStub) -> None:
    """Whatever bytes come as a position: a refusal by a code or an answer; never INTERNAL, and the worker lives on."""
    workers = served.workers()
    seed = time.time_ns()
    luck = Random(seed)
    codes = set()
    good = a_position()
    for _ in range(150):
        asked = Position.FromString(good.SerializeToString())
        asked.bot = luck.choice(("wild", "keen"))
        data = bytearray(good.update if luck.random() < 0.8 else luck.randbytes(40))
        for _ in range(luck.randint(1, 4)):
            data[luck.randrange(len(data))] = luck.randrange(256)
        asked.update = bytes(data)
        try:
            await bots.Choose(ChooseRequest(position=asked))
        except grpc.aio.AioRpcError as error:
            codes.add(error.code())
    assert codes <= {INVALID, grpc.StatusCode.FAILED_PRECONDITION}, seed
    assert INVALID in codes, seed
    assert served.workers() == workers, seed


async def test_a_message_too_long_is_refused(bots: BotServiceAsyncStub) -> None:
    """What no position can need is not even read."""
    asked = a_position(update=bytes(1 << 20))
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await bots.Choose(ChooseRequest(position=asked))
    assert caught.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED


async def test_what_a_bot_prints_and_reads_is_not_the_service_s(bots: BotServiceAsyncStub) -> None:
    """Standard output goes to the log, standard input is empty; questions and answers are not disturbed."""
    asked = a_position("chat")
    assert await choice(bots, asked) == await choice(bots, asked)


async def test_thinking_is_measured_by_game_and_level(served: BotsProcess, bots: BotServiceAsyncStub) -> None:
    """tortuga_bot_seconds has a series for each level that was asked, the empty one under its real name."""
    await choice(bots, a_position(bot=""))
    async with httpx.AsyncClient() as client:
        text = (await client.get(f"{served.http}/metrics")).text
    assert 'tortuga_bot_seconds_count{bot="keen",game="plunder"}' in text
    assert 'bot=""' not in text


async def test_the_log_holds_no_values(served: BotsProcess, bots: BotServiceAsyncStub) -> None:
    """A bot that fails is logged by type and place; what it was shown is nobody's business."""
    await refused(bots.Choose(ChooseRequest(position=a_position("leave"))))
    [*_, failed] = [event for event in served.events() if event["event"] == "bot_failed"]
    assert failed.keys() == {"event", "level", "time", "service", "game", "bot", "exception"}
    assert failed["exception"].keys() == {"type", "frames"}
