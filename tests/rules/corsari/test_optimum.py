"""The automatic optimum (R26) against exhaustion and against its own wording."""

from __future__ import annotations

from random import Random

import pytest

from services.corsari.cards import COLOUR, NONE, Cards
from services.corsari.optimum import best_crew, best_split, fewest_stowaways, lightest_discard
from services.corsari.splits import check_attached, check_cards, check_crew, check_maximal, divide
from services.kit.rules import Seat
from tests.rules.corsari import brute

SEED = 20261130


def hands(count: int, sizes: tuple[int, ...]) -> list[tuple[Cards, int, Random]]:
    """Random hands, from spread to concentrated, each with a dock colour and luck of its own."""
    found = []
    for place in range(count):
        luck = Random(f"{SEED}/{place}")
        size = luck.choice(sizes)
        hand = brute.random_hand(luck, size, luck.choice([3, 3, 4, 5, 10]))
        dock_colour = COLOUR[luck.choice(hand)] if luck.random() < 0.3 else luck.randrange(10)
        found.append((hand, dock_colour, luck))
    return found


def a_closer(hand: Cards, dock_colour: int, luck: Random) -> tuple[Cards, int]:
    """A closer's crew from the other cards, mostly of colours that the hand has, and his limit."""
    others = bytes(card for card in range(110) if card not in hand and luck.random() < 0.9)
    colours = [COLOUR[luck.choice(hand)], luck.randrange(10) if luck.random() < 0.5 else COLOUR[luck.choice(hand)]]
    pool = [card for card in others if COLOUR[card] in colours[: luck.choice([1, 2, 2, 2])]]
    luck.shuffle(pool)
    crew = NONE
    for card in pool[: luck.choice([0, 4, 6, 9])]:
        if brute.fits_crew(card, crew):
            crew += bytes((card,))
    return bytes(sorted(crew)), luck.choice([1, 4, 8, 15, 30])


def check_closer(count: int) -> None:
    """Limit and count are the least of all crews; the crew is the one that the rule words."""
    for hand, dock_colour, _ in hands(count, (12,)):
        crew = best_crew(hand, dock_colour)
        check_crew(crew, dock_colour, may_use_dock_colour=False)
        assert brute.left_over(hand, dock_colour, crew) == brute.best_of_all_crews(hand, dock_colour)
        assert crew == brute.worded_crew(hand, dock_colour)


def check_opponent(count: int) -> None:
    """Penalty, limit and count are the least of all splits; the split is legal, and the one that the rule words."""
    for hand, dock_colour, luck in hands(count, (8, 9)):
        closer_crew, closer_limit = a_closer(hand, dock_colour, luck)
        crew, attached = best_split(hand, dock_colour, closer_crew, closer_limit)
        check_cards(hand, crew + attached)
        check_crew(crew, dock_colour, may_use_dock_colour=False)
        check_attached(attached, closer_crew)
        check_maximal(divide(Seat(1), hand, dock_colour, crew, attached))
        limit, stowaways = brute.left_over(hand, dock_colour, crew + attached)
        key = (0 if limit <= closer_limit else stowaways, limit, stowaways)
        assert key == brute.best_of_all_splits(hand, dock_colour, closer_crew, closer_limit)
        assert (crew, attached) == brute.worded_split(hand, dock_colour, closer_crew, closer_limit)


def test_the_closers_crew_is_the_best_of_all() -> None:
    """R26, closer: a hundred hands."""
    check_closer(100)


def test_an_opponents_split_is_the_best_of_all() -> None:
    """R26, opponent: a hundred hands of 8 and 9 cards."""
    check_opponent(100)


@pytest.mark.slow
def test_many_closers() -> None:
    """R26, closer: two thousand hands."""
    check_closer(2000)


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_many_opponents() -> None:
    """R26, opponent: three thousand hands."""
    check_opponent(3000)


def test_whole_hands_are_split_as_the_rule_words_it() -> None:
    """Twelve cards, too many for exhaustion: the wording alone, three hundred times."""
    for hand, dock_colour, luck in hands(300, (12,)):
        closer_crew, closer_limit = a_closer(hand, dock_colour, luck)
        split = brute.worded_split(hand, dock_colour, closer_crew, closer_limit)
        assert tuple(best_split(hand, dock_colour, closer_crew, closer_limit)) == split


def test_fewest_stowaways_are_the_fewest_of_all() -> None:
    """DEC-6, `minimised`: no split leaves fewer cards, whatever their numbers."""
    for hand, dock_colour, luck in hands(60, (8,)):
        closer_crew, _ = a_closer(hand, dock_colour, luck)
        crew, attached = fewest_stowaways(hand, dock_colour, closer_crew)
        _, count = brute.left_over(hand, dock_colour, crew + attached)
        fewest = min(
            brute.left_over(hand, dock_colour, own + lent)[1] for own, lent in brute.all_splits(hand, closer_crew)
        )
        assert count == fewest


def test_without_attachments_a_true_cappotto_comes_first() -> None:
    """DEC-7: if attachments do not count, the automatic split still finds a cappotto that needs none."""
    hand = bytes([*range(44, 50), *range(61, 66)])  # gy1-6 br7-11
    closer_crew = bytes([54])  # gy11: all of gy1-6 could be attached
    assert best_split(hand, 9, closer_crew, 3).attach == hand[:6]
    assert best_split(hand, 9, closer_crew, 3, attachments_win=False) == (hand, NONE)
    more = bytes([0, *hand])  # and a pink one, which no crew of theirs can hold
    assert best_split(more, 9, closer_crew, 3, attachments_win=False).attach == hand[:6]


def test_the_lightest_discard_is_the_best_of_thirteen() -> None:
    """DEC-16: the discard that leaves the least (limit, count); of equal ones the lowest card."""
    for hand, dock_colour, _ in hands(40, (13,)):
        keys = []
        for card in hand:
            rest = bytes(other for other in hand if other != card)
            keys.append((brute.left_over(rest, dock_colour, best_crew(rest, dock_colour)), card))
        assert lightest_discard(hand, dock_colour, hand) == min(keys)[1]
        assert lightest_discard(hand, dock_colour, hand[5:]) == min(key for key in keys if key[1] in hand[5:])[1]
