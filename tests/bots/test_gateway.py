"""Advice at the gateway: for players, by token, within limits; over a real bots' process."""

from __future__ import annotations

import asyncio
import socket
from pathlib import Path

import grpc
import pytest
from grpc_reflection.v1alpha import reflection_pb2

from gateway.settings import GatewaySettings
from tests.bots.stage import BotsProcess, a_position
from tests.gateway.harness import Gateway, Refused, refused, running
from tortuga.bots.v1.bot_service_pb2 import ChooseRequest, SuggestRequest
from tortuga.bots.v1.bot_service_pb2_grpc import BotServiceStub

TOKENLESS = grpc.StatusCode.UNAUTHENTICATED


async def test_a_player_is_advised(served: BotsProcess, tmp_path: Path) -> None:
    """Suggest is passed on, refusals too; Choose is for services only."""
    async with running(tmp_path, bots=served.address) as gateway:
        stub = BotServiceStub(gateway.channel)
        anna = await gateway.guest()
        asked = a_position("keen", budget_ms=5000)
        answer = await stub.Suggest(SuggestRequest(position=asked, limit=2), metadata=anna.metadata)
        assert [each.reason for each in answer.suggestions] == ["HIGH_CARD", "HIGH_CARD"]
        asked.bot = "oracle"
        found = await refused(stub.Suggest(SuggestRequest(position=asked), metadata=anna.metadata))
        assert (found.status, found.reason) == (grpc.StatusCode.NOT_FOUND, "BOT_UNKNOWN")
        found = await refused(stub.Choose(ChooseRequest(position=asked), metadata=anna.metadata))
        assert (found.status, found.reason) == (grpc.StatusCode.PERMISSION_DENIED, "SERVICE_ONLY")


async def test_advice_takes_a_token(gateway: Gateway) -> None:
    """As every call that costs something; no bot is asked before that."""
    stub = BotServiceStub(gateway.channel)
    assert (await refused(stub.Suggest(SuggestRequest()))).status is TOKENLESS
    assert (await refused(stub.Choose(ChooseRequest()))).status is TOKENLESS


async def test_a_player_has_two_questions_open(served: BotsProcess, tmp_path: Path) -> None:
    """The third is refused; another player's is not, and afterwards the first may ask again."""
    async with running(tmp_path, bots=served.address) as gateway:
        stub = BotServiceStub(gateway.channel)
        anna, bo = await gateway.guest(), await gateway.guest()
        nap = SuggestRequest(position=a_position("nap", budget_ms=5000))
        asking = [asyncio.ensure_future(refused(stub.Suggest(nap, metadata=anna.metadata))) for _ in range(3)]
        done, others = await asyncio.wait(asking, return_when=asyncio.FIRST_COMPLETED)
        found = done.pop().result()
        assert (found.status, found.reason) == (grpc.StatusCode.RESOURCE_EXHAUSTED, "TOO_MANY_SUGGESTIONS")
        assert int(found.params["retry_after_ms"]) > 0
        wild = SuggestRequest(position=a_position(budget_ms=5000))
        assert (await stub.Suggest(wild, metadata=bo.metadata)).suggestions
        for answered in await asyncio.gather(*others, return_exceptions=True):
            assert isinstance(answered, pytest.fail.Exception), "it was not refused"
        assert (await stub.Suggest(wild, metadata=anna.metadata)).suggestions


async def test_without_bots_it_says_so(gateway: Gateway, tmp_path: Path) -> None:
    """UNAVAILABLE, NO_BOTS: none are set, or nobody answers where they should be."""
    nobody = Refused(grpc.StatusCode.UNAVAILABLE, "NO_BOTS", {})
    asked = SuggestRequest(position=a_position())
    anna = await gateway.guest()
    assert await refused(BotServiceStub(gateway.channel).Suggest(asked, metadata=anna.metadata)) == nobody
    with socket.socket() as unheard:
        unheard.bind(("127.0.0.1", 0))
        async with running(tmp_path / "other", bots=f"127.0.0.1:{unheard.getsockname()[1]}") as other:
            anna = await other.guest()
            assert await refused(BotServiceStub(other.channel).Suggest(asked, metadata=anna.metadata)) == nobody


async def test_reflection_lists_the_service(gateway: Gateway) -> None:
    """Whoever looks at the gateway finds it, with its messages."""
    call = gateway.channel.stream_stream(
        "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
        request_serializer=reflection_pb2.ServerReflectionRequest.SerializeToString,
        response_deserializer=reflection_pb2.ServerReflectionResponse.FromString,
    )
    asked = reflection_pb2.ServerReflectionRequest(file_containing_symbol="tortuga.bots.v1.BotService")
    [answer] = [answer async for answer in call(iter([asked]))]
    assert answer.file_descriptor_response.file_descriptor_proto


@pytest.mark.parametrize("address", ["bots", "bots:port", "a b:1", ":7072"])
def test_an_address_that_makes_no_sense_is_refused(address: str) -> None:
    """When the process starts."""
    with pytest.raises(ValueError, match="bots"):
        GatewaySettings(bots=address)
