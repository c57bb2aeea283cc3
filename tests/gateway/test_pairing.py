"""First come first served, whatever players do: the store against a model that fits on a page."""

from __future__ import annotations

import asyncio
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.matchmaking.pairing import Waiting, first_match, match_of, players_missing
from gateway.store.port import Filing, GatewayStore, Made
from gateway.store.sqlite import SqliteGatewayStore
from services.kit.errors import Exhausted
from tortuga.gateway.v1.matchmaking_service_pb2 import TicketState, Wish
from tortuga.play.v1.match_pb2 import Match, MatchSettings

LIMIT = 3
WAITING = TicketState.TICKET_STATE_WAITING
STATES = {
    "waiting": WAITING,
    "assigned": TicketState.TICKET_STATE_ASSIGNED,
    "cancelled": TicketState.TICKET_STATE_CANCELLED,
    "expired": TicketState.TICKET_STATE_EXPIRED,
}


class Step(NamedTuple):
    """One thing that happens: what, to whom, and a number for the rest."""

    what: str
    player: int
    number: int


STEPS = st.builds(
    Step,
    st.sampled_from(["file", "file", "file", "file away", "cancel", "expire", "pair", "finish", "refuse"]),
    st.integers(0, 5),
    st.integers(0, 30),
)


@dataclass
class Model:
    """What should be: queues as lists, each ticket with its player, wish and state."""

    tickets: dict[str, tuple[str, int]] = field(default_factory=dict)
    state: dict[str, str] = field(default_factory=dict)
    open: dict[str, list[str]] = field(default_factory=dict)

    def queue(self, seats: int) -> list[Waiting]:
        """The queue of the wish for this many seats; tickets are numbered as they come."""
        waiting = [name for name in self.tickets if self.state[name] == "waiting" and self.tickets[name][1] == seats]
        return [Waiting(name, self.tickets[name][0]) for name in waiting]

    def next_match(self, seats: int) -> list[str] | None:
        """The tickets of the next match, by the plainest reading of the rule."""
        chosen: list[Waiting] = []
        for ticket in self.queue(seats):
            if all(ticket.player_id != other.player_id for other in chosen):
                chosen.append(ticket)
        return [ticket.ticket_id for ticket in chosen[:seats]] if len(chosen) >= seats else None

    def take(self, made: Made, seats: int) -> None:
        """Compare a match that was made with the one expected, and note it."""
        expected = self.next_match(seats)
        assert [ticket.ticket_id for ticket in made.tickets] == expected
        match = Match.FromString(made.order.match)
        players = [seat.player_id for seat in match.seats]
        assert players == [self.tickets[name][0] for name in expected]
        assert len(set(players)) == seats
        assert made.order.match_id not in self.open
        self.open[made.order.match_id] = expected
        self.state.update(dict.fromkeys(expected, "assigned"))


def wish_of(seats: int) -> bytes:
    return Wish(game="g", seats=seats).SerializeToString(deterministic=True)


async def play(store: GatewayStore, model: Model, wishes: dict[int, int], step: Step) -> None:
    """Do *step* to both, and compare."""
    player, seats = f"p{step.player}", 2 + step.number % 2
    names = list(model.tickets)
    name = names[step.number % len(names)] if names else "none"
    match_id = next(iter(model.open), "none")
    match step.what:
        case "file" | "file away":
            mine = Counter(owner for ticket, (owner, _) in model.tickets.items() if model.state[ticket] == "waiting")
            fresh = f"t{len(names):03}"
            filing = Filing(fresh, player, fresh, b"", "g", wish_of(seats), seats, len(names))
            try:
                filed = await store.file_ticket(filing, pair=step.what == "file", limit=LIMIT)
            except Exhausted:
                assert mine[player] == LIMIT
                return
            model.tickets[fresh], model.state[fresh] = (player, seats), "waiting"
            wishes[seats] = filed.ticket.wish_id
            if filed.made is not None:
                model.take(filed.made, seats)
            elif step.what == "file":
                assert model.next_match(seats) is None
        case "cancel":
            await store.cancel_ticket(name, model.tickets.get(name, ("", 0))[0], 1)
            if model.state.get(name) == "waiting":
                model.state[name] = "cancelled"
        case "expire":
            expired = await store.expire_tickets([name], 1)
            assert bool(expired) == (model.state.get(name) == "waiting")
            if expired:
                model.state[name] = "expired"
        case "pair" if seats in wishes:
            for made in await store.pair(wishes[seats], 1):
                model.take(made, seats)
            assert model.next_match(seats) is None
        case "finish" if match_id in model.open:
            await store.finish_order(match_id, b"made", 1)
            del model.open[match_id]
        case "refuse" if match_id in model.open:
            returned = await store.refuse_order(match_id, "NO", 1)
            back = model.open.pop(match_id)
            assert [ticket.ticket_id for ticket in returned] == sorted(back)
            model.state.update(dict.fromkeys(back, "waiting"))


async def compare(store: GatewayStore, model: Model) -> None:
    """Everything in the store is as the model has it: nothing lost, nothing doubled."""
    orders = await store.open_orders()
    assert sorted(order.match_id for order in orders) == sorted(model.open)
    for match_id, names in model.open.items():
        tickets = [await store.ticket(name) for name in names]
        assert [ticket and ticket.match_id for ticket in tickets] == [match_id] * len(names)
    for name in model.tickets:
        ticket = await store.ticket(name)
        assert ticket is not None
        assert ticket.state == STATES[model.state[name]]
        assert bool(ticket.match_id) == (model.state[name] == "assigned")
    for seats in (2, 3):
        queue = model.queue(seats)
        for place, waiting in enumerate(queue, 1):
            ticket = await store.ticket(waiting.ticket_id)
            assert ticket is not None
            assert (ticket.position, ticket.players_missing) == (place, players_missing(queue, seats))
    assert sorted(await store.waiting_tickets()) == [name for name in model.tickets if model.state[name] == "waiting"]


async def run(steps: Sequence[Step], path: Path) -> None:
    """Play *steps*, reopening the file in the middle and at the end."""
    store = await SqliteGatewayStore.open(path)
    model, wishes = Model(), dict[int, int]()
    try:
        for number, step in enumerate(steps):
            await play(store, model, wishes, step)
            if number == len(steps) // 2:
                await store.close()
                store = await SqliteGatewayStore.open(path)
        await compare(store, model)
        await store.close()
        store = await SqliteGatewayStore.open(path)
        await compare(store, model)
    finally:
        await store.close()


@settings(max_examples=40, deadline=None)
@given(st.lists(STEPS, min_size=1, max_size=40))
def test_whatever_players_do_first_come_is_first_served(steps: list[Step]) -> None:
    """A ticket is in at most one match, no player twice in one, one order a match, places in order, nothing lost."""
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(run(steps, Path(folder) / "gateway.db"))


QUEUES = st.lists(st.builds(Waiting, st.uuids().map(str), st.sampled_from("abcde")), max_size=12)


@settings(deadline=None)
@given(QUEUES, st.integers(1, 5))
def test_a_match_is_the_earliest_that_can_be(queue: list[Waiting], seats: int) -> None:
    """Different players, each by the oldest ticket, in order; a match or missing players, never both."""
    chosen = first_match(iter(queue), seats)
    assert (chosen is None) == (players_missing(iter(queue), seats) > 0)
    if chosen is None:
        assert len({ticket.player_id for ticket in queue}) + players_missing(queue, seats) == seats
        return
    assert [ticket for ticket in queue if ticket in chosen] == chosen
    assert len({ticket.player_id for ticket in chosen}) == seats
    for ticket in queue[: queue.index(chosen[-1])]:
        assert ticket.player_id in {other.player_id for other in chosen}


def test_the_match_is_what_was_wished_for() -> None:
    """Options, settings and seats go into the order; rules version and time are the service's to fill."""
    settings_wished = MatchSettings(start_seconds=20, answer_delay_ms=0)
    wish = Wish(game="g", variant="v", options=b"o", seats=2, settings=settings_wished)
    match = match_of(wish.SerializeToString(), "m", [Waiting("t1", "p1"), Waiting("t2", "p2")])
    assert (match.match_id, match.game, match.options, match.settings) == ("m", "g", b"o", settings_wished)
    assert [seat.player_id for seat in match.seats] == ["p1", "p2"]
    assert not match.rules_version
    assert not match.created_ms
