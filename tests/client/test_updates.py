"""What a seat does with what it receives."""

from __future__ import annotations

import asyncio
from typing import Any

import grpc
import pytest

from services.client import Client, FairnessFault, ProtocolFault, Refused, Seat, TokenExpired, Unreachable
from tests.client.scripted import ENDED, GAME, GATHERING, MATCH, RUNNING, Talk, playing, serving
from tortuga.play.v1 import match_pb2


async def test_updates_come_in_order_and_end_with_the_match() -> None:
    """The whole view first, then each update, then no more; outcome and status are those of the last."""

    async def script(talk: Talk) -> None:
        request = await talk.read_attach()
        assert request.header.match_id == MATCH
        assert not request.attach.spectate
        await talk.write_attached(5, status=RUNNING, update={"view": {"hand_number": 1}})
        await talk.write(6, decision=2, update={"legal": [{"draw": {"source": 1}}]})
        await talk.write_end(7)
        await talk.until_left()

    async with playing(script) as client, client.seat(MATCH, GAME) as seat:
        first = await anext(seat)
        assert (first.header.seq, first.update.view.hand_number, seat.seat) == (5, 1, 0)
        assert seat.status.state == match_pb2.MATCH_STATE_RUNNING
        assert seat.outcome is None
        second = await anext(seat)
        assert (seat.decision, list(seat.legal)) == (2, list(second.update.legal))
        assert [update.header.seq async for update in seat] == [7]
        assert seat.outcome is not None
        assert seat.outcome.reason == "finished"
        with pytest.raises(StopAsyncIteration):
            await anext(seat)


async def test_state_is_that_of_the_update_read_last() -> None:
    """A reader that lags behind the stream sees the position that it has read to, not the newest."""

    async def script(talk: Talk) -> None:
        await talk.read_attach()
        await talk.write_attached(1, status=RUNNING)
        await talk.write(2, decision=1)
        await talk.write(3, decision=2)
        await talk.write_end(4)

    received = asyncio.Event()

    def note(kind: str, data: Any) -> None:
        if kind == "received" and data["seq"] == 4:
            received.set()

    async with playing(script, journal=note) as client, client.seat(MATCH, GAME) as seat:
        await received.wait()  # the whole match is there before anything is read
        assert [seat.decision async for _ in seat] == [0, 1, 2, 0]


async def test_broken_stream_resumes_after_the_last_update() -> None:
    """The new stream asks for what follows the last update held; none is missing, none comes twice."""

    async def breaks(talk: Talk) -> None:
        await talk.read_attach()
        await talk.write_attached(3, status=RUNNING)
        await talk.write(4)
        await talk.fail(grpc.StatusCode.UNAVAILABLE, "DRAINING", m1="4")

    async def ends_without_a_word(talk: Talk) -> None:
        await talk.read_attach(after=4)
        await talk.write_attached(newest=5)
        await talk.write(5)

    async def goes_on(talk: Talk) -> None:
        await talk.read_attach(after=5)
        await talk.write_attached(newest=6)
        await talk.write(5)  # again: not to be shown
        await talk.write_end(6)

    async with playing(breaks, ends_without_a_word, goes_on) as client, client.seat(MATCH, GAME) as seat:
        assert [update.header.seq async for update in seat] == [3, 4, 5, 6]


async def test_gateway_that_does_not_know_the_game_yet_is_asked_again() -> None:
    """A gateway that has just started may still have to hear of the game."""

    async def unknown(talk: Talk) -> None:
        await talk.read_attach()
        await talk.context.abort(grpc.StatusCode.UNIMPLEMENTED, "Method not found!")

    async def known(talk: Talk) -> None:
        await talk.read_attach()
        await talk.write_attached(1, status=RUNNING)
        await talk.write_end(2)

    async with playing(unknown, known) as client, client.seat(MATCH, GAME) as seat:
        assert [update.header.seq async for update in seat] == [1, 2]


async def test_nothing_read_yet_attaches_afresh_and_shows_it_once() -> None:
    """Before the first update a resumed stream is a fresh one: how things stand is shown once."""

    async def breaks(talk: Talk) -> None:
        await talk.read_attach()
        await talk.write_attached(status={"state": match_pb2.MATCH_STATE_UNSPECIFIED})

    async def ends(talk: Talk) -> None:
        await talk.read_attach()
        await talk.write_attached(status={"state": match_pb2.MATCH_STATE_UNSPECIFIED})
        await talk.write_end(1)

    async with playing(breaks, ends) as client, client.seat(MATCH, GAME) as seat:
        assert [update.header.seq async for update in seat] == [0, 1]


async def test_missing_update_is_a_fault() -> None:
    """A gap that the platform does not own up to ends the seat with a typed error."""

    async def script(talk: Talk) -> None:
        await talk.read_attach()
        await talk.write_attached(1, status=RUNNING)
        await talk.write(3)
        await talk.until_left()

    async with playing(script) as client, client.seat(MATCH, GAME) as seat:
        await anext(seat)
        with pytest.raises(ProtocolFault, match="GAP"):
            await anext(seat)


async def test_skip_is_accepted_if_it_covers_what_is_missing() -> None:
    """`skipped` from the next update on, with a whole view, moves the position and is journalled."""
    journal: list[tuple[str, Any]] = []

    async def breaks(talk: Talk) -> None:
        await talk.read_attach()
        await talk.write_attached(2, status=RUNNING)

    async def skips(talk: Talk) -> None:
        await talk.read_attach(after=2)
        await talk.write_attached(40, status=RUNNING, skipped={"from": 3, "to": 40}, update={"view": {}})
        await talk.write_end(41)

    def note(kind: str, data: Any) -> None:
        journal.append((kind, dict(data)))

    async with playing(breaks, skips, journal=note) as client, client.seat(MATCH, GAME) as seat:
        assert [update.header.seq async for update in seat] == [2, 40, 41]
    assert [entry for entry in journal if entry[0] in {"skipped", "received"}] == [
        ("received", {"match_id": MATCH, "seq": 2}),
        ("skipped", {"match_id": MATCH, "first": 3, "last": 40}),
        ("received", {"match_id": MATCH, "seq": 40}),
        ("received", {"match_id": MATCH, "seq": 41}),
    ]


@pytest.mark.parametrize(("first", "last"), [(4, 9), (2, 7)])
async def test_skip_that_leaves_something_out_is_a_fault(first: int, last: int) -> None:
    """Neither before nor after the range that was skipped may an update be missing."""

    async def script(talk: Talk) -> None:
        await talk.read_attach()
        await talk.write_attached(2, status=RUNNING)
        await talk.write(9, skipped={"from": first, "to": last}, update={"view": {}})
        await talk.until_left()

    async with playing(script) as client, client.seat(MATCH, GAME) as seat:
        await anext(seat)
        with pytest.raises(ProtocolFault, match="GAP"):
            await anext(seat)


async def test_history_that_was_rewound_is_a_fault() -> None:
    """A platform that has forgotten what it showed breaks its first promise; the seat does not go on silently."""

    async def breaks(talk: Talk) -> None:
        await talk.read_attach()
        await talk.write_attached(5, status=RUNNING)

    async def forgot(talk: Talk) -> None:
        await talk.read_attach(after=5)
        await talk.write_attached(3, status=RUNNING, refused={"code": 9, "reason": "HISTORY_REWOUND"})
        await talk.until_left()

    async with playing(breaks, forgot) as client, client.seat(MATCH, GAME) as seat:
        await anext(seat)
        with pytest.raises(ProtocolFault, match="HISTORY_REWOUND"):
            await anext(seat)


@pytest.mark.parametrize("seed", [b"", bytes(32)], ids=["missing", "another"])
async def test_seed_that_was_not_committed_to_is_a_fault(seed: bytes) -> None:
    """The last update is shown, then the fault is raised."""

    async def script(talk: Talk) -> None:
        await talk.read_attach()
        await talk.write_attached(1, status=RUNNING)
        await talk.write_end(2, seed=seed)
        await talk.until_left()

    async with playing(script) as client, client.seat(MATCH, GAME) as seat:
        assert [(await anext(seat)).header.seq for _ in range(2)] == [1, 2]
        with pytest.raises(FairnessFault, match="SEED_MISMATCH"):
            await anext(seat)


async def test_commitment_may_not_change() -> None:
    """A commitment that differs after a resume is a fault."""

    async def breaks(talk: Talk) -> None:
        await talk.read_attach()
        await talk.write_attached(1, status=RUNNING)

    async def lies(talk: Talk) -> None:
        await talk.read_attach(after=1)
        await talk.write(attached={"seat": 0, "seq": 1, "match": {"match_id": MATCH, "commitment": bytes(32)}})
        await talk.until_left()

    async with playing(breaks, lies) as client, client.seat(MATCH, GAME) as seat:
        await anext(seat)
        with pytest.raises(FairnessFault, match="COMMITMENT_CHANGED"):
            await anext(seat)


async def test_abort_ends_without_an_outcome() -> None:
    """An aborted match ends the iterator; its seed is checked as well."""

    async def script(talk: Talk) -> None:
        await talk.read_attach()
        await talk.write_attached(1, seat=None, status=GATHERING)
        await talk.write(2, status={"state": match_pb2.MATCH_STATE_ABORTED, "seed": ENDED["seed"]})

    async with playing(script) as client, client.watch(MATCH, GAME) as view:
        assert [update.header.seq async for update in view] == [1, 2]
        assert view.outcome is None


async def test_spectator_attaches_as_one_and_gives_nothing() -> None:
    """A spectator's only request is the attach, even while the match gathers."""

    async def script(talk: Talk) -> None:
        request = await talk.read_attach()
        assert request.attach.spectate
        await talk.write_attached(1, seat=None, status=GATHERING)
        await talk.write_end(2)
        assert await talk.context.read() is grpc.aio.EOF

    async with playing(script) as client, client.watch(MATCH, GAME) as view:
        assert [update.header.seq async for update in view] == [1, 2]
        assert view.seat is None


@pytest.mark.parametrize("by_message", [True, False], ids=["by message", "by status"])
async def test_refused_attach_is_raised(by_message: bool) -> None:
    """No such match: said in the stream or by its status, with reason, code and parameters."""

    async def script(talk: Talk) -> None:
        await talk.read_attach()
        if by_message:
            await talk.write(refused={"code": 5, "reason": "MATCH_UNKNOWN", "metadata": {"a": "b"}})
            await talk.until_left()
        await talk.fail(grpc.StatusCode.NOT_FOUND, "MATCH_UNKNOWN", a="b")

    async with playing(script) as client, client.seat(MATCH, GAME) as seat:
        with pytest.raises(Refused) as raised:
            await anext(seat)
    refused = raised.value
    assert (refused.reason, refused.code, refused.metadata) == (
        "MATCH_UNKNOWN",
        grpc.StatusCode.NOT_FOUND,
        {"a": "b"},
    )


async def test_expired_token_has_its_own_type() -> None:
    """TOKEN_EXPIRED ends the seat; no stream is opened again with the same token."""

    async def script(talk: Talk) -> None:
        await talk.read_attach()
        await talk.write_attached(1, status=RUNNING)
        await talk.fail(grpc.StatusCode.UNAUTHENTICATED, "TOKEN_EXPIRED")

    async with playing(script) as client, client.seat(MATCH, GAME) as seat:
        await anext(seat)
        with pytest.raises(TokenExpired):
            await anext(seat)


async def test_platform_that_stays_away_is_unreachable() -> None:
    """Silence is borne as long as patience lasts, then raised with its cause."""

    async def script(talk: Talk) -> None:
        await talk.read_attach()
        await talk.fail(grpc.StatusCode.UNAVAILABLE, "NO_SERVICE")

    async with serving() as platform, Client(platform.address, patience=0.3) as client:
        platform.plays.extend([script] * 40)
        async with client.seat(MATCH, GAME) as seat:
            with pytest.raises(Unreachable) as raised:
                await anext(seat)
        assert 30 < len(platform.plays) < 39, "the pauses between streams grow"
    assert isinstance(raised.value.__cause__, Refused)
    assert raised.value.__cause__.reason == "NO_SERVICE"


async def test_one_client_reads_several_matches_side_by_side() -> None:
    """Each seat has a stream of its own; none waits for another."""
    both = asyncio.Barrier(2)

    async def script(talk: Talk) -> None:
        await talk.read_attach()
        await talk.write_attached(1, status=RUNNING)
        await both.wait()
        await talk.write_end(2)

    async with (
        playing(script, script) as client,
        client.seat(MATCH, GAME) as seat,
        client.watch(MATCH, GAME) as view,
    ):

        async def read(viewer: Seat) -> list[int]:
            return [update.header.seq async for update in viewer]

        assert list(await asyncio.gather(read(seat), read(view))) == [[1, 2], [1, 2]]
