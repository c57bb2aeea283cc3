"""How a hand ends, and the match with it: scores, cappotto, void hands, ranks (R12, R22-R25, R27, DEC-8, DEC-9)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from services.corsari.cards import NONE, Cards, in_order, without
from services.corsari.dealing import is_dealable
from services.corsari.events import Event, HandVoided, Scored, VoidReason
from services.corsari.optimum import fewest_stowaways
from services.corsari.options import FinalTie, SentUnderCards, VoidLast, VoidRedeal
from services.corsari.phases import Phase
from services.corsari.splits import OF_COLOUR, Split, divide
from services.kit.rules import Outcome, Place, Seat

if TYPE_CHECKING:
    from services.corsari.state import Position

LAST_HAND_AT: Final = 35
"""Penalty cards of all seats together from which one more hand is played (R25)."""

OVER_AT: Final = 45
"""Penalty cards of all seats together from which the match is over (R25)."""

FINISHED: Final = "finished"
CAPPOTTO: Final = "cappotto"
VOID: Final = "void"
RESIGNED: Final = "resigned"
REASONS: Final = ("", FINISHED, CAPPOTTO, VOID, RESIGNED)
"""Codes of `Outcome.reason`; the empty one while the match runs."""


def score(position: Position) -> Event:
    """Compare every opponent with the closer once all have declared (R22, R23), or give the win to a cappotto (R27b).

    Leaves the position in DEAL or GAME_OVER.
    """
    closer = position.the_closer()
    splits = tuple(split for split in position.declared if split is not None)
    position.void_streak = 0
    position.known = position.hands
    winners = _cappotto(position, splits)
    if winners:
        _win_by_cappotto(position, winners)
        return Scored(splits, (), (NONE,) * position.seats, winners)
    new: list[Cards] = [NONE] * position.seats
    sent_under = tuple(split.seat for split in splits if split.limit <= closer.limit)
    for split in splits:
        if split.seat in sent_under:
            new[closer.seat] += _handed_over(position, split)
        else:
            new[split.seat] = split.stowaways
    if sent_under:
        new[closer.seat] = in_order(new[closer.seat] + closer.stowaways)
    gone = NONE.join(new)
    piles = zip(position.penalty, new, strict=True)
    position.penalty = tuple([in_order(pile + more) if more else pile for pile, more in piles])
    position.known = position.hands = tuple([without(hand, gone) for hand in position.hands])
    _go_on(position)
    return Scored(splits, sent_under, tuple(new), ())


def closer_cappotto(position: Position) -> Event:
    """The closer has no stowaways and wins the match at once (R27a)."""
    closer = position.the_closer().seat
    position.void_streak = 0
    _finish(position, CAPPOTTO, (closer,))
    return Scored((), (), (NONE,) * position.seats, (closer,))


def void(position: Position, reason: VoidReason) -> Event:
    """End the hand without a score (R12, DEC-3); too many in a row, or a void last hand, may end the match (DEC-9)."""
    options = position.options
    position.void_streak += 1
    ends = position.last_hand and options.void_last is VoidLast.ENDS
    if ends or position.void_streak >= options.max_void:
        _finish(position, VOID)
    else:
        _next_hand(position, keep_dealer=options.void_redeal is VoidRedeal.SAME)
    return HandVoided(reason)


def resign(position: Position, seat: Seat) -> None:
    """Note that *seat* has given up; when one is left that has not, the match is over and nothing more is shown."""
    position.given_up = tuple(sorted((*position.given_up, seat)))
    if len(position.given_up) == position.seats - 1:
        position.closer = None
        position.declared = (None,) * position.seats
        _finish(position, RESIGNED)


def outcome(position: Position) -> Outcome | None:
    """The result: cappotto before the count of penalty cards, fewest first (R24, R25, R27); who gave up is last."""
    if position.phase is not Phase.GAME_OVER:
        return None
    keys = [_standing(position, Seat(seat)) for seat in range(position.seats)]
    places = tuple(
        Place(Seat(seat), 1 + sum(other < key for other in keys), len(position.penalty[seat]))
        for seat, key in enumerate(keys)
    )
    return Outcome(position.reason, places)


def _standing(position: Position, seat: Seat) -> tuple[int, int]:
    """What ranks a seat, lowest best. Seats that gave up share the last place."""
    if seat in position.given_up:
        return 2, 0
    if seat in position.cappotto:
        return 0, 0
    return 1, len(position.penalty[seat])


def _cappotto(position: Position, splits: tuple[Split, ...]) -> tuple[Seat, ...]:
    """Opponents who win by cappotto: of several those with the fewest penalty cards (R27c)."""
    if all(split.stowaways for split in splits):
        return ()
    attachments_win = position.options.cappotto_with_attachments
    dock_colour = OF_COLOUR[position.dock_colour()]
    able = [
        split.seat
        for split in splits
        if not split.stowaways and (attachments_win or not without(split.attached, dock_colour))
    ]
    able = [seat for seat in able if seat not in position.given_up] or able
    fewest = min((len(position.penalty[seat]) for seat in able), default=0)
    return tuple(seat for seat in able if len(position.penalty[seat]) == fewest)


def _win_by_cappotto(position: Position, winners: tuple[Seat, ...]) -> None:
    if len(winners) > 1 and _may_play_extra(position):
        _play_extra(position)
    else:
        _finish(position, CAPPOTTO, winners)


def _handed_over(position: Position, split: Split) -> Cards:
    """The cards that a sender's stowaways cost the closer (R22, DEC-6)."""
    if position.options.sent_under_cards is SentUnderCards.AS_DECLARED:
        return split.stowaways
    hand, dock_colour = position.hands[split.seat], position.dock_colour()
    fit = fewest_stowaways(hand, dock_colour, position.the_closer().crew)
    return divide(split.seat, hand, dock_colour, *fit).stowaways


def _go_on(position: Position) -> None:
    """After a scored hand: one more, the last one, an extra one, or the end (R25, DEC-8)."""
    total = sum(map(len, position.penalty))
    if total >= OVER_AT or position.last_hand:
        if _is_tied(position) and _may_play_extra(position):
            _play_extra(position)
        else:
            _finish(position, FINISHED)
        return
    position.last_hand = total >= LAST_HAND_AT
    _next_hand(position)


def _is_tied(position: Position) -> bool:
    """Whether the fewest penalty cards are shared, among those who have not given up."""
    counts = sorted(len(pile) for seat, pile in enumerate(position.penalty) if seat not in position.given_up)
    return counts[0] == counts[1]


def _may_play_extra(position: Position) -> bool:
    """Whether a tie is played off (DEC-8): once a match, if the deck still gives a hand."""
    wanted = position.options.final_tie is FinalTie.EXTRA_HAND
    return wanted and not position.extra_hand and is_dealable(position)


def _play_extra(position: Position) -> None:
    position.last_hand = position.extra_hand = True
    _next_hand(position)


def _next_hand(position: Position, keep_dealer: bool = False) -> None:
    """Wait for the deal; the dealer's role passes clockwise (R3, DEC-1)."""
    position.phase = Phase.DEAL
    position.drew = position.drawn = None
    if not keep_dealer:
        position.dealer = Seat((position.dealer + 1) % position.seats)


def _finish(position: Position, reason: str, cappotto: tuple[Seat, ...] = ()) -> None:
    position.phase = Phase.GAME_OVER
    position.drew = position.drawn = None
    position.reason = reason
    position.cappotto = cappotto
