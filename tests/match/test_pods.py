"""Two pods with the same match in memory: the append decides, and everyone is told everything in order."""

from __future__ import annotations

import pytest

from services.kit import host as hosts
from services.kit.match import MAX_TRIES
from services.kit.step import RUNNING
from tests.match.stones import Move
from tests.match.table import STONES, Pod, World, begin, play, seed_of
from tests.match.viewer import Viewer
from tortuga.play.v1 import play_pb2

WHISPER = Move("whisper", "psst")


async def _two_pods(world: World) -> tuple[Pod, Pod, list[Viewer], list[Viewer]]:
    """A running match of Stones in the memory of two pods, with both players attached to each."""
    one, other = world.pod(STONES), world.pod(STONES)
    here = await world.running(one)
    there = [Viewer(other.host, viewer.match_id, viewer.player_id).attach() for viewer in here]
    for viewer in there:
        await viewer.next()
    return one, other, here, there


def _take(count: int = 1) -> Move:
    return Move("take", str(count))


async def test_overtaken_action_is_judged_anew(world: World) -> None:
    """The pod that is behind folds the tail, tells its viewers, and judges again: here the action still fits."""
    _, other, here, there = await _two_pods(world)
    await here[0].act(WHISPER, decision=0)
    answer = await there[0].act(_take(), decision=1)
    assert answer.response.HasField("applied")
    shown = [[event.text for event in message.response.update.events] for message in there[0].messages[-2:]]
    assert shown == [["whisper psst"], ["take 1"]]
    assert other.match(here[0].match_id).last.revision == len(await world.log(other, here[0].match_id))


async def test_overtaken_action_may_have_become_stale(world: World) -> None:
    """The tail closed the decision: refused, with the tail told before the refusal."""
    _, _, here, there = await _two_pods(world)
    await here[0].act(_take(2), decision=1)
    answer = await there[0].act(_take(1), decision=1)
    assert answer.reason == "STALE_DECISION"
    assert there[0].seq == here[0].seq


async def test_same_action_at_both_pods_is_played_once(world: World) -> None:
    """One id, sent to both at the same moment: both acknowledge the same update."""
    one, _, here, there = await _two_pods(world)
    for viewer in (here[0], there[0]):
        viewer.send(_take(), action_id="mine", decision=1)
    answers = [await viewer.answer() for viewer in (here[0], there[0])]
    assert [answer.response.applied.seq for answer in answers] == [answers[0].response.applied.seq] * 2
    log = await world.log(one, here[0].match_id)
    assert [entry.text for entry in log].count("take 1") == 1


async def test_both_pods_act_at_once_again_and_again(world: World) -> None:
    """Each acknowledged action is in the log exactly once, and all viewers of both pods have seen the same."""
    luck = seed_of()
    one, _, here, there = await _two_pods(world)
    acknowledged = []
    for number in range(30):
        sending = []
        for seat, viewer in ((0, here[0]), (1, here[1]), (0, there[0]), (1, there[1])):
            if luck.random() < 0.6:
                action_id = f"{number}-{id(viewer)}"
                viewer.send(WHISPER, action_id=action_id, decision=0)
                sending.append((seat, viewer, action_id))
        for seat, viewer, action_id in sending:
            answer = await viewer.answer()
            if answer.response.HasField("applied"):
                acknowledged.append((seat, action_id))
            else:
                assert answer.reason == "CONTENDED"
    log = await world.log(one, here[0].match_id)
    written = [(entry.seat, entry.action_id) for entry in log if entry.text == str(WHISPER)]
    assert sorted(acknowledged) == sorted(written)
    for mine, same in zip(here, there, strict=True):
        await mine.act(WHISPER, decision=0)
        await same.act(WHISPER, decision=0)
        newest = mine.seq + 1
        await mine.act(WHISPER, decision=0)
        assert (await mine.update(newest)).response.update == (await same.update(newest)).response.update


async def test_pods_agree_after_random_play(world: World) -> None:
    """Moves through either pod: both end with the same head, sequences and state."""
    luck = seed_of()
    one, other = world.pod(), world.pod()
    here = await world.running(one, 3)
    match_id = here[0].match_id
    there = [Viewer(other.host, match_id, viewer.player_id).attach() for viewer in here]
    for viewer in there:
        await viewer.next()
    for _ in range(12):
        pod, viewers = luck.choice([(one, here), (other, there)])
        await pod.catch_up(match_id)
        await play(pod, viewers, luck, 3)
    for pod in (one, other):
        await pod.catch_up(match_id)
    mine, theirs = one.match(match_id).last, other.match(match_id).last
    assert (mine.head, mine.seqs) == (theirs.head, theirs.seqs)
    assert one.state(match_id).dump() == other.state(match_id).dump()
    for left, right in zip(here, there, strict=True):
        assert left.seq == right.seq


async def test_contended_action_is_refused_in_the_end(world: World) -> None:
    """Overtaken again and again, it is refused as CONTENDED and changes nothing."""
    one, other, here, there = await _two_pods(world)
    there[0].send(WHISPER, decision=0, action_id="warm")
    await there[0].answer()
    held = [other.store.hold("append") for _ in range(MAX_TRIES)]
    there[0].send(WHISPER, decision=0, action_id="unlucky")
    for gate in held:
        await gate.reached.wait()
        await here[0].act(WHISPER, decision=0)
        gate.open()
    assert (await there[0].answer()).reason == "CONTENDED"
    assert "unlucky" not in [entry.action_id for entry in await world.log(one, here[0].match_id)]
    assert (await there[0].act(WHISPER, decision=0, action_id="unlucky")).response.HasField("applied")


async def test_both_pods_begin_the_match_together(world: World) -> None:
    """The system's entries collide harmlessly: one `begin`, whoever wrote it."""
    one, other = world.pod(), world.pod()
    match_id = await world.match(one)
    here = Viewer(one.host, match_id, "p0").attach()
    there = Viewer(other.host, match_id, "p1").attach()
    for viewer in (here, there):
        await viewer.next()
    for viewer in (here, there):
        viewer.send(kit=play_pb2.KitAction(kind=play_pb2.KIT_KIND_CONTRIBUTE))
    for viewer in (here, there):
        assert (await viewer.answer()).response.HasField("applied")
    for pod in (one, other):
        await pod.catch_up(match_id)
    for viewer in (here, there):
        await viewer.in_state(RUNNING)
    texts = [entry.text for entry in await world.log(one, match_id)]
    assert texts.count("@begin") == 1
    assert texts.count("@contribute") == 2


async def test_viewer_that_moved_here_is_ahead_of_this_pod(world: World) -> None:
    """A re-homed viewer holds more than this pod knows: it reads the log first, and nothing is said to be rewound."""
    _, _, here, there = await _two_pods(world)
    for turn in range(4):
        await here[turn % 2].act(_take(), decision=turn // 2 + 1)
    count = len(there[0].messages)
    moved = there[0]
    moved.attach(after=here[0].seq - 1, resume=True)
    await moved.update(here[0].seq)
    fresh = [message for message in moved.messages[count:] if message.response.attached.match.match_id]
    assert [message.reason for message in fresh] == [""]
    assert [message.seq for message in fresh] == [0]


async def test_idle_pod_adopts_what_another_left(world: World) -> None:
    """A deadline that only the log knows of wakes a pod whose memory is older."""
    one, other = world.pod(), world.pod()
    match_id = await world.match(one, start_seconds=0)
    watcher = Viewer(other.host, match_id, "w").attach()
    await watcher.next()
    here = [Viewer(one.host, match_id, f"p{number}").attach() for number in range(2)]
    for viewer in here:
        await viewer.update(2)
    one.store.away = True  # the pod that everyone was on is cut off
    world.move_clock(5)
    await watcher.in_state(RUNNING)
    assert [entry.text for entry in await world.log(one, match_id)][-1] == "@begin"
    one.store.away = False


async def test_listeners_are_told_what_other_pods_write(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Though nobody acts on their pod: it asks the store for the heads of what is listened to."""
    monkeypatch.setattr(hosts, "FOLLOW_SECONDS", 0.01)
    _, other, here, there = await _two_pods(world)
    away = other.store.hold("heads")
    await away.reached.wait()
    other.store.away = True
    away.open()
    await here[0].act(_take(), decision=1)
    other.store.away = False
    await there[1].update(here[0].seq)
    assert there[1].decision == 1


async def test_pod_that_slept_reads_before_it_answers(world: World) -> None:
    """After its loop stood still it doubts what it knows: a request is judged on the log as it is now."""
    _, other, here, there = await _two_pods(world)
    await here[0].act(_take(), decision=1)
    asleep = [4.0]
    other.host._still_seconds = lambda: asleep.pop() if asleep else 0.0
    gate = other.store.hold("entries")
    there[1].send(_take(2), decision=1)
    await gate.reached.wait()
    assert not any(message.answer for message in there[1].messages)
    gate.open()
    assert (await there[1].answer()).response.HasField("applied")
    assert there[1].seq == here[0].seq + 1


async def test_overtaken_and_cut_off_pod_refuses_and_goes_on(world: World) -> None:
    """It cannot read what others wrote: nothing changes, and the repetition is judged on the whole log."""
    one, other, here, there = await _two_pods(world)
    await here[0].act(_take(), decision=1)
    gate = other.store.hold("entries")
    there[0].send(WHISPER, decision=0, action_id="mine")
    await gate.reached.wait()
    other.store.away = True
    gate.open()
    assert (await there[0].answer()).reason == "STORE_UNAVAILABLE"
    other.store.away = False
    assert (await there[0].act(WHISPER, decision=0, action_id="mine")).response.HasField("applied")
    assert there[0].seq == here[0].seq + 1
    assert one.match(here[0].match_id).last.revision == other.match(here[0].match_id).last.revision - 1


async def test_new_match_begun_elsewhere_is_loaded_whole(world: World) -> None:
    """A pod that never saw the match folds it from its first entry."""
    one = world.pod()
    match_id = await world.match(one, 4)
    viewers = await begin(one, match_id, 4)
    await play(one, viewers, seed_of(), 10)
    other = world.pod()
    late = Viewer(other.host, match_id, "p2").attach()
    await late.next()
    assert other.match(match_id).last.head == one.match(match_id).last.head
    assert late.seq == viewers[2].seq
