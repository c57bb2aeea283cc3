"""HostService: what a game service offers gateways. Every call carries a service token for this game."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any, TypeAlias

import grpc
from google.protobuf.descriptor import FileDescriptor
from google.protobuf.descriptor_pb2 import FileDescriptorProto, FileDescriptorSet

from services.kit.errors import Malformed, Unavailable
from services.kit.host import Host
from services.kit.pod_link import PodLink
from services.kit.results import Results
from services.kit.store.port import MatchStore
from services.kit.tokens import Verifier, bearer_token
from tortuga.host.v1 import host_service_pb2 as pb
from tortuga.host.v1 import link_pb2
from tortuga.host.v1.host_service_pb2_grpc import HostServiceServicer

Context: TypeAlias = "grpc.aio.ServicerContext[Any, Any]"

MOST_RESULTS = 500
"""Results in one call."""

_USUAL_RESULTS = 100


class HostServicer(HostServiceServicer):
    """Serves one pod's host to any number of gateways."""

    def __init__(self, host: Host, store: MatchStore, verifier: Verifier) -> None:
        self._host = host
        self._results = Results(store)
        self._verifier = verifier
        self._links: set[PodLink] = set()
        self._draining = False
        game = host.game
        self._description = pb.DescribeGameResponse(
            game=game.description,
            descriptors=FileDescriptorSet(file=_with_imports(game.service.file)),
        )

    async def DescribeGame(self, request: pb.DescribeGameRequest, context: Context) -> pb.DescribeGameResponse:  # noqa: N802 - gRPC's name
        """The game, and its contract with all that it imports."""
        await self._admit(context)
        return self._description

    async def CreateMatch(self, request: pb.CreateMatchRequest, context: Context) -> pb.CreateMatchResponse:  # noqa: N802 - gRPC's name
        """Make a match once, or check that it could be made."""
        await self._admit(context)
        match = await self._host.create(request.match, request.spectator_key, request.validate_only)
        return pb.CreateMatchResponse(match=match)

    async def Link(  # type: ignore[override]  # the stubs know generators only  # noqa: N802 - gRPC's name
        self, requests: AsyncIterator[link_pb2.LinkRequest], context: Context
    ) -> None:
        """Carry the frames of one gateway; without a service token there is no link."""
        await self._admit(context)
        if self._draining:
            raise Unavailable("DRAINING")
        link = PodLink(self._host)
        self._links.add(link)
        try:
            await link.run(requests, context.write)
        finally:
            self._links.discard(link)

    async def ListResults(self, request: pb.ListResultsRequest, context: Context) -> pb.ListResultsResponse:  # noqa: N802 - gRPC's name
        """Results that no gateway has acknowledged yet, oldest match first."""
        await self._admit(context)
        if request.page_size > MOST_RESULTS:
            raise Malformed("PAGE_SIZE", limit=MOST_RESULTS)
        found = await self._results.results(request.page_size or _USUAL_RESULTS)
        return pb.ListResultsResponse(results=[pb.Result.FromString(result) for result in found])

    async def AcknowledgeResults(  # noqa: N802 - gRPC's name
        self, request: pb.AcknowledgeResultsRequest, context: Context
    ) -> pb.AcknowledgeResultsResponse:
        """Take note that a gateway keeps these results."""
        await self._admit(context)
        if len(request.match_ids) > MOST_RESULTS:
            raise Malformed("TOO_MANY", limit=MOST_RESULTS)
        await self._results.acknowledge(request.match_ids)
        return pb.AcknowledgeResultsResponse()

    def drain(self) -> None:
        """Send the gateways elsewhere: each link says so and ends."""
        self._draining = True
        for link in list(self._links):
            link.drain()

    async def _admit(self, context: Context) -> None:
        await self._verifier.verify_service(bearer_token(context.invocation_metadata()), self._host.game.id)


def _with_imports(file: FileDescriptor) -> list[FileDescriptorProto]:
    """*file* and all it imports, dependencies first, each once."""
    found: dict[str, FileDescriptorProto] = {}

    def add(one: FileDescriptor) -> None:
        if one.name in found:
            return
        for imported in one.dependencies:
            add(imported)
        proto = FileDescriptorProto()
        one.CopyToProto(proto)
        found[one.name] = proto

    add(file)
    return list(found.values())
