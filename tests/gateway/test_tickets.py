"""Tickets through a real server: requests and refusals, repetitions, ownership."""

from __future__ import annotations

import asyncio
import re
import time
from pathlib import Path

import grpc
import pytest

from services.kit.errors import Relayed
from tests.gateway.harness import Gateway, Refused, TicketState, a_wish, refused, running
from tests.gateway.local_games import CONTRADICTION, GAME
from tortuga.corsari.v1.corsari_pb2 import Options
from tortuga.gateway.v1.matchmaking_service_pb2 import BotsPolicy, CreateTicketRequest, Wish
from tortuga.play.v1.match_pb2 import MatchSettings, Spectators

WAITING = TicketState.TICKET_STATE_WAITING
ASSIGNED = TicketState.TICKET_STATE_ASSIGNED
CANCELLED = TicketState.TICKET_STATE_CANCELLED
BAD = grpc.StatusCode.INVALID_ARGUMENT
LATER = grpc.StatusCode.UNIMPLEMENTED
UNKNOWN = grpc.StatusCode.NOT_FOUND


async def test_two_players_meet(gateway: Gateway) -> None:
    """The second ticket is answered with the match, the first finds it; it is made, seats in order of arrival."""
    anna, bo = await gateway.guest(), await gateway.guest()
    before = time.time()
    first = await gateway.take(anna)
    assert (first.state, first.position, first.waiting_for, first.players_missing) == (WAITING, 1, "PLAYERS_MISSING", 1)
    assert not first.match_id
    assert not first.HasField("expected_wait")
    assert abs(first.waiting_since_time.ToMilliseconds() / 1000 - before) < 5
    second = await gateway.take(bo)
    assert (second.state, second.position, second.waiting_for) == (ASSIGNED, 0, "")
    assert re.fullmatch(r"[a-z2-7]{26}", second.match_id)
    assert re.fullmatch(r"t_[a-z2-7]{26}", second.ticket_id)
    found = await gateway.look(anna, first)
    assert (found.state, found.match_id) == (ASSIGNED, second.match_id)
    await gateway.platform.orders.made(second.match_id)
    match = gateway.games.matches[second.match_id]
    assert [seat.player_id for seat in match.seats] == [anna.player_id, bo.player_id]
    assert match.options == second.wish.options
    assert match.settings == second.wish.settings


async def test_the_ticket_shows_the_whole_wish(gateway: Gateway) -> None:
    """Variant, every option, seats and settings are filled in; the start limit is the gateway's."""
    guest = await gateway.guest()
    ticket = await gateway.take(guest, wish=a_wish(settings=MatchSettings(start_seconds=3600)))
    assert ticket.wish.variant == "standard"
    assert ticket.wish.seats == 2
    assert Options.FromString(ticket.wish.options).max_void == 5
    assert ticket.wish.settings == MatchSettings(
        turn_seconds=0,
        bank_seconds=0,
        start_seconds=20,
        spectators=Spectators.SPECTATORS_OPEN,
        patience=0,
        answer_delay_ms=400,
    )
    assert ticket.bots == BotsPolicy.BOTS_POLICY_NEVER
    assert not ticket.HasField("bots_after")


async def test_equal_wishes_meet_however_they_are_spelled(gateway: Gateway) -> None:
    """Defaults said out loud are the same wish; another variant, other seats or options are not."""
    guests = [await gateway.guest() for _ in range(5)]
    await gateway.take(guests[0], wish=a_wish(variant="quick"))
    await gateway.take(guests[1], wish=a_wish(seats=3))
    await gateway.take(guests[2], wish=a_wish(options=Options(max_void=6).SerializeToString()))
    first = await gateway.take(guests[3])
    spelled = a_wish(
        variant="standard",
        seats=2,
        options=Options(max_void=5, no_null_discard=False).SerializeToString(),
        settings=MatchSettings(answer_delay_ms=400, spectators=Spectators.SPECTATORS_OPEN, turn_seconds=0),
    )
    second = await gateway.take(guests[4], wish=spelled)
    assert second.state == ASSIGNED
    assert (await gateway.look(guests[3], first)).match_id == second.match_id
    assert second.wish == first.wish


def wish(**changes: object) -> Wish:
    return a_wish(**changes)


@pytest.mark.parametrize(
    ("request_", "answer"),
    [
        (CreateTicketRequest(wish=wish()), Refused(BAD, "REQUEST_ID", {"max": "64"})),
        (CreateTicketRequest(request_id="é" * 33, wish=wish()), Refused(BAD, "REQUEST_ID", {"max": "64"})),
        (CreateTicketRequest(request_id="r"), Refused(UNKNOWN, "GAME_UNKNOWN", {})),
        (CreateTicketRequest(request_id="r", wish=wish(game="x")), Refused(UNKNOWN, "GAME_UNKNOWN", {})),
        (CreateTicketRequest(request_id="r", wish=wish(game="x" * 9000)), Refused(UNKNOWN, "GAME_UNKNOWN", {})),
        (
            CreateTicketRequest(request_id="r", wish=wish(variant="v" * 9000)),
            Refused(UNKNOWN, "VARIANT_UNKNOWN", {"game": GAME}),
        ),
        (CreateTicketRequest(request_id="r", wish=wish(seats=5)), Refused(BAD, "SEATS", {"min": "2", "max": "4"})),
        (
            CreateTicketRequest(request_id="r", wish=wish(seats=2, variant="quick")),
            Refused(BAD, "SEATS", {"min": "3", "max": "4"}),
        ),
        (CreateTicketRequest(request_id="r", wish=wish(options=b"\x18")), Refused(BAD, "OPTION_MALFORMED", {})),
        (
            CreateTicketRequest(request_id="r", wish=wish(options=Options(max_void=21).SerializeToString())),
            Refused(BAD, "OPTION_RANGE", {"name": "max_void", "min": "1", "max": "20"}),
        ),
        (
            CreateTicketRequest(request_id="r", wish=wish(options=b"\xa0\x06\x01")),
            Refused(BAD, "OPTION_UNKNOWN", {"name": "100"}),
        ),
        (CreateTicketRequest(request_id="r", wish=wish(options=CONTRADICTION)), Refused(BAD, "OPTIONS_CONTRADICT", {})),
        *(
            (CreateTicketRequest(request_id="r", wish=wish(), bots=policy), Refused(LATER, "BOTS_NOT_SERVED", {}))
            for policy in (BotsPolicy.BOTS_POLICY_AFTER, BotsPolicy.BOTS_POLICY_AT_ONCE)
        ),
        *(
            (
                CreateTicketRequest(request_id="r", wish=wish(settings=settings)),
                Refused(LATER, "SETTING_NOT_SERVED", {"setting": name}),
            )
            for name, settings in {
                "turn_seconds": MatchSettings(turn_seconds=1),
                "bank_seconds": MatchSettings(bank_seconds=1),
                "patience": MatchSettings(patience=1),
                "spectator_delay_seconds": MatchSettings(spectator_delay_seconds=1),
                "pausers": MatchSettings(pausers=[0]),
                "spectators": MatchSettings(spectators=Spectators.SPECTATORS_LINK),
                "100": MatchSettings.FromString(b"\xa0\x06\x01"),
            }.items()
        ),
        (
            CreateTicketRequest(request_id="r", wish=wish(settings=MatchSettings(answer_delay_ms=10_001))),
            Refused(BAD, "SETTING_RANGE", {"setting": "answer_delay_ms", "min": "0", "max": "10000"}),
        ),
        (
            CreateTicketRequest(request_id="r", wish=wish(settings=MatchSettings.FromString(b"\x20\x09"))),
            Refused(BAD, "SETTING_RANGE", {"setting": "spectators", "min": "1", "max": "3"}),
        ),
    ],
)
async def test_a_bad_wish_is_refused_at_once(gateway: Gateway, request_: CreateTicketRequest, answer: Refused) -> None:
    """With a code and what the client needs to mend it; nothing is kept, so the id may be used again."""
    guest = await gateway.guest()
    assert await refused(gateway.matchmaking.CreateTicket(request_, metadata=guest.metadata)) == answer
    assert (await gateway.take(guest)).position == 1


async def test_a_refusal_that_a_pod_relays_reaches_the_player(gateway: Gateway) -> None:
    """Status, reason and parameters as the pod gave them."""
    guest = await gateway.guest()
    gateway.games.refuse_checks = Relayed(9, "NOT_TODAY", {"until": "monday"})
    assert await refused(gateway.take(guest)) == Refused(
        grpc.StatusCode.FAILED_PRECONDITION, "NOT_TODAY", {"until": "monday"}
    )


async def test_what_may_be_set_passes(gateway: Gateway) -> None:
    """The delay of answers and closed doors go into the match."""
    wanted = MatchSettings(answer_delay_ms=0, spectators=Spectators.SPECTATORS_NONE, patience=0)
    ticket = await gateway.take(await gateway.guest(), wish=a_wish(settings=wanted))
    assert ticket.wish.settings.answer_delay_ms == 0
    assert ticket.wish.settings.spectators == Spectators.SPECTATORS_NONE


async def test_a_wish_is_checked_once(gateway: Gateway) -> None:
    """The game is asked about a wish when it is new, not for every ticket."""
    guests = [await gateway.guest() for _ in range(6)]
    await asyncio.gather(*(gateway.take(guest, wish=a_wish(seats=4)) for guest in guests))
    assert gateway.games.checked == 1
    await gateway.take(guests[0], "other", a_wish(seats=3))
    assert gateway.games.checked == 2


async def test_a_repeated_request_gives_the_same_ticket(tmp_path: Path) -> None:
    """At once, after the match was made, after a restart, and even while nobody serves the game any more."""
    async with running(tmp_path) as gateway:
        anna, bo = await gateway.guest(), await gateway.guest()
        first, again = await gateway.take(anna), await gateway.take(anna)
        assert again == first
        assert (await gateway.take(bo)).state == ASSIGNED
    async with running(tmp_path) as gateway:
        gateway.games.go()
        assert (await gateway.take(anna)).state == ASSIGNED
        gateway.games.unknown = True
        again = await gateway.take(anna)
        assert (again.ticket_id, again.state) == (first.ticket_id, ASSIGNED)


async def test_a_request_id_is_for_one_request(gateway: Gateway) -> None:
    """The same id for another wish is refused; another player may use it."""
    anna, bo = await gateway.guest(), await gateway.guest()
    await gateway.take(anna)
    reused = Refused(grpc.StatusCode.ALREADY_EXISTS, "REQUEST_ID_REUSED", {})
    assert await refused(gateway.take(anna, wish=a_wish(seats=4))) == reused
    assert (await gateway.take(bo, wish=a_wish(seats=4))).position == 1


async def test_ten_tickets_may_wait(gateway: Gateway) -> None:
    """One more is refused until one is given back."""
    guest = await gateway.guest()
    tickets = [await gateway.take(guest, f"r{number}") for number in range(10)]
    assert [ticket.position for ticket in tickets] == list(range(1, 11))
    assert await refused(gateway.take(guest, "one too many")) == Refused(
        grpc.StatusCode.RESOURCE_EXHAUSTED, "TOO_MANY_TICKETS", {"limit": "10"}
    )
    await gateway.give_back(guest, tickets[3])
    assert (await gateway.take(guest, "one too many")).position == 10


async def test_a_player_never_meets_himself(gateway: Gateway) -> None:
    """The second ticket of a wish waits for another match."""
    anna, bo, eve = [await gateway.guest() for _ in range(3)]
    first, second = await gateway.take(anna, "1"), await gateway.take(anna, "2")
    assert second.waiting_for == "PLAYERS_MISSING"
    assert (await gateway.take(bo)).state == ASSIGNED
    assert (await gateway.look(anna, first)).state == ASSIGNED
    waiting = await gateway.look(anna, second)
    assert (waiting.state, waiting.position) == (WAITING, 1)
    assert (await gateway.take(eve)).state == ASSIGNED
    assert (await gateway.look(anna, second)).state == ASSIGNED


async def test_cancelling(gateway: Gateway) -> None:
    """A waiting ticket is given back, for good; an assigned one stays assigned."""
    anna, bo = await gateway.guest(), await gateway.guest()
    ticket = await gateway.take(anna)
    assert (await gateway.give_back(anna, ticket)).state == CANCELLED
    assert (await gateway.give_back(anna, ticket)).state == CANCELLED
    assert (await gateway.take(anna)).state == CANCELLED
    first = await gateway.take(anna, "new")
    assert (await gateway.take(bo)).state == ASSIGNED
    assert (await gateway.give_back(anna, first)).state == ASSIGNED


async def test_a_ticket_is_its_players_alone(gateway: Gateway) -> None:
    """To others, and before it is made, it does not exist: the same answer on every call."""
    anna, bo = await gateway.guest(), await gateway.guest()
    ticket = await gateway.take(anna)
    unknown = Refused(UNKNOWN, "TICKET_UNKNOWN", {})
    for ticket_id in (ticket.ticket_id, "t_none", "", "x" * 9000):
        ticket.ticket_id = ticket_id
        assert await refused(gateway.look(bo, ticket)) == unknown
        assert await refused(gateway.give_back(bo, ticket)) == unknown
        assert await refused(gateway.watch(bo, ticket).next()) == unknown


async def test_many_players_at_once_all_meet(gateway: Gateway) -> None:
    """Two hundred tickets filed together give a hundred matches, nobody twice, nobody left."""
    guests = [await gateway.guest() for _ in range(40)]
    taken = await asyncio.gather(*(gateway.take(guest, f"r{n}") for n in range(5) for guest in guests))
    states = [await gateway.look(guests[number % 40], ticket) for number, ticket in enumerate(taken)]
    assert {ticket.state for ticket in states} == {ASSIGNED}
    matches = {ticket.match_id for ticket in states}
    assert len(matches) == 100
    await asyncio.gather(*(gateway.platform.orders.made(match_id) for match_id in matches))
    for match_id in matches:
        seats = [seat.player_id for seat in gateway.games.matches[match_id].seats]
        assert len(set(seats)) == 2
    assert gateway.games.made.total() == 100
