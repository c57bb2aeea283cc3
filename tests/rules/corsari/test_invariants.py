"""The checker of invariants sees what is planted: a clean bill means something."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from services.corsari.actions import DRAWS, Source
from services.corsari.cards import NONE
from services.corsari.rules import RULES
from services.corsari.seats import put
from services.corsari.state import Position
from services.kit.rules import Seat
from tests.rules.corsari.driver import Match, new_match


def drawing() -> Position:
    """A sound position in DRAW."""
    return new_match(31, 3).state


def discarding() -> Position:
    """A sound position in DISCARD, a stock card just drawn."""
    match = new_match(31, 3)
    match.act(match.state.turn, DRAWS[0])
    return match.state


def splitting() -> Position:
    """A sound position in PARTITION, one opponent's split laid down."""
    match = new_match(31, 3)
    match.act(match.state.turn, DRAWS[0])
    match.act(match.state.turn, match.state.legal(match.state.turn).actions[-1])
    match.act(match.state.asked()[0].seat, RULES.parse("partition auto"))
    return match.state


def scored() -> Position:
    """A sound position after the last hand, its splits and piles still there."""
    position = splitting()
    position.last_hand = True
    match = Match(position, b"k" * 32, ())
    match.act(position.asked()[0].seat, RULES.parse("partition auto"))
    return match.state


def lose_a_card(position: Position) -> None:
    """One card of the stock is gone."""
    position.stock = position.stock[1:]


def double_a_card(position: Position) -> None:
    """The end of the dock lies on the discard pile, too."""
    position.discard += position.dock[-1:]


def move_a_card(position: Position) -> None:
    """A card of the seat in turn has slipped into the stock."""
    hand = position.hands[position.turn]
    position.hands = put(position.hands, position.turn, hand[1:])
    position.stock += hand[:1]


def mix_a_hand(position: Position) -> None:
    """A hand is not in order."""
    position.hands = put(position.hands, Seat(0), position.hands[0][::-1])


def know_too_much(position: Position) -> None:
    """A card is known in a hand that does not hold it."""
    position.known = put(position.known, Seat(0), position.hands[1][:1])


def forget_the_draw(position: Position) -> None:
    """Nobody knows what was drawn."""
    position.drawn = None


def draw_elsewhere(position: Position) -> None:
    """The stock card is said to come from the dock, but nobody has seen it."""
    position.drew = Source.DOCK


def announce_wrongly(position: Position) -> None:
    """A last hand without the penalty cards for it."""
    position.last_hand = True


def empty_the_stock(position: Position) -> None:
    """No stock card is left to draw."""
    position.discard += position.stock
    position.stock = NONE


def empty_the_dock(position: Position) -> None:
    """No dock card is left."""
    position.discard = position.dock + position.discard
    position.dock = NONE


def falsify_a_limit(position: Position) -> None:
    """The closer's limit is not the sum of his stowaways."""
    closer = position.the_closer()
    position.closer = replace(closer, limit=closer.limit + 1)


def shrink_a_crew(position: Position) -> None:
    """An opponent's crew is not maximal."""
    (split,) = [split for split in position.declared if split]
    gone = split.crew[:1]
    smaller = replace(
        split,
        crew=split.crew[1:],
        stowaways=bytes(sorted(split.stowaways + gone)),
        limit=split.limit + gone[0] % 11 + 1,
    )
    position.declared = put(position.declared, split.seat, smaller)


def spare_a_loser(position: Position) -> None:
    """Nobody got any penalty cards."""
    position.stock += NONE.join(position.penalty)
    position.penalty = (NONE,) * position.seats


def keep_a_split(position: Position) -> None:
    """A closer, though nobody has sailed."""
    position.closer = splitting().closer


PLANTS: list[tuple[Callable[[], Position], Callable[[Position], None], str]] = [
    (drawing, lose_a_card, "I1"),
    (drawing, double_a_card, "I1"),
    (drawing, move_a_card, "R13"),
    (discarding, move_a_card, "I2"),
    (splitting, move_a_card, "R17"),
    (drawing, mix_a_hand, "ORDER"),
    (drawing, know_too_much, "KNOWN"),
    (discarding, forget_the_draw, "DRAWN"),
    (discarding, draw_elsewhere, "DRAWN"),
    (drawing, announce_wrongly, "R25"),
    (drawing, empty_the_stock, "R13"),
    (drawing, empty_the_dock, "R13"),
    (discarding, empty_the_dock, "R12"),
    (splitting, falsify_a_limit, "I5"),
    (splitting, shrink_a_crew, "CREW_NOT_MAXIMAL"),
    (scored, spare_a_loser, "I4"),
    (drawing, keep_a_split, "R21"),
]


@pytest.mark.parametrize(("start", "plant", "code"), PLANTS, ids=lambda part: getattr(part, "__name__", part))
def test_what_is_planted_is_seen(start: Callable[[], Position], plant: Callable[[Position], None], code: str) -> None:
    """Sound before, and with the code of the invariant after."""
    position = start()
    assert RULES.violations(position) == []
    plant(position)
    assert code in RULES.violations(position)
