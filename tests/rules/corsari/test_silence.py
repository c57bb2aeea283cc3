"""What silence means (DEC-16, R21): the step of a seat whose clock ran out, and of one that has given up."""

from __future__ import annotations

from random import Random

from services.corsari.actions import DRAWS, PARTITION_AUTO, PLAIN, SAIL_AUTO
from services.corsari.optimum import best_crew
from services.corsari.phases import Phase
from services.corsari.turns import silence
from services.kit.rules import Seat
from tests.rules.corsari.brute import left_over
from tests.rules.corsari.driver import new_match, steps
from tests.rules.corsari.toy import toy, try_line

CLOSER = "gn10 gn1 gn4 gn7 rd2 rd5 rd8 rd11 bl3 bl6 vi1 gy2 ye11"
OPPONENT = "pk4 pk5 pk8 or1 or3 or7 bl8 bl11 rd9 rd10 ye2 br4"


def test_it_draws_from_the_stock() -> None:
    """In DRAW."""
    position = toy([CLOSER.removesuffix(" ye11"), OPPONENT], phase="DRAW")
    assert silence(position) == DRAWS[0]
    assert str(silence(position)) == "draw stock"


def test_it_discards_what_leaves_the_least() -> None:
    """In DISCARD: the least limit, then the fewest stowaways; it does not sail, though it could."""
    position = toy([CLOSER, OPPONENT])
    assert str(silence(position)) == "discard ye11"


def test_it_sails_only_if_forced() -> None:
    """After the last stock card (R11), by the optimum."""
    position = toy([CLOSER, OPPONENT], stock="")
    assert str(silence(position)) == "discard ye11 sail auto"


def test_it_splits_by_the_optimum() -> None:
    """In PARTITION (R21)."""
    position = toy([CLOSER, OPPONENT])
    assert try_line(position, "0:discard(card=ye11, sail=True)") == "ok"
    assert silence(position) == PARTITION_AUTO
    assert try_line(position, "1:timeout()") == "ok"
    assert position.phase is Phase.DEAL


def test_it_is_the_best_discard_in_random_hands() -> None:
    """Against all thirteen."""
    match = new_match(11, 3)
    for _ in steps(match, Random(11), 0.9, rare=0.5):
        state = match.state
        if state.phase is not Phase.DISCARD:
            continue
        hand, dock_colour = state.hands[state.turn], state.dock_colour()
        keys = []
        for card in hand:
            rest = hand.replace(bytes((card,)), b"")
            keys.append((*left_over(rest, dock_colour, best_crew(rest, dock_colour)), card))
        assert silence(state) in (PLAIN[min(keys)[2]], SAIL_AUTO[min(keys)[2]])


def test_a_whole_match_of_silence_ends() -> None:
    """Everybody silent: hands end by the last stock card, and the match ends."""
    match = new_match(2, 4)
    count = 0
    while match.state.outcome() is None:
        match.silence(Seat(match.state.asked()[0].seat))
        count += 1
    assert count < 4000
    assert match.state.reason in ("finished", "cappotto")
