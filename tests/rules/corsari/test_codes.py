"""Every refusal, in the order of K1, with parameters from the actor's own view; and a refusal changes nothing."""

from __future__ import annotations

import pytest

from services.corsari.options import Options, PartitionMode
from services.corsari.state import Position
from services.corsari.turns import play
from services.kit.chance import NoChance
from services.kit.rules import IllegalAction, Seat
from tests.rules.corsari.toy import action_of, toy, try_line

CLOSER = "gn10 gn1 gn4 gn7 rd2 rd5 rd8 rd11 bl3 bl6 vi1 gy2 ye11"
OPPONENT = "pk4 pk5 pk8 or1 or3 or7 bl8 bl11 rd9 rd10 ye2 br4"
THIRD = "pk1 pk2 pk3 or4 or5 or6 ye7 ye8 ye9 br10 br11 bl9"


def refusal(position: Position, line: str) -> tuple[str, dict[str, str]]:
    """Code and parameters of a refused line."""
    before = position.dump()
    with pytest.raises(IllegalAction) as refused:
        play(position.copy(), *action_of(position, line))
    assert position.dump() == before
    return refused.value.reason, refused.value.params


def discarding(**more: object) -> Position:
    """Seat 0 of two is to discard."""
    return toy([CLOSER, OPPONENT], **more)  # type: ignore[arg-type]  # the keywords of toy


def splitting() -> Position:
    """Seat 0 of three has sailed."""
    position = toy([CLOSER, OPPONENT, THIRD], dock="az1 az2 az3 az4 az5 az6 vi7 bl1")
    assert try_line(position, "0:discard(card=ye11, sail=True)") == "ok"
    return position


def over() -> Position:
    """A match that the closer has won by cappotto."""
    position = toy(["gn10 gn1 gn4 gn7 gn2 gn5 gn8 gn11 bl3 bl6 rd3 rd6 ye11", OPPONENT])
    assert try_line(position, "0:discard(card=ye11, sail=True)") == "ok"
    return position


@pytest.mark.parametrize("line", ["0:draw(src=stock)", "1:draw(src=stock)", "1:partition(auto)", "0:discard(card=pk1)"])
def test_after_the_end_everything_is_refused(line: str) -> None:
    """GAME_OVER comes before all other codes."""
    assert refusal(over(), line) == ("GAME_OVER", {})


def test_turn_and_phase_before_anyone_sails() -> None:
    """Others: NOT_YOUR_TURN; the seat in turn in the wrong phase: PHASE; a partition by anyone: PHASE."""
    drawing = toy([CLOSER.removesuffix(" ye11"), OPPONENT], phase="DRAW")
    assert refusal(drawing, "1:draw(src=stock)") == ("NOT_YOUR_TURN", {})
    assert refusal(drawing, "1:discard(card=pk4)") == ("NOT_YOUR_TURN", {})
    assert refusal(drawing, "0:discard(card=gn1)") == ("PHASE", {})
    assert refusal(discarding(), "0:draw(src=stock)") == ("PHASE", {})
    for position in (drawing, discarding()):
        for seat in (0, 1):
            assert refusal(position, f"{seat}:partition(auto)") == ("PHASE", {})


def test_turn_and_phase_while_the_others_split() -> None:
    """`turn` stays the closer: PHASE for him, NOT_YOUR_TURN for others; his own partition: ALREADY_DECLARED."""
    position = splitting()
    assert refusal(position, "0:draw(src=stock)") == ("PHASE", {})
    assert refusal(position, "0:discard(card=gn1)") == ("PHASE", {})
    assert refusal(position, "1:draw(src=stock)") == ("NOT_YOUR_TURN", {})
    assert refusal(position, "2:discard(card=pk1)") == ("NOT_YOUR_TURN", {})
    assert refusal(position, "0:partition(auto)") == ("ALREADY_DECLARED", {})
    assert try_line(position, "1:partition(auto)") == "ok"
    assert refusal(position, "1:partition(auto)") == ("ALREADY_DECLARED", {})
    assert position.asked_publicly() == [1, 2]
    assert [seat for seat, _ in position.asked()] == [2]


def test_discards() -> None:
    """The card first, then the forced sail (R11), then the crew."""
    assert refusal(discarding(), "0:discard(card=pk4)") == ("CARD_NOT_IN_HAND", {"card": "pk4"})
    forced = discarding(stock="")
    assert refusal(forced, "0:discard(card=pk4)") == ("CARD_NOT_IN_HAND", {"card": "pk4"})
    assert refusal(forced, "0:discard(card=ye11)") == ("MUST_SAIL", {})
    assert refusal(forced, "0:discard(card=ye11, sail, crew=[pk4])") == ("CARD_NOT_IN_HAND", {"card": "pk4"})


@pytest.mark.parametrize(
    ("crew", "reason", "params"),
    [
        ("gn10 rd2 vi1", "CREW_COLOURS", {"limit": "2"}),
        ("gn1 vi1", "CREW_DUP_NUMBER", {"number": "1"}),
        ("ye11", "CARD_NOT_IN_HAND", {"card": "ye11"}),
        ("gn10 gn10", "CARD_USED_TWICE", {"card": "gn10"}),
    ],
)
def test_closers_crews(crew: str, reason: str, params: dict[str, str]) -> None:
    """R16 and K2; the discarded card is not in the hand any more."""
    assert refusal(discarding(), f"0:discard(card=ye11, sail=True, crew=[{crew}])") == (reason, params)


@pytest.mark.parametrize("crew", ["", "gn1", "bl3 bl6", "gn10 bl3"])
def test_a_closer_is_free(crew: str) -> None:
    """DEC-5, DEC-6: an empty crew, one that is not maximal, and one of the dock colour are legal."""
    assert try_line(discarding(), f"0:discard(card=ye11, sail=True, crew=[{crew}])") == "ok"


@pytest.mark.parametrize(
    ("crew", "attach", "reason", "params"),
    [
        ("pk4 pk5 pk8 or1 or3 or7", "gn1", "CARD_NOT_IN_HAND", {"card": "gn1"}),
        ("rd9 rd10", "rd9", "CARD_USED_TWICE", {"card": "rd9"}),
        ("rd9 rd9", "", "CARD_USED_TWICE", {"card": "rd9"}),
        ("", "rd9 rd9", "CARD_USED_TWICE", {"card": "rd9"}),
        ("pk4 or1 ye2", "", "CREW_COLOURS", {"limit": "2"}),
        ("pk4 br4", "", "CREW_DUP_NUMBER", {"number": "4"}),
        ("pk4 pk5 pk8 or1 or3 or7", "ye2", "ATTACH_COLOUR", {"card": "ye2"}),
        ("pk4 pk5 pk8 or1 or3 or7", "bl8", "ATTACH_COLOUR", {"card": "bl8"}),
        ("pk4 pk5 pk8 or1 or3 or7", "rd9 rd10", "ATTACH_NUMBER_TAKEN", {"card": "rd10"}),
        ("pk4 pk5 or1 or3 or7", "rd9", "CREW_NOT_MAXIMAL", {"card": "pk8"}),
        ("pk4 pk5 pk8", "", "CREW_NOT_MAXIMAL", {"card": "rd9"}),
        ("", "", "CREW_NOT_MAXIMAL", {"card": "pk4"}),
    ],
)
def test_opponents_splits(crew: str, attach: str, reason: str, params: dict[str, str]) -> None:
    """R18 to R20 and K2."""
    assert refusal(splitting(), f"1:partition(crew=[{crew}], attach=[{attach}])") == (reason, params)


def test_one_opponent_may_not_attach_a_number_twice() -> None:
    """R19: two colours of the closer's crew do not give two places of one number."""
    position = toy([CLOSER, "rd9 gn9 pk1 pk2 pk3 or4 or5 or6 or7 or8 bl1 bl2"])
    assert try_line(position, "0:discard(card=ye11, sail=True)") == "ok"
    line = "1:partition(crew=[pk1 pk2 pk3 or4 or5 or6 or7 or8], attach=[rd9 gn9])"
    assert refusal(position, line) == ("ATTACH_DUP_NUMBER", {"card": "gn9"})


def test_an_empty_crew_takes_no_attachments() -> None:
    """R19: nor does a crew of one colour open a second (DEC-13)."""
    for crew, code in (("", "ATTACH_COLOUR"), ("gn1", "ATTACH_COLOUR"), ("rd2", "CREW_NOT_MAXIMAL")):
        position = toy([CLOSER, OPPONENT])
        assert try_line(position, f"0:discard(card=ye11, sail=True, crew=[{crew}])") == "ok"
        assert refusal(position, "1:partition(crew=[pk4], attach=[rd9])")[0] == code


def test_dock_colour_may_be_attached_where_the_closer_has_it() -> None:
    """K3: a prisoner may be attached, though it never helps."""
    position = toy([CLOSER, OPPONENT])
    assert try_line(position, "0:discard(card=ye11, sail=True, crew=[gn1 gn4 bl3])") == "ok"
    assert try_line(position, "1:partition(crew=[pk4 pk5 pk8 or1 or3 or7], attach=[bl8])") == "ok"


def test_a_seat_gives_up_once() -> None:
    """ALREADY_RESIGNED, and GAME_OVER when all is over."""
    position = toy([CLOSER, OPPONENT, THIRD])
    assert position.copy().resigned(Seat(2), NoChance())
    position.resigned(Seat(2), NoChance())
    with pytest.raises(IllegalAction, match="ALREADY_RESIGNED"):
        position.copy().resigned(Seat(2), NoChance())
    with pytest.raises(IllegalAction, match="GAME_OVER"):
        over().resigned(Seat(1), NoChance())


def test_automatic_partition_refuses_chosen_crews() -> None:
    """DEC-6, `auto`: a crew of one's own choice is refused (PARTITION_AUTO)."""
    position = discarding(options=Options(partition=PartitionMode.AUTO))
    assert refusal(position, "0:discard(card=ye11, sail=True, crew=[gn1])") == ("PARTITION_AUTO", {})
