"""Random legal play: an entry of `legal` uniformly, then its free part, each legal filling with some probability."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Final

from services.corsari.actions import DRAWS, PARTITION_AUTO, PLAIN, SAIL_AUTO, Action, Discard, Partition, Sail
from services.corsari.cards import BIT, COLOUR, Cards, without, without_card
from services.corsari.phases import Phase
from services.corsari.splits import CREW_COLOURS, OF_COLOUR, mask

if TYPE_CHECKING:
    from services.corsari.options import Options
    from services.corsari.state import Position
    from services.corsari.view import View

_JOIN: Final = 0.75
"""How readily a card that fits joins a crew."""

_ATTACH: Final = 0.5
"""How readily a card that fits is attached."""


def sample(position: Position, seat: int, luck: Random) -> Action:
    """A random legal action of *seat*, which must have one."""
    if position.phase is Phase.DRAW:
        return DRAWS[int(luck.random() * len(DRAWS))]
    if position.phase is Phase.PARTITION:
        return sample_split(position, seat, luck)
    cards = position.allowed_discards()
    may_stay = bool(position.stock)
    sorts = 1 + may_stay + position.splits_are_chosen()
    sort, place = divmod(int(luck.random() * sorts * len(cards)), len(cards))
    card = cards[place]
    if may_stay and sort == 0:
        return PLAIN[card]
    if sort == may_stay:
        return SAIL_AUTO[card]
    rest = without_card(position.hands[seat], card)
    return _free_sail(card, rest, position.options, position.dock_colour(), luck)


def sample_split(position: Position, seat: int, luck: Random) -> Partition:
    """A random legal split of an opponent's hand."""
    if luck.random() < 1 / 2:
        return PARTITION_AUTO
    closer_crew = position.the_closer().crew
    return _free_partition(position.hands[seat], closer_crew, position.options, position.dock_colour(), luck)


def fill(options: Options, view: View, template: Action, luck: Random) -> Action:
    """A random legal action made of *template*, by what the seat whose *view* it is sees."""
    dock_colour = COLOUR[view.dock[-1]]
    if isinstance(template, Discard):
        return _free_sail(template.card, without_card(view.hand, template.card), options, dock_colour, luck)
    closer_crew = view.closer.crew if view.closer is not None else b""
    return _free_partition(view.hand, closer_crew, options, dock_colour, luck)


def _free_sail(card: int, rest: Cards, options: Options, dock_colour: int, luck: Random) -> Discard:
    """A legal sailing with the *rest* of the hand, after the discard of *card*."""
    return Discard(card, Sail(auto=False, crew=_crew(_joinable(rest, options, dock_colour), luck)))


def _free_partition(hand: Cards, closer_crew: Cards, options: Options, dock_colour: int, luck: Random) -> Partition:
    """A legal split: any attachments, then a crew from the rest, filled up until no stowaway could join it (R20).

    Every maximal crew may come, since it may be drawn whole in the first step and is not changed by the second.
    """
    colours = {COLOUR[card] for card in closer_crew}
    taken = mask(closer_crew)
    attach = bytearray()
    for card in hand:
        if COLOUR[card] in colours and not taken & BIT[card] and luck.random() < _ATTACH:
            attach.append(card)
            taken |= BIT[card]
    rest = without(hand, bytes(attach))
    crew = _crew(_joinable(rest, options, dock_colour), luck)
    stowaways = without(without(rest, crew), OF_COLOUR[dock_colour])
    return Partition(auto=False, crew=_filled(crew, stowaways), attach=bytes(attach))


def _joinable(hand: Cards, options: Options, dock_colour: int) -> Cards:
    """Cards of *hand* that a crew may hold (DEC-5)."""
    return hand if options.crew_may_use_dock_colour else without(hand, OF_COLOUR[dock_colour])


def _crew(cards: Cards, luck: Random) -> Cards:
    """Some legal crew of *cards*: two of their colours, perhaps the same, and for each number one card or none."""
    if not cards:
        return cards
    first = COLOUR[cards[int(luck.random() * len(cards))]]
    second = COLOUR[cards[int(luck.random() * len(cards))]]
    crew = bytearray()
    numbers = 0
    for card in cards:
        if (COLOUR[card] == first or COLOUR[card] == second) and not numbers & BIT[card] and luck.random() < _JOIN:
            crew.append(card)
            numbers |= BIT[card]
    return bytes(crew)


def _filled(crew: Cards, stowaways: Cards) -> Cards:
    """*crew* and every stowaway, from the lowest, that it can still take."""
    colours = {COLOUR[card] for card in crew}
    numbers = mask(crew)
    joined = bytearray()
    for card in stowaways:
        if not numbers & BIT[card] and (COLOUR[card] in colours or len(colours) < CREW_COLOURS):
            joined.append(card)
            colours.add(COLOUR[card])
            numbers |= BIT[card]
    return bytes(sorted(crew + joined))
