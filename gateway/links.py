"""All links of this gateway: which games there are, which pod owns a match, who waits for a pod to come back."""

from __future__ import annotations

import asyncio
import hashlib
import random
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import TypeVar

import grpc

from gateway.background import gave_up
from gateway.changes import Changes
from gateway.discovery.port import Discovery, Pod
from gateway.games import ServedGame
from gateway.link import Link
from services.kit.errors import DomainError, Internal, NotFound, Relayed, Unavailable
from services.kit.shell.interceptors import error_info
from services.kit.tokens import Keyring
from tortuga.host.v1.host_service_pb2 import (
    AcknowledgeResultsRequest,
    CreateMatchRequest,
    ListResultsRequest,
    Result,
)
from tortuga.play.v1.match_pb2 import Match

T = TypeVar("T")

_REPEATABLE = {grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED, grpc.StatusCode.CANCELLED}


class Links:
    """Implements `gateway.games.Games` over the pods that discovery knows."""

    def __init__(self, discovery: Discovery, keyring: Keyring) -> None:
        self.changes = Changes()
        self._discovery = discovery
        self._keyring = keyring
        self._links: dict[Pod, Link] = {}
        self._waiting: dict[str, dict[object, Callable[[], None]]] = {}
        self._following: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Connect to all known pods, and to those that come."""
        await self._discovery.start()
        self._following = asyncio.create_task(self._follow(), name="discovery")

    async def close(self) -> None:
        """Let go of all pods."""
        if self._following is not None:
            self._following.cancel()
        await self._discovery.close()
        await asyncio.gather(*(link.close() for link in self._links.values()))

    def served(self) -> Sequence[ServedGame]:
        """Games that at least one usable pod serves, by id."""
        found = {link.pod.game: link.served for link in self._links.values() if link.usable and link.served}
        return [found[game] for game in sorted(found)]

    def find(self, game_id: str) -> ServedGame:
        """The game with this id, as last described, whether or not a pod is usable now.

        Raises:
            NotFound: GAME_UNKNOWN.
            Unavailable: NO_SERVICE: its pods have not described it yet.
        """
        links = [link for link in self._links.values() if link.pod.game == game_id]
        if not links:
            raise NotFound("GAME_UNKNOWN")
        for link in sorted(links, key=lambda link: not link.usable):
            if link.served is not None:
                return link.served
        raise Unavailable("NO_SERVICE")

    def incomplete(self) -> bool:
        """Whether a pod that is known has not described its game yet."""
        return any(link.served is None for link in self._links.values())

    def owner(self, game_id: str, match_id: str) -> Link | None:
        """The usable pod that owns the match, by rendezvous hashing; None if no pod of the game is usable."""
        usable = [link for link in self._links.values() if link.usable and link.pod.game == game_id]
        if len(usable) < 2:
            return usable[0] if usable else None
        return max(usable, key=lambda link: _weight(link.pod, match_id))

    def when_usable(self, game_id: str, who: object, call: Callable[[], None]) -> None:
        """Call *who* back once, when a pod of the game becomes usable."""
        self._waiting.setdefault(game_id, {})[who] = call

    def stop_waiting(self, game_id: str, who: object) -> None:
        """*who* is not to be called any more."""
        self._waiting.get(game_id, {}).pop(who, None)

    async def create_match(self, game_id: str, request: CreateMatchRequest) -> Match:
        """Have the match's pod make (or check) it; see `Games`."""
        link = self.owner(game_id, request.match.match_id)
        return (await _call(link, lambda pod: pod.create_match(request))).match

    async def list_results(self, game_id: str, limit: int) -> Sequence[Result]:
        """Ask one of the game's pods; see `Games`."""
        request = ListResultsRequest(page_size=limit)
        return (await _call(self._any(game_id), lambda pod: pod.list_results(request))).results

    async def acknowledge_results(self, game_id: str, match_ids: Sequence[str]) -> None:
        """Tell one of the game's pods; see `Games`."""
        request = AcknowledgeResultsRequest(match_ids=match_ids)
        await _call(self._any(game_id), lambda pod: pod.acknowledge_results(request))

    def _any(self, game_id: str) -> Link | None:
        """A usable pod, by lot: so one that is usable and does not answer stops nothing."""
        usable = [link for link in self._links.values() if link.usable and link.pod.game == game_id]
        return random.choice(usable) if usable else None  # noqa: S311 - the lot is no secret

    async def _follow(self) -> None:
        while True:
            seen = self._discovery.changes.count
            known = set(self._discovery.pods())
            for pod in known - self._links.keys():
                link = self._links[pod] = Link(pod, self._keyring, self._changed)
                link.start()
            for pod in self._links.keys() - known:
                await self._links.pop(pod).close()
            await self._discovery.changes.after(seen)

    def _changed(self, link: Link) -> None:
        self.changes.announce()
        if link.usable:
            for call in self._waiting.pop(link.pod.game, {}).values():
                call()
            for other in list(self._links.values()):
                if other.usable and other is not link and other.pod.game == link.pod.game:
                    other.rehome(partial(self._owns, other))

    def _owns(self, link: Link, match_id: str) -> bool:
        return self.owner(link.pod.game, match_id) is link


async def _call(link: Link | None, call: Callable[[Link], Awaitable[T]]) -> T:
    """What *call* brings from the pod, with our own errors."""
    if link is None:
        raise Unavailable("NO_SERVICE")
    try:
        return await call(link)
    except ConnectionError:
        raise Unavailable("NO_SERVICE") from None
    except asyncio.CancelledError:
        if gave_up():
            raise
        raise Unavailable("NO_SERVICE") from None
    except grpc.aio.AioRpcError as error:
        if error.code() in _REPEATABLE:
            raise Unavailable("NO_SERVICE") from None
        raise relayed(error) from None


def relayed(error: grpc.aio.AioRpcError) -> DomainError:
    """A pod's refusal as our own; what brought no reason is the connection's fault."""
    info = error_info(error)
    if not info.reason:
        return Unavailable("NO_SERVICE") if error.code() in _REPEATABLE else Internal("INTERNAL")
    code: int = error.code().value[0]
    return Relayed(code, info.reason, dict(info.metadata))


def _weight(pod: Pod, match_id: str) -> bytes:
    return hashlib.blake2b(f"{match_id}\0{pod.address}".encode(), digest_size=8).digest()
