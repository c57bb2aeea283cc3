"""One directed test for each match option of section 5."""

from __future__ import annotations

import pytest

from services.corsari.actions import PLAIN, SAIL_FREE
from services.corsari.cards import ALL, NONE, in_order, without
from services.corsari.events import Event, HandVoided, Scored, VoidReason
from services.corsari.options import (
    DockBetweenHands,
    FinalTie,
    Options,
    PartitionMode,
    SentUnderCards,
    VoidLast,
    VoidRedeal,
)
from services.corsari.phases import Phase
from services.corsari.state import Position
from services.corsari.turns import play
from services.kit.chance import Chance, NoChance
from services.kit.rules import IllegalAction, Outcome, Place, Seat
from tests.rules.corsari.toy import action_of, cards, toy, try_line

KEY = b"k" * 32
CLOSER_12 = "gn10 gn1 gn4 gn7 rd2 rd5 rd8 rd11 bl3 bl6 vi1 gy2"
CLOSER = f"{CLOSER_12} ye11"
OPPONENT = "pk4 pk5 pk8 or1 or3 or7 bl8 bl11 rd9 rd10 ye2 br4"
LAST_DOCK = "bl1"


def drawing(options: Options, **more: object) -> Position:
    """Seat 0 of two is to draw."""
    return toy([CLOSER_12, OPPONENT], phase="DRAW", options=options, **more)  # type: ignore[arg-type]  # the keywords of toy


def play_all(position: Position, *lines: str) -> None:
    """Every line is accepted."""
    assert [try_line(position, line) for line in lines] == ["ok"] * len(lines)


def complete(position: Position) -> Position:
    """The rest of the deck put under the stock, so that a deal is possible."""
    in_play = NONE.join((*position.hands, *position.penalty, position.stock, position.dock, position.discard))
    position.stock = without(ALL, in_play) + position.stock
    return position


@pytest.mark.parametrize(("value", "dealer"), [(VoidRedeal.NEXT, 0), (VoidRedeal.SAME, 1)])
def test_void_redeal(value: VoidRedeal, dealer: int) -> None:
    """DEC-1: after a void hand the deal passes, or does not; after a scored hand it always does."""
    position = drawing(Options(void_redeal=value), dock=LAST_DOCK)
    play_all(position, "0:draw(src=dock)")
    assert (position.phase, position.dealer) == (Phase.DEAL, dealer)
    scored = toy([CLOSER, OPPONENT], options=Options(void_redeal=value))
    play_all(scored, "0:discard(card=ye11, sail=True)", "1:partition(auto)")
    assert (scored.phase, scored.dealer) == (Phase.DEAL, 0)


@pytest.mark.parametrize("value", DockBetweenHands)
def test_dock_between_hands(value: DockBetweenHands) -> None:
    """DEC-2: the dock stays in its order and is topped up at the end, or all of it is fresh."""
    kept = "az1 az2 az3 az4 bl1"
    position = complete(toy([CLOSER, OPPONENT], dock=kept, options=Options(dock_between_hands=value)))
    position.apply(Seat(0), action_of(position, "0:discard(card=ye11, sail=True)")[1], NoChance())
    position.apply(Seat(1), action_of(position, "1:partition(auto)")[1], Chance(KEY))
    assert position.phase is Phase.DRAW
    assert len(position.dock) == 7
    assert (position.dock[:5] == cards(kept)) is (value is DockBetweenHands.STAYS)


@pytest.mark.parametrize(("limit", "turns"), [(0, 16), (8, 8), (20, 20)])
def test_stall_limit(limit: int, turns: int) -> None:
    """DEC-3: so many turns in a row drawn from the discard pile void the hand, with the last discard; not one fewer."""
    position = drawing(Options(stall_limit=limit))
    last: list[Event] = []
    for turn in range(turns):
        assert (position.phase, position.quiet_turns) == (Phase.DRAW, turn)
        seat = position.turn
        play_all(position, f"{seat}:draw(src=discard)")
        last = play(position, seat, PLAIN[position.drawn or 0])
    assert last[-1] == HandVoided(VoidReason.STALL)
    assert (position.phase, position.void_streak, position.turn) == (Phase.DEAL, 1, (turns - 1) % 2)
    assert len(position.dock) == 7  # K4: the stall guard keeps the dock


def test_a_draw_from_elsewhere_starts_the_count_anew() -> None:
    """DEC-3: only turns in a row count; sailing in the last of them is scored."""
    position = drawing(Options(stall_limit=8))
    for _ in range(7):
        seat = position.turn
        play_all(position, f"{seat}:draw(src=discard)")
        play(position, seat, PLAIN[position.drawn or 0])
    other = position.copy()
    play_all(position, "1:draw(src=stock)")
    assert position.quiet_turns == 0
    play_all(other, "1:draw(src=discard)", "1:discard(card=az7, sail=True)")
    assert other.phase is Phase.PARTITION


def test_no_null_discard() -> None:
    """DEC-3: the card just drawn from the discard pile may not go back, sailing or not; one from elsewhere may."""
    position = drawing(Options(no_null_discard=True))
    pile, stock = position.copy(), position.copy()
    play_all(pile, "0:draw(src=discard)")
    for line in ("0:discard(card=az7)", "0:discard(card=az7, sail=True)"):
        with pytest.raises(IllegalAction) as refused:
            play(pile.copy(), *action_of(pile, line))
        assert (refused.value.reason, refused.value.params) == ("NULL_DISCARD", {"card": "az7"})
    assert len(pile.legal(Seat(0)).actions) == 24
    assert "discard az7" not in map(str, pile.legal(Seat(0)).actions)
    assert str(pile.copy().timeout(Seat(0), NoChance())[0]) != "0 discarded az7"
    play_all(stock, "0:draw(src=stock)", "0:discard(card=az9)")


def test_crew_may_use_dock_colour() -> None:
    """DEC-5: if it may not, a crew with a card of it is refused, for closer and opponents."""
    strict = Options(crew_may_use_dock_colour=False)
    position = toy([CLOSER, OPPONENT], options=strict)
    assert try_line(position, "0:discard(card=ye11, sail=True, crew=[gn10 bl3])") == "E_CREW_DOCK_COLOUR"
    play_all(position, "0:discard(card=ye11, sail=True)")
    assert try_line(position, "1:partition(crew=[pk4 pk5 pk8 bl11])") == "E_CREW_DOCK_COLOUR"
    play_all(position, "1:partition(crew=[pk4 pk5 pk8 or1 or3 or7])")


def test_partition_auto() -> None:
    """DEC-6: the splits are made by the optimum as soon as somebody sails; nobody is asked, no crew can be chosen."""
    position = toy([CLOSER, OPPONENT], options=Options(partition=PartitionMode.AUTO))
    legal = position.legal(Seat(0))
    assert (len(legal.actions), legal.templates) == (26, ())
    events = play(position, *action_of(position, "0:discard(card=ye11, sail=True)"))
    scored = events[-1]
    assert isinstance(scored, Scored)
    assert (position.phase, scored.splits[0].attached) == (Phase.DEAL, cards("rd9"))
    chosen = toy([CLOSER, OPPONENT])
    assert len(chosen.legal(Seat(0)).templates) == 13
    play_all(chosen, "0:discard(card=ye11, sail=True)", "1:partition(auto)")
    assert chosen.penalty == position.penalty
    assert SAIL_FREE[cards("ye11")[0]] in toy([CLOSER, OPPONENT]).legal(Seat(0)).templates


@pytest.mark.parametrize(
    ("value", "handed"),
    [(SentUnderCards.AS_DECLARED, "or1 or2 or3 or4 or5"), (SentUnderCards.MINIMISED, "ye1 ye2 ye3")],
)
def test_sent_under_cards(value: SentUnderCards, handed: str) -> None:
    """DEC-6: a sender hands over what he declared, or the fewest cards that any split of his would leave."""
    sender = "pk10 pk11 or1 or2 or3 or4 or5 ye1 ye2 ye3 bl8 bl11"
    position = toy([CLOSER, sender], options=Options(sent_under_cards=value))
    play_all(position, "0:discard(card=ye11, sail=True, crew=[gn10 gn1 gn4 gn7])")
    play_all(position, "1:partition(crew=[pk10 pk11 ye1 ye2 ye3])")
    assert position.penalty == (in_order(cards(f"rd2 rd5 rd8 rd11 vi1 gy2 {handed}")), NONE)


def test_the_fewest_cards_may_have_a_higher_limit() -> None:
    """DEC-6, `minimised`: who went under is settled by what was declared; only then are the cards made few."""
    sender = "pk1 pk2 pk3 pk4 or8 or9 or10 ye5 ye6 ye7 bl8 bl11"
    position = toy([CLOSER, sender], options=Options(sent_under_cards=SentUnderCards.MINIMISED))
    play_all(position, "0:discard(card=ye11, sail=True, crew=[gn10 gn1 gn4 gn7 rd8 rd11])")
    assert position.the_closer().limit == 10
    play_all(position, "1:partition(crew=[or8 or9 or10 ye5 ye6 ye7])")
    assert position.penalty == (in_order(cards("rd2 rd5 vi1 gy2 ye5 ye6 ye7")), NONE)


def cappotto_by_attachments(options: Options) -> Position:
    """Seat 1 gets rid of his last card, rd9, by attaching it."""
    position = toy([CLOSER, "pk4 pk5 pk8 or1 or3 or7 bl8 bl11 rd9 bl9 bl10 bl7"], options=options)
    play_all(position, "0:discard(card=ye11, sail=True)")
    play_all(position, "1:partition(crew=[pk4 pk5 pk8 or1 or3 or7], attach=[rd9])")
    return position


def test_cappotto_with_attachments() -> None:
    """DEC-7: if attachments do not count, he only sends the closer under, and hands over nothing."""
    won = cappotto_by_attachments(Options())
    assert won.outcome() == Outcome("cappotto", (Place(Seat(0), 2, 0), Place(Seat(1), 1, 0)))
    sent = cappotto_by_attachments(Options(cappotto_with_attachments=False))
    assert sent.phase is Phase.DEAL
    assert sent.penalty == (cards("vi1 gy2"), NONE)


def test_final_tie() -> None:
    """DEC-8: a tie is shared, or one extra hand is played; a second tie is shared."""
    tied: dict[FinalTie, Position] = {}
    for value in FinalTie:
        tied[value] = toy([CLOSER, OPPONENT], pen=[19, 16], last=True, options=Options(final_tie=value))
        play_all(tied[value], "0:discard(card=ye11, sail=True)", "1:partition(auto)")
    assert tied[FinalTie.SHARED].outcome() == Outcome("finished", (Place(Seat(0), 1, 19), Place(Seat(1), 1, 19)))
    extra = tied[FinalTie.EXTRA_HAND]
    assert (extra.phase, extra.last_hand, extra.extra_hand, extra.dealer) == (Phase.DEAL, True, True, 0)
    again = toy([CLOSER, OPPONENT], pen=[19, 16], last=True, options=Options(final_tie=FinalTie.EXTRA_HAND))
    again.extra_hand = True
    play_all(again, "0:discard(card=ye11, sail=True)", "1:partition(auto)")
    assert again.phase is Phase.GAME_OVER


def test_no_extra_hand_without_a_tie_or_without_cards() -> None:
    """DEC-8: who is alone in front has won; and a deck that gives no deal any more shares the win (R7)."""
    options = Options(final_tie=FinalTie.EXTRA_HAND)
    ahead = toy([CLOSER, OPPONENT], pen=[18, 16], last=True, options=options)
    play_all(ahead, "0:discard(card=ye11, sail=True)", "1:partition(auto)")
    assert ahead.phase is Phase.GAME_OVER
    poor = toy([CLOSER, OPPONENT], pen=[38, 35], last=True, options=options)
    play_all(poor, "0:discard(card=ye11, sail=True)", "1:partition(auto)")
    assert sum(map(len, poor.penalty)) == 76
    assert poor.phase is Phase.DEAL
    poorer = toy([CLOSER, OPPONENT], pen=[39, 36], last=True, options=options)
    play_all(poorer, "0:discard(card=ye11, sail=True)", "1:partition(auto)")
    assert poorer.phase is Phase.GAME_OVER


@pytest.mark.parametrize("value", VoidLast)
def test_void_last(value: VoidLast) -> None:
    """DEC-9: a void last hand is replayed, or ends the match by count; a void hand before the last is replayed."""
    options = Options(void_last=value, final_tie=FinalTie.EXTRA_HAND)
    last = drawing(options, dock=LAST_DOCK, pen=[17, 18], last=True)
    play_all(last, "0:draw(src=dock)")
    if value is VoidLast.REPLAY:
        assert (last.phase, last.last_hand, last.outcome()) == (Phase.DEAL, True, None)
    else:
        assert last.outcome() == Outcome("void", (Place(Seat(0), 1, 17), Place(Seat(1), 2, 18)))
        assert last.dealer == 1
    earlier = drawing(options, dock=LAST_DOCK)
    play_all(earlier, "0:draw(src=dock)")
    assert earlier.phase is Phase.DEAL


@pytest.mark.parametrize("most", [1, 3, 5])
def test_max_void(most: int) -> None:
    """DEC-9: so many void hands in a row end the match by count; a scored hand starts the count anew."""
    over = Outcome("void", (Place(Seat(0), 2, 2), Place(Seat(1), 1, 1)))
    for streak in range(most):
        position = drawing(Options(max_void=most), dock=LAST_DOCK, pen=[2, 1], void_streak=streak)
        play_all(position, "0:draw(src=dock)")
        assert position.outcome() == (over if streak == most - 1 else None)
    scored = toy([CLOSER, OPPONENT], options=Options(max_void=most), void_streak=most - 1)
    play_all(scored, "0:discard(card=ye11, sail=True)", "1:partition(auto)")
    assert scored.void_streak == 0
