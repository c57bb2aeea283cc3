"""Results over real connections: which pod is asked, and what becomes of calls whose link is let go."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import grpc
import pytest

from gateway import link as link_module
from gateway.discovery.port import Pod
from gateway.discovery.static import StaticDiscovery
from gateway.links import Links
from services.kit.errors import Internal, Malformed, Relayed, Unavailable
from services.kit.shell.server import GrpcServer
from services.kit.tokens import Keyring, Verifier, bearer_token
from tests.gateway.local_games import GAME, describe
from tortuga.host.v1 import host_service_pb2 as pb
from tortuga.host.v1 import link_pb2
from tortuga.host.v1.host_service_pb2_grpc import HostServiceServicer, add_HostServiceServicer_to_server
from tortuga.play.v1.match_pb2 import Match


class ScriptedPod(HostServiceServicer):
    """A pod as far as links and results go. Pods that are given the same *results* share their store."""

    def __init__(self, verifier: Verifier, results: dict[str, pb.Result]) -> None:
        self.results = results
        self.asked = 0
        """Calls about results."""
        self.refusal: Exception | None = None
        """Raised by the calls about results."""
        self.awake = asyncio.Event()
        """Cleared: nothing is answered, pings neither."""
        self.awake.set()
        self.waits = asyncio.Event()
        """A call is under way while the pod is not awake."""
        self._verifier = verifier

    async def DescribeGame(self, request: pb.DescribeGameRequest, context: Any) -> pb.DescribeGameResponse:  # noqa: N802 - gRPC's name
        await self._admit(context)
        return describe()

    async def CreateMatch(self, request: pb.CreateMatchRequest, context: Any) -> pb.CreateMatchResponse:  # noqa: N802 - gRPC's name
        await self._admit(context)
        return pb.CreateMatchResponse(match=request.match)

    async def Link(  # type: ignore[override]  # the stubs know generators only  # noqa: N802 - gRPC's name
        self, requests: AsyncIterator[link_pb2.LinkRequest], context: Any
    ) -> None:
        async for request in requests:
            await self.awake.wait()
            await context.write(link_pb2.LinkResponse(pong=request.ping))

    async def ListResults(self, request: pb.ListResultsRequest, context: Any) -> pb.ListResultsResponse:  # noqa: N802 - gRPC's name
        await self._admit(context)
        self.asked += 1
        if self.refusal is not None:
            raise self.refusal
        return pb.ListResultsResponse(results=list(self.results.values())[: request.page_size])

    async def AcknowledgeResults(  # noqa: N802 - gRPC's name
        self, request: pb.AcknowledgeResultsRequest, context: Any
    ) -> pb.AcknowledgeResultsResponse:
        await self._admit(context)
        self.asked += 1
        for match_id in request.match_ids:
            self.results.pop(match_id, None)
        return pb.AcknowledgeResultsResponse()

    async def _admit(self, context: Any) -> None:
        await self._verifier.verify_service(bearer_token(context.invocation_metadata()), GAME)
        if not self.awake.is_set():
            self.waits.set()
        await self.awake.wait()


@asynccontextmanager
async def linked(folder: Path, pods: int) -> AsyncIterator[tuple[Links, list[ScriptedPod]]]:
    """Links to so many pods of one game, all usable."""
    keyring = Keyring.open(folder)
    results = {f"m{n}": pb.Result(match=Match(match_id=f"m{n}", game=GAME)) for n in range(3)}
    served = [ScriptedPod(Verifier.of_keyring(keyring), results) for _ in range(pods)]
    servers, found = [], []
    for pod in served:
        server = GrpcServer()
        add_HostServiceServicer_to_server(pod, server.server)
        found.append(Pod(GAME, f"127.0.0.1:{await server.start('127.0.0.1', 0)}"))
        servers.append(server)
    links = Links(StaticDiscovery(found), keyring)
    await links.start()
    try:
        await until(links, lambda: sum(link.usable for link in links._links.values()) == pods)
        yield links, served
    finally:
        await links.close()
        for pod in served:
            pod.awake.set()
        for server in servers:
            await server.stop(0)


async def until(links: Links, holds: Callable[[], bool]) -> None:
    """Wait until *holds*, looking again whenever pods come or go."""
    async with asyncio.timeout(10):
        while not holds():
            await links.changes.after(links.changes.count)


async def test_any_pod_of_the_game_answers(tmp_path: Path) -> None:
    """Calls go to pods by lot; they share their store, so it does not matter to which."""
    async with linked(tmp_path, 2) as (links, pods):
        for _ in range(40):
            assert [result.match.match_id for result in await links.list_results(GAME, 2)] == ["m0", "m1"]
        assert all(pod.asked > 0 for pod in pods)
        await links.acknowledge_results(GAME, ["m0", "unknown"])
        assert [result.match.match_id for result in await links.list_results(GAME, 500)] == ["m1", "m2"]


async def test_without_a_pod_there_is_no_service(tmp_path: Path) -> None:
    """NO_SERVICE, at once."""
    async with linked(tmp_path, 0) as (links, _):
        with pytest.raises(Unavailable, match="NO_SERVICE"):
            await links.list_results(GAME, 1)
        with pytest.raises(Unavailable, match="NO_SERVICE"):
            await links.acknowledge_results(GAME, [])


async def test_a_pods_refusal_is_passed_on(tmp_path: Path) -> None:
    """With its reason; what has none is a fault."""
    async with linked(tmp_path, 1) as (links, (pod,)):
        pod.refusal = Malformed("PAGE_SIZE", limit=500)
        with pytest.raises(Relayed, match="PAGE_SIZE") as caught:
            await links.list_results(GAME, 501)
        assert (caught.value.status, caught.value.params) == (grpc.StatusCode.INVALID_ARGUMENT, {"limit": "500"})
        pod.refusal = RuntimeError("a fault")
        with pytest.raises((Relayed, Internal), match="INTERNAL"):
            await links.list_results(GAME, 1)


async def test_a_call_whose_link_is_let_go_may_be_repeated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A pod that stands still in mid-call: NO_SERVICE for whoever waits, and never the end of the waiting task."""
    monkeypatch.setattr(link_module, "PING_SECONDS", 0.05)
    monkeypatch.setattr(link_module, "PONG_SECONDS", 0.3)
    async with linked(tmp_path, 1) as (links, (pod,)):
        pod.awake.clear()
        request = pb.CreateMatchRequest(match=Match(match_id="m9", game=GAME))
        calls = [
            links.list_results(GAME, 1),
            links.acknowledge_results(GAME, ["m0"]),
            links.create_match(GAME, request),
        ]
        failures = await asyncio.gather(*calls, return_exceptions=True)
        assert [type(failure) for failure in failures] == [Unavailable] * 3
        assert {str(failure) for failure in failures} == {"NO_SERVICE"}
        pod.awake.set()
        await until(links, lambda: links.owner(GAME, "m9") is not None)
        assert (await links.create_match(GAME, request)).match_id == "m9"


async def test_a_caller_that_is_cancelled_is_cancelled(tmp_path: Path) -> None:
    """That is its own affair and no failure of the pod."""
    async with linked(tmp_path, 1) as (links, (pod,)):
        pod.awake.clear()
        calling = asyncio.create_task(links.list_results(GAME, 1))
        await pod.waits.wait()
        calling.cancel()
        with pytest.raises(asyncio.CancelledError):
            await calling
