"""Action ids: the same content gets the first answer, other content is refused, whatever happened in between."""

from __future__ import annotations

import pytest

from tests.match.stones import Move
from tests.match.table import STONES, Pod, World
from tests.match.viewer import RESIGN, Viewer
from tortuga.play.v1 import play_pb2

TAKE = Move("take", "1")


async def test_repeated_action_gets_the_first_answer(world: World, stones: Pod) -> None:
    """Applied with the seq of the first time, played once; also when the match has moved on."""
    first, second = await world.running(stones)
    answer = await first.act(TAKE, action_id="mine")
    await second.act(TAKE, decision=1)
    again = await first.act(TAKE, action_id="mine", decision=1)
    assert again.response.applied == answer.response.applied
    assert (again.seq, again.response.HasField("update")) == (0, False)
    texts = [entry.text for entry in await world.log(stones, first.match_id)]
    assert texts.count("take 1") == 2


@pytest.mark.parametrize("kit", [False, True])
async def test_other_content_under_a_used_id_is_refused(world: World, stones: Pod, kit: bool) -> None:
    """A game's action or a kit action: ACTION_ID_REUSED, and nothing happens."""
    first, _ = await world.running(stones)
    await first.act(TAKE, action_id="mine")
    revision = stones.match(first.match_id).last.revision
    what = {"kit": RESIGN} if kit else {"action": Move("take", "2")}
    assert (await first.act(action_id="mine", **what)).reason == "ACTION_ID_REUSED"
    assert stones.match(first.match_id).last.revision == revision


async def test_same_id_of_another_seat_is_another_action(world: World, stones: Pod) -> None:
    """Ids belong to the seat that chose them; the system's are nobody's."""
    first, second = await world.running(stones)
    assert (await first.act(TAKE, action_id="begin")).response.HasField("applied")
    assert (await second.act(TAKE, action_id="begin", decision=1)).response.HasField("applied")


async def test_repetition_in_flight_is_answered_by_the_first(world: World, stones: Pod) -> None:
    """Sent twice before any answer: two acknowledgements of one entry."""
    first, _ = await world.running(stones)
    for _ in range(3):
        first.send(TAKE, action_id="mine", decision=1)
    answers = [await first.answer() for _ in range(3)]
    assert [answer.response.applied.seq for answer in answers] == [answers[0].seq] * 3
    assert answers[0].response.HasField("update")
    texts = [entry.text for entry in await world.log(stones, first.match_id)]
    assert texts.count("take 1") == 1


async def test_other_content_in_flight_is_refused(world: World, stones: Pod) -> None:
    """The first one wins, in the order of the attachment."""
    first, _ = await world.running(stones)
    first.send(TAKE, action_id="mine", decision=1)
    first.send(Move("take", "2"), action_id="mine", decision=1)
    assert (await first.answer()).response.HasField("applied")
    assert (await first.answer()).reason == "ACTION_ID_REUSED"


async def test_first_answer_survives_a_reload(world: World, stones: Pod) -> None:
    """Another process, which knows the log alone, answers the same: game's actions and kit actions."""
    first, second = await world.running(stones)
    answer = await first.act(TAKE, action_id="mine")
    contributed = [entry for entry in await world.log(stones, first.match_id) if entry.text == "@contribute"]
    other = world.pod(STONES)
    again = Viewer(other.host, first.match_id, "p0").attach()
    repeated = await again.act(TAKE, action_id="mine", decision=1)
    assert repeated.response.applied == answer.response.applied
    assert (await again.act(Move("take", "2"), action_id="mine", decision=1)).reason == "ACTION_ID_REUSED"
    own = next(entry.action_id for entry in contributed if entry.seat == 0)
    assert (await again.contribute(action_id=own)).response.HasField("applied")
    assert (await again.contribute(b"x" * 32, action_id=own)).reason == "ACTION_ID_REUSED"
    assert second.match_id == first.match_id
    assert [entry.text for entry in await world.log(stones, first.match_id)].count("take 1") == 1


async def test_act_alone_gets_the_first_update_again(world: World, stones: Pod) -> None:
    """Who is not attached gets the acknowledgement with the update in it, the first time and when it repeats."""
    first, second = await world.running(stones)
    acting = Viewer(stones.host, first.match_id, "p0").attach(live=False)
    answer = await acting.act(TAKE, decision=1, action_id="mine")
    assert answer.response.update.events[0].text == "take 1"
    await second.act(TAKE, decision=1)
    again = Viewer(stones.host, first.match_id, "p0").attach(live=False)
    repeated = await again.act(TAKE, decision=1, action_id="mine")
    assert repeated.data == answer.data
    assert len(acting.messages) == len(again.messages) == 1


async def test_refused_action_leaves_its_id_free(world: World, stones: Pod) -> None:
    """An id counts once its entry is in the log."""
    first, _ = await world.running(stones)
    assert (await first.act(TAKE, action_id="mine", decision=7)).reason == "STALE_DECISION"
    assert (await first.act(Move("take", "2"), action_id="mine", decision=1)).response.HasField("applied")


async def test_repetition_after_the_end_is_answered(world: World, stones: Pod) -> None:
    """Also the action that ended the match."""
    first, _ = await world.running(stones)
    answer = await first.act(kit=RESIGN, action_id="last")
    assert answer.kit == play_pb2.KIT_KIND_RESIGN
    again = await first.act(kit=RESIGN, action_id="last")
    assert again.response.applied == answer.response.applied
    assert (await first.act(kit=RESIGN, action_id="other")).reason == "GAME_OVER"
