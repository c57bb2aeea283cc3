"""All matches of a pod: created, kept in memory while they are needed, drained."""

from __future__ import annotations

import asyncio

import pytest

from services.kit import host as hosts
from services.kit.errors import Malformed, NotFound, Unavailable
from services.kit.rules import InvalidOptions
from services.kit.step import ABORTED
from services.kit.store.port import NewMatch, OutcomeUnknown, StoredMatch
from tests.match.stones import Move
from tests.match.table import STONES, Pod, World
from tests.match.viewer import Viewer
from tortuga.play.v1 import match_pb2

WHISPER = Move("whisper", "psst")


def _wanted(match_id: str = "m", players: int = 2) -> match_pb2.Match:
    seats = [match_pb2.Seat(player_id=f"p{number}") for number in range(players)]
    return match_pb2.Match(match_id=match_id, seats=seats)


async def test_created_match_has_what_the_service_fills_in(world: World, pod: Pod) -> None:
    """Game, version, time, commitment: whatever the caller wrote there."""
    wanted = _wanted()
    wanted.game, wanted.rules_version, wanted.created_ms, wanted.commitment = "other", "9", 5, b"c" * 32
    made = await pod.host.create(wanted, "", False)
    assert (made.game, made.rules_version) == (pod.host.game.id, pod.host.game.rules.versions[0])
    assert abs(made.created_ms - world.clock.now_ms()) < 5_000
    assert len(made.commitment) == 32
    assert made.commitment != wanted.commitment


async def test_seeds_are_never_the_same(world: World, pod: Pod) -> None:
    """Each match draws its own two secrets."""
    stored = [await world.stored(pod, await world.match(pod)) for _ in range(5)]
    secrets = {secret for match in stored for secret in (match.seed, match.blind_key)}
    assert len(secrets) == 10
    assert {len(secret) for secret in secrets} == {32}


async def test_validation_makes_nothing(world: World, pod: Pod) -> None:
    """The rules are asked, the store is not."""
    checked = await pod.host.create(_wanted(""), "", True)
    assert checked.commitment == b""
    with pytest.raises(InvalidOptions) as refused:
        await pod.host.create(_wanted("", players=5), "", True)
    assert refused.value.reason == "PLAYERS"
    pod.store.away = True
    await pod.host.create(_wanted("m"), "", True)


@pytest.mark.parametrize("match_id", ["", "x" * 65, "é" * 33])
async def test_match_id_has_bounds(world: World, pod: Pod, match_id: str) -> None:
    """1 to 64 bytes."""
    with pytest.raises(Malformed):
        await pod.host.create(_wanted(match_id), "", False)


async def test_creation_is_tried_again_while_its_outcome_is_unknown(
    world: World, pod: Pod, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is idempotent, so the answer is the first match; a store that is away is the caller's to try again."""
    create, made = pod.store.store.create, []

    async def broken(match: NewMatch) -> StoredMatch:
        made.append(await create(match))
        if len(made) == 1:
            raise OutcomeUnknown("planned")
        return made[-1]

    monkeypatch.setattr(pod.store.store, "create", broken)
    match = await pod.host.create(_wanted(), "", False)
    assert made[0] == made[1]
    assert match.SerializeToString(deterministic=True) == made[0].fixed
    pod.store.away = True
    with pytest.raises(Unavailable):
        await pod.host.create(_wanted("m2"), "", False)


async def test_idle_match_leaves_memory_and_comes_back(
    world: World, stones: Pod, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Watched matches stay; one that nobody uses is dropped, and its log brings it back as it was."""
    monkeypatch.setattr(hosts, "IDLE_SECONDS", 0.02)
    pod = world.pod(STONES)
    viewers = await world.running(pod)
    watched = await world.running(pod)
    match_id = viewers[0].match_id
    await viewers[0].act(WHISPER, decision=0, action_id="mine")
    head = pod.match(match_id).last.head
    for viewer in viewers:
        viewer.leave()
    async with asyncio.timeout(5):
        while pod.holds(match_id):
            await asyncio.sleep(0.005)
    assert pod.holds(watched[0].match_id)
    again = Viewer(pod.host, match_id, "p0").attach()
    assert (await again.act(WHISPER, decision=0, action_id="mine")).response.HasField("applied")
    assert pod.match(match_id).last.head == head


async def test_memory_has_a_bound(world: World, stones: Pod, monkeypatch: pytest.MonkeyPatch) -> None:
    """A full pod refuses to load more, and says so."""
    await world.running(stones)
    monkeypatch.setattr(hosts, "MOST_LOADED", 1)
    other = Viewer(stones.host, await world.match(stones), "p0").attach()
    assert await other.until_ended() == "POD_FULL"


async def test_fault_of_a_load_is_told(world: World, stones: Pod, monkeypatch: pytest.MonkeyPatch) -> None:
    """Anything unplanned ends the attachments that wait, and the next one tries again."""
    match_id = await world.match(stones)

    async def broken(_: str) -> StoredMatch | None:
        raise ZeroDivisionError

    with monkeypatch.context() as patched:
        patched.setattr(stones.store, "load", broken)
        viewer = Viewer(stones.host, match_id, "p0").attach()
        assert await viewer.until_ended() == "INTERNAL"
    viewer.attach()
    await viewer.next()


async def test_drain_finishes_what_is_in_flight(world: World, stones: Pod) -> None:
    """An append on its way is answered before `close` returns; nothing new is taken."""
    viewers = await world.running(stones)
    gate = stones.store.hold("append")
    viewers[0].send(Move("take", "1"), decision=1)
    await gate.reached.wait()
    closing = asyncio.create_task(stones.host.close())
    await asyncio.sleep(0)
    viewers[1].send(WHISPER, decision=0)
    count = len(viewers[1].messages)
    gate.open()
    await closing
    assert viewers[0].messages[-1].response.HasField("applied")
    assert [bool(message.answer) for message in viewers[1].messages[count:]] == [False]
    with pytest.raises(Unavailable):
        await stones.host.create(_wanted(), "", False)


async def test_drain_ends_although_players_go_on(world: World, stones: Pod) -> None:
    """Players who act as fast as they are answered do not keep a process alive."""
    viewers = await world.running(stones)

    async def go_on() -> None:
        while True:
            viewers[0].send(WHISPER, decision=0)
            await asyncio.sleep(0)

    playing = asyncio.create_task(go_on())
    await viewers[0].until(lambda message: bool(message.answer))
    async with asyncio.timeout(5):
        await stones.host.close()
    playing.cancel()


async def test_drain_survives_a_locked_store(world: World, stones: Pod) -> None:
    """A store that cannot be written refuses what is in flight; the drain goes on."""
    viewers = await world.running(stones)
    stones.store.away = True
    viewers[0].send(Move("take", "1"), decision=1)
    await stones.host.close()
    assert (await viewers[0].answer()).reason == "STORE_UNAVAILABLE"


async def test_every_round_survives_a_store_that_is_away(world: World, stones: Pod) -> None:
    """Deadlines are kept once it is back."""
    match_id = await world.match(stones, start_seconds=20)
    stones.store.away = True
    world.move_clock(30)
    for _ in range(3):
        gate = stones.store.hold("due")
        await gate.reached.wait()
        gate.open()
    stones.store.away = False
    async with asyncio.timeout(5):
        while (await world.stored(stones, match_id)).state != ABORTED:
            await asyncio.sleep(0.005)


async def test_unknown_match_is_not_remembered(world: World, stones: Pod) -> None:
    """A match that is made after somebody asked for it is found."""
    viewer = Viewer(stones.host, "m", "p0").attach()
    assert await viewer.until_ended() == NotFound("MATCH_UNKNOWN").reason
    await stones.host.create(_wanted("m"), "", False)
    viewer.attach()
    assert (await viewer.next()).response.attached.seat == 0
