"""Attachments on the gateway's side: each leads to the link of the pod that owns its match, or waits for one."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import grpc

from gateway.background import Background
from gateway.link import Link
from gateway.links import Links, relayed
from gateway.matchmaking.orders import Orders
from services.kit.attachment import Outlet
from services.kit.errors import Unavailable
from services.kit.shell import metrics
from tortuga.host.v1 import link_pb2

FRESH_WAIT_SECONDS = 10.0
"""How long a new attachment waits for a usable pod."""

RESUME_WAIT_SECONDS = 60.0
"""How long one waits that was attached before: the client notices no more than a pause."""


class _Place:
    """Where an attachment is: on a link, or waiting with what was sent meanwhile (8 messages at most)."""

    __slots__ = ("link", "making", "number", "timer", "waiting")

    def __init__(self) -> None:
        self.link: Link | None = None
        self.number = 0
        self.waiting: list[bytes] = []
        self.timer: asyncio.TimerHandle | None = None
        self.making: asyncio.Task[None] | None = None


class GatewayBackend:
    """The matches of one game, wherever their pods are."""

    def __init__(self, game: str, service: str, links: Links, orders: Orders, background: Background) -> None:
        self.game = game
        self._service = service
        self.links = links
        self.orders = orders
        self.background = background

    async def replay(self, match_id: str, player_id: str, token: str) -> AsyncIterator[bytes]:
        """A finished match, from the pod's typed service with the player's own token, on a channel of its own.

        Raises:
            Unavailable: NO_SERVICE, or MATCH_STARTING: it is still being made.
            Relayed: the pod's refusal.
        """
        await self.orders.made(match_id)
        link = self.links.owner(self.game, match_id)
        if link is None:
            raise Unavailable("NO_SERVICE")
        try:
            async for message in link.replay(self._service, match_id, token):
                yield message
        except grpc.aio.AioRpcError as error:
            raise relayed(error) from None

    def session(self, outlet: Outlet) -> GatewaySession:
        """Attachments that deliver to *outlet*."""
        return GatewaySession(self, outlet)


class GatewaySession:
    """The attachments of one client's stream."""

    def __init__(self, backend: GatewayBackend, outlet: Outlet) -> None:
        self._backend = backend
        self._outlet = outlet
        self._places: dict[int, _Place] = {}

    def open(self, number: int, wanted: link_pb2.Open) -> None:
        """Begin an attachment; a match that is being made is waited for."""
        place = self._places[number] = _Place()
        metrics.ATTACHMENTS.inc()
        if self._backend.orders.is_making(wanted.match_id):
            place.making = self._backend.background.start(self._open_when_made(number, wanted), "attach")
        else:
            self._place(number, wanted)

    def message(self, number: int, data: bytes) -> None:
        """Pass a client's bytes on, or keep them until there is a link."""
        place = self._places.get(number)
        if place is None:
            return
        if place.link is None:
            place.waiting.append(data)
        else:
            place.link.message(place.number, data)

    def close(self, number: int) -> None:
        """End an attachment."""
        place = self._places.pop(number, None)
        if place is not None:
            metrics.ATTACHMENTS.dec()
            self._stop_waiting(place)
            if place.link is not None:
                place.link.close_attachment(place.number)

    def close_all(self) -> None:
        """End all of them."""
        for number in list(self._places):
            self.close(number)

    async def _open_when_made(self, number: int, wanted: link_pb2.Open) -> None:
        try:
            await self._backend.orders.made(wanted.match_id)
        except Unavailable as error:
            self._outlet.end(number, error.reason)
        else:
            self._place(number, wanted)

    def _place(self, number: int, wanted: link_pb2.Open) -> None:
        """Open on the owner's link, or wait until a pod of the game is usable."""
        place = self._places.get(number)
        if place is None or self._try(number, place, wanted):
            return
        seconds = RESUME_WAIT_SECONDS if wanted.resume else FRESH_WAIT_SECONDS
        place.timer = asyncio.get_running_loop().call_later(seconds, self._give_up, number, place)
        self._wait(place, wanted, number)

    def _wait(self, place: _Place, wanted: link_pb2.Open, number: int) -> None:
        def look_again() -> None:
            if not self._try(number, place, wanted):
                self._wait(place, wanted, number)

        self._backend.links.when_usable(self._backend.game, place, look_again)

    def _stop_waiting(self, place: _Place) -> None:
        """Nothing of an attachment stays behind, neither its timer nor its place among those who wait for a pod."""
        self._backend.links.stop_waiting(self._backend.game, place)
        if place.timer is not None:
            place.timer.cancel()
        if place.making is not None and place.making is not asyncio.current_task():
            place.making.cancel()

    def _try(self, number: int, place: _Place, wanted: link_pb2.Open) -> bool:
        link = self._backend.links.owner(self._backend.game, wanted.match_id)
        if link is None:
            return False
        self._stop_waiting(place)
        place.link = link
        place.number = link.open(self._outlet, number, wanted)
        for data in place.waiting:
            link.message(place.number, data)
        place.waiting.clear()
        return True

    def _give_up(self, number: int, place: _Place) -> None:
        if self._places.get(number) is place and place.link is None:
            self._outlet.end(number, "NO_SERVICE")
