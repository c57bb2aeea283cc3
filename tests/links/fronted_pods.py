"""The gateway's links, attachments and front in the test's process, in front of real game processes."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from gateway.attachments import GatewayBackend
from gateway.background import Background
from gateway.discovery.port import Pod
from gateway.discovery.static import StaticDiscovery
from gateway.links import Links
from gateway.matchmaking.orders import Orders
from gateway.store.sqlite import SqliteGatewayStore
from services.cli.member import SERVE, Member, Upkeep
from services.cli.ports import free_ports
from services.kit.clock import StoreClock
from services.kit.front import Front
from services.kit.game import load_game
from services.kit.tokens import Keyring, VerifiedPlayer
from tests.links.scripted import PATIENCE, Call
from tortuga.host.v1.host_service_pb2 import CreateMatchRequest
from tortuga.play.v1 import match_pb2, play_pb2

GAME = load_game("corsari")
STORE = "pod.db"


class Platform:
    """A gateway's half, and the pods behind it."""

    def __init__(self, folder: Path, keyring: Keyring, members: list[Member], links: Links, front: Front) -> None:
        self.folder = folder
        self.keyring = keyring
        self.members = members
        self.links = links
        self.front = front
        self.player = "p0"
        self.clients: list[Client] = []

    async def usable(self) -> None:
        """Wait until some pod is."""
        async with asyncio.timeout(PATIENCE):
            while not self.links.served():
                await self.links.changes.after(self.links.changes.count)

    def usable_pods(self) -> list[str]:
        """Addresses of the pods that can be used."""
        return [link.pod.address for link in self.links._links.values() if link.usable]

    def owner(self, match_id: str) -> str:
        """Address of the match's pod."""
        link = self.links.owner(GAME.id, match_id)
        assert link is not None
        return link.pod.address

    async def match(self, match_id: str, players: int = 2) -> None:
        """Have a match made."""
        seats = [match_pb2.Seat(player_id=f"p{number}") for number in range(players)]
        await self.links.create_match(
            GAME.id, CreateMatchRequest(match=match_pb2.Match(match_id=match_id, seats=seats))
        )

    async def play(self, match_id: str, seat: int) -> Client:
        """A player's stream, attached."""
        self.player = f"p{seat}"
        client = Client(match_id)
        self.clients.append(client)
        client.start(self.front)
        while not client.running:
            await asyncio.sleep(0)
        return client


class Client(Call):
    """A player on one stream, who knows what it was last told."""

    def __init__(self, match_id: str) -> None:
        super().__init__()
        self.match_id = match_id
        self.task: asyncio.Task[Any] | None = None
        self.header = play_pb2.UpdateHeader()
        self.state = 0
        self.legal: list[Any] = []
        self.answered: dict[str, str] = {}
        """By action id: "" if applied, else why it was refused."""
        self._told = asyncio.Event()
        self._response = GAME.message("PlayResponse")

    @property
    def running(self) -> bool:
        """Whether the server reads."""
        return self.requests.empty()

    def start(self, front: Front) -> None:
        """Open the stream and attach."""
        call: Any = self
        self.send(self._request(attach=True))
        self.task = asyncio.ensure_future(front._play(call, call))

    def contribute(self, action_id: str = "contribute") -> None:
        """Send the contribution."""
        request = play_pb2.PlayRequest.FromString(self._request(action_id))
        request.kit.kind = play_pb2.KIT_KIND_CONTRIBUTE
        self.send(request.SerializeToString())

    def move(self, action_id: str) -> None:
        """Play the first legal action."""
        request: Any = GAME.message("PlayRequest").FromString(self._request(action_id))
        request.header.decision = self.header.decision
        request.action.MergeFromString(GAME.wire.write_action(self.legal[0]))
        self.send(request.SerializeToString())

    async def write(self, data: bytes) -> None:
        """Take a message, and hold the promise about numbers: none missing, none twice."""
        await super().write(data)
        response: Any = self._response.FromString(data)
        if response.header.time_ms:
            assert response.header.seq == self.header.seq + 1 or response.HasField("attached")
            self.header = response.header
            self.legal = list(GAME.wire.read_legal(response.update).actions)
        if response.HasField("status"):
            self.state = response.status.state
        if response.HasField("applied"):
            self.answered[response.applied.action_id] = ""
        if response.HasField("refused"):
            self.answered[response.refused.action_id] = response.refused.reason
        self._told.set()

    async def until(self, seen: Any) -> None:
        """Wait until what it was told makes *seen* true."""
        async with asyncio.timeout(PATIENCE):
            while not seen(self):
                self._told.clear()
                await self._told.wait()

    async def leave(self) -> None:
        """Cancel the call."""
        assert self.task is not None
        self.task.cancel()
        await asyncio.wait([self.task])

    def _request(self, action_id: str = "", attach: bool = False) -> bytes:
        request = play_pb2.PlayRequest(header=play_pb2.RequestHeader(match_id=self.match_id, action_id=action_id))
        if attach:
            request.attach.SetInParent()
        return request.SerializeToString()


@asynccontextmanager
async def platform(folder: Path, restart: bool = True, start: bool = True, pods: int = 1) -> AsyncIterator[Platform]:
    """Pods as processes on one store, and the gateway's half in front of them; the first one runs if *start*."""
    keyring = Keyring.open(folder)
    (folder / "jwks.json").write_text(json.dumps(keyring.jwks()))
    members = [_member(folder, f"pod-{number}", restart) for number in range(pods)]
    links = Links(StaticDiscovery([Pod(GAME.id, member.address) for member in members]), keyring)
    store = await SqliteGatewayStore.open(folder / "gateway.db")
    orders, background = Orders(store, links, StoreClock(), 1.0), Background()
    backend = GatewayBackend(GAME.id, GAME.service.full_name, links, orders, background)

    async def authenticate(_: Any) -> VerifiedPlayer:
        return VerifiedPlayer(found.player, round((time.time() + 1000) * 1000))

    async def verify(token: str) -> VerifiedPlayer:
        return VerifiedPlayer(token, round((time.time() + 1000) * 1000))

    found = Platform(folder, keyring, members, links, Front(GAME.id, backend, authenticate, verify))
    await links.start()
    try:
        if start:
            await members[0].start()
            await found.usable()
        yield found
    finally:
        for client in found.clients:
            await client.leave()
        await background.close()
        await links.close()
        await orders.close()
        await store.close()
        for member in members:
            await member.stop()


def _member(folder: Path, name: str, restart: bool) -> Member:
    ports = free_ports("127.0.0.1", 2)
    return Member(
        name,
        GAME.id,
        "127.0.0.1",
        ports[0],
        ports[1],
        command=(*SERVE, GAME.id, "--with-parent"),
        environment={
            "TORTUGA_DATA": str(folder),
            "TORTUGA_STORE": str(folder / STORE),
            "TORTUGA_JWKS": str(folder / "jwks.json"),
        },
        log=folder / f"{name}.log",
        note=print,
        upkeep=Upkeep(restart=restart),
    )
