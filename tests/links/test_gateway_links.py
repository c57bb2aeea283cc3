"""The gateway's links to a real process that dies, stalls, drains, or is not there."""

from __future__ import annotations

import asyncio
import signal
import time
from collections.abc import Callable
from itertools import count
from pathlib import Path

import pytest

from gateway import attachments, link
from gateway.discovery.port import Pod
from gateway.discovery.static import StaticDiscovery
from gateway.link import Link
from gateway.links import Links
from services.kit.entry import Entry
from services.kit.errors import DomainError, Unavailable
from services.kit.shell import metrics
from services.kit.store.sqlite import SqliteMatchStore
from services.kit.tokens import Keyring
from tests.links.fronted_pods import GAME, STORE, Client, Platform, platform
from tests.links.peer import ServedPod

RUNNING = 2


async def _begun(found: Platform, match_id: str) -> list[Client]:
    await found.match(match_id)
    clients = [await found.play(match_id, seat) for seat in range(2)]
    for client in clients:
        client.contribute()
    for client in clients:
        await client.until(lambda client: client.state == RUNNING)
    return clients


async def _move(clients: list[Client], name: str) -> None:
    """Whoever is asked plays, and waits for the answer; the other waits for the update."""
    seq = clients[0].header.seq
    (asked,) = [client for client in clients if client.header.decision]
    asked.move(name)
    await asked.until(lambda client: name in client.answered)
    assert asked.answered[name] == ""
    for client in clients:
        await client.until(lambda client: client.header.seq > seq)


async def _log(folder: Path, match_id: str) -> list[Entry]:
    store = SqliteMatchStore(folder / STORE)
    stored = await store.load(match_id)
    assert stored is not None
    entries = [Entry.read(entry.data) for entry in await store.entries(stored.row)]
    await store.close()
    return entries


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM], ids=["kill", "drain"])
async def test_players_notice_a_pause_and_no_more(tmp_path: Path, number: signal.Signals) -> None:
    """The pod dies with an action in flight, or drains, and comes back on its port: nothing lost, nothing doubled."""
    cause = {signal.SIGKILL: "link_lost", signal.SIGTERM: "drain"}[number]
    async with platform(tmp_path) as found:
        before = metrics.attachments_rehomed(cause)._value.get()
        clients = await _begun(found, "m")
        await _move(clients, "before")
        seq = clients[0].header.seq
        (asked,) = [client for client in clients if client.header.decision]
        asked.move("in flight")
        found.members[0].kill(number)
        await asked.until(lambda client: "in flight" in client.answered)
        for client in clients:
            await client.until(lambda client: client.header.seq > seq)
        await _move(clients, "after")
        assert metrics.attachments_rehomed(cause)._value.get() >= before + len(clients)
        for client in clients:
            assert client.seqs == list(range(client.seqs[0], client.seqs[0] + len(client.seqs)))
            assert not any(message.HasField("skipped") for message in client.written)
            assert sum(message.HasField("attached") for message in client.written) == 1
    answered = {name for client in clients for name, reason in client.answered.items() if not reason}
    written = [entry.action_id for entry in await _log(tmp_path, "m") if entry.text[0] != "@"]
    assert sorted(written) == sorted(set(written))
    assert answered - {"contribute"} == set(written) == {"before", "in flight", "after"}


async def test_second_pod_takes_its_share_and_then_all(tmp_path: Path) -> None:
    """A pod that comes gets the matches it owns, one that dies leaves the rest to it: players notice a pause."""
    matches = [f"m{number}" for number in range(6)]
    async with platform(tmp_path, restart=False, pods=2) as found:
        tables = [await _begun(found, match_id) for match_id in matches]
        for clients in tables:
            await _move(clients, "alone")
        before = metrics.attachments_rehomed("pod_joined")._value.get()
        await found.members[1].start()
        while len(found.usable_pods()) < 2:
            await found.links.changes.after(found.links.changes.count)
        moved = [match_id for match_id in matches if found.owner(match_id) == found.members[1].address]
        assert metrics.attachments_rehomed("pod_joined")._value.get() == before + 2 * len(moved)
        for clients in tables:
            await _move(clients, "shared")
        found.members[0].kill()
        while len(found.usable_pods()) == 2:
            await found.links.changes.after(found.links.changes.count)
        for clients in tables:
            await _move(clients, "left")
        for client in found.clients:
            assert client.seqs == list(range(client.seqs[0], client.seqs[0] + len(client.seqs)))
            assert not any(message.HasField("skipped") for message in client.written)
            assert set(client.answered.values()) == {""}
    for match_id in matches:
        played = [entry.action_id for entry in await _log(tmp_path, match_id) if entry.text[0] != "@"]
        assert played == ["alone", "shared", "left"]


async def test_stalled_pod_is_not_usable_until_it_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A pod that stands still answers no ping: its attachments wait, and go on where they were."""
    monkeypatch.setattr(link, "PING_SECONDS", 0.02)
    monkeypatch.setattr(link, "PONG_SECONDS", 0.2)
    async with platform(tmp_path) as found:
        clients = await _begun(found, "m")
        before = metrics.attachments_rehomed("stalled")._value.get()
        found.members[0].kill(signal.SIGSTOP)
        while found.links.served():
            await found.links.changes.after(found.links.changes.count)
        assert metrics.attachments_rehomed("stalled")._value.get() == before + 2
        with pytest.raises(Unavailable):
            await found.match("m2")
        (asked,) = [client for client in clients if client.header.decision]
        asked.move("meanwhile")
        found.members[0].kill(signal.SIGCONT)
        await asked.until(lambda client: "meanwhile" in client.answered)
        assert asked.answered["meanwhile"] == ""
        await _move(clients, "after")


async def test_pod_that_comes_in_time_is_waited_for(tmp_path: Path) -> None:
    """Attached and sent before any pod is there: all is answered once one is, in order."""
    async with platform(tmp_path) as found:
        await found.match("m")
    async with platform(tmp_path, start=False) as found:
        client = await found.play("m", 0)
        client.contribute("first")
        client.contribute("second")
        await found.members[0].start()
        await client.until(lambda client: len(client.answered) == 2)
        assert client.answered == {"first": "", "second": "ALREADY_CONTRIBUTED"}
        assert client.written[0].HasField("attached")


async def test_pod_that_does_not_come_is_no_service(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After the wait the attachment is refused, with everything that was sent for it; so is an `Act`."""
    monkeypatch.setattr(attachments, "FRESH_WAIT_SECONDS", 0.05)
    async with platform(tmp_path, start=False) as found:
        client = await found.play("m", 0)
        client.contribute("mine")
        await client.until(lambda client: len(client.answered) == 2)
        assert client.answered == {"": "NO_SERVICE", "mine": "NO_SERVICE"}
        with pytest.raises(DomainError) as refused:
            await found.front._act(client._request("x"), client)  # type: ignore[arg-type]  # a call in memory
        assert refused.value.reason == "NO_SERVICE"
        with pytest.raises(Unavailable):
            await found.match("m")


async def test_pod_that_does_not_come_back_is_no_service(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who was attached waits longer, and is told in the end."""
    monkeypatch.setattr(attachments, "FRESH_WAIT_SECONDS", 0.01)
    monkeypatch.setattr(attachments, "RESUME_WAIT_SECONDS", 0.3)
    async with platform(tmp_path, restart=False) as found:
        clients = await _begun(found, "m")
        started = time.monotonic()
        found.members[0].kill()
        for client in clients:
            await client.until(lambda client: "" in client.answered)
            assert client.answered[""] == "NO_SERVICE"
        assert time.monotonic() - started >= 0.3


async def test_pod_of_another_game_is_never_usable(served: ServedPod, tmp_path: Path) -> None:
    """Its service token is not for that pod: the link is tried again and again, and never stands."""
    tries = asyncio.Event()
    admit, seen = served.servicer._admit, count(1)

    async def noted(context: object) -> None:
        if next(seen) >= 3:
            tries.set()
        await admit(context)  # type: ignore[arg-type]  # whatever the server gives

    served.servicer._admit = noted  # type: ignore[method-assign]  # to count
    links = Links(StaticDiscovery([Pod("nim", served.address)]), Keyring.open(tmp_path))
    await links.start()
    async with asyncio.timeout(10):
        await tries.wait()
    assert links.served() == []
    with pytest.raises(Unavailable):
        links.find("nim")
    await links.close()


async def test_matches_stay_where_they_are_when_another_pod_goes(tmp_path: Path) -> None:
    """Rendezvous hashing: a pod's going moves its own matches alone, and they spread over those that are left."""
    pods = [Pod("nim", f"10.0.0.{number}:7101") for number in range(5)]
    links = Links(StaticDiscovery(pods), Keyring.open(tmp_path))
    ignore: Callable[[Link], None] = lambda _: None  # noqa: E731 - nothing to be told
    for pod in pods:
        links._links[pod] = Link(pod, Keyring.open(tmp_path), ignore)
        links._links[pod].usable = True
    matches = [f"match-{number}" for number in range(1000)]

    def owners() -> dict[str, Pod]:
        found = {match_id: links.owner("nim", match_id) for match_id in matches}
        return {match_id: owner.pod for match_id, owner in found.items() if owner is not None}

    before = owners()
    links._links[pods[2]].usable = False
    after = owners()
    moved = [match_id for match_id in matches if before[match_id] != after[match_id]]
    assert moved == [match_id for match_id in matches if before[match_id] == pods[2]]
    for spread in (list(before.values()), [after[match_id] for match_id in moved]):
        shares = [spread.count(pod) for pod in set(spread)]
        assert len(shares) >= 4
        assert max(shares) < 2 * min(shares)
    assert links.owner(GAME.id, "match-1") is None
