"""A client's stream: what it may send, what heals behind its back, how it ends (services/kit/stream.py)."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from services.kit import stream as streams
from services.kit.errors import DomainError
from services.kit.stream import IN_FLIGHT, MOST_ATTACHMENTS, REHOME
from tests.links.scripted import (
    MATCH,
    Call,
    Fronted,
    ScriptedSession,
    action,
    attach,
    attached,
    header,
    renew,
    status,
)
from tortuga.play.v1 import match_pb2, play_pb2


async def _attached(fronted: Fronted, *requests: bytes) -> tuple[Call, asyncio.Task[Any], ScriptedSession]:
    """A stream whose attach has been answered, at update 1."""
    call = Call(attach(), *requests)
    task, session = await fronted.play(call)
    await session.opened(1)
    session.welcome(1, 1)
    await call.count(1)
    return call, task, session


async def _ended(task: asyncio.Task[Any]) -> DomainError:
    """How the call was refused."""
    with pytest.raises(DomainError) as raised:
        await asyncio.wait_for(task, 10)
    return raised.value


async def _end(task: asyncio.Task[Any]) -> None:
    task.cancel()
    await asyncio.wait([task])


async def test_eight_requests_are_in_flight() -> None:
    """Then the stream is not read; each answer lets one more through."""
    call, task, session = await _attached(Fronted(), *[action(f"a{n}") for n in range(12)])
    await session.until(lambda session: len(session.messages) >= IN_FLIGHT)
    for _ in range(20):
        await asyncio.sleep(0)
    assert session.ids(1) == [f"a{n}" for n in range(IN_FLIGHT)]
    session.refuse(1, "a0", "NO")
    await session.until(lambda session: len(session.messages) == IN_FLIGHT + 1)
    session.apply(1, "a1", 2)
    await session.until(lambda session: len(session.messages) == IN_FLIGHT + 2)
    await call.count(3)
    assert (call.refusals, call.seqs) == ([("a0", "NO")], [1, 2])
    await _end(task)


async def test_lost_link_is_healed_without_a_word() -> None:
    """Attached again from the last update, unanswered requests sent again in order, old frames dropped."""
    call, task, session = await _attached(Fronted(), *[action(f"a{n}") for n in range(3)])
    await session.until(lambda session: len(session.messages) == 3)
    session.apply(1, "a0", 2)
    session.outlet.end(1, REHOME)
    number, wanted = await session.opened(2)
    assert (number, wanted.resume, wanted.attach.after_seq) == (2, True, 2)
    assert session.ids(2) == ["a1", "a2"]
    session.apply(1, "a1", 3)
    session.resumed(2, 3)
    session.update(2, 3)
    session.apply(2, "a1", 0)
    session.apply(2, "a2", 4)
    await call.count(5)
    assert call.seqs == [1, 2, 3, 4]
    assert [message.applied.action_id for message in call.written if message.HasField("applied")] == ["a0", "a1", "a2"]
    assert sum(message.HasField("attached") for message in call.written) == 1
    await _end(task)


async def test_link_lost_before_the_welcome_is_asked_afresh() -> None:
    """The client's own attach is answered in the end, as it was asked: afresh, or from where it was."""
    for after in (0, 5):
        call = Call(attach(after=after), action("a"))
        task, session = await Fronted().play(call)
        await session.until(lambda session: bool(session.messages))
        for count in (2, 3):
            session.outlet.end(count - 1, REHOME)
            _, wanted = await session.opened(count)
            assert (wanted.resume, wanted.attach.after_seq) == (False, after)
        if after:
            session.resumed(3, 5)
        else:
            session.welcome(3, 7)
        await call.count(1)
        assert call.written[0].HasField("attached")
        assert session.ids(3) == ["a"]
        await _end(task)


async def test_rewound_history_is_told_after_a_lost_link() -> None:
    """The log is not what it was: the client learns it, even if nothing is left."""
    call, task, session = await _attached(Fronted())
    session.outlet.end(1, REHOME)
    await session.opened(2)
    session.refuse(2, "", "HISTORY_REWOUND", 11)
    session.outlet.end(2, REHOME)
    await session.opened(3)
    rewound = play_pb2.PlayResponse(refused=play_pb2.Refused(reason="HISTORY_REWOUND"))
    session._say(3, 0, rewound.SerializeToString())
    await call.count(3)
    assert [reason for _, reason in call.refusals] == ["HISTORY_REWOUND"] * 2
    await _end(task)


async def test_attach_again_starts_over() -> None:
    """The old attachment is closed and its late frames dropped; what was unanswered is sent to the new one."""
    call, task, session = await _attached(Fronted(), action("a"))
    await session.until(lambda session: len(session.messages) == 1)
    call.send(attach(after=1))
    _, wanted = await session.opened(2)
    assert (session.closed, wanted.attach.after_seq, wanted.resume) == ([1], 1, False)
    session.update(1, 2)
    session.resumed(2, 1)
    session.apply(2, "a", 2)
    await call.count(3)
    assert call.seqs == [1, 2]
    assert session.ids(2) == ["a"]
    await _end(task)


async def test_matches_of_one_stream_do_not_mix() -> None:
    """Each has its own attachment, its own eight in flight, and ends by itself."""
    call = Call(attach("one"), attach("two"), action("a", "one"), action("b", "two"), action("c", "three"))
    task, session = await Fronted().play(call)
    await session.until(lambda session: len(session.messages) == 2)
    assert [wanted.match_id for _, wanted in session.opens] == ["one", "two"]
    assert (session.ids(1), session.ids(2)) == (["a"], ["b"])
    session.outlet.end(1, "MATCH_UNKNOWN")
    session.apply(2, "b", 1)
    await call.count(4)
    assert call.refusals == [("c", "NOT_ATTACHED"), ("", "MATCH_UNKNOWN"), ("a", "MATCH_UNKNOWN")]
    assert call.seqs == [1]
    call.send(action("d", "one"))
    await call.count(5)
    assert call.refusals[-1] == ("d", "NOT_ATTACHED")
    await _end(task)


@pytest.mark.parametrize(
    ("reason", "code"), [("MATCH_UNKNOWN", 5), ("SPECTATORS_REFUSED", 7), ("NO_SERVICE", 14), ("MATCH_BROKEN", 14)]
)
async def test_ended_attachment_is_told_with_its_status(reason: str, code: int) -> None:
    """In `Play` as a message, with every unanswered request refused; in `Watch` and `Act` as the call's status."""
    fronted = Fronted()
    call, task, session = await _attached(fronted, action("a"))
    await session.until(lambda session: len(session.messages) == 1)
    session.outlet.end(1, reason)
    await call.count(3)
    assert {(message.refused.reason, message.refused.code) for message in call.written[1:]} == {(reason, code)}
    assert {message.header.match_id for message in call.written} == {MATCH}
    await _end(task)
    for start in (fronted.watch(attach(), Call()), fronted.act(action("a"))):
        task, session = await start
        number, _ = await session.opened(1)
        session.outlet.end(number, reason)
        error = await _ended(task)
        assert (error.reason, error.status.value[0]) == (reason, code)


async def test_stream_has_a_bound_of_attachments() -> None:
    """One more is refused; the others stay, and may be attached again."""
    call = Call(*[attach(f"m{n}") for n in range(MOST_ATTACHMENTS + 1)], attach("m0"))
    task, session = await Fronted().play(call)
    for count in range(1, MOST_ATTACHMENTS + 2):
        number, _ = await session.opened(count)
        session.welcome(number)
    await call.count(MOST_ATTACHMENTS + 2)
    assert [reason for _, reason in call.refusals] == ["TOO_MANY_ATTACHMENTS"]
    assert session.opens[-1][1].match_id == "m0"
    await _end(task)


@pytest.mark.parametrize("part", ["kit", "talk", "renew", "unknown"])
async def test_attach_comes_alone(part: str) -> None:
    """With anything else beside it, the request is malformed, and nothing is opened."""
    request = play_pb2.PlayRequest.FromString(attach())
    data = request.SerializeToString() + b"\x82\x01\x00" * (part == "unknown")
    if part != "unknown":
        getattr(request, part).SetInParent()
        data = request.SerializeToString()
    call = Call(data, b"\xff", renew("p0:9") + attach())
    task, session = await Fronted().play(call)
    await call.count(3)
    assert [reason for _, reason in call.refusals] == ["MALFORMED"] * 3
    assert session.opens == []
    await _end(task)


async def test_half_closed_stream_ends_with_its_matches() -> None:
    """Who has said everything watches until all its matches are over; those that are over already end it at once."""
    for first in (True, False):
        call, task, session = await _attached(Fronted())
        if first:
            session.over(1, 2)
            await call.count(2)
        call.hang_up()
        if not first:
            for _ in range(20):
                await asyncio.sleep(0)
            assert not task.done()
            session.over(1, 2)
        await asyncio.wait_for(task, 10)
        assert call.seqs == [1, 2]


async def test_watch_ends_with_the_match() -> None:
    """Its last message is the one that says so."""
    call = Call()
    task, session = await Fronted().watch(attach(), call)
    await session.opened(1)
    session.welcome(1, 1)
    session.update(1, 2)
    session.over(1, 3)
    await asyncio.wait_for(task, 10)
    assert call.seqs == [1, 2, 3]


async def test_watch_of_what_is_over_ends_at_once() -> None:
    """Also for who holds every update already: the answer to the attach says that the match is over."""
    call = Call()
    task, session = await Fronted().watch(attach(after=3), call)
    await session.opened(1)
    session._say(1, 0, header() + status(match_pb2.MATCH_STATE_ENDED) + attached(3))
    await asyncio.wait_for(task, 10)
    assert (call.seqs, len(call.written)) == ([], 1)


async def test_act_answers_and_refuses() -> None:
    """The acknowledgement is the response, a refusal the status; a lost link is healed."""
    fronted = Fronted()
    task, session = await fronted.act(action("a"))
    number, wanted = await session.opened(1)
    assert not wanted.HasField("attach")
    session.outlet.end(number, REHOME)
    number, wanted = await session.opened(2)
    assert (wanted.resume, session.ids(number)) == (False, ["a"])
    session.apply(number, "a", 0)
    assert play_pb2.PlayResponse.FromString(await task).applied.action_id == "a"
    task, session = await fronted.act(action("b"))
    await session.opened(1)
    session.refuse(1, "b", "STALE_DECISION", 10)
    error = await _ended(task)
    assert (error.reason, error.status.value[0]) == ("STALE_DECISION", 10)


async def test_act_without_an_answer_is_pending(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody knows what became of it: the caller repeats the same id."""
    monkeypatch.setattr(streams, "_ACT_SECONDS", 0.01)
    task, _ = await Fronted().act(action("a"))
    assert (await _ended(task)).reason == "OUTCOME_PENDING"


async def test_fault_of_ours_ends_the_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is told as INTERNAL with an id, instead of leaving the client to wait."""
    call, task, session = await _attached(Fronted())

    def broken(number: int, data: bytes) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(session, "message", broken)
    call.send(action("a"))
    error = await _ended(task)
    assert error.reason == "INTERNAL"
    assert error.params["id"]
