"""Random legal play under all options: cards are conserved, nothing is lost in writing, every match ends in bounds."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.corsari.actions import Action, Discard, Draw, Partition, Sail, Source, partition_into, sail_with
from services.corsari.cards import COUNT
from services.corsari.dealing import dock_length, stock_after_deal
from services.corsari.options import Options
from services.corsari.phases import Phase
from services.corsari.rules import RULES
from services.corsari.state import Position
from services.kit.chance import Chance, NoChance
from services.kit.rules import IllegalAction, Seat
from tests.rules.corsari.driver import Match, any_options, new_match, seats_of, seeds, steps

patience = st.sampled_from([0, 0.5, 0.9, 1])


@settings(max_examples=60, deadline=None)
@given(seeds(), st.integers(2, 4), any_options(), patience)
def test_every_position_is_sound(seed: int, seats: int, options: Options, waits: float) -> None:
    """I1 to I5 and R13 hold after every step, and dumps read back."""
    match = new_match(seed, seats, options)
    assert RULES.violations(match.state) == []
    for _ in steps(match, Random(seed), waits):
        assert RULES.violations(match.state) == []
        data = match.state.dump()
        assert RULES.load(data).dump() == data
        assert match.state.copy().dump() == data


@settings(max_examples=60, deadline=None)
@given(seeds(), st.integers(2, 4), any_options(), patience)
def test_every_match_ends_within_its_bound(seed: int, seats: int, options: Options, waits: float) -> None:
    """I3 and I7: turns a hand, scored hands and void hands in a row are bounded; at the end every seat has a place."""
    match = new_match(seed, seats, options)
    scored, hand_number, turns = 0, 1, 0
    for events in steps(match, Random(seed), waits):
        scored += any(type(event).__name__ == "Scored" for event in events)
        turns = 0 if match.state.hand_number > hand_number else turns + 1
        hand_number = match.state.hand_number
        longest = (stock_after_deal(seats, 0) + dock_length(seats)) * options.stall_turns(seats)
        assert turns <= 2 * longest + seats
        assert match.state.void_streak <= options.max_void
    assert scored <= 36 + 1
    outcome = match.state.outcome()
    assert outcome is not None
    assert [place.seat for place in outcome.places] == seats_of(match.state)
    assert min(place.rank for place in outcome.places) == 1
    assert (match.state.asked(), match.state.asked_publicly()) == ([], [])
    assert all(not match.state.legal(seat) for seat in seats_of(match.state))


@settings(max_examples=60, deadline=None)
@given(seeds(), st.integers(2, 4), any_options(), patience)
def test_samples_and_legal_actions_are_accepted(seed: int, seats: int, options: Options, waits: float) -> None:
    """What `legal` lists and `sample` draws is judged legal and reads back; only asked seats have any."""
    match, luck = new_match(seed, seats, options), Random(seed)
    for _ in steps(match, luck, waits):
        state = match.state
        asked = [seat for seat, _ in state.asked()]
        assert asked == sorted(asked)
        for seat in seats_of(state):
            legal = state.legal(seat)
            assert bool(legal) is (seat in asked)
            if not legal:
                continue
            sampled = state.sample(seat, luck)
            for action in (luck.choice(legal.actions), *legal.templates[-1:], sampled):
                assert RULES.parse(str(action)) == action
            state.copy().apply(seat, luck.choice(legal.actions), match.chance())
            state.copy().apply(seat, sampled, match.chance())


def wild_action(state: Position, luck: Random) -> Action:
    """Any action at all: cards from anywhere, lists with faults of every kind."""
    pool = bytes(range(COUNT)) if luck.random() < 0.3 else luck.choice(state.hands)
    some = bytes(luck.choices(pool, k=luck.randrange(7))) if pool else b""
    more = bytes(luck.choices(pool, k=luck.randrange(3))) if pool else b""
    card = luck.choice(pool) if pool else 0
    kinds: list[Action] = [
        Draw(luck.choice(list(Source))),
        Discard(card),
        Discard(card, Sail(auto=True)),
        sail_with(card, some),
        Partition(auto=True),
        partition_into(some, more),
    ]
    return luck.choice(kinds)


@settings(max_examples=60, deadline=None)
@given(seeds(), st.integers(2, 4), any_options(), patience)
def test_a_refused_action_leaves_the_bytes(seed: int, seats: int, options: Options, waits: float) -> None:
    """Judging works on a copy: whether it is refused or not, the original keeps every byte; refusals draw no chance."""
    match, luck = new_match(seed, seats, options), Random(seed)
    for _ in steps(match, luck, waits):
        before = match.state.dump()
        for _ in range(3):
            seat, action = luck.choice(seats_of(match.state)), wild_action(match.state, luck)
            assert RULES.parse(str(action)) == action
            chance = match.chance()
            if was_refused(match.state.copy(), seat, action, chance):
                assert chance.used == []
            assert match.state.dump() == before


def was_refused(state: Position, seat: Seat, action: Action, chance: Chance) -> bool:
    """Judge on *state* itself."""
    try:
        state.apply(seat, action, chance)
    except IllegalAction:
        return True
    return False


@settings(max_examples=40, deadline=None)
@given(seeds(), st.integers(2, 4), any_options())
def test_decisions_are_counted_per_seat(seed: int, seats: int, options: Options) -> None:
    """A seat that becomes asked has the next number; one that stays asked keeps its own."""
    match = new_match(seed, seats, options)
    open_before = dict(match.state.asked())
    counts = {seat: open_before.get(seat, 0) for seat in seats_of(match.state)}
    for _ in steps(match, Random(seed), 0.5, rare=0):
        open_now = dict(match.state.asked())
        for seat, decision in open_now.items():
            same_window = match.state.phase is Phase.PARTITION and open_before.get(seat) == decision
            assert decision == counts[seat] + (not same_window)
            counts[seat] = decision
        open_before = open_now


def test_equal_seeds_give_equal_matches() -> None:
    """The same key and the same actions give the same bytes; another key another match."""
    first, again, other = new_match(7, 3), new_match(7, 3), new_match(8, 3)
    for _ in steps(first, Random(1)):
        pass
    for _ in steps(again, Random(1)):
        pass
    assert first.state.dump() == again.state.dump()
    assert first.state.fingerprint() == again.state.fingerprint()
    assert other.state.dump() != new_match(7, 3).state.dump()


def test_a_broken_dump_is_refused() -> None:
    """What is cut off or too long is no dump."""
    data = new_match(1, 2).state.dump()
    for broken in (b"", b"\x01", data[:-1], data[: len(data) // 2], data + b"\0"):
        with pytest.raises(ValueError, match="dump"):
            RULES.load(broken)


def test_most_steps_draw_no_chance() -> None:
    """Only a deal does: a draw and a discard are played without any."""
    match: Match = new_match(3, 2)
    state, seat = match.state, match.state.turn
    state.apply(seat, Draw(Source.STOCK), NoChance())
    state.apply(seat, Discard(state.hands[seat][0]), NoChance())
    assert state.turn == Seat(1 - seat)
