"""When the store does not answer, or is away: nothing is lost, nothing is played twice, and nobody is told a guess."""

from __future__ import annotations

import asyncio

import grpc
import pytest

from services.kit.errors import code_number
from services.kit.shell import metrics
from services.kit.step import RUNNING
from tests.match.stones import Move
from tests.match.table import STONES, Pod, World
from tests.match.viewer import Viewer, contribution
from tests.store.faults import Fault

TAKE = Move("take", "1")
WHISPER = Move("whisper", "psst")
UNAVAILABLE = code_number(grpc.StatusCode.UNAVAILABLE)


@pytest.mark.parametrize("fault", [Fault.UNKNOWN_KEPT, Fault.UNKNOWN_LOST])
async def test_unknown_outcome_is_settled_by_the_same_entry(world: World, stones: Pod, fault: Fault) -> None:
    """The actor is told OUTCOME_PENDING; the entry comes about once, everyone sees it, its repetition is answered."""
    first, second = await world.running(stones)
    revision, seq = stones.match(first.match_id).last.revision, first.seq
    stones.store.fail_appends(fault)
    pending = await first.act(TAKE, decision=1, action_id="mine")
    assert (pending.reason, pending.response.refused.code) == ("OUTCOME_PENDING", UNAVAILABLE)
    for viewer in (first, second):
        await viewer.update(seq + 1)
    again = await first.act(TAKE, decision=1, action_id="mine")
    assert again.response.applied.seq == first.seq
    assert stones.match(first.match_id).last.revision == revision + 1
    assert [entry.text for entry in await world.log(stones, first.match_id)].count("take 1") == 1
    same = [append.head for append in stones.store.appends if append.action_id == "mine"]
    assert len(same) == 2
    assert len(set(same)) == 1


async def test_unsettled_match_accepts_nothing(world: World, stones: Pod) -> None:
    """Until it is known, every request is answered OUTCOME_PENDING at once; who attaches sees the position before."""
    first, second = await world.running(stones)
    seq = first.seq
    stones.store.fail_appends(Fault.UNKNOWN_KEPT)
    gate = stones.store.hold("appended")
    first.send(TAKE, decision=1, action_id="mine")
    await gate.reached.wait()
    second.send(WHISPER, decision=0, action_id="queued")
    settling = stones.store.hold("append")
    gate.open()
    assert (await first.answer()).reason == "OUTCOME_PENDING"
    assert (await second.answer()).reason == "OUTCOME_PENDING"
    await settling.reached.wait()
    for viewer, how in ((first, {"action": TAKE, "action_id": "mine"}), (second, {"kit": contribution()})):
        assert (await viewer.act(**how)).reason == "OUTCOME_PENDING"
    late = Viewer(stones.host, first.match_id, "w").attach()
    assert (await late.next()).response.header.seq == seq
    settling.open()
    for viewer in (first, second, late):
        await viewer.update(seq + 1)
    assert (await second.act(WHISPER, decision=0, action_id="queued")).response.HasField("applied")


async def test_viewer_ahead_of_an_unsettled_match_waits(world: World, stones: Pod) -> None:
    """Another pod has told it what is unsettled here: it is answered once that is known, and nothing is rewound."""
    first, _ = await world.running(stones)
    seq = first.seq
    stones.store.fail_appends(Fault.UNKNOWN_KEPT)
    settling = [stones.store.hold("append") for _ in range(2)]
    settling[0].open()
    first.send(TAKE, decision=1)
    assert (await first.answer()).reason == "OUTCOME_PENDING"
    await settling[1].reached.wait()
    ahead = Viewer(stones.host, first.match_id, "w").attach(after=seq + 1, resume=True)
    assert ahead.messages == []
    settling[1].open()
    answer = await ahead.next()
    assert (answer.reason, answer.response.attached.seq) == ("", seq + 1)


async def test_settling_outlasts_a_store_that_is_away(world: World, stones: Pod) -> None:
    """Neither more broken commits nor a locked store make the match guess."""
    first, second = await world.running(stones)
    before, seq = metrics.OUTCOMES_SETTLED._value.get(), second.seq
    stones.store.fail_appends(Fault.UNKNOWN_LOST, Fault.UNKNOWN_LOST, Fault.UNAVAILABLE, Fault.UNKNOWN_KEPT)
    assert (await first.act(TAKE, decision=1, action_id="mine")).reason == "OUTCOME_PENDING"
    await second.update(seq + 1)
    assert (await first.act(TAKE, decision=1, action_id="mine")).response.HasField("applied")
    assert [entry.text for entry in await world.log(stones, first.match_id)].count("take 1") == 1
    assert metrics.OUTCOMES_SETTLED._value.get() == before + 1


async def test_lost_entry_gives_way_to_another_pods(world: World) -> None:
    """While it was unsettled here, another pod wrote on the same head: that one counts, and the action may follow."""
    one, other = world.pod(STONES), world.pod(STONES)
    first, second = await world.running(one)
    there = Viewer(other.host, first.match_id, "p1").attach()
    await there.next()
    one.store.fail_appends(Fault.UNKNOWN_LOST)
    settling = [one.store.hold("append") for _ in range(2)]
    settling[0].open()
    assert (await first.act(TAKE, decision=1, action_id="mine")).reason == "OUTCOME_PENDING"
    await settling[1].reached.wait()
    assert (await there.act(WHISPER, decision=0)).response.HasField("applied")
    settling[1].open()
    await second.update(there.seq)
    await one.quiet(first.match_id)
    assert (await first.act(TAKE, decision=1, action_id="mine")).response.HasField("applied")
    texts = [entry.text for entry in await world.log(one, first.match_id)]
    assert texts[-2:] == ["whisper psst", "take 1"]


async def test_kept_entry_was_built_upon_by_another_pod(world: World) -> None:
    """It was committed after all, and another pod has gone on from it: both are told, in order."""
    one, other = world.pod(STONES), world.pod(STONES)
    first, second = await world.running(one)
    one.store.fail_appends(Fault.UNKNOWN_KEPT)
    settling = [one.store.hold("append") for _ in range(2)]
    settling[0].open()
    assert (await first.act(TAKE, decision=1, action_id="mine")).reason == "OUTCOME_PENDING"
    await settling[1].reached.wait()
    there = Viewer(other.host, first.match_id, "p1").attach()
    await there.next()
    assert (await there.act(TAKE)).response.HasField("applied")
    settling[1].open()
    await second.update(there.seq - 1)
    await one.catch_up(first.match_id)
    await second.update(there.seq)
    assert (await first.act(TAKE, decision=1, action_id="mine")).response.applied.seq == there.seq - 1


async def test_unavailable_store_refuses_and_changes_nothing(world: World, stones: Pod) -> None:
    """STORE_UNAVAILABLE per action; memory and log stay as they were, and the same action id works afterwards."""
    first, second = await world.running(stones)
    last = stones.match(first.match_id).last
    stones.store.away = True
    for _ in range(3):
        refused = await first.act(TAKE, decision=1, action_id="mine")
        assert (refused.reason, refused.response.refused.code) == ("STORE_UNAVAILABLE", UNAVAILABLE)
    assert (await second.act(TAKE, decision=1)).reason == "STALE_DECISION"
    stones.store.away = False
    assert stones.match(first.match_id).last is last
    assert (await first.act(TAKE, decision=1, action_id="mine")).response.HasField("applied")


async def test_match_cannot_be_loaded_while_the_store_is_away(world: World) -> None:
    """The attachment ends with the reason, and a new one works once the store is back."""
    one = world.pod(STONES)
    first, _ = await world.running(one)
    other = world.pod(STONES)
    other.store.away = True
    late = Viewer(other.host, first.match_id, "p0").attach()
    assert await late.until_ended() == "STORE_UNAVAILABLE"
    other.store.away = False
    late.attach()
    await late.next()
    assert late.seq == first.seq


@pytest.mark.parametrize("fault", [Fault.UNKNOWN_KEPT, Fault.UNKNOWN_LOST, Fault.UNAVAILABLE])
async def test_start_survives_every_fault(world: World, pod: Pod, fault: Fault) -> None:
    """Whichever append of the start fails, the match begins, with each of its entries once."""
    for failing in range(5):
        match_id = await world.match(pod)
        pod.store.fail_appends(*[Fault.NONE] * failing, fault)
        viewers = [Viewer(pod.host, match_id, f"p{number}").attach() for number in range(2)]
        for viewer in viewers:
            while not (await viewer.contribute(action_id="mine")).response.HasField("applied"):
                await asyncio.sleep(0)
        for viewer in viewers:
            await viewer.in_state(RUNNING)
        pod.store.heal()
        texts = [entry.text for entry in await world.log(pod, match_id)]
        assert (texts.count("@begin"), texts.count("@contribute"), len(set(texts))) == (1, 2, len(texts) - 1)
