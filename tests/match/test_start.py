"""How a match begins, or is aborted before: commitment, contributions, key, deadlines (design §4)."""

from __future__ import annotations

import asyncio

import pytest

from services.kit import chain
from services.kit.step import ABORTED, ENDED, GATHERING, RUNNING
from tests.match.table import Pod, World, begin, play, seed_of
from tests.match.viewer import ABORT, RESIGN, Viewer, contribution
from tests.store.faults import Fault
from tortuga.play.v1 import play_pb2

BEGIN = play_pb2.KIT_KIND_BEGIN
RETURN = play_pb2.KIT_KIND_RETURN


def _players(pod: Pod, match_id: str, count: int) -> list[Viewer]:
    return [Viewer(pod.host, match_id, f"p{number}").attach() for number in range(count)]


async def test_commitment_is_shown_before_anyone_contributes(world: World, pod: Pod) -> None:
    """The first message holds the match with its commitment, and nothing from which the seed could be had."""
    match_id = await world.match(pod)
    viewer = Viewer(pod.host, match_id, "p0").attach()
    first = await viewer.next()
    stored = await world.stored(pod, match_id)
    assert first.response.attached.match.commitment == chain.commitment(match_id, stored.seed)
    assert first.response.attached.seat == 0
    assert first.response.status.state == GATHERING
    assert first.response.status.away == [0, 1]
    assert not first.response.HasField("update")
    assert (first.seq, first.response.header.seq, first.response.attached.seq) == (0, 0, 0)


async def test_seats_come_by_return_entries(world: World, pod: Pod) -> None:
    """Who attaches as a seat, or acts, is present from then on, once; everyone is told, and any pod can read it."""
    match_id = await world.match(pod, 3)
    first = Viewer(pod.host, match_id, "p0").attach()
    await first.update(1)
    assert first.status.away == [1, 2]
    Viewer(pod.host, match_id, "p0").attach()
    Viewer(pod.host, match_id, "somebody").attach()
    acting = Viewer(pod.host, match_id, "p1").attach(live=False)
    await acting.act(kit=contribution())
    await first.update(2)
    assert first.status.away == [2]
    texts = [entry.text for entry in await world.log(pod, match_id)]
    assert texts in (["@return 0", "@contribute"], ["@return 0", "@return 1", "@contribute"])


@pytest.mark.parametrize("content", [b"", b"r" * 32])
async def test_contribution_is_nothing_or_32_bytes(world: World, pod: Pod, content: bytes) -> None:
    """Both are applied, shown to everyone and logged; a second one is refused whatever it holds."""
    match_id = await world.match(pod)
    viewer, other = _players(pod, match_id, 2)
    answer = await viewer.contribute(content)
    assert answer.kit == play_pb2.KIT_KIND_CONTRIBUTE
    assert answer.response.kit.seat == 0
    shown = await other.shown(play_pb2.KIT_KIND_CONTRIBUTE)
    assert shown.response.kit.action.contribution == content
    assert (await viewer.contribute(content)).reason == "ALREADY_CONTRIBUTED"
    assert (await viewer.contribute(b"x" * 32)).reason == "ALREADY_CONTRIBUTED"
    assert f"@contribute {content.hex()}".rstrip() in [entry.text for entry in await world.log(pod, match_id)]


@pytest.mark.parametrize("size", [1, 31, 33, 64])
async def test_contribution_of_another_size_is_refused(world: World, pod: Pod, size: int) -> None:
    """Nothing changes, and the right size may follow."""
    match_id = await world.match(pod)
    viewer = Viewer(pod.host, match_id, "p0").attach()
    refused = await viewer.contribute(b"x" * size)
    assert (refused.reason, dict(refused.response.refused.metadata)) == ("CONTRIBUTION", {"bytes": str(size)})
    assert (await viewer.contribute(b"x" * 32)).response.HasField("applied")


async def test_match_begins_once_everyone_has_contributed(world: World, pod: Pod) -> None:
    """At once; the update of `begin` brings view, legal moves and decision; the key is made of all contributions."""
    match_id = await world.match(pod, 3)
    viewers = _players(pod, match_id, 3)
    parts = [b"a" * 32, b"", b"c" * 32]
    for viewer, part in zip(viewers, parts, strict=True):
        await viewer.contribute(part)
    for viewer in viewers:
        begun = await viewer.shown(BEGIN)
        assert begun.response.status.state == RUNNING
        assert begun.response.update.HasField("view")
        assert bool(begun.response.update.legal) == (viewer.decision == 1)
    assert sum(viewer.decision for viewer in viewers) == 1
    seed = (await world.stored(pod, match_id)).seed
    assert pod.match(match_id).last.standing.key == chain.match_key(seed, parts)
    log = await world.log(pod, match_id)
    assert (log[-1].text, log[-1].seat, log[-1].action_id) == ("@begin", None, "begin")
    assert log[-1].addresses


async def test_late_contribution_is_refused(world: World, pod: Pod) -> None:
    """Once the match runs, nobody adds to its key."""
    viewers = await world.running(pod)
    assert (await viewers[0].contribute(b"x" * 32)).reason == "ALREADY_BEGUN"


async def test_match_begins_5_seconds_after_the_last_came(world: World, pod: Pod) -> None:
    """Missing contributions count as nothing; not a moment earlier."""
    match_id = await world.match(pod, start_seconds=20)
    viewers = _players(pod, match_id, 2)
    await viewers[0].contribute(b"a" * 32)
    await viewers[0].update(3)
    assert viewers[0].status.away == []
    gathered = pod.match(match_id).last.standing.gathered_ms
    assert await pod.store.store.due(gathered + 4_999, 1) == []
    assert await pod.store.store.due(gathered + 5_000, 1) == [match_id]
    world.move_clock(5)
    for viewer in viewers:
        await viewer.in_state(RUNNING)
    seed = (await world.stored(pod, match_id)).seed
    assert pod.match(match_id).last.standing.key == chain.match_key(seed, [b"a" * 32, b""])
    assert await pod.store.store.due(1 << 60, 1) == []


async def test_absent_players_abort_the_match_at_its_start_limit(world: World, pod: Pod) -> None:
    """Who came is told; the result says who did not come, and the seed is revealed."""
    match_id = await world.match(pod, 3, start_seconds=20)
    viewer = Viewer(pod.host, match_id, "p1").attach()
    await viewer.contribute()
    world.move_clock(20)
    aborted = await viewer.shown(play_pb2.KIT_KIND_ABORT)
    assert aborted.response.kit.action.reason == "START_LIMIT"
    assert not aborted.response.kit.HasField("seat")
    assert (viewer.status.state, list(viewer.status.away)) == (ABORTED, [0, 2])
    assert chain.commitment(match_id, viewer.status.seed) == (await world.stored(pod, match_id)).fixed[-32:]


async def test_match_without_start_limit_waits(world: World, pod: Pod) -> None:
    """Tables wait for their players as long as it takes."""
    match_id = await world.match(pod, start_seconds=0)
    viewer = Viewer(pod.host, match_id, "p0").attach()
    await viewer.update(1)
    assert await pod.store.store.due(1 << 60, 1) == []


async def test_nobody_need_watch_for_the_start_limit(world: World, pod: Pod) -> None:
    """A match that no pod has in memory is woken by the store."""
    match_id = await world.match(pod, start_seconds=20)
    assert not pod.holds(match_id)
    world.move_clock(21)
    async with asyncio.timeout(5):
        while (await world.stored(pod, match_id)).state != ABORTED:
            await asyncio.sleep(0.01)


async def test_player_may_abort_before_the_start(world: World, pod: Pod) -> None:
    """Everyone is told by whom, the seed is revealed, and nothing more is taken."""
    match_id = await world.match(pod)
    viewer, other = _players(pod, match_id, 2)
    answer = await viewer.act(kit=ABORT)
    assert answer.response.HasField("applied")
    shown = await other.shown(play_pb2.KIT_KIND_ABORT)
    assert (shown.response.kit.seat, shown.response.kit.action.reason) == (0, "PLAYER")
    assert shown.response.status.state == ABORTED
    seed = shown.response.status.seed
    assert chain.commitment(match_id, seed) == pod.match(match_id).match.commitment
    assert (await other.contribute()).reason in {"ALREADY_BEGUN", "MATCH_ABORTED", "GAME_OVER"}
    assert (await other.act(kit=ABORT)).reason in {"MATCH_ABORTED", "GAME_OVER"}
    assert (await other.act(kit=RESIGN)).reason in {"MATCH_ABORTED", "GAME_OVER"}
    assert await pod.store.store.due(1 << 60, 1) == []


async def test_player_may_not_abort_afterwards(world: World, pod: Pod) -> None:
    """A match that runs is only resigned."""
    viewers = await world.running(pod)
    assert (await viewers[0].act(kit=ABORT)).reason == "ALREADY_BEGUN"


async def test_seed_is_revealed_at_the_end_and_never_before(world: World, pod: Pod) -> None:
    """Through a whole match: no message before the last holds the seed or the key; the last holds the seed."""
    luck = seed_of()
    viewers = await world.running(pod)
    viewers.append(Viewer(pod.host, viewers[0].match_id, "watcher").attach())
    stored = await world.stored(pod, viewers[0].match_id)
    key = pod.match(stored.match_id).last.standing.key
    await play(pod, viewers, luck, 3)
    assert (await viewers[0].act(kit=RESIGN)).response.HasField("applied")
    for viewer in viewers:
        await viewer.in_state(ENDED)
        *before, last = viewer.messages
        assert last.response.status.seed == stored.seed
        assert chain.commitment(stored.match_id, stored.seed) == pod.match(stored.match_id).match.commitment
        for message in before:
            for secret in (stored.seed, stored.blind_key, key):
                assert secret not in message.data
        assert key not in last.data
        assert stored.blind_key not in last.data


async def test_store_away_at_an_arrival_loses_no_player(world: World, pod: Pod) -> None:
    """The entry that says a player is here is written once the store is back, though the player does nothing."""
    match_id = await world.match(pod)
    pod.store.fail_appends(Fault.UNAVAILABLE, Fault.UNAVAILABLE)
    viewers = _players(pod, match_id, 2)
    for viewer in viewers:
        await viewer.update(2)
        assert viewer.status.away == []


async def test_created_match_stays_as_it_was_first_made(world: World, pod: Pod) -> None:
    """Repeating the creation gives the same match with the same commitment, also after it has begun."""
    match_id = await world.match(pod)
    first = (await world.stored(pod, match_id)).fixed
    await begin(pod, match_id, 2)
    wanted = pod.match(match_id).match
    again = await pod.host.create(wanted, "", False)
    assert again.SerializeToString(deterministic=True) == first
