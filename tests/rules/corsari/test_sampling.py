"""`sample` is uniform over the entries of `legal`, and every legal filling of a free part may come."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest

from services.corsari.actions import Discard, Partition
from services.corsari.cards import COLOUR, Cards, in_order
from services.corsari.options import STANDARD, Options
from services.corsari.state import Position
from services.corsari.turns import play
from services.kit.rules import IllegalAction, Seat
from tests.rules.corsari.brute import all_crews, all_splits
from tests.rules.corsari.toy import cards, toy, try_line

STRICT = Options(crew_may_use_dock_colour=False)


def test_entries_come_alike() -> None:
    """Thirty-nine entries in DISCARD: each card, plain, with the automatic crew, with one of its own."""
    position = toy(["gn10 gn1 gn4 gn7 rd2 rd5 rd8 rd11 bl3 bl6 vi1 gy2 ye11", "pk4"])
    luck = Random(1)
    counts: Counter[tuple[int, str]] = Counter()
    for _ in range(20_000):
        action = position.sample(Seat(0), luck)
        assert isinstance(action, Discard)
        counts[action.card, "plain" if action.sail is None else "auto" if action.sail.auto else "crew"] += 1
    assert len(counts) == 39
    assert min(counts.values()) > 20_000 / 39 * 0.8
    assert max(counts.values()) < 20_000 / 39 * 1.2


@pytest.mark.parametrize("options", [STANDARD, STRICT])
def test_every_crew_may_come(options: Options) -> None:
    """R16: all legal crews of a small hand, the empty one and those of the dock colour included; no other."""
    hand = "gn1 gn4 rd4 rd5 bl5 vi1"
    position = toy([f"{hand} ye11", "pk4"], options=options)
    luck = Random(2)
    seen = set()
    for _ in range(30_000):
        action = position.sample(Seat(0), luck)
        if isinstance(action, Discard) and action.sail and not action.sail.auto and action.card == cards("ye11")[0]:
            seen.add(action.sail.crew)
    usable = [card for card in in_order(cards(hand)) if options is STANDARD or COLOUR[card] != COLOUR[cards("bl1")[0]]]
    assert seen == {in_order(crew) for crew in all_crews(bytes(usable))}


@pytest.mark.parametrize("options", [STANDARD, STRICT])
def test_every_split_may_come(options: Options) -> None:
    """R18 to R20: all legal splits of a small hand, and no other."""
    position = splitting("rd3 rd5 gn3 bl4 bl5 vi3 ye6", options)
    luck = Random(3)
    seen = set()
    for _ in range(20_000):
        action = position.sample(Seat(1), luck)
        if isinstance(action, Partition) and not action.auto:
            seen.add((action.crew, action.attach))
    assert seen == legal_splits(position)
    assert len(seen) >= 20


def splitting(hand: str, options: Options) -> Position:
    """The closer has a red and blue, or a red and green crew; seat 1 has this hand."""
    position = toy(["gn10 rd2 rd8 bl1 vi1 gy2 ye11", hand], dock="az1 bl2", options=options)
    crew = "rd2 rd8 bl1" if options is STANDARD else "rd2 rd8 gn10"
    assert try_line(position, f"0:discard(card=ye11, sail=True, crew=[{crew}])") == "ok"
    return position


def legal_splits(position: Position) -> set[tuple[Cards, Cards]]:
    """All splits that the judge accepts, by exhaustion."""
    found = set()
    for crew, attach in all_splits(position.hands[1], position.the_closer().crew):
        action = Partition(auto=False, crew=in_order(crew), attach=in_order(attach))
        try:
            play(position.copy(), Seat(1), action)
        except IllegalAction:
            continue
        found.add((action.crew, action.attach))
    return found
