"""The promise of issue 4, through the real process: a bot has no input but what its seat sees."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import pytest

from services.bots.questions import MOST_BUDGET_MS
from services.kit.game import AnyGame, installed_games, load_game
from services.kit.rules import Seat
from tests.bots.stage import positions
from tests.conformance.bots import position
from tests.conformance.ground import Line
from tests.conformance.small_game import GAME
from tortuga.bots.v1.bot_service_pb2 import ChooseRequest

if TYPE_CHECKING:
    from tortuga.bots.v1.bot_service_pb2_grpc import BotServiceAsyncStub

GAMES: list[AnyGame] = [GAME, *map(load_game, installed_games())]
"""The small game, and every installed one. Each of them that offers bots is tried with all of them."""

LEVELS = [(game, level) for game in GAMES for level in game.description.bots]

SEED = "20261201"


@pytest.mark.parametrize(("game", "level"), LEVELS, ids=[f"{game.id}-{level}" for game, level in LEVELS])
async def test_positions_that_look_alike_get_the_same_legal_answer(
    bots: BotServiceAsyncStub, game: AnyGame, level: str
) -> None:
    """What a seat cannot see is dealt anew: for the same seed the bot chooses the same, and the rules allow it."""
    print(f"seed {SEED}")
    differed = 0
    for line, step, seat in positions(game, f"{SEED}/{level}", 12):
        luck, state = line.luck.randbytes(32), cast("Any", step.game)
        chosen = await _chosen(bots, line, state, seat, level, luck)
        line.match.act(step, seat, game.wire.read_action(chosen))  # raises what the rules have against it
        for _ in range(2):
            other: Any = game.rules.redeal(state, seat, line.luck)
            differed += other.dump() != state.dump()
            assert await _chosen(bots, line, other, seat, level, luck) == chosen
    assert differed, "no position that only looks alike was tried"


async def _chosen(bots: BotServiceAsyncStub, line: Line, state: Any, seat: Seat, level: str, luck: bytes) -> bytes:
    asked = position(line.match.game, line, state, seat)
    asked.bot, asked.seed, asked.budget_ms = level, luck, MOST_BUDGET_MS
    return (await bots.Choose(ChooseRequest(position=asked))).action
