"""Requests that are wrong, forbidden or mad: typed refusals in the order of the attachment, and nothing changes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import grpc
import pytest

from services.kit.errors import code_number
from services.kit.match import QUEUE_LIMIT
from services.kit.shell import logs
from tests.match.stones import Move
from tests.match.table import STONES, Pod, World
from tests.match.viewer import Ticket, Viewer, contribution
from tortuga.play.v1 import match_pb2, play_pb2

TAKE = Move("take", "1")
WHISPER = Move("whisper", "psst")
INVALID = code_number(grpc.StatusCode.INVALID_ARGUMENT)
FORBIDDEN = code_number(grpc.StatusCode.PERMISSION_DENIED)
UNIMPLEMENTED = code_number(grpc.StatusCode.UNIMPLEMENTED)
INTERNAL = code_number(grpc.StatusCode.INTERNAL)

Spoil = Callable[[Any], object]


def _request(viewer: Viewer, spoil: Spoil, action_id: str = "id") -> bytes:
    """A good request of the viewer, spoiled."""
    request: Any = viewer.game.message("PlayRequest")()
    request.header.match_id = viewer.match_id
    request.header.action_id = action_id
    request.header.decision = 1
    request.action.MergeFromString(viewer.game.wire.write_action(TAKE))
    spoil(request)
    data: bytes = request.SerializeToString()
    return data


def _kit(kind: play_pb2.KitKind.ValueType, **fields: Any) -> Spoil:
    def spoil(request: Any) -> None:
        request.ClearField("action")
        request.kit.CopyFrom(play_pb2.KitAction(kind=kind, **fields))

    return spoil


SPOILED: dict[str, tuple[Spoil, str, int]] = {
    "nothing at all": (lambda request: request.ClearField("action"), "MALFORMED", INVALID),
    "two kinds at once": (lambda request: request.kit.SetInParent(), "MALFORMED", INVALID),
    "an attach with it": (lambda request: request.attach.SetInParent(), "MALFORMED", INVALID),
    "a lone attach": (
        lambda request: (request.ClearField("action"), request.attach.SetInParent()),
        "MALFORMED",
        INVALID,
    ),
    "a lone renew": (lambda request: (request.ClearField("action"), request.renew.SetInParent()), "MALFORMED", INVALID),
    "talk": (lambda request: (request.ClearField("action"), request.talk.SetInParent()), "NOT_SERVED", UNIMPLEMENTED),
    "another match": (lambda request: setattr(request.header, "match_id", "match-2"), "HEADER_MISMATCH", INVALID),
    "no match": (lambda request: setattr(request.header, "match_id", ""), "HEADER_MISMATCH", INVALID),
    "no action id": (lambda request: setattr(request.header, "action_id", ""), "ACTION_ID", INVALID),
    "a long action id": (lambda request: setattr(request.header, "action_id", "x" * 65), "ACTION_ID", INVALID),
    "a wide action id": (lambda request: setattr(request.header, "action_id", "é" * 33), "ACTION_ID", INVALID),
    "an unreadable move": (lambda request: setattr(request.action, "text", "steal 1"), "UNREADABLE", INVALID),
    "an empty move": (lambda request: setattr(request.action, "text", ""), "UNREADABLE", INVALID),
    "a kit action's text": (lambda request: setattr(request.action, "text", "@abort X"), "UNREADABLE", INVALID),
    "a kit action of no kind": (_kit(play_pb2.KIT_KIND_UNSPECIFIED), "KIT_KIND", INVALID),
    "begin": (_kit(play_pb2.KIT_KIND_BEGIN), "SYSTEM_ONLY", FORBIDDEN),
    "timeout": (_kit(play_pb2.KIT_KIND_TIMEOUT, seat=1), "SYSTEM_ONLY", FORBIDDEN),
    "away": (_kit(play_pb2.KIT_KIND_AWAY), "SYSTEM_ONLY", FORBIDDEN),
    "return": (_kit(play_pb2.KIT_KIND_RETURN), "SYSTEM_ONLY", FORBIDDEN),
    "take over": (_kit(play_pb2.KIT_KIND_TAKE_OVER, seat=1), "SYSTEM_ONLY", FORBIDDEN),
    "credit": (_kit(play_pb2.KIT_KIND_CREDIT, credit_ms=1000), "SYSTEM_ONLY", FORBIDDEN),
    "claim": (_kit(play_pb2.KIT_KIND_CLAIM), "NOT_SERVED", UNIMPLEMENTED),
    "pause": (_kit(play_pb2.KIT_KIND_PAUSE), "NOT_SERVED", UNIMPLEMENTED),
    "resume": (_kit(play_pb2.KIT_KIND_RESUME), "NOT_SERVED", UNIMPLEMENTED),
    "a fault of the codec": (lambda request: setattr(request.action, "text", "break the codec"), "INTERNAL", INTERNAL),
    "a fault of the rules": (lambda request: setattr(request.action, "text", "crash"), "INTERNAL", INTERNAL),
}


@pytest.mark.parametrize("name", SPOILED)
async def test_wrong_request_is_refused_and_changes_nothing(world: World, stones: Pod, name: str) -> None:
    """Each with its code; the state, the log and the others' updates stay as they were, and a good request follows."""
    spoil, reason, code = SPOILED[name]
    first, second = await world.running(stones)
    match = stones.match(first.match_id)
    before = (match.last, match.last.game and match.last.game.fingerprint(), len(second.messages))
    count = len(stones.store.appends)
    ticket = Ticket()
    first._read = len(first.messages)
    first.send_bytes(_request(first, spoil), ticket)
    refused = (await first.answer()).response.refused
    assert (refused.reason, refused.code) == (reason, code)
    assert refused.action_id in {"id", ""}
    assert len(refused.action_id) <= 64
    assert ticket.count == 1
    assert (match.last, match.last.game and match.last.game.fingerprint(), len(second.messages)) == before
    assert len(stones.store.appends) == count
    assert (await first.act(TAKE, decision=1, action_id="id")).response.HasField("applied")


@pytest.mark.parametrize(
    "data", [b"\xff", b"\x0a\xff", b"\x0a\x05\x0a\x03\xff\xfe\xfd", b"\x80\x01\x00" + b"\x0b" * 200, b""]
)
async def test_garbage_is_malformed(world: World, stones: Pod, data: bytes) -> None:
    """Bytes that are no message, or an empty one, are answered all the same."""
    first, _ = await world.running(stones)
    first._read = len(first.messages)
    first.send_bytes(data)
    assert (await first.answer()).reason == "MALFORMED"


async def test_long_action_id_is_not_sent_back(world: World, stones: Pod) -> None:
    """Whatever else is wrong: a refusal is short."""
    first, _ = await world.running(stones)
    for spoil, _, _ in SPOILED.values():
        first._read = len(first.messages)
        first.send_bytes(_request(first, spoil, action_id="x" * 10_000))
        assert len((await first.answer()).data) < 300


async def test_refusals_come_in_the_order_of_the_attachment(world: World, stones: Pod) -> None:
    """Wrong, right, wrong, right, all at once: the answers come in that order, each under its own id."""
    first, _ = await world.running(stones)
    first._read = len(first.messages)
    spoil = SPOILED["no match"][0]
    first.send_bytes(_request(first, spoil, "a"))
    first.send(WHISPER, decision=0, action_id="b")
    first.send_bytes(_request(first, spoil, "c"))
    first.send(TAKE, decision=9, action_id="d")
    first.send(TAKE, decision=1, action_id="e")
    first.send_bytes(b"\xff")
    answers = [await first.answer() for _ in range(6)]
    ids = [answer.response.applied.action_id or answer.response.refused.action_id for answer in answers]
    assert ids == ["a", "b", "c", "d", "e", ""]
    expected = ["HEADER_MISMATCH", "", "HEADER_MISMATCH", "STALE_DECISION", "", "MALFORMED"]
    assert [answer.reason for answer in answers] == expected


async def test_spectator_cannot_act(world: World, stones: Pod) -> None:
    """Neither a move nor a kit action, attached or by `Act` alone."""
    first, _ = await world.running(stones)
    for live in (True, False):
        watcher = Viewer(stones.host, first.match_id, "w").attach(live=live)
        for how in ({"action": WHISPER, "decision": 0}, {"kit": contribution()}):
            assert (await watcher.act(**how)).reason == "NOT_SEATED"


async def test_seat_acts_for_itself_alone(world: World, stones: Pod) -> None:
    """A kit action that names another seat is the sender's own."""
    first, second = await world.running(stones)
    kit = play_pb2.KitAction(kind=play_pb2.KIT_KIND_RESIGN, seat=1)
    assert (await first.act(kit=kit)).response.kit.seat == 0
    await second.in_state(3)
    assert second.status.outcome.places[1].rank == 1


async def test_match_that_may_not_be_watched(world: World, stones: Pod) -> None:
    """Who has no seat is refused, by `Play` and by `Act`, and gets no answer to what it sends."""
    match_id = await world.match(stones, spectators=match_pb2.SPECTATORS_NONE)
    player = Viewer(stones.host, match_id, "p0").attach()
    await player.next()
    for live in (True, False):
        ticket = Ticket()
        stranger = Viewer(stones.host, match_id, "w").attach(live=live)
        assert await stranger.until_ended() == "SPECTATORS_REFUSED"
        stranger.send_bytes(_request(stranger, lambda _: None), ticket)
        assert ticket.count == 1
        assert stranger.messages == []
    watching = Viewer(stones.host, match_id, "p0").attach(spectate=True)
    assert await watching.until_ended() == "SPECTATORS_REFUSED"


async def test_match_by_link_needs_its_key(world: World, stones: Pod) -> None:
    """Without the key, or in a match that has none, nobody watches."""
    wanted = match_pb2.Match(match_id="linked", seats=[match_pb2.Seat(player_id=f"p{n}") for n in range(2)])
    wanted.settings.spectators = match_pb2.SPECTATORS_LINK
    await stones.host.create(wanted, "the key", False)
    wanted.match_id = "keyless"
    await stones.host.create(wanted, "", False)
    for match_id in ("linked", "keyless"):
        stranger = Viewer(stones.host, match_id, "w").attach()
        assert await stranger.until_ended() == "SPECTATORS_REFUSED"


async def test_unknown_match(world: World, stones: Pod) -> None:
    """The attachment ends; what was sent behind it is let go."""
    viewer = Viewer(stones.host, "nothing", "p0").attach()
    ticket = Ticket()
    viewer.send_bytes(_request(viewer, lambda _: None), ticket)
    assert await viewer.until_ended() == "MATCH_UNKNOWN"
    viewer.send_bytes(_request(viewer, lambda _: None), ticket)
    assert ticket.count == 2
    assert viewer.messages == []


async def test_message_to_an_unknown_attachment_is_let_go(world: World, stones: Pod) -> None:
    """Late messages of closed attachments, or mad numbers: no answer, and the batch's credit comes back."""
    first, _ = await world.running(stones)
    count, ticket = len(first.messages), Ticket()
    first.session.message(77, _request(first, lambda _: None), ticket)
    first.leave()
    first.session.message(first.number, _request(first, lambda _: None), ticket)
    assert (ticket.count, len(first.messages)) == (2, count)
    assert [entry.text for entry in await world.log(stones, first.match_id)].count("take 1") == 0


async def test_action_sent_before_leaving_counts(world: World, stones: Pod) -> None:
    """Who closes right behind its action has played it."""
    first, second = await world.running(stones)
    seq = second.seq
    first.send(TAKE, decision=1)
    first.leave()
    await second.update(seq + 1)
    assert second.decision == 1


async def test_codec_that_fails_on_an_event_breaks_its_match_alone(world: World, stones: Pod) -> None:
    """The entry stands; who listens is told that the match is broken, and other matches play on."""
    first, second = await world.running(stones)
    others = await world.running(stones)
    ticket = Ticket()
    spoil = lambda request: setattr(request.action, "text", "garble")  # noqa: E731 - as in the table above
    first.send_bytes(_request(first, spoil), ticket)
    assert await first.until_ended() == "MATCH_BROKEN"
    assert await second.until_ended() == "MATCH_BROKEN"
    assert ticket.count == 1
    assert (await world.log(stones, first.match_id))[-1].text == "garble"
    again = Viewer(stones.host, first.match_id, "p1").attach()
    await again.next()
    assert (await again.act(WHISPER, decision=0)).reason == "MATCH_BROKEN"
    assert (await others[0].act(TAKE)).response.HasField("applied")


async def test_full_queue_answers_everyone(world: World, stones: Pod) -> None:
    """Beyond its limit a match refuses requests and attachments, and answers each of them."""
    viewers = await world.running(stones)
    match_id = viewers[0].match_id
    gate = stones.store.hold("append")
    viewers[0].send(TAKE, decision=1)
    await gate.reached.wait()
    crowd = [Viewer(stones.host, match_id, f"w{number}").attach() for number in range(QUEUE_LIMIT)]
    late = Viewer(stones.host, match_id, "late").attach()
    assert await late.until_ended() == "MATCH_BUSY"
    assert (await viewers[1].act(WHISPER, decision=0)).reason == "MATCH_BUSY"
    gate.open()
    for viewer in crowd:
        await viewer.next()
    assert (await viewers[1].act(WHISPER, decision=0)).response.HasField("applied")


async def test_full_load_answers_everyone(world: World) -> None:
    """The same while a match is being loaded: whoever finds no room is told, also with an action in hand."""
    one = world.pod(STONES)
    viewers = await world.running(one)
    fresh = world.pod(STONES)
    gate = fresh.store.hold("load")
    crowd = [Viewer(fresh.host, viewers[0].match_id, f"w{number}").attach() for number in range(QUEUE_LIMIT - 1)]
    player = Viewer(fresh.host, viewers[0].match_id, "p0").attach()
    ticket = Ticket()
    player.send_bytes(_request(player, lambda _: None), ticket)
    late = Viewer(fresh.host, viewers[0].match_id, "late").attach()
    assert await player.until_ended() == "MATCH_BUSY"
    assert await late.until_ended() == "MATCH_BUSY"
    assert ticket.count == 1
    gate.open()
    for viewer in crowd:
        await viewer.next()


async def test_refusals_say_nothing_of_the_state(world: World, stones: Pod, capsys: pytest.CaptureFixture[str]) -> None:
    """A fault of the rules carries the state in its text: neither the actor nor the log line is shown any of it."""
    logs.configure("error", "test")
    first, _ = await world.running(stones)
    first._read = len(first.messages)
    first.send_bytes(_request(first, SPOILED["a fault of the rules"][0]))
    answer = await first.answer()
    assert answer.reason == "INTERNAL"
    error_id = answer.response.refused.metadata["id"]
    written = capsys.readouterr()
    assert error_id in written.err + written.out
    assert b"secret heap" not in answer.data
    assert "secret heap" not in written.err + written.out
