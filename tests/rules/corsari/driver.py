"""Random matches for tests: a key, an addressed chance that never repeats, steps of random legal play."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from random import Random

from hypothesis import strategies as st

from services.corsari.actions import DRAWS, PLAIN, Action, Discard
from services.corsari.events import Event
from services.corsari.options import (
    STANDARD,
    DockBetweenHands,
    FinalTie,
    Options,
    PartitionMode,
    SentUnderCards,
    VoidLast,
    VoidRedeal,
)
from services.corsari.phases import Phase
from services.corsari.rules import RULES
from services.corsari.state import Position
from services.kit.chance import Chance
from services.kit.rules import Seat, Viewer

VERSION = RULES.versions[0]


@dataclass
class Match:
    """One match with its key; `state` is replaced by each accepted step, as the platform does it."""

    state: Position
    key: bytes
    events: Sequence[Event]
    spent: set[str] = field(default_factory=set)

    def chance(self) -> Chance:
        """The chance of the next entry."""
        return Chance(self.key, self.spent)

    def act(self, seat: Seat, action: Action) -> Sequence[Event]:
        """Judge on a copy, become it, and return what happened."""
        after, chance = self.state.copy(), self.chance()
        self.events = after.apply(seat, action, chance)
        return self._become(after, chance)

    def silence(self, seat: Seat) -> Sequence[Event]:
        """Play *seat*'s time-out step."""
        after, chance = self.state.copy(), self.chance()
        self.events = after.timeout(seat, chance)
        return self._become(after, chance)

    def resign(self, seat: Seat) -> Sequence[Event]:
        """*seat* gives up."""
        after, chance = self.state.copy(), self.chance()
        self.events = after.resigned(seat, chance)
        return self._become(after, chance)

    def _become(self, after: Position, chance: Chance) -> Sequence[Event]:
        self.state = after
        self.spent.update(chance.used)
        return self.events


def new_match(seed: int, seats: int, options: Options = STANDARD) -> Match:
    """A match just dealt."""
    key = seed.to_bytes(32, "big")
    chance = Chance(key)
    state, events = RULES.start(options, seats, chance, VERSION)
    return Match(state, key, events, set(chance.used))


def random_action(state: Position, seat: Seat, luck: Random, patience: float) -> Action:
    """A sample; with *patience*, a seat that could sail mostly does not, so that hands grow long."""
    action = state.sample(seat, luck)
    if isinstance(action, Discard) and action.sail and state.stock and luck.random() < patience:
        return PLAIN[action.card]
    return action


def stubborn_action(state: Position, seat: Seat, luck: Random) -> Action:
    """Draws one kind of card all the time, never sails unless forced: reaches the rare ends of a hand."""
    if state.phase is Phase.DRAW:
        return DRAWS[state.hand_number % len(DRAWS)]
    return random_action(state, seat, luck, patience=1)


def steps(match: Match, luck: Random, patience: float = 0, rare: float = 0.02) -> Iterator[Sequence[Event]]:
    """Play to the end; yields what happened in each step. Now and then a seat is silent, or gives up."""
    stubborn = patience >= 1
    while match.state.outcome() is None:
        seat = luck.choice(match.state.asked()).seat
        chance = luck.random()
        if chance < rare / 20:
            yield match.resign(luck.choice([s for s in seats_of(match.state) if s not in match.state.given_up]))
        elif chance < rare:
            yield match.silence(seat)
        elif stubborn:
            yield match.act(seat, stubborn_action(match.state, seat, luck))
        else:
            yield match.act(seat, random_action(match.state, seat, luck, patience))


def seats_of(state: Position) -> list[Seat]:
    """All seats of the match."""
    return [Seat(seat) for seat in range(state.seats)]


def viewers_of(state: Position) -> list[Viewer]:
    """Every seat, and a spectator."""
    return [None, *seats_of(state)]


def any_options() -> st.SearchStrategy[Options]:
    """All combinations of options."""
    return st.builds(
        Options,
        void_redeal=st.sampled_from(VoidRedeal),
        dock_between_hands=st.sampled_from(DockBetweenHands),
        stall_limit=st.sampled_from([0, 8, 9, 64]),
        no_null_discard=st.booleans(),
        crew_may_use_dock_colour=st.booleans(),
        partition=st.sampled_from(PartitionMode),
        sent_under_cards=st.sampled_from(SentUnderCards),
        cappotto_with_attachments=st.booleans(),
        final_tie=st.sampled_from(FinalTie),
        void_last=st.sampled_from(VoidLast),
        max_void=st.integers(1, 20),
    )


def seeds() -> st.SearchStrategy[int]:
    """Seeds of matches; hypothesis prints the one that fails."""
    return st.integers(0, 2**32 - 1)
