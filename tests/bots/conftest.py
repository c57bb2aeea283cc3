"""Fixtures: one bots' process for the tests that leave it as it was, and a stub to one."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import grpc
import pytest

from services.kit.shell.server import channel_options
from tests.bots.stage import BotsProcess, bots_process
from tests.gateway.harness import Gateway, running
from tortuga.bots.v1.bot_service_pb2_grpc import BotServiceStub

if TYPE_CHECKING:
    from tortuga.bots.v1.bot_service_pb2_grpc import BotServiceAsyncStub


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BotsProcess]:
    """A process with one worker, and room for four who wait."""
    with bots_process(tmp_path_factory.mktemp("bots"), bot_workers=1, bot_queue=4) as process:
        yield process


@pytest.fixture
async def bots(served: BotsProcess) -> AsyncIterator[BotServiceAsyncStub]:
    """A client of that process."""
    async with grpc.aio.insecure_channel(served.address, options=channel_options()) as channel:
        yield BotServiceStub(channel)


@pytest.fixture
async def gateway(tmp_path: Path) -> AsyncIterator[Gateway]:
    """A gateway that was told of no bots."""
    async with running(tmp_path) as found:
        yield found
