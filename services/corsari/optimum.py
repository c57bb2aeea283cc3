"""The automatic optimum (R26): the best crew of a closer, the best split of an opponent.

Only the pair of colours (a, b), a <= b, of a crew matters. What a mask of numbers is worth is looked up, ranked by
saved limit before saved cards or the other way round, so that the first maximum in the order of pairs is the rule's
lexicographic minimum.

Worths add up over numbers, so W[A|B] + W[A&B] = W[A] + W[B]. Attachments therefore add the same W[B] to every pair,
less what a lender colour in the pair cannot give twice: the numbers of B that it holds alone among the pair and K.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from services.corsari.cards import BIT, COLOUR, COLOURS, NONE, NUMBERS, Cards, value, without
from services.corsari.splits import OF_COLOUR, mask

_MASKS: Final = 1 << NUMBERS
_OTHERS: Final = len(COLOURS) - 1
_CARD_BITS: Final = 5  # a hand has at most 13 cards
_LIMIT_BITS: Final = 8  # twice the sum of a colour is 132


def _sum(numbers: int) -> int:
    return sum(bit + 1 for bit in range(NUMBERS) if numbers >> bit & 1)


_BY_LIMIT: Final = [_sum(m) << _CARD_BITS | m.bit_count() for m in range(_MASKS)]
_BY_COUNT: Final = [m.bit_count() << _LIMIT_BITS | _sum(m) for m in range(_MASKS)]

_PAIRS: Final = [(a, b) for a in range(_OTHERS) for b in range(a, _OTHERS)]
"""The 45 pairs of the nine colours but the dock's, by their places among these, in the order of the rule."""
_PLACES: Final = [[_PAIRS.index((min(a, b), max(a, b))) for b in range(_OTHERS)] for a in range(_OTHERS)]


class Fit(NamedTuple):
    """An opponent's automatic split: his crew, and what he attaches to the closer's."""

    crew: Cards
    attach: Cards


def best_crew(hand: Cards, dock_colour: int) -> Cards:
    """The closer's automatic crew: the minimum of (limit, stowaways, a, b)."""
    worths = _worths(_BY_LIMIT, _unions(_masks(hand, dock_colour)))
    return _crew(hand, *_colours(worths.index(max(worths)), dock_colour))


def lightest_discard(cards: Cards, dock_colour: int, allowed: Cards) -> int:
    """The card of *allowed* whose discard leaves the least (limit, stowaways), of equal ones the lowest (DEC-16)."""
    best, found = (value(cards) + 1, 0), allowed[0]
    for card in allowed:
        rest = without(cards, OF_COLOUR[dock_colour] + bytes((card,)))
        saved = max(_worths(_BY_LIMIT, _unions(_masks(rest, dock_colour))))
        left = value(rest) - (saved >> _CARD_BITS), len(rest) - saved % (1 << _CARD_BITS)
        if left < best:
            best, found = left, card
    return found


def best_split(
    hand: Cards, dock_colour: int, closer_crew: Cards, closer_limit: int, attachments_win: bool = True
) -> Fit:
    """An opponent's automatic split: the minimum of (penalty, limit, stowaways, a, b).

    If attachments do not count for a cappotto (DEC-7), a split that needs none to be rid of all stowaways comes first.
    """
    masks = _masks(hand, dock_colour)
    unions = _unions(masks)
    lot = without(hand, OF_COLOUR[dock_colour])
    total = value(lot)
    worths = _worths(_BY_LIMIT, unions)
    if not attachments_win and (best := max(worths)) == total << _CARD_BITS | len(lot):
        return Fit(_crew(hand, *_colours(worths.index(best), dock_colour)), NONE)
    lenders = _lenders(closer_crew, dock_colour)
    borrowed = 0
    for lender in lenders:
        borrowed |= masks[lender]
    borrowed &= ~mask(closer_crew)
    if borrowed:
        _lessen(worths, _BY_LIMIT, masks, lenders, borrowed)
    best = max(worths)
    if total - (best + _BY_LIMIT[borrowed] >> _CARD_BITS) > closer_limit:
        worths = _worths(_BY_COUNT, unions)
        if borrowed:
            _lessen(worths, _BY_COUNT, masks, lenders, borrowed)
        best = max(worths)
    pair = _colours(worths.index(best), dock_colour)
    if not borrowed:
        return Fit(_crew(hand, *pair), NONE)
    return _fit(hand, pair, [_colour(place, dock_colour) for place in lenders], borrowed)


def fewest_stowaways(hand: Cards, dock_colour: int, closer_crew: Cards) -> Fit:
    """The split that leaves the fewest stowaways, of equal ones the lowest limit (DEC-6, `minimised`)."""
    return best_split(hand, dock_colour, closer_crew, -1)


def _masks(hand: Cards, dock_colour: int) -> list[int]:
    """Numbers held in each of the nine other colours."""
    masks = [0] * len(COLOURS)
    for card in hand:
        masks[COLOUR[card]] |= BIT[card]
    del masks[dock_colour]
    return masks


def _unions(masks: list[int]) -> list[int]:
    """Numbers held in the two colours of each pair, in the order of pairs; written out, for speed."""
    a, b, c, d, e, f, g, h, i = masks
    return [
        *(a, a | b, a | c, a | d, a | e, a | f, a | g, a | h, a | i),
        *(b, b | c, b | d, b | e, b | f, b | g, b | h, b | i),
        *(c, c | d, c | e, c | f, c | g, c | h, c | i),
        *(d, d | e, d | f, d | g, d | h, d | i),
        *(e, e | f, e | g, e | h, e | i),
        *(f, f | g, f | h, f | i),
        *(g, g | h, g | i),
        *(h, h | i),
        i,
    ]


def _worths(table: list[int], unions: list[int]) -> list[int]:
    """What the crew of each pair saves, in the order of pairs."""
    return list(map(table.__getitem__, unions))


def _lessen(worths: list[int], table: list[int], masks: list[int], lenders: list[int], borrowed: int) -> None:
    """Take from the pairs with a lender the numbers that its only card cannot serve both crew and attachment."""
    for lender in lenders:
        alone = masks[lender] & borrowed
        for other in lenders:
            if other != lender:
                alone &= ~masks[other]
        if not alone:
            continue
        for place, numbers in zip(_PLACES[lender], masks, strict=True):
            worths[place] -= table[alone & ~numbers]
        worths[_PLACES[lender][lender]] -= table[alone]  # the pair of the lender with itself


def _lenders(closer_crew: Cards, dock_colour: int) -> list[int]:
    """K of the rule, as places: colours of the closer's crew but the dock's, ascending."""
    return sorted({COLOUR[card] - (COLOUR[card] > dock_colour) for card in closer_crew if COLOUR[card] != dock_colour})


def _colour(place: int, dock_colour: int) -> int:
    """The colour at a place among those that are not the dock's."""
    return place + (place >= dock_colour)


def _colours(pair: int, dock_colour: int) -> tuple[int, int]:
    """The two colours of a pair."""
    a, b = _PAIRS[pair]
    return _colour(a, dock_colour), _colour(b, dock_colour)


def _crew(hand: Cards, a: int, b: int) -> Cards:
    """All numbers of the two colours, each once, of the lower colour where both hold it."""
    crew = bytearray()
    numbers = 0
    for card in hand:
        if (COLOUR[card] == a or COLOUR[card] == b) and not numbers & BIT[card]:
            crew.append(card)
            numbers |= BIT[card]
    return bytes(crew)


def _fit(hand: Cards, pair: tuple[int, int], lenders: list[int], borrowed: int) -> Fit:
    """The cards behind a pair: the crew before the attachments, lowest colour first (K3).

    Where a single lender card could serve both and the pair has another of its number, the lender card is attached.
    """
    lent = twice_lent = others = 0
    for card in hand:
        colour, bit = COLOUR[card], BIT[card]
        if colour in lenders:
            twice_lent |= lent & bit
            lent |= bit
        elif colour in pair:
            others |= bit
    kept = borrowed & others & ~twice_lent
    crew, attach = bytearray(), bytearray()
    in_crew = attached = 0
    for card in hand:
        colour, bit = COLOUR[card], BIT[card]
        lends = colour in lenders
        if colour in pair and not in_crew & bit and not (lends and kept & bit):
            crew.append(card)
            in_crew |= bit
        elif lends and borrowed & bit and not attached & bit:
            attach.append(card)
            attached |= bit
    return Fit(bytes(crew), bytes(attach))
