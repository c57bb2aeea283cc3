"""Corsari's bots at random positions: they play what is legal, know no more than their seat, and repeat themselves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random
from time import process_time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.corsari.actions import Action
from services.corsari.bot import BOTS
from services.corsari.game import GAME
from services.corsari.options import STANDARD, Options
from services.corsari.phases import Phase
from services.corsari.rules import RULES
from services.corsari.state import Position
from services.corsari.view import View
from services.kit.bot import Advice, Sight
from services.kit.rules import Seat
from tests.rules.corsari.driver import VERSION, Match, any_options, new_match, seeds, steps

LEVELS = list(BOTS)


def sight(state: Position, seat: Seat) -> Sight[Action, View, Options]:
    return Sight(seat, state.options, VERSION, state.view(seat), state.legal(seat))


def advice(level: str, state: Position, seat: Seat, luck: str = "luck") -> Sequence[Advice[Action]]:
    return BOTS[level].advise(sight(state, seat), Random(luck), lambda: 1000.0)


def decisions(match: Match, luck: Random, patience: float, seldom: float = 0.2) -> Iterator[tuple[Position, Seat]]:
    """Some of the decisions of a random match, every split among them."""
    for _ in steps(match, luck, patience):
        for seat, _ in match.state.asked():
            if match.state.phase is Phase.PARTITION or luck.random() < seldom:
                yield match.state, seat


def test_the_levels_are_those_described() -> None:
    """Weakest first, loaded through the game as the platform does."""
    assert list(GAME.bots()) == list(GAME.description.bots) == ["random", "prudent", "steady"]


@settings(max_examples=12, deadline=None)
@given(seeds(), st.integers(2, 4), any_options(), st.sampled_from([0.5, 0.9, 1.0]))
def test_all_that_is_advised_is_legal(seed: int, seats: int, options: Options, patience: float) -> None:
    """At random positions of all options: every action is accepted, the worths fall, the reasons are codes."""
    match = new_match(seed, seats, options)
    for state, seat in decisions(match, Random(seed), patience):
        for level in LEVELS:
            advised = advice(level, state, seat)
            assert advised
            assert [each.worth for each in advised] == sorted((each.worth for each in advised), reverse=True)
            for action, _, _ in advised:
                state.copy().apply(seat, action, match.chance())


@settings(max_examples=6, deadline=None)
@given(seeds(), st.integers(2, 4))
def test_positions_that_look_alike_get_the_same_advice(seed: int, seats: int) -> None:
    """With the same luck, over redeals and when asked twice."""
    match, luck = new_match(seed, seats), Random(seed)
    for state, seat in decisions(match, luck, patience=0.9):
        other = RULES.redeal(state, seat, luck)
        for level in LEVELS:
            said = advice(level, state, seat)
            assert said == advice(level, state, seat) == advice(level, other, seat)


def test_random_plays_every_concrete_action() -> None:
    """Each of the legal actions comes first now and then."""
    state = new_match(3, 2).state
    played = {str(advice("random", state, state.turn, f"{luck}")[0].action) for luck in range(40)}
    assert played == {str(action) for action in state.legal(state.turn).actions}


@pytest.mark.parametrize("seats", [2, 3, 4])
def test_matches_of_the_best_bot_end_soon(seats: int) -> None:
    """All seats steady: no hand stalls for ever, and a decision takes 20 ms of a core on average at most."""
    match, decided, spent = new_match(seats, seats), 0, process_time()
    while match.state.outcome() is None:
        seat = match.state.asked()[0].seat
        match.act(seat, advice("steady", match.state, seat, f"{decided}")[0].action)
        decided += 1
    assert decided < 1500
    assert (process_time() - spent) / decided < 0.020


@pytest.mark.parametrize("level", LEVELS)
@given(seed=seeds())
@settings(max_examples=5, deadline=None)
def test_it_never_draws_the_last_dock_card_by_choice(level: str, seed: int) -> None:
    """Drawing it voids the hand (R12): only the bot that plays anything does it."""
    state = new_match(seed, 2, STANDARD).state
    state.dock = state.dock[:1]
    assert level == "random" or str(advice(level, state, state.turn)[0].action) != "draw dock"
