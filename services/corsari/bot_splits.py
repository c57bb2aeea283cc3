"""An opponent's split: the automatic one; or, where the closer goes under anyway, one that hands him more cards.

Attaching is optional, and of all maximal crews any may be chosen (R20). Who stays at or below the closer's limit with
more stowaways sends more cards to the closer's pile (R22).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from services.corsari.actions import PARTITION_AUTO, Action, partition_into
from services.corsari.bot_sight import Seen, dock_colour
from services.corsari.cards import BIT, COLOUR, COLOURS, NONE, NUMBER, Cards
from services.corsari.optimum import best_split
from services.corsari.options import Options, PartitionMode, SentUnderCards
from services.corsari.splits import Split, check_maximal, divide, mask
from services.kit.bot import Advice
from services.kit.rules import IllegalAction

_PAIRS: Final = [(a, b) for a in range(len(COLOURS)) for b in range(a + 1, len(COLOURS))]


def advise_split(sight: Seen) -> Sequence[Advice[Action]]:
    """The splits worth considering, best first, worth the cards that they cost the closer, or, negated, the seat."""
    closer = sight.view.closer
    if closer is None:
        return [Advice(PARTITION_AUTO, 0.0, "BEST_SPLIT")]
    seat, hand, colour, options = sight.seat, sight.view.hand, dock_colour(sight.view), sight.options
    fit = best_split(hand, colour, closer.crew, closer.limit, options.cappotto_with_attachments)
    automatic = divide(seat, hand, colour, *fit)
    count = len(automatic.stowaways)
    if automatic.limit > closer.limit:
        return [Advice(PARTITION_AUTO, -float(count), "BEST_SPLIT")]
    if not count and (options.cappotto_with_attachments or not automatic.attached):
        return [Advice(PARTITION_AUTO, float(len(hand)), "NO_STOWAWAYS")]
    advice = [Advice[Action](PARTITION_AUTO, float(count), "SENDS_UNDER")]
    heaviest = most_handed_over(automatic, colour, closer, options)
    if heaviest is not automatic:
        chosen = partition_into(heaviest.crew, heaviest.attached)
        advice.insert(0, Advice(chosen, float(len(heaviest.stowaways)), "SENDS_UNDER"))
    return advice


def most_handed_over(automatic: Split, dock_colour: int, closer: Split, options: Options) -> Split:
    """The split of the same cards that sends the closer under with the most stowaways; *automatic* if none has more."""
    if options.partition is PartitionMode.AUTO or options.sent_under_cards is SentUnderCards.MINIMISED:
        return automatic
    best = automatic
    for crew in _crews(automatic.cards(), dock_colour, options):
        split = _fewest_attached(automatic, crew, dock_colour, closer)
        if split.limit > closer.limit or len(split.stowaways) <= len(best.stowaways):
            continue
        try:
            check_maximal(split)
        except IllegalAction:
            continue
        best = split
    return best


def _crews(hand: Cards, dock_colour: int, options: Options) -> Iterator[Cards]:
    """The full crews of all pairs of colours that the hand holds, each number once, of the lower colour."""
    held = {COLOUR[card] for card in hand}
    for pair in _PAIRS:
        if not held.issuperset(pair) or (dock_colour in pair and not options.crew_may_use_dock_colour):
            continue
        crew, numbers = bytearray(), 0
        for card in hand:
            if COLOUR[card] in pair and not numbers & BIT[card]:
                crew.append(card)
                numbers |= BIT[card]
        yield bytes(crew)


def _fewest_attached(automatic: Split, crew: Cards, dock_colour: int, closer: Split) -> Split:
    """The split with *crew* that attaches the highest stowaways until the closer's limit is met, as few as do it."""
    seat, hand = automatic.seat, automatic.cards()
    split = divide(seat, hand, dock_colour, crew)
    colours, taken = {COLOUR[card] for card in closer.crew}, mask(closer.crew)
    attached = NONE
    for card in sorted(split.stowaways, key=NUMBER.__getitem__, reverse=True):
        if split.limit <= closer.limit:
            break
        if COLOUR[card] in colours and not taken & BIT[card]:
            taken |= BIT[card]
            attached += bytes((card,))
            split = divide(seat, hand, dock_colour, crew, bytes(sorted(attached)))
    return split
