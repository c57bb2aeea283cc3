"""Decisions and sequences: who answers what, and how each viewer's updates are counted."""

from __future__ import annotations

import grpc

from services.kit.errors import code_number
from tests.match.stones import Move
from tests.match.table import Pod, World, play, seed_of
from tests.match.viewer import Message, Viewer

TAKE = Move("take", "1")
WHISPER = Move("whisper", "psst")
HUM = Move("hum")


def _refusal(message: Message) -> tuple[str, int, dict[str, str]]:
    refused = message.response.refused
    return refused.reason, refused.code, dict(refused.metadata)


async def test_action_for_a_closed_decision_is_stale(world: World, stones: Pod) -> None:
    """It is refused with the decision that is open now, and changes nothing."""
    viewers = await world.running(stones)
    first, second = viewers
    assert (await first.act(TAKE, decision=1)).response.HasField("applied")
    assert (await second.act(TAKE, decision=1)).response.HasField("applied")
    before = stones.match(first.match_id).last
    aborted = code_number(grpc.StatusCode.ABORTED)
    assert _refusal(await first.act(TAKE, decision=1)) == ("STALE_DECISION", aborted, {"decision": "2"})
    assert _refusal(await first.act(TAKE, decision=3)) == ("STALE_DECISION", aborted, {"decision": "2"})
    assert _refusal(await second.act(TAKE, decision=1)) == ("STALE_DECISION", aborted, {"decision": "0"})
    assert stones.match(first.match_id).last is before


async def test_asked_seat_must_quote_its_decision(world: World, stones: Pod) -> None:
    """Decision 0 is for what is legal unasked, and for nothing else."""
    first, second = await world.running(stones)
    assert (await first.act(TAKE, decision=0)).reason == "STALE_DECISION"
    assert (await first.act(WHISPER, decision=0)).response.HasField("applied")
    assert (await second.act(WHISPER, decision=0)).response.HasField("applied")
    assert (await second.act(TAKE, decision=0)).reason == "NOT_YOUR_TURN"


async def test_unasked_action_closes_no_decision(world: World, stones: Pod) -> None:
    """The open decision stays open and keeps its number."""
    first, _ = await world.running(stones)
    whispered = await first.act(WHISPER, decision=0)
    assert whispered.response.header.decision == 1
    assert (await first.act(TAKE, decision=1)).response.HasField("applied")


async def test_decisions_are_counted_per_seat(world: World, stones: Pod) -> None:
    """Each seat's numbers run 1, 2, 3 … in its own header, and are shown to nobody else."""
    viewers = await world.running(stones, 3)
    watcher = Viewer(stones.host, viewers[0].match_id, "watcher").attach()
    for round_ in range(1, 4):
        for viewer in viewers:
            assert [other.decision for other in viewers if other is not viewer] == [0, 0]
            assert viewer.decision == round_
            await viewer.act(TAKE)
            for other in viewers:
                await other.update(viewer.seq)
    assert watcher.decision == 0
    assert {message.response.header.decision for message in watcher.messages} == {0}


async def test_rules_refusal_keeps_its_reason_and_parameters(world: World, stones: Pod) -> None:
    """The rules' own codes arrive as FAILED_PRECONDITION with their parameters."""
    viewers = await world.running(stones)
    state = stones.state(viewers[0].match_id)
    turn = 0
    while state.heap > 1:
        await viewers[turn].act(Move("take", str(min(3, state.heap - 1))), decision=state.decisions[turn])
        turn, state = 1 - turn, stones.state(viewers[0].match_id)
    refused = _refusal(await viewers[turn].act(Move("take", "2"), decision=state.decisions[turn]))
    assert refused == ("TOO_MANY", code_number(grpc.StatusCode.FAILED_PRECONDITION), {"limit": "1"})


async def test_hidden_action_is_counted_for_its_actor_alone(world: World, stones: Pod) -> None:
    """What shows a viewer nothing sends it nothing and takes no number of its sequence."""
    first, second = await world.running(stones)
    watcher = Viewer(stones.host, first.match_id, "watcher").attach()
    await watcher.next()
    seqs, counts = (first.seq, second.seq, watcher.seq), (len(second.messages), len(watcher.messages))
    answer = await first.act(WHISPER, decision=0)
    assert (answer.seq, answer.response.applied.seq) == (seqs[0] + 1, seqs[0] + 1)
    assert [event.text for event in answer.response.update.events] == ["whisper psst"]
    answer = await first.act(TAKE)
    assert (answer.seq, first.seq) == (seqs[0] + 2, seqs[0] + 2)
    await second.update(seqs[1] + 1)
    await watcher.update(seqs[2] + 1)
    assert (len(second.messages), len(watcher.messages)) == (counts[0] + 1, counts[1] + 1)


async def test_action_that_shows_its_actor_nothing_is_applied_at_0(world: World, stones: Pod) -> None:
    """The acknowledgement is no update and names none; the entry is in the log all the same."""
    first, second = await world.running(stones)
    seq, count = first.seq, len(second.messages)
    answer = await first.act(HUM, decision=0, action_id="hum")
    assert (answer.seq, answer.response.header.seq, answer.response.applied.seq) == (0, 0, 0)
    again = await first.act(HUM, decision=0, action_id="hum")
    assert again.response.applied.seq == 0
    assert (first.seq, len(second.messages)) == (seq, count)
    assert [entry.text for entry in await world.log(stones, first.match_id)][-1] == "hum"
    acting = Viewer(stones.host, first.match_id, "p0").attach(live=False)
    assert (await acting.act(HUM, decision=0, action_id="hum")).response.applied.seq == 0


async def test_every_viewer_counts_without_gaps(world: World, stones: Pod) -> None:
    """Over a random match with hidden moves. Each message checks it (see Viewer), and the counts end as they must."""
    luck = seed_of()
    viewers = await world.running(stones, 3)
    watcher = Viewer(stones.host, viewers[0].match_id, "watcher").attach()
    match = stones.match(watcher.match_id)
    while not match.last.standing.over:
        viewer = luck.choice(viewers)
        seat = viewers.index(viewer)
        state = stones.state(watcher.match_id)
        move = luck.choice([WHISPER, HUM, state.sample(seat, luck)])
        decision = 0 if state.unasked(seat, move) else match.last.decision(viewer.seat)
        await viewer.act(move, decision=decision)
    assert [watcher.seq, *(viewer.seq for viewer in viewers)] == list(match.last.seqs)
    for viewer in [*viewers, watcher]:
        numbers = [message.response.header.seq for message in viewer.messages if message.response.header.time_ms]
        assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))


async def test_times_of_entries_never_go_back(world: World, pod: Pod) -> None:
    """Not even when the store's clock does."""
    luck = seed_of()
    viewers = await world.running(pod)
    world.move_clock(100)
    await play(pod, viewers, luck, 2)
    world.move_clock(-50)
    await play(pod, viewers, luck, 2)
    times = [entry.time_ms for entry in await world.log(pod, viewers[0].match_id)]
    assert times == sorted(times)
    assert times[-1] - times[0] >= 100_000
