"""The deal: who, how many, from which cards, and how the dock is carried over (R3-R8, DEC-2, K4)."""

from __future__ import annotations

import pytest

from services.corsari.actions import PLAIN
from services.corsari.cards import ALL, COLOUR, NONE, in_order, without
from services.corsari.dealing import deal, stock_after_deal
from services.corsari.events import Dealt
from services.corsari.options import STANDARD, Options
from services.corsari.phases import Phase
from services.corsari.rules import RULES
from services.corsari.state import Position
from services.kit.chance import Chance
from services.kit.rules import Asked, Seat
from tests.rules.corsari.driver import new_match
from tests.rules.corsari.toy import cards

KEY = b"k" * 32


def between_hands(seats: int = 2, penalties: int = 0, dock: str = "", options: Options = STANDARD) -> Position:
    """A position before a deal; the rest of the deck lies in the stock."""
    position = Position(options, seats, "1")
    position.hand_number = 3
    position.dock = cards(dock)
    free = without(ALL, position.dock)
    position.penalty = (free[:penalties], *(NONE,) * (seats - 1))
    position.stock = free[penalties:]
    return position


@pytest.mark.parametrize(
    ("seats", "penalties", "stock"),
    [
        *((2, penalties, stock) for penalties, stock in ((0, 78), (3, 75), (34, 44), (44, 34))),
        *((3, penalties, stock) for penalties, stock in ((0, 65), (3, 62), (34, 31), (44, 21))),
        *((4, penalties, stock) for penalties, stock in ((0, 52), (3, 49), (34, 18), (44, 8))),
    ],
)
def test_sizes(seats: int, penalties: int, stock: int) -> None:
    """R7 and the deal vectors: 12 cards each, a dock of 7, 8, 9, one discard, and the rest in the stock."""
    position = between_hands(seats, penalties)
    event = deal(position, Chance(KEY))
    assert [len(hand) for hand in position.hands] == [12] * seats
    assert len(position.dock) == {2: 7, 3: 8, 4: 9}[seats]
    assert (len(position.discard), len(position.stock), event.stock_size) == (1, stock, stock)
    assert stock_after_deal(seats, penalties) == stock
    piles = (*position.hands, *position.penalty, position.dock, position.discard, position.stock)
    assert in_order(NONE.join(piles)) == ALL


def test_the_dock_is_topped_up_at_its_end() -> None:
    """DEC-2, `stays`: `bl6 gy9 az3 bl2` and three fresh cards; the colour is that of the last fresh card."""
    position = between_hands(dock="bl6 gy9 az3 bl2")
    deal(position, Chance(KEY))
    assert position.dock[:4] == cards("bl6 gy9 az3 bl2")
    assert len(position.dock) == 7
    assert position.dock_colour() == COLOUR[position.dock[6]]


def test_a_whole_dock_stays_as_it_is() -> None:
    """K4: if nobody took from it, no card is added and the colour stays."""
    row = "bl6 gy9 az3 bl2 gy6 ye9 pk10"
    position = between_hands(dock=row)
    deal(position, Chance(KEY))
    assert position.dock == cards(row)


def test_the_first_hand() -> None:
    """R3, R8: the dealer is drawn by lot, the seat to his left begins and is asked; the deal is the first event."""
    dealers = set()
    for seed in range(40):
        match = new_match(seed, 4)
        (event,) = match.events
        assert isinstance(event, Dealt)
        dealers.add(match.state.dealer)
        assert match.state.turn == Seat((match.state.dealer + 1) % 4)
        assert match.state.asked() == [Asked(match.state.turn, 1)]
        assert (event.hand_number, event.last_hand, event.hands) == (1, False, match.state.hands)
        assert match.spent == {"dealer", "deal/1"}
    assert dealers == {0, 1, 2, 3}


def test_void_hands_have_shuffles_of_their_own() -> None:
    """The address of a shuffle holds the hand's number, and void hands count."""
    match = new_match(4, 2, Options(stall_limit=8))
    while match.state.hand_number < 3:
        seat = match.state.turn
        match.act(seat, RULES.parse("draw discard"))
        match.act(seat, PLAIN[match.state.drawn or 0])
    assert {"deal/2", "deal/3"} <= match.spent
    assert match.state.void_streak == 2


def test_a_deal_does_not_remember_how_the_cards_lay() -> None:
    """Positions with the same cards outside the deck are dealt alike, however the rest lay: secrecy of the future."""
    first, second = between_hands(3, 20, "bl6 gy9"), between_hands(3, 20, "bl6 gy9")
    second.stock = second.stock[::-1]
    deal(first, Chance(KEY))
    deal(second, Chance(KEY))
    assert first.dump() == second.dump()


def test_cards_are_dealt_one_at_a_time_from_the_dealers_left() -> None:
    """R4-R6: the shuffled order goes round the seats, then to the dock, the discard pile, the stock from its top."""
    position = between_hands(3)
    position.dealer = Seat(1)
    order = Chance(KEY).shuffle("deal", 4, of=110)
    deal(position, Chance(KEY))
    for place, seat in enumerate((2, 0, 1)):
        assert position.hands[seat] == bytes(sorted(order[place:36:3]))
    assert position.dock == bytes(order[36:44])
    assert position.discard == bytes(order[44:45])
    assert position.stock[::-1] == bytes(order[45:])
    assert position.phase is Phase.DRAW


def test_unknown_versions_are_refused() -> None:
    """A match is pinned to a version that the service holds."""
    with pytest.raises(ValueError, match="version"):
        RULES.start(STANDARD, 2, Chance(KEY), "0")
