"""The dossier's invariants, checked on a position (section 8, R13). For tests and `simulate --check`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from services.corsari.actions import Source
from services.corsari.cards import ALL, NONE, value, without
from services.corsari.dealing import HAND
from services.corsari.options import SentUnderCards
from services.corsari.phases import Phase
from services.corsari.scoring import LAST_HAND_AT, OVER_AT
from services.corsari.splits import OF_COLOUR, Split, check_attached, check_cards, check_crew, check_maximal
from services.kit.rules import IllegalAction

if TYPE_CHECKING:
    from services.corsari.state import Position

MOST_LIMIT: Final = 130
"""Ten 11s and two 10s (I5)."""

_PLAYED: Final = (Phase.DRAW, Phase.DISCARD, Phase.PARTITION)


def violations(position: Position) -> list[str]:
    """Codes of the invariants that *position* breaks, each once; empty if it is sound."""
    found = dict.fromkeys(
        code for check in (_cards, _sizes, _hands, _penalties, _splits, _scores) for code in check(position)
    )
    return list(found)


def _cards(position: Position) -> Iterator[str]:
    """I1: every card is in exactly one place."""
    everywhere = (*position.hands, *position.penalty, position.stock, position.discard, position.dock)
    if bytes(sorted(NONE.join(everywhere))) != ALL:
        yield "I1"


def _sizes(position: Position) -> Iterator[str]:
    """R13 and I2: what each phase holds."""
    if position.phase not in _PLAYED:
        return
    drawing = position.phase is Phase.DRAW
    if drawing and not (position.stock and position.dock and position.discard):
        yield "R13"
    if not position.dock:
        yield "R12"
    if not position.stock and position.phase is Phase.DISCARD and position.drew is not Source.STOCK:
        yield "R11"
    for seat, hand in enumerate(position.hands):
        extra = position.phase is Phase.DISCARD and seat == position.turn
        if len(hand) != HAND + extra:
            yield "R13" if drawing else "I2"


def _hands(position: Position) -> Iterator[str]:
    """Order and knowledge: sets ascend, known cards are held, the card drawn is held."""
    for cards in (*position.hands, *position.known, *position.penalty):
        if bytes(sorted(cards)) != cards:
            yield "ORDER"
    for hand, known in zip(position.hands, position.known, strict=True):
        if without(known, hand):
            yield "KNOWN"
    drawn = position.drawn
    if (drawn is not None) is not (position.phase is Phase.DISCARD):
        yield "DRAWN"
    if drawn is not None:
        hidden = drawn not in position.known[position.turn]
        if drawn not in position.hands[position.turn] or hidden is not (position.drew is Source.STOCK):
            yield "DRAWN"


def _penalties(position: Position) -> Iterator[str]:
    """R25, I3: a hand is played while the total allows it, the last one when it is announced."""
    if position.phase not in _PLAYED or position.extra_hand:
        return
    total = sum(map(len, position.penalty))
    if total >= OVER_AT or position.last_hand is not (total >= LAST_HAND_AT):
        yield "R25"


def _splits(position: Position) -> Iterator[str]:
    """I5, R14-R20: splits are whole and legal, their limits true."""
    closer, phase = position.closer, position.phase
    if phase in (Phase.DRAW, Phase.DISCARD) and (closer is not None or any(position.declared)):
        yield "R21"
    if closer is None or not position.dock:
        return
    for split in (closer, *filter(None, position.declared)):
        if phase is Phase.PARTITION and split.cards() != position.hands[split.seat]:
            yield "R17"
        if not 0 <= split.limit == value(split.stowaways) <= MOST_LIMIT or (split.limit == 0) is bool(split.stowaways):
            yield "I5"
        yield from _judged(position, split, closer)


def _judged(position: Position, split: Split, closer: Split) -> Iterator[str]:
    """The codes by which the judge would refuse the split."""
    dock_colour = position.dock_colour()
    of_dock = OF_COLOUR[dock_colour]
    if without(split.prisoners, of_dock) or without(split.stowaways, of_dock) != split.stowaways:
        yield "R15"
    try:
        check_cards(split.cards(), split.crew + split.attached)
        check_crew(split.crew, dock_colour, position.options.crew_may_use_dock_colour)
        if split is not closer:
            check_attached(split.attached, closer.crew)
            check_maximal(split)
    except IllegalAction as refusal:
        yield refusal.reason


def _scores(position: Position) -> Iterator[str]:
    """I4: after a scored hand the stowaways lie where R22 and R23 send them."""
    closer = position.closer
    if closer is None or position.phase in _PLAYED or position.cappotto or None in _opponents(position):
        return
    declared = [split for split in position.declared if split]
    if not all(split.stowaways for split in declared) and position.phase is Phase.DEAL:
        return  # a cappotto that is played off
    senders = [split for split in declared if split.limit <= closer.limit]
    piles = position.penalty
    if senders and without(closer.stowaways, piles[closer.seat]):
        yield "I4"
    as_declared = position.options.sent_under_cards is SentUnderCards.AS_DECLARED
    for split in declared:
        if split not in senders and without(split.stowaways, piles[split.seat]):
            yield "I4"
        if split in senders and as_declared and without(split.stowaways, piles[closer.seat]):
            yield "I4"


def _opponents(position: Position) -> list[Split | None]:
    """The opponents' splits, once somebody has sailed."""
    return [split for seat, split in enumerate(position.declared) if seat != position.turn]
