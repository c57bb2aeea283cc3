"""History through real processes: from a match that two guests play to the list that each of them reads."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, closing
from pathlib import Path
from random import Random

import pytest
from typer.testing import CliRunner

from services.cli.fleet import GATEWAY, Fleet
from services.cli.main import app
from services.cli.matches import list_matches
from services.client import Client
from services.kit.game import installed_games
from tests.gateway.dying import POINTS, arm, is_armed
from tortuga.gateway.v1.history_service_pb2 import GetMatchRequest, MatchSummary
from tortuga.gateway.v1.history_service_pb2_grpc import HistoryServiceStub
from tortuga.play.v1 import match_pb2, play_pb2

GAME = installed_games()[0]
ROOT = Path(__file__).parents[2]


@asynccontextmanager
async def guests(fleet: Fleet) -> AsyncIterator[tuple[Client, Client]]:
    """Two guests, signed in."""
    async with Client(fleet.gateway_address) as anna, Client(fleet.gateway_address) as bo:
        await anna.sign_in_as_guest("Anna")
        await bo.sign_in_as_guest("Bo")
        yield anna, bo


async def new_match(*players: Client) -> str:
    """Seat them together; the match's id."""
    found = await asyncio.gather(*(player.find_match(GAME, seats=len(players)) for player in players))
    assert len(set(found)) == 1
    return found[0]


async def play(
    player: Client, match_id: str, luck: Random, go_on: asyncio.Event, begun: asyncio.Event
) -> match_pb2.Outcome:
    """Play at random to the end; *begun* is set when the match runs, nobody acts before *go_on*."""
    async with player.seat(match_id, GAME) as seat:
        async for update in seat:
            if seat.status.state == match_pb2.MATCH_STATE_RUNNING:
                begun.set()
            if seat.decision:
                await go_on.wait()
                await seat.act(luck.choice(update.update.legal))
        assert seat.outcome is not None
        return seat.outcome


async def resign(player: Client, other: Client, match_id: str) -> match_pb2.Outcome:
    """Begin a match, and have *player* give it up."""
    async with AsyncExitStack() as seats:
        await seats.enter_async_context(other.seat(match_id, GAME))
        own = await seats.enter_async_context(player.seat(match_id, GAME))
        resigned = False
        async for _ in own:
            if own.status.state == match_pb2.MATCH_STATE_RUNNING and not resigned:
                resigned = True
                await own.act(play_pb2.KitAction(kind=play_pb2.KIT_KIND_RESIGN))
        assert own.outcome is not None
        return own.outcome


async def summaries(player: Client, *, live: bool = False, page_size: int = 0) -> list[MatchSummary]:
    """The player's whole list."""
    return [one async for one in list_matches(player, live=live, page_size=page_size)]


async def until_over(player: Client, match_id: str) -> MatchSummary:
    """Read the match until the platform knows that it is over."""
    async with asyncio.timeout(15):
        while True:
            request = GetMatchRequest(match_id=match_id)
            found = (await player.call(HistoryServiceStub(player.calls).GetMatch, request)).match
            if found.state >= match_pb2.MATCH_STATE_ENDED:
                return found
            await asyncio.sleep(0.02)


async def test_matches_are_listed_while_they_run_and_when_they_are_over(tmp_path: Path) -> None:
    """Live ones to come back to, ended ones with the outcome that players saw; kill -9 of the gateway forgets none."""
    seed = Random().randrange(1 << 32)
    print("seed", seed)
    begun, go_on = asyncio.Event(), asyncio.Event()
    async with Fleet(tmp_path, [GAME]) as fleet, guests(fleet) as (anna, bo):
        played = await new_match(anna, bo)
        playing = [
            asyncio.create_task(play(one, played, Random(f"{seed}/{n}"), go_on, begun))
            for n, one in enumerate((anna, bo))
        ]
        await begun.wait()
        (running,) = await summaries(anna, live=True)
        assert (running.match.match_id, running.state) == (played, match_pb2.MATCH_STATE_RUNNING)
        assert len(running.match.commitment) == 32
        assert await summaries(bo) == [running]
        go_on.set()
        outcome, same = await asyncio.gather(*playing)
        assert outcome == same
        over = await until_over(anna, played)
        assert (over.match, over.state, over.outcome) == (running.match, match_pb2.MATCH_STATE_ENDED, outcome)
        assert over.end_time.ToMilliseconds() >= over.match.created_ms

        later = await new_match(anna, bo)
        fleet.kill(GATEWAY)
        await fleet.wait_ready(GATEWAY)
        assert [one.match.match_id for one in await summaries(anna, live=True)] == [later]
        ids = [one.match.match_id for one in await summaries(bo, page_size=1)]
        assert ids == [later, played]
        assert (await summaries(anna))[1] == over
        resigned = await resign(anna, bo, later)
        assert (await until_over(bo, later)).outcome == resigned
        assert await summaries(anna, live=True) == []

        said = await asyncio.to_thread(tortuga, fleet, "--token", anna.token, "--json")
        assert [one["match"]["match_id"] for one in json.loads(said)["matches"]] == [later, played]
        (line,) = (await asyncio.to_thread(tortuga, fleet, "--token", anna.token, "--most", "1")).splitlines()
        assert line.startswith(f"{later}  {GAME}")
        assert resigned.reason in line
        assert await asyncio.to_thread(tortuga, fleet, "--token", anna.token, "--live") == "there are none\n"
    assert unacknowledged(tmp_path) == 0


def tortuga(fleet: Fleet, *arguments: str) -> str:
    """What `tortuga matches` prints."""
    done = CliRunner().invoke(app, ["matches", "--target", fleet.gateway_address, *arguments])
    assert done.exit_code == 0, done.output
    return done.stdout


def test_a_list_is_somebodys() -> None:
    """Without a token there is nobody whose matches could be listed: exit 2, and why."""
    done = CliRunner().invoke(app, ["matches"], env={"TORTUGA_TOKEN": ""})
    assert done.exit_code == 2
    assert "TORTUGA_TOKEN" in done.stderr


def unacknowledged(data: Path) -> int:
    """How many results the game still holds for a gateway."""
    with closing(sqlite3.connect(data / f"{GAME}.db")) as connection:
        query = "SELECT COUNT(*) FROM matches WHERE result IS NOT NULL AND NOT acknowledged"
        (count,) = connection.execute(query).fetchone()
    return int(count)


@pytest.mark.slow
async def test_kill_at_each_step_of_a_result_neither_loses_nor_doubles_it(tmp_path: Path) -> None:
    """kill -9 of the gateway after listing, keeping, acknowledging: over once, and acknowledged in the end."""
    command = (sys.executable, "-m", "tests.gateway.dying")
    outcomes: dict[str, match_pb2.Outcome] = {}
    fleet = Fleet(tmp_path, [GAME], command=command, environment={"PYTHONPATH": str(ROOT)})
    async with fleet, guests(fleet) as (anna, bo):
        for point in POINTS:
            deaths = fleet.members[GATEWAY].restarts
            match_id = await new_match(anna, bo)
            arm(tmp_path, point)
            outcomes[match_id] = await resign(bo, anna, match_id)
            over = await until_over(anna, match_id)
            async with asyncio.timeout(20):
                while is_armed(tmp_path) or fleet.members[GATEWAY].restarts == deaths or unacknowledged(tmp_path):
                    await asyncio.sleep(0.05)
            await fleet.wait_ready(GATEWAY)
            assert await until_over(anna, match_id) == over
        assert {one.match.match_id: one.outcome for one in await summaries(bo)} == outcomes
        assert len(await summaries(anna)) == len(POINTS)
    assert unacknowledged(tmp_path) == 0
