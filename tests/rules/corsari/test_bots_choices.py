"""What Corsari's bots choose, and why: directed positions, and the reckoning behind them against plain counting."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.corsari.actions import PARTITION_AUTO, parse
from services.corsari.bot_guess import Guesses
from services.corsari.bot_hands import least_limit, shape
from services.corsari.bot_prudent import LOW
from services.corsari.bot_sight import unseen
from services.corsari.bot_standing import share, share_waiting
from services.corsari.cards import ALL, COLOUR, NUMBER, Cards, in_order, with_card, without, without_card
from services.corsari.optimum import best_crew
from services.corsari.options import STANDARD, Options, SentUnderCards
from services.corsari.splits import divide
from services.corsari.state import Position
from services.corsari.turns import play
from services.kit.rules import Seat
from tests.rules.corsari.driver import new_match, seeds, steps
from tests.rules.corsari.test_bots import advice
from tests.rules.corsari.toy import toy, try_line

CLOSER = "gn10 gn1 gn4 gn7 rd2 rd5 rd8 rd11 bl3 bl6 vi1 gy2 ye11"
OPPONENT = "pk4 pk5 pk8 or1 or3 or7 bl8 bl11 rd9 rd10 ye2 br4"
COMPLETE = "gn10 gn1 gn4 gn7 gn2 gn5 gn8 gn11 bl3 bl6 rd3 rd6 ye11"


def limit(hand: Cards, colour: int) -> int:
    """The limit of the automatic crew."""
    return divide(Seat(0), hand, colour, best_crew(hand, colour)).limit


def after_discard(cards: Cards, colour: int) -> int:
    """The least limit of all thirteen discards, one by one."""
    return min(limit(without_card(cards, card), colour) for card in cards)


@settings(max_examples=30, deadline=None)
@given(seeds(), st.sampled_from([10, 4, 2, 1]))
def test_limits_after_a_draw_are_those_of_plain_counting(seed: int, colours: int) -> None:
    """For every card that could come, from hands of many and of few colours."""
    luck = Random(seed)
    pool = [card for card in ALL if COLOUR[card] < colours] if colours > 1 else list(ALL[:12])
    hand = in_order(luck.sample(pool, 12 if colours > 1 else 11))
    colour = luck.randrange(10)
    found = shape(hand, colour)
    assert found.limit == limit(hand, colour)
    for card in luck.sample(without(ALL, hand), 12):
        more = with_card(hand, card)
        assert found.after[COLOUR[card]][NUMBER[card] - 1] == after_discard(more, colour)
        assert least_limit(more, colour) == after_discard(more, colour)


@settings(max_examples=10, deadline=None)
@given(seeds(), st.integers(2, 4))
def test_guesses_are_hands_that_could_be(seed: int, seats: int) -> None:
    """Twelve cards each, those known among them unless let go, no card twice, none that the seat can place."""
    match, luck = new_match(seed, seats), Random(seed)
    for _ in steps(match, luck, patience=0.9):
        state = match.state
        if state.outcome() is not None or state.hand_number > 2:
            break
        view = state.view(state.turn)
        guess = Guesses(view, state.turn).draw(luck)
        held = b"".join(guess.values())
        assert sorted(guess) == [seat for seat in range(seats) if seat != state.turn]
        assert len(set(held)) == len(held)
        assert set(held) <= set(unseen(view)).union(*view.known)
        assert all(len(hand) == 12 for hand in guess.values()) or len(unseen(view)) < 12 * seats


def test_shares_of_the_win_add_up() -> None:
    """To one, whatever the standing; fewer cards are better; the result counts once the match is over."""
    counts = [4, 11, 7]
    assert sum(share(counts, seat, over=False) for seat in range(3)) == pytest.approx(1)
    assert share(counts, 0, over=False) > share(counts, 2, over=False) > share(counts, 1, over=False)
    assert share(counts, 0, over=False, last=True) > share(counts, 0, over=False)
    assert [share([4, 11, 4], seat, over=True) for seat in range(3)] == [0.5, 0, 0.5]


def test_waiting_is_worth_less_with_a_poorer_hand_and_later() -> None:
    """Between 0 and 1."""
    assert 1 > share_waiting(0.5, 5, 2) > share_waiting(0.5, 15, 2) > share_waiting(0.5, 15, 9) > 0
    assert share_waiting(0.5, 5, 2) > share_waiting(0.2, 5, 2)


def test_prudent_waits_until_its_limit_is_low() -> None:
    """It discards what leaves the lowest limit, and sails at 5 or less."""
    best = advice("prudent", toy([CLOSER, OPPONENT]), Seat(0))[0]
    assert (str(best.action), best.worth, best.reason) == ("discard ye11 sail auto", -3, "LOW_LIMIT")
    best = advice("prudent", toy([CLOSER.replace("vi1", "vi9"), OPPONENT]), Seat(0))[0]
    assert (best.reason, -best.worth > LOW, " sail" in str(best.action)) == ("LOWEST_LIMIT", True, False)


@pytest.mark.parametrize("level", ["prudent", "steady"])
def test_the_last_stock_card_makes_them_sail(level: str) -> None:
    """R11: there is nothing else to choose."""
    best = advice(level, toy([CLOSER.replace("vi1", "vi9"), OPPONENT], stock=""), Seat(0))[0]
    assert " sail" in str(best.action)
    assert best.reason == "MUST_SAIL"


@pytest.mark.parametrize("level", ["prudent", "steady"])
def test_no_stowaways_win_at_once(level: str) -> None:
    """R27a: surely worth it."""
    best = advice(level, toy([COMPLETE, OPPONENT]), Seat(0))[0]
    assert (str(best.action), best.reason) == ("discard ye11 sail auto", "NO_STOWAWAYS")


def test_steady_takes_what_is_known_to_fit() -> None:
    """The green 9 on the pile joins the crew; what the stock holds is no better on average, and the dock's card costs
    its two prisoners."""
    hand = CLOSER.replace("vi1", "vi9").removesuffix(" ye11")
    best = advice("steady", toy([hand, OPPONENT], phase="DRAW", discard="gn9"), Seat(0))[0]
    assert (str(best.action), best.worth, best.reason) == ("draw discard", -2, "PILE_FITS")
    best = advice("steady", toy([hand, OPPONENT], phase="DRAW", discard="pk11"), Seat(0))[0]
    assert (str(best.action), best.reason) == ("draw stock", "STOCK_BEST")


def test_steady_takes_the_dock_card_for_the_colour_behind_it() -> None:
    """With blue cards in the dock's second place the two blue ones of the hand become prisoners."""
    hand = CLOSER.replace("vi1", "vi9").removesuffix(" ye11")
    position = toy([hand, OPPONENT], phase="DRAW", discard="pk11", dock="az1 az2 az3 az4 az5 bl1 gn3")
    best = advice("steady", position, Seat(0))[0]
    assert (str(best.action), best.reason) == ("draw dock", "DOCK_FITS")


def test_steady_sails_first_with_a_good_hand_and_waits_with_a_poor_one() -> None:
    """Over guesses at the other hand, in a last hand in which nobody leads."""
    assert advice("steady", toy([CLOSER, OPPONENT], last=True), Seat(0))[0].reason == "SAIL_NOW"
    poor = "gn10 pk1 gn4 ye7 rd2 az5 vi8 rd11 or3 bl6 vi9 gy2 ye11"
    best = advice("steady", toy([poor, OPPONENT.replace("or3", "or2")], last=True), Seat(0))[0]
    assert best.reason in {"LOWEST_LIMIT", "KEEPS_CHANCES"}


def test_steady_hands_over_what_it_can_when_the_closer_goes_under() -> None:
    """A split that stays below the closer's limit with more stowaways costs him more cards (R20, R22)."""
    position = _sailed_with_much()
    first, automatic = advice("steady", position, Seat(1))[:2]
    assert automatic.action == PARTITION_AUTO
    assert first.worth > automatic.worth
    assert first.reason == automatic.reason == "SENDS_UNDER"
    more = _penalties_of_closer(position, str(first.action)) - _penalties_of_closer(position, "partition auto")
    assert more == first.worth - automatic.worth


def test_it_hands_over_no_more_where_the_fewest_count() -> None:
    """Under `sent_under_cards: minimised` nothing is gained by it."""
    position = _sailed_with_much(Options(sent_under_cards=SentUnderCards.MINIMISED))
    assert [each.action for each in advice("steady", position, Seat(1))] == [PARTITION_AUTO]


def _sailed_with_much(options: Options = STANDARD) -> Position:
    """The closer has sailed with a crew of one card, so that his limit is 41."""
    position = toy([CLOSER, OPPONENT], options=options)
    assert try_line(position, "0:discard(card=ye11, sail=True, crew=[gn10])") == "ok"
    return position


def _penalties_of_closer(position: Position, split: str) -> int:
    """The closer's penalty cards after the opponent's *split*."""
    after = position.copy()
    play(after, Seat(1), parse(split))
    return len(after.penalty[0])
