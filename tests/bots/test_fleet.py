"""The bots beside gateway and games: `tortuga up` and the demo start them, and start them again."""

from __future__ import annotations

import asyncio
from pathlib import Path

import grpc

from services.cli.fleet import BOTS, GATEWAY, Fleet
from services.kit.shell.server import channel_options
from tests.bots.stage import a_position, installed, runs
from tests.gateway.harness import refusal_of
from tortuga.bots.v1.bot_service_pb2 import SuggestRequest, SuggestResponse
from tortuga.bots.v1.bot_service_pb2_grpc import BotServiceStub
from tortuga.gateway.v1.identity_service_pb2 import SignInAsGuestRequest
from tortuga.gateway.v1.identity_service_pb2_grpc import IdentityServiceStub


async def test_bots_that_die_come_back(tmp_path: Path) -> None:
    """`kill -9` of the bots' process: players hear NO_BOTS until it is there again, and then they are advised."""
    environment = {"PYTHONPATH": installed(tmp_path / "packages"), "TORTUGA_BOT_WORKERS": "1"}
    async with (
        Fleet(tmp_path / "data", [], bots=True, environment=environment) as fleet,
        grpc.aio.insecure_channel(fleet.gateway_address, options=channel_options()) as channel,
    ):
        guest = await IdentityServiceStub(channel).SignInAsGuest(SignInAsGuestRequest())
        token = (("authorization", f"Bearer {guest.tokens.access_token}"),)
        assert (await _advised(channel, token)).suggestions
        first = fleet.pid(BOTS)
        fleet.kill(BOTS)
        assert (await _advised(channel, token)).suggestions
        assert fleet.pid(BOTS) not in (first, None)
        assert fleet.members[BOTS].restarts == 1
        last = fleet.pid(BOTS)
    assert last
    assert not runs(last)


def test_gateway_and_games_are_told_where_bots_are(tmp_path: Path) -> None:
    """TORTUGA_BOTS for everybody; without bots it is empty, whatever this process's own environment says."""
    fleet = Fleet(tmp_path, ["nim"], bots=True)
    assert list(fleet.members) == [GATEWAY, "nim", BOTS]
    assert {member.environment["TORTUGA_BOTS"] for member in fleet.members.values()} == {fleet.members[BOTS].address}
    assert {member.environment["TORTUGA_BOTS"] for member in Fleet(tmp_path, ["nim"]).members.values()} == {""}


async def _advised(channel: grpc.aio.Channel, token: tuple[tuple[str, str], ...]) -> SuggestResponse:
    """Advice, as soon as there is some; until then nothing is said but NO_BOTS."""
    asked = SuggestRequest(position=a_position("keen", budget_ms=5000))
    async with asyncio.timeout(30):
        while True:
            try:
                return await BotServiceStub(channel).Suggest(asked, metadata=token)
            except grpc.aio.AioRpcError as error:
                if refusal_of(error).reason != "NO_BOTS":
                    raise
                await asyncio.sleep(0.05)
