"""Nim's rules alone, from the package's folder: they need nothing but the kit's two modules for rules."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator
from functools import cache
from itertools import product
from operator import xor
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.kit.chance import Chance, NoChance
from services.kit.rules import Asked, IllegalAction, InvalidAction, InvalidOptions, Seat, shown
from tests.fifth_game.building import NIM

nim = SimpleNamespace()
"""The package's modules, without its codec."""

sys.path.insert(0, str(NIM))
try:
    for _name in ("actions", "events", "options", "rules", "state"):
        setattr(nim, _name, importlib.import_module(f"tortuga_nim.{_name}"))
finally:
    sys.path.remove(str(NIM))

WINS, LOSES = nim.options.LastStone


def position(*heaps: int, seats: int = 2, most_taken: int = 0, last_stone: Any = WINS) -> Any:
    """A position with these heaps; seat 0 is in turn."""
    options = nim.options.Options(heaps=len(heaps), most_taken=most_taken, last_stone=last_stone)
    return nim.state.Position(options, heaps, seats, Seat(0), "1")


def after(state: Any, *texts: str) -> Any:
    """The position after these actions, each by the seat in turn."""
    for text in texts:
        state = state.copy()
        state.apply(state.turn, nim.rules.RULES.parse(text), NoChance())
    return state


def choices(state: Any) -> Iterator[Any]:
    """The positions that the seat in turn can make."""
    for action in state.legal(state.turn).actions:
        yield after(state, str(action))


def perft(state: Any, depth: int) -> int:
    """How many sequences of *depth* actions there are."""
    return 1 if depth == 0 else sum(perft(next_one, depth - 1) for next_one in choices(state))


@cache
def mover_wins(heaps: tuple[int, ...], most_taken: int, last_stone: int) -> bool:
    """Whether the seat in turn can force a win, found by trying everything that the rules allow."""
    for then in choices(position(*heaps, most_taken=most_taken, last_stone=nim.options.LastStone(last_stone))):
        if (outcome := then.outcome()) is not None:
            if outcome.places[0].rank == 1:
                return True
        elif not mover_wins(then.heaps, most_taken, last_stone):
            return True
    return False


# Counts


def test_the_counts_of_the_style_guide() -> None:
    """One heap of six, one to three stones a turn: 3, 9 and 17 sequences of one, two and three actions."""
    assert [perft(position(6, most_taken=3), depth) for depth in (1, 2, 3)] == [3, 9, 17]


@pytest.mark.parametrize(("stones", "most"), [(6, 3), (7, 2), (9, 4), (5, 5)])
def test_sequences_are_the_sums_that_fit(stones: int, most: int) -> None:
    """On one heap a sequence of d actions is d numbers from 1 to the most whose sum is no more than the stones."""
    for depth in range(1, 5):
        fitting = sum(sum(parts) <= stones for parts in product(range(1, most + 1), repeat=depth))
        assert perft(position(stones, most_taken=most), depth) == fitting


def test_legal_actions_are_all_of_them_in_order() -> None:
    """Heap by heap, fewest stones first, no more than a turn may take; nothing for a seat that is not in turn."""
    state = position(1, 0, 3, most_taken=2)
    assert [str(action) for action in state.legal(Seat(0)).actions] == [
        "take 1 from 0",
        "take 1 from 2",
        "take 2 from 2",
    ]
    assert not state.legal(Seat(1))
    assert not state.legal(Seat(0)).templates


# Best play


@pytest.mark.parametrize("most_taken", [0, 2, 3])
def test_the_mover_loses_where_the_xor_is_zero(most_taken: int) -> None:
    """Of up to three heaps: with k stones at most a heap of n counts as n mod (k + 1), and the counts are XORed."""
    for heaps in filter(any, product(range(6), repeat=3)):
        counts = [stones % (most_taken + 1) if most_taken else stones for stones in heaps]
        assert mover_wins(heaps, most_taken, WINS) == (xor(xor(counts[0], counts[1]), counts[2]) != 0), heaps


def test_misere_differs_only_among_single_stones() -> None:
    """Whoever takes the last stone loses: the same XOR, but an odd number of single stones is lost for the mover."""
    for heaps in filter(any, product(range(5), repeat=3)):
        wins = xor(xor(heaps[0], heaps[1]), heaps[2]) != 0 if max(heaps) > 1 else sum(heaps) % 2 == 0
        assert mover_wins(heaps, 0, LOSES) == wins, heaps


# Beginning and end


def test_lots_are_drawn_from_addresses_of_their_own() -> None:
    """Heaps are within the options, every size and every first seat comes up, and draws name what they are for."""
    options = nim.options.Options(heaps=2, fewest_stones=4, most_stones=6)
    sizes, firsts = set(), set()
    for number in range(60):
        chance = Chance(number.to_bytes(32))
        state, [begun] = nim.rules.RULES.start(options, 3, chance, "1")
        assert chance.used == ["heap/0", "heap/1", "first"]
        assert (begun.heaps, begun.first) == (state.heaps, state.turn)
        assert state.asked() == [Asked(state.turn, 1)]
        sizes |= set(state.heaps)
        firsts.add(state.turn)
    assert (sizes, firsts) == ({4, 5, 6}, {0, 1, 2})


def test_seat_0_begins_without_a_lot() -> None:
    """With `lot_for_first` off nothing is drawn for it."""
    chance = Chance(bytes(32))
    state, _ = nim.rules.RULES.start(nim.options.Options(lot_for_first=False), 4, chance, "1")
    assert state.turn == 0
    assert chance.used == ["heap/0", "heap/1", "heap/2"]


@pytest.mark.parametrize(("last_stone", "ranks"), [(WINS, [2, 2, 1]), (LOSES, [1, 1, 3])])
def test_the_last_stone_decides(last_stone: Any, ranks: list[int]) -> None:
    """Its taker is alone at the top, or alone at the bottom; points are stones taken."""
    state = after(position(1, 2, 3, seats=3, last_stone=last_stone), "take 1 from 0", "take 2 from 1", "take 3 from 2")
    outcome = state.outcome()
    assert outcome.reason == "finished"
    assert [place.rank for place in outcome.places] == ranks
    assert [place.points for place in outcome.places] == [1, 2, 3]
    assert state.asked() == []


def test_of_two_the_other_wins_when_one_gives_up() -> None:
    """Resigning ends a match of two, on either side's turn."""
    for seat in (Seat(0), Seat(1)):
        state = position(3, 4)
        state.resigned(seat, NoChance())
        outcome = state.outcome()
        assert outcome.reason == "resigned"
        assert outcome.places[seat].rank == 2
        assert outcome.places[1 - seat].rank == 1


def test_of_three_one_who_gave_up_plays_on_and_comes_last() -> None:
    """It is still asked, its silence is played, and it ranks last even if it takes the last stone."""
    state = position(1, 1, 1, seats=3)
    state.resigned(Seat(2), NoChance())
    assert state.outcome() is None
    for seat in (Seat(0), Seat(1), Seat(2)):
        assert [asked for asked, _ in state.asked()] == [seat]
        state.timeout(seat, NoChance())
    assert [place.rank for place in state.outcome().places] == [1, 1, 3]


def test_silence_takes_one_stone_from_the_first_heap_that_has_any() -> None:
    """Rule 4."""
    assert position(0, 2, 5).timeout(Seat(0), NoChance()) == [nim.events.Taken(Seat(0), 1, 1)]


# Refusals


@pytest.mark.parametrize(
    ("seat", "text", "reason", "params"),
    [
        (1, "take 1 from 0", "NOT_YOUR_TURN", {}),
        (0, "take 1 from 2", "NO_SUCH_HEAP", {"heap": "2", "limit": "1"}),
        (0, "take 3 from 0", "TOO_MANY", {"count": "3", "limit": "2"}),
        (0, "take 4 from 1", "TOO_MANY", {"count": "4", "limit": "3"}),
    ],
)
def test_what_the_position_does_not_allow_is_refused(seat: int, text: str, reason: str, params: dict[str, str]) -> None:
    """A code, and parameters that whoever acts knows."""
    with pytest.raises(IllegalAction) as refused:
        position(2, 5, most_taken=3).apply(Seat(seat), nim.rules.RULES.parse(text), NoChance())
    assert (refused.value.reason, refused.value.params) == (reason, params)


def test_nothing_follows_the_end() -> None:
    """GAME_OVER for whoever acts or gives up then."""
    state = after(position(1), "take 1 from 0")
    late: list[Callable[[], object]] = [
        lambda: state.apply(Seat(1), nim.rules.RULES.parse("take 1 from 0"), NoChance()),
        lambda: state.resigned(Seat(1), NoChance()),
    ]
    for attempt in late:
        with pytest.raises(IllegalAction, match="GAME_OVER"):
            attempt()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "take",
        "take 1",
        "take 0 from 0",
        "take 21 from 0",
        "take 1 from 5",
        "take 01 from 0",
        "take 1 from 0 ",
        "take \u0661 from 0",
    ],
)
def test_what_is_no_action_in_any_position_does_not_read(text: str) -> None:
    """UNREADABLE, and nothing else is raised."""
    with pytest.raises(InvalidAction, match="UNREADABLE"):
        nim.rules.RULES.parse(text)


@pytest.mark.parametrize(
    ("options", "seats", "reason"),
    [
        ({}, 1, "PLAYERS"),
        ({}, 5, "PLAYERS"),
        ({"heaps": 6}, 2, "OPTION_RANGE"),
        ({"most_taken": 10}, 2, "OPTION_RANGE"),
        ({"fewest_stones": 7, "most_stones": 6}, 2, "STONES_CROSSED"),
    ],
)
def test_options_that_do_not_fit_are_refused(options: dict[str, int], seats: int, reason: str) -> None:
    """By `check`, and so before any match begins."""
    with pytest.raises(InvalidOptions, match=reason):
        nim.rules.RULES.check(nim.options.Options(**options), seats)


# Any play


@given(st.integers(2, 4), st.sampled_from(sorted(nim.options.VARIANTS)), st.integers(0, 2**32 - 1))
def test_random_play_keeps_every_promise(seats: int, variant: str, seed: int) -> None:
    """Texts and dumps read back, views follow from events, invariants hold, and play ends with every stone taken."""
    luck = Random(seed)
    rules = nim.rules.RULES
    options = nim.options.Options(**nim.options.VARIANTS[variant])
    state, _ = rules.start(options, seats, Chance(luck.randbytes(32)), "1")
    while state.outcome() is None:
        action = state.sample(state.turn, luck)
        assert rules.parse(str(action)) == action
        then = state.copy()
        events = then.apply(state.turn, action, NoChance())
        for viewer in (None, *map(Seat, range(seats))):
            assert rules.follow(state.view(viewer), shown(events, viewer), viewer) == then.view(viewer)
        assert rules.violations(then) == []
        assert rules.load(then.dump()).dump() == then.dump()
        assert rules.redeal(then, None, luck).dump() == then.dump()
        state = then
    assert not any(state.heaps)
    assert state.outcome().places[state.turn].rank == (seats if options.last_stone is LOSES else 1)


@pytest.mark.parametrize("data", [b"", b"[]", b"{}", b"\xff", b'["1"]', b"null"])
def test_what_is_no_dump_does_not_load(data: bytes) -> None:
    """ValueError, whatever the bytes are."""
    with pytest.raises(ValueError, match=r".*"):
        nim.rules.RULES.load(data)
