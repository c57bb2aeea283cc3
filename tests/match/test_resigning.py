"""Giving up: with two seats the other wins; with more the kit plays the seat on by its time-out steps."""

from __future__ import annotations

import asyncio

import pytest

from services.kit.shell import metrics
from services.kit.step import ENDED
from tests.match.stones import Move
from tests.match.table import CORSARI, STONES, Pod, World, play, seed_of
from tests.match.viewer import PATIENCE, RESIGN, Viewer
from tests.store.faults import Fault
from tortuga.play.v1 import play_pb2

TAKE = Move("take", "1")
RESIGNED, TIMEOUT = play_pb2.KIT_KIND_RESIGN, play_pb2.KIT_KIND_TIMEOUT


async def test_with_two_seats_the_other_wins(world: World, pod: Pod) -> None:
    """At once, with the outcome for everyone."""
    viewers = await world.running(pod)
    answer = await viewers[0].act(kit=RESIGN)
    assert (answer.kit, answer.response.kit.seat) == (RESIGNED, 0)
    for viewer in viewers:
        await viewer.in_state(ENDED)
        places = {place.seat: place.rank for place in viewer.status.outcome.places}
        assert places == {0: 2, 1: 1}


@pytest.mark.parametrize("players", [3, 4])
async def test_with_more_the_seat_is_played_on(world: World, pod: Pod, players: int) -> None:
    """Its time-out steps come at once, by the system, whenever it is asked; the others play on."""
    luck = seed_of()
    viewers = await world.running(pod, players)
    match_id = viewers[0].match_id
    assert (await viewers[1].act(kit=RESIGN)).response.HasField("applied")
    others = [viewer for viewer in viewers if viewer is not viewers[1]]
    for _ in range(2 * players + 2):
        await pod.quiet(match_id)
        (seat, _), *_ = pod.state(match_id).asked()
        assert seat != 1
        assert await play(pod, viewers, luck, 1) == 1
    steps = [entry for entry in await world.log(pod, match_id) if entry.text.startswith("@timeout")]
    assert steps
    assert {(entry.text, entry.seat) for entry in steps} == {("@timeout 1", None)}
    numbers = [int(entry.action_id.removeprefix("timeout:1:")) for entry in steps]
    assert numbers == sorted(set(numbers))
    shown = [message for message in others[0].messages if message.kit == TIMEOUT]
    assert [message.response.kit.seat for message in shown] == [1] * len(shown)


async def test_resigned_seat_cannot_act(world: World, pod: Pod) -> None:
    """Neither play, nor resign again; it goes on watching."""
    viewers = await world.running(pod, 3)
    await viewers[2].act(kit=RESIGN)
    assert (await viewers[2].act(pod.host.game.rules.parse("draw stock"))).reason == "RESIGNED"
    assert (await viewers[2].act(kit=RESIGN)).reason == "ALREADY_RESIGNED"
    seq = viewers[2].seq
    await pod.quiet(viewers[0].match_id)
    await play(pod, viewers, seed_of(), 1)
    await viewers[2].update(seq + 1)


async def test_last_but_one_resignation_ends_the_match(world: World, pod: Pod) -> None:
    """The seat that stays wins."""
    viewers = await world.running(pod, 4)
    for viewer in viewers[:3]:
        assert (await viewer.act(kit=RESIGN)).response.HasField("applied")
    for viewer in viewers:
        await viewer.in_state(ENDED)
        assert [place.rank for place in viewer.status.outcome.places][3] == 1


async def test_resigning_before_the_start_is_refused(world: World, pod: Pod) -> None:
    """Who does not want to play aborts."""
    match_id = await world.match(pod)
    viewer = Viewer(pod.host, match_id, "p0").attach()
    assert (await viewer.act(kit=RESIGN)).reason == "NOT_STARTED"


@pytest.mark.parametrize("fault", [Fault.UNKNOWN_KEPT, Fault.UNKNOWN_LOST, Fault.UNAVAILABLE])
async def test_time_out_steps_survive_every_fault(world: World, stones: Pod, fault: Fault) -> None:
    """Whichever append fails, the resigned seat's turn is played once, and the match goes on without a request."""
    viewers = await world.running(stones, 3)
    await viewers[1].act(kit=RESIGN)
    stones.store.fail_appends(Fault.NONE, fault)
    assert (await viewers[0].act(TAKE)).response.HasField("applied")
    await viewers[2].shown(TIMEOUT)
    await stones.quiet(viewers[0].match_id)
    assert viewers[2].decision == 1
    texts = [entry.text for entry in await world.log(stones, viewers[0].match_id)]
    assert texts[-2:] == ["take 1", "@timeout 1"]


async def test_two_pods_play_the_step_once(world: World) -> None:
    """Both owe it, both try: one entry."""
    one, other = world.pod(STONES), world.pod(STONES)
    viewers = await world.running(one, 3)
    await viewers[1].act(kit=RESIGN)
    await other.catch_up(viewers[0].match_id)
    gate = one.store.hold("append")
    gate.open()
    slow = one.store.hold("append")
    assert (await viewers[0].act(TAKE)).response.HasField("applied")
    await slow.reached.wait()  # the step of this pod is on its way
    async with asyncio.timeout(PATIENCE):  # until the other pod, woken by the store, has written it
        while (await world.log(other, viewers[0].match_id))[-1].text != "@timeout 1":
            await asyncio.sleep(0)
    slow.open()
    await viewers[2].shown(TIMEOUT)
    texts = [entry.text for entry in await world.log(one, viewers[0].match_id)]
    assert texts.count("@timeout 1") == 1


async def test_pod_that_died_in_between_leaves_the_step_to_another(world: World) -> None:
    """The time-out step is owed by the log: the next pod plays it without being asked."""
    one = world.pod(CORSARI)
    viewers = await world.running(one, 3)
    match_id = viewers[0].match_id
    (seat, _), *_ = one.state(match_id).asked()
    gate = one.store.hold("append")
    gate.open()
    never = one.store.hold("append")
    await viewers[seat].act(kit=RESIGN)
    await never.reached.wait()
    before = metrics.ACTIONS._value.get()
    other = world.pod(CORSARI)
    watcher = Viewer(other.host, match_id, "w").attach(after=1, resume=True)
    await watcher.shown(TIMEOUT)
    assert metrics.ACTIONS._value.get() > before
    never.open()
