"""Scores, the end of the match, and ranks: R22 to R25, R27, resignations (DEC-8, DEC-15; design §4)."""

from __future__ import annotations

import pytest

from services.corsari.cards import NONE, value, without
from services.corsari.events import Scored
from services.corsari.options import FinalTie, Options
from services.corsari.phases import Phase
from services.corsari.scoring import LAST_HAND_AT, OVER_AT
from services.corsari.state import Position
from services.corsari.turns import play
from services.kit.chance import NoChance
from services.kit.rules import Outcome, Place, Seat
from tests.rules.corsari.driver import new_match
from tests.rules.corsari.toy import action_of, cards, toy, try_line

CLOSER = "gn10 gn1 gn4 gn7 rd2 rd5 rd8 rd11 bl3 bl6 vi1 gy2 ye11"
OPPONENT = "pk4 pk5 pk8 or1 or3 or7 bl8 bl11 rd9 rd10 ye2 br4"
GREEN = "gn10 gn1 gn4 gn7 gn2 gn5 gn8 gn11 bl3 bl6 br3 br6 ye11"
PINK_AND_ORANGE = "pk1 pk2 pk3 pk4 pk5 pk6 or7 or8 or9 or10 or11 bl9"
VIOLET_AND_GREY = "vi1 vi2 vi3 vi4 vi5 vi6 gy7 gy8 gy9 gy10 gy11 bl10"
HIDING = "0:discard(card=ye11, sail=True, crew=[gn10 gn1 gn4 gn7 gn2 gn5 gn8 gn11 br3])"
SAIL = "0:discard(card=ye11, sail=True)"


def played(position: Position, *lines: str) -> Position:
    """After *lines*, all of which are accepted."""
    assert [try_line(position, line) for line in lines] == ["ok"] * len(lines)
    return position


@pytest.mark.parametrize(
    ("pen", "last", "phase", "next_is_last"),
    [
        ([0, 0], False, Phase.DEAL, False),
        ([16, 15], False, Phase.DEAL, False),  # 34 after the hand
        ([16, 16], False, Phase.DEAL, True),  # 35
        ([20, 21], False, Phase.DEAL, True),  # 44
        ([21, 21], False, Phase.GAME_OVER, False),  # 45
        ([16, 16], True, Phase.GAME_OVER, True),  # 35, and the last hand was announced
    ],
)
def test_thresholds(pen: list[int], last: bool, phase: Phase, next_is_last: bool) -> None:
    """R25: below 35 on; from 35 one last hand; from 45 over at once; after the last hand over in any case."""
    position = played(toy([CLOSER, OPPONENT], pen=pen, last=last), SAIL, "1:partition(auto)")
    assert (position.phase, position.last_hand) == (phase, next_is_last)
    assert sum(map(len, position.penalty)) == sum(pen) + 3
    assert (LAST_HAND_AT, OVER_AT) == (35, 45)


def test_stowaways_go_where_they_cost() -> None:
    """R22, R23, I4: kept by those above the closer's limit; the senders' and his own to the closer; the rest return."""
    hands = ["gn1 gn2 gn3 gn4 rd5 rd6 rd7 rd8 bl1 bl2 vi3 gy2 ye11", "pk4 pk5 pk8 or1 or3 or7 bl8 bl11 bl4 bl5 ye2 br3"]
    hands.append("pk1 pk2 pk3 or4 or5 or6 ye7 ye8 ye9 br10 br11 bl9")
    position = played(toy(hands, dock="az1 az2 az3 az4 az5 az6 vi1 bl7"), SAIL, "2:partition(auto)")
    (_, scored) = play(position, *action_of(position, "1:partition(auto)"))
    assert isinstance(scored, Scored)
    assert scored.sent_under == (Seat(1),)
    kept = NONE.join(scored.penalty)
    stowaways = position.the_closer().stowaways + NONE.join(split.stowaways for split in scored.splits)
    assert sorted(kept) == sorted(stowaways)
    assert scored.penalty == position.penalty
    assert value(scored.penalty[2]) == scored.splits[1].limit
    assert all(without(hand, kept) == hand for hand in position.hands)
    assert position.known == position.hands


def test_the_closer_alone_lowest_keeps_nothing() -> None:
    """R23: his stowaways return to the deck."""
    position = played(toy([CLOSER, OPPONENT], pen=[3, 0]), SAIL, "1:partition(auto)")
    assert (len(position.penalty[0]), position.penalty[1]) == (3, cards("br4 rd10 ye2"))


@pytest.mark.parametrize("order", [["1", "2"], ["2", "1"]])
@pytest.mark.parametrize(
    ("pen", "ranks"), [([0, 2, 1], [2, 3, 1]), ([0, 1, 2], [2, 1, 3]), ([5, 3, 3], [3, 1, 1]), ([3, 3, 3], [3, 1, 1])]
)
def test_cappotto_of_opponents(order: list[str], pen: list[int], ranks: list[int]) -> None:
    """R27b, c and DEC-15: fewer penalty cards win, equal ones share; others by their count; nobody gets any."""
    hands = [GREEN, PINK_AND_ORANGE, VIOLET_AND_GREY]
    position = played(toy(hands, pen=pen), HIDING, *(f"{seat}:partition(auto)" for seat in order))
    outcome = position.outcome()
    assert outcome is not None
    assert outcome.reason == "cappotto"
    assert [(place.rank, place.points) for place in outcome.places] == list(zip(ranks, pen, strict=True))


def test_the_closers_cappotto_beats_the_others() -> None:
    """R27a: at once, without a partition, whatever the others hold."""
    position = played(toy([GREEN, PINK_AND_ORANGE, VIOLET_AND_GREY], pen=[9, 0, 0]), SAIL)
    assert position.outcome() == Outcome("cappotto", (Place(Seat(0), 1, 9), Place(Seat(1), 2, 0), Place(Seat(2), 2, 0)))
    assert position.declared == (None, None, None)


def test_a_tie_of_cappotti_may_be_played_off() -> None:
    """DEC-8 names equal cappotto opponents too: with `extra_hand` one more hand is played."""
    options = Options(final_tie=FinalTie.EXTRA_HAND)
    hands = [GREEN, PINK_AND_ORANGE, VIOLET_AND_GREY]
    splits = ["1:partition(auto)", "2:partition(auto)"]
    tied = played(toy(hands, options=options), HIDING, *splits)
    assert (tied.phase, tied.last_hand, tied.extra_hand) == (Phase.DEAL, True, True)
    alone = played(toy(hands, options=options, pen=[0, 0, 1]), HIDING, *splits)
    assert alone.phase is Phase.GAME_OVER


def test_with_two_seats_the_other_wins() -> None:
    """Design §4: resigning ends a match of two, whoever is ahead."""
    match = new_match(1, 2)
    match.resign(Seat(1))
    assert match.state.outcome() == Outcome("resigned", (Place(Seat(0), 1, 0), Place(Seat(1), 2, 0)))
    assert match.state.asked() == []


def test_with_more_seats_the_rest_play_on() -> None:
    """The seat that gave up stays asked, so that the kit can play its silence; it ranks last; one left wins at once."""
    match = new_match(1, 3)
    first = match.state.turn
    match.resign(first)
    assert match.state.asked() == [(first, 1)]
    match.silence(first)
    match.silence(first)
    assert match.state.turn != first
    match.resign(match.state.turn)
    outcome = match.state.outcome()
    assert outcome is not None
    assert outcome.reason == "resigned"
    assert sorted(place.rank for place in outcome.places) == [1, 2, 2]
    assert {place.seat for place in outcome.places if place.rank == 2} == set(match.state.given_up)


def test_a_seat_that_gave_up_ranks_last_even_with_the_fewest_cards() -> None:
    """Ranks of the others are among themselves; the one that gave up never wins, not even by cappotto."""
    hands = [CLOSER, OPPONENT, VIOLET_AND_GREY.replace("vi1", "vi7")]
    position = toy(hands, pen=[20, 15, 0], dock="az1 az2 az3 az4 az5 az6 vi11 bl1", last=True)
    position.resigned(Seat(2), NoChance())
    played(position, SAIL, "1:partition(auto)", "2:partition(auto)")
    outcome = position.outcome()
    assert outcome is not None
    assert [place.rank for place in outcome.places] == [2, 1, 3]
    cappotto = toy([GREEN, PINK_AND_ORANGE, VIOLET_AND_GREY], pen=[5, 1, 0])
    cappotto.resigned(Seat(2), NoChance())
    played(cappotto, HIDING, "1:partition(auto)", "2:partition(auto)")
    assert cappotto.cappotto == (Seat(1),)


def test_giving_up_while_others_split_hides_their_splits() -> None:
    """A match of two that ends so shows nothing more: the splits are gone, the hands stay hidden."""
    position = played(toy([CLOSER, OPPONENT, VIOLET_AND_GREY]), SAIL, "1:partition(auto)")
    position.resigned(Seat(0), NoChance())
    assert position.phase is Phase.PARTITION
    position.resigned(Seat(2), NoChance())
    assert (position.phase, position.closer, position.declared) == (Phase.GAME_OVER, None, (None, None, None))
    assert position.view(None).known[1] == NONE
