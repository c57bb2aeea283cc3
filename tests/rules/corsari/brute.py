"""The optimum by exhaustion: every legal crew, every legal split; and R26 as worded, without shortcuts."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations_with_replacement
from random import Random

from services.corsari.cards import COLOUR, COUNT, NUMBER, NUMBERS, Cards, in_order

Value = tuple[int, int]
"""A limit and a count of stowaways."""


def random_hand(luck: Random, size: int, colours: int = 10) -> Cards:
    """*size* cards of at most so many colours."""
    chosen = luck.sample(range(10), colours)
    return in_order(luck.sample([card for card in range(COUNT) if COLOUR[card] in chosen], size))


def all_crews(hand: Cards) -> Iterator[Cards]:
    """Every legal crew of *hand* (R16), the empty one included."""
    stack: list[tuple[int, Cards]] = [(0, b"")]
    while stack:
        at, crew = stack.pop()
        if at == len(hand):
            yield crew
            continue
        stack.append((at + 1, crew))
        if fits_crew(hand[at], crew):
            stack.append((at + 1, crew + hand[at : at + 1]))


def fits_crew(card: int, crew: Cards) -> bool:
    """Whether *card* may join *crew*."""
    colours = {COLOUR[other] for other in crew} | {COLOUR[card]}
    return len(colours) <= 2 and all(NUMBER[other] != NUMBER[card] for other in crew)


def fits_attached(card: int, attached: Cards, closer_crew: Cards) -> bool:
    """Whether *card* may be attached beside *attached* (R19)."""
    return COLOUR[card] in {COLOUR[other] for other in closer_crew} and all(
        NUMBER[other] != NUMBER[card] for other in closer_crew + attached
    )


def all_splits(hand: Cards, closer_crew: Cards) -> Iterator[tuple[Cards, Cards]]:
    """Every crew with every set of attachments; crews need not be maximal, which no optimum minds."""
    stack: list[tuple[int, Cards, Cards]] = [(0, b"", b"")]
    while stack:
        at, crew, attached = stack.pop()
        if at == len(hand):
            yield crew, attached
            continue
        card = hand[at : at + 1]
        stack.append((at + 1, crew, attached))
        if fits_crew(hand[at], crew):
            stack.append((at + 1, crew + card, attached))
        if fits_attached(hand[at], attached, closer_crew):
            stack.append((at + 1, crew, attached + card))


def left_over(hand: Cards, dock_colour: int, used: Cards) -> Value:
    """Limit and count of the stowaways."""
    stowaways = [card for card in hand if card not in used and COLOUR[card] != dock_colour]
    return sum(NUMBER[card] for card in stowaways), len(stowaways)


def best_of_all_crews(hand: Cards, dock_colour: int) -> Value:
    """The closer's minimum of (limit, count)."""
    return min(left_over(hand, dock_colour, crew) for crew in all_crews(hand))


def best_of_all_splits(hand: Cards, dock_colour: int, closer_crew: Cards, closer_limit: int) -> tuple[int, int, int]:
    """An opponent's minimum of (penalty, limit, count)."""
    return min(
        (0 if limit <= closer_limit else count, limit, count)
        for limit, count in (
            left_over(hand, dock_colour, crew + attached) for crew, attached in all_splits(hand, closer_crew)
        )
    )


def worded_crew(hand: Cards, dock_colour: int) -> Cards:
    """The closer's crew by R26's own words."""
    pairs = combinations_with_replacement([colour for colour in range(10) if colour != dock_colour], 2)
    best = min((*left_over(hand, dock_colour, pair_crew(hand, pair)), *pair) for pair in pairs)
    return pair_crew(hand, best[2:])


def worded_split(hand: Cards, dock_colour: int, closer_crew: Cards, closer_limit: int) -> tuple[Cards, Cards]:
    """An opponent's split by R26's own words, its cards by K3."""
    keys = []
    for pair in combinations_with_replacement([colour for colour in range(10) if colour != dock_colour], 2):
        crew, attached = pair_split(hand, pair, dock_colour, closer_crew)
        limit, count = left_over(hand, dock_colour, crew + attached)
        keys.append((0 if limit <= closer_limit else count, limit, count, *pair))
    return pair_split(hand, min(keys)[3:], dock_colour, closer_crew)


def pair_crew(hand: Cards, pair: tuple[int, ...]) -> Cards:
    """Each number of the two colours once, of the lower colour where both have it."""
    crew: list[int] = []
    for card in sorted(hand):
        if COLOUR[card] in pair and NUMBER[card] not in {NUMBER[other] for other in crew}:
            crew.append(card)
    return bytes(crew)


def pair_split(hand: Cards, pair: tuple[int, ...], dock_colour: int, closer_crew: Cards) -> tuple[Cards, Cards]:
    """Per number: a card for the crew and another to attach if both can be had, else the crew first (K3)."""
    lenders = {COLOUR[card] for card in closer_crew} - {dock_colour}
    taken = {NUMBER[card] for card in closer_crew}
    crew: list[int] = []
    attached: list[int] = []
    for number in range(1, NUMBERS + 1):
        of_crew = [card for card in hand if NUMBER[card] == number and COLOUR[card] in pair]
        to_lend = [card for card in hand if NUMBER[card] == number and COLOUR[card] in lenders and number not in taken]
        both = [(mine, lent) for mine in of_crew for lent in to_lend if mine != lent]
        if both:
            mine, lent = min(both)
            crew.append(mine)
            attached.append(lent)
        elif of_crew:
            crew.append(of_crew[0])
        elif to_lend:
            attached.append(to_lend[0])
    return in_order(crew), in_order(attached)
