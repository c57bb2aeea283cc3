"""What a seat does until an action is answered."""

from __future__ import annotations

import asyncio
from typing import Any

import grpc
import pytest

from services.client import OutcomeUnknown, Refused
from services.client import seat as seats
from tests.client.scripted import DRAW, GAME, GATHERING, MATCH, RUNNING, Talk, playing
from tortuga.corsari.v1.corsari_service_pb2 import PlayRequest
from tortuga.play.v1 import play_pb2


def _applied(request: PlayRequest, seq: int) -> dict[str, Any]:
    return {"action_id": request.header.action_id, "seq": seq}


async def _attach(talk: Talk, after: int = 0) -> None:
    await talk.read_attach(after)
    if after:
        await talk.write_attached(newest=after)
    else:
        await talk.write_attached(1, status=RUNNING)
        await talk.write(2, decision=7, update={"legal": [DRAW]})


async def test_action_is_answered_once_it_is_durable() -> None:
    """The request names match, id and open decision; `act` returns what was applied; its update comes as well."""

    async def script(talk: Talk) -> None:
        await _attach(talk)
        request = await talk.read()
        assert (request.header.match_id, request.header.decision) == (MATCH, 7)
        assert 1 <= len(request.header.action_id) <= 64
        assert request.action == DRAW
        await talk.write(3, applied=_applied(request, 3))
        await talk.write_end(4)
        await talk.until_left()

    async with playing(script) as client, client.seat(MATCH, GAME) as seat:
        await anext(seat)
        await anext(seat)
        applied = await seat.act(seat.legal[0])
        assert applied.seq == 3
        assert [update.header.seq async for update in seat] == [3, 4]


async def test_action_may_be_given_by_its_text_form() -> None:
    """The game's own text form stands for the message."""

    async def script(talk: Talk) -> None:
        await _attach(talk)
        request = await talk.read()
        assert request.action == DRAW
        await talk.write(3, applied=_applied(request, 3))
        await talk.until_left()

    async with playing(script) as client, client.seat(MATCH, GAME) as seat:
        await anext(seat)
        await seat.act("draw stock", decision=7)


async def test_simple_loop_answers_each_decision_once() -> None:
    """An update from before the own action, read after it, does not ask again for what is answered."""

    async def script(talk: Talk) -> None:
        await _attach(talk)
        request = await talk.read()
        await talk.write(3, decision=7, update={"legal": [DRAW]})  # someone else's, just before ours
        await talk.write(4, applied=_applied(request, 4))
        await talk.write(5, decision=8, update={"legal": [DRAW]})
        request = await talk.read()
        assert request.header.decision == 8
        await talk.write(6, applied=_applied(request, 6))
        await talk.write_end(7)
        await talk.until_left()

    asked = []
    async with playing(script) as client, client.seat(MATCH, GAME) as seat:
        async for update in seat:
            if seat.decision:
                asked.append(update.header.seq)
                await seat.act(seat.legal[0])
    assert asked == [2, 5]


async def test_unanswered_action_is_sent_again_after_a_break() -> None:
    """The same bytes under the same id; an answer from before the break would have been the same."""
    sent: list[PlayRequest] = []

    async def breaks(talk: Talk) -> None:
        await _attach(talk)
        sent.append(await talk.read())
        await talk.fail(grpc.StatusCode.UNAVAILABLE, "DRAINING")

    async def answers(talk: Talk) -> None:
        await _attach(talk, after=2)
        sent.append(await talk.read())
        await talk.write(3, applied=_applied(sent[-1], 3))
        await talk.until_left()

    async with playing(breaks, answers) as client, client.seat(MATCH, GAME) as seat:
        await anext(seat)
        applied = await seat.act(DRAW, 7)
    assert applied.seq == 3
    assert sent[0] == sent[1]


async def test_action_given_while_there_is_no_stream_opens_the_next_one() -> None:
    """An action is not lost for having come at a bad moment."""
    broken = asyncio.Event()

    async def breaks(talk: Talk) -> None:
        await _attach(talk)
        await talk.fail(grpc.StatusCode.UNAVAILABLE, "DRAINING")

    async def away(talk: Talk) -> None:
        await talk.read_attach(after=2)
        broken.set()
        await talk.fail(grpc.StatusCode.UNAVAILABLE, "NO_SERVICE")

    async def answers(talk: Talk) -> None:
        await _attach(talk, after=2)
        request = await talk.read()
        await talk.write(3, applied=_applied(request, 3))
        await talk.until_left()

    async with playing(breaks, away, answers) as client, client.seat(MATCH, GAME) as seat:
        await anext(seat)
        await broken.wait()
        assert (await seat.act(DRAW, 7)).seq == 3


async def test_lost_request_is_sent_again_in_the_same_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    """A stream that stands while the answer does not come is not trusted for ever."""
    monkeypatch.setattr(seats, "_RESEND_SECONDS", 0.05)

    async def script(talk: Talk) -> None:
        await _attach(talk)
        lost, again = await talk.read(), await talk.read()
        assert lost == again
        await talk.write(3, applied=_applied(again, 3))
        await talk.until_left()

    async with playing(script) as client, client.seat(MATCH, GAME) as seat:
        await anext(seat)
        assert (await seat.act(DRAW, 7)).seq == 3


async def test_refusal_is_raised_where_the_action_was_given() -> None:
    """Reason, code and parameters arrive; the seat plays on."""

    async def script(talk: Talk) -> None:
        await _attach(talk)
        stale, fine = await talk.read(), await talk.read()
        refusal = {"action_id": stale.header.action_id, "code": 10, "reason": "STALE_DECISION"}
        await talk.write(refused=refusal | {"metadata": {"decision": "8"}})
        await talk.write(3, applied=_applied(fine, 3))
        await talk.write_end(4)
        await talk.until_left()

    async with playing(script) as client, client.seat(MATCH, GAME) as seat:
        await anext(seat)
        stale, fine = await asyncio.gather(seat.act(DRAW, 6), seat.act(DRAW, 7), return_exceptions=True)
        assert isinstance(stale, Refused)
        assert (stale.reason, stale.code, stale.metadata) == (
            "STALE_DECISION",
            grpc.StatusCode.ABORTED,
            {"decision": "8"},
        )
        assert isinstance(fine, play_pb2.Applied)
        assert [update.header.seq async for update in seat] == [2, 3, 4]


@pytest.mark.parametrize(
    ("code", "reason", "metadata"),
    [
        (14, "OUTCOME_PENDING", {}),
        (10, "CONTENDED", {}),
        (8, "RATE_LIMITED", {"retry_after_ms": "20"}),
    ],
)
async def test_passing_refusal_is_retried_under_the_same_id(code: int, reason: str, metadata: dict[str, str]) -> None:
    """What may succeed a moment later is sent again, and the caller hears only of the outcome."""

    async def script(talk: Talk) -> None:
        await _attach(talk)
        first = await talk.read()
        refusal = {"action_id": first.header.action_id, "code": code, "reason": reason, "metadata": metadata}
        await talk.write(refused=refusal)
        again = await talk.read()
        assert again == first
        await talk.write(3, applied=_applied(again, 3))
        await talk.until_left()

    async with playing(script) as client, client.seat(MATCH, GAME) as seat:
        await anext(seat)
        assert (await seat.act(DRAW, 7)).seq == 3


async def test_silence_leaves_the_outcome_unknown_and_the_id_settles_it() -> None:
    """Patience is bounded; the same id then asks again for the same action."""

    async def script(talk: Talk) -> None:
        await _attach(talk)
        first = await talk.read()
        again = await talk.read()
        assert again == first
        await talk.write(3, applied=_applied(again, 3))
        await talk.until_left()

    async with playing(script, patience=0.2) as client, client.seat(MATCH, GAME) as seat:
        await anext(seat)
        with pytest.raises(OutcomeUnknown) as raised:
            await seat.act(DRAW, 7)
        action_id = raised.value.args[0]
        assert (await seat.act(DRAW, 7, action_id=action_id)).seq == 3


async def test_seat_contributes_once_after_it_has_seen_the_commitment() -> None:
    """32 random bytes as a kit action without a decision, the same ones again after a break, and never others."""
    sent: list[PlayRequest] = []

    async def breaks(talk: Talk) -> None:
        await talk.read_attach()
        await talk.write_attached(1, status=GATHERING)
        sent.append(await talk.read())
        await talk.fail(grpc.StatusCode.UNAVAILABLE, "DRAINING")

    async def answers(talk: Talk) -> None:
        await talk.read_attach(after=1)
        await talk.write_attached(newest=1)
        sent.append(await talk.read())
        await talk.write(2, status=GATHERING, applied=_applied(sent[-1], 2))
        await talk.write(3, status=RUNNING)
        await talk.write_end(4)
        assert await talk.context.read() is grpc.aio.EOF  # nothing else was sent

    async with playing(breaks, answers) as client, client.seat(MATCH, GAME) as seat:
        assert [update.header.seq async for update in seat] == [1, 2, 3, 4]
        assert len(seat.contribution) == 32
    assert sent[0] == sent[1]
    assert sent[0].kit.kind == play_pb2.KIT_KIND_CONTRIBUTE
    assert sent[0].kit.contribution == seat.contribution
    assert sent[0].header.decision == 0


async def test_contribution_that_is_not_taken_does_not_disturb() -> None:
    """A seat that is opened anew has given its bytes before: that is no fault."""

    async def script(talk: Talk) -> None:
        await talk.read_attach()
        await talk.write_attached(1, status=GATHERING)
        request = await talk.read()
        refusal = {"action_id": request.header.action_id, "code": 9, "reason": "ALREADY_CONTRIBUTED"}
        await talk.write(refused=refusal)
        await talk.write_end(2)
        await talk.until_left()

    async with playing(script) as client, client.seat(MATCH, GAME) as seat:
        assert [update.header.seq async for update in seat] == [1, 2]
        assert seat.contribution == b""


async def test_answers_still_owed_at_the_end_are_awaited() -> None:
    """The end of the match does not swallow the answer to an action that was under way."""

    async def script(talk: Talk) -> None:
        await _attach(talk)
        request = await talk.read()
        await talk.write_end(3)
        refusal = {"action_id": request.header.action_id, "code": 9, "reason": "GAME_OVER"}
        await talk.write(refused=refusal)
        await talk.until_left()

    async with playing(script) as client, client.seat(MATCH, GAME) as seat:
        await anext(seat)
        with pytest.raises(Refused, match="GAME_OVER"):
            await seat.act(DRAW, 7)
        with pytest.raises(Refused, match="NOT_ATTACHED"):
            await seat.act(DRAW, 7)


async def test_leaving_a_seat_leaves_no_action_waiting() -> None:
    """Whoever still waits for an answer learns that its outcome is unknown."""
    arrived = asyncio.Event()

    async def script(talk: Talk) -> None:
        await _attach(talk)
        await talk.read()
        arrived.set()
        await talk.until_left()

    async with playing(script) as client:
        async with client.seat(MATCH, GAME) as seat:
            await anext(seat)
            acting = asyncio.create_task(seat.act(DRAW, 7))
            await arrived.wait()
        with pytest.raises(OutcomeUnknown):
            await acting


async def test_everything_said_and_heard_is_journalled() -> None:
    """The journal of an honest seat: attached, received, sent, answered, in the order in which it happened."""
    journal: list[str] = []

    async def script(talk: Talk) -> None:
        await _attach(talk)
        request = await talk.read()
        await talk.write(3, applied=_applied(request, 3))
        await talk.until_left()

    async with (
        playing(script, journal=lambda kind, data: journal.append(kind)) as client,
        client.seat(MATCH, GAME) as seat,
    ):
        await anext(seat)
        await anext(seat)
        await seat.act(seat.legal[0])
    assert journal == ["attached", "received", "received", "sent", "received", "answered"]
