"""What the actions do to a position: draw, discard, sail, split (dossier sections 3 and 9), and what silence means."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from services.corsari import scoring
from services.corsari.actions import (
    DRAWS,
    PARTITION_AUTO,
    PLAIN,
    SAIL_AUTO,
    Action,
    Discard,
    Draw,
    Partition,
    Sail,
    Source,
)
from services.corsari.cards import NAMES, NONE, ONE, Cards, with_card, without_card
from services.corsari.events import DISCARDED, DRAWN, Declared, Event, Sailed, VoidReason
from services.corsari.optimum import best_crew, best_split, lightest_discard
from services.corsari.phases import Phase
from services.corsari.seats import put
from services.corsari.splits import Split, check_attached, check_cards, check_crew, check_maximal, divide
from services.kit.rules import IllegalAction, Seat

if TYPE_CHECKING:
    from services.corsari.state import Position

_DRAW: Final = Phase.DRAW
_DISCARD: Final = Phase.DISCARD
_PARTITION: Final = Phase.PARTITION
_GAME_OVER: Final = Phase.GAME_OVER
_STOCK: Final = Source.STOCK
_PILE: Final = Source.DISCARD


def play(position: Position, seat: Seat, action: Action) -> list[Event]:
    """As `apply`, but stop before the deal, in phase DEAL. Order of checks: K1."""
    if position.phase is _GAME_OVER:
        raise IllegalAction("GAME_OVER")
    if isinstance(action, Partition):
        return _partition(position, seat, action)
    if seat != position.turn:
        raise IllegalAction("NOT_YOUR_TURN")
    if isinstance(action, Draw):
        return _draw(position, action.source)
    return _discard(position, action)


def _draw(position: Position, source: Source) -> list[Event]:
    """DRAW (section 3): one card to the hand; the last dock card voids the hand (R12)."""
    if position.phase is not _DRAW:
        raise IllegalAction("PHASE")
    seat = position.turn
    if source is _STOCK:
        card = position.stock[-1]
        position.stock = position.stock[:-1]
    else:
        if source is _PILE:
            card = position.discard[-1]
            position.discard = position.discard[:-1]
        else:
            card = position.dock[-1]
            position.dock = position.dock[:-1]
        position.known = put(position.known, seat, with_card(position.known[seat], card))
    position.quiet_turns = position.quiet_turns + 1 if source is _PILE else 0
    position.hands = put(position.hands, seat, with_card(position.hands[seat], card))
    event = DRAWN[seat][source][card]
    if not position.dock:
        return [event, scoring.void(position, VoidReason.DOCK)]
    position.drew = source
    position.drawn = card
    position.phase = _DISCARD
    position.ask(seat)
    return [event]


def _discard(position: Position, action: Discard) -> list[Event]:
    """DISCARD (section 3, R9-R11): one card to the pile, and the turn passes or the seat sails."""
    if position.phase is not _DISCARD:
        raise IllegalAction("PHASE")
    seat, card = position.turn, action.card
    hand = position.hands[seat]
    if card not in hand:
        raise IllegalAction("CARD_NOT_IN_HAND", card=NAMES[card])
    if not position.stock and action.sail is None:
        raise IllegalAction("MUST_SAIL")
    if position.options.no_null_discard and position.drew is _PILE and card == position.drawn:
        raise IllegalAction("NULL_DISCARD", card=NAMES[card])
    hand = without_card(hand, card)
    crew = _closer_crew(position, hand, action.sail) if action.sail is not None else NONE
    position.hands = put(position.hands, seat, hand)
    position.discard += ONE[card]
    if card in position.known[seat]:
        position.known = put(position.known, seat, without_card(position.known[seat], card))
    position.drew = position.drawn = None
    event = DISCARDED[seat][card]
    if action.sail is not None:
        return [event, *_sail(position, seat, hand, crew)]
    if position.quiet_turns >= position.options.stall_turns(position.seats):
        return [event, scoring.void(position, VoidReason.STALL)]
    position.turn = Seat((seat + 1) % position.seats)
    position.phase = _DRAW
    position.ask(position.turn)
    return [event]


def _closer_crew(position: Position, hand: Cards, sail: Sail) -> Cards:
    """The closer's crew, judged (R16) or found (R26)."""
    if sail.auto:
        return best_crew(hand, position.dock_colour())
    if not position.splits_are_chosen():
        raise IllegalAction("PARTITION_AUTO")
    check_cards(hand, sail.crew)
    check_crew(sail.crew, position.dock_colour(), position.options.crew_may_use_dock_colour)
    return sail.crew


def _sail(position: Position, seat: Seat, hand: Cards, crew: Cards) -> list[Event]:
    """Lay all twelve cards down (R17); then the opponents split theirs, unless nobody needs to be asked."""
    position.closer = divide(seat, hand, position.dock_colour(), crew)
    position.known = put(position.known, seat, hand)
    events: list[Event] = [Sailed(position.closer)]
    if not position.closer.stowaways:
        events.append(scoring.closer_cappotto(position))
        return events
    position.phase = _PARTITION
    others = [Seat(other) for other in range(position.seats) if other != seat]
    if position.splits_are_chosen():
        for other in others:
            position.ask(other)
        return events
    for other in others:
        position.declared = put(position.declared, other, judge_split(position, other, PARTITION_AUTO))
    events.append(scoring.score(position))
    return events


def _partition(position: Position, seat: Seat, action: Partition) -> list[Event]:
    """PARTITION (section 3, R18-R21): laid face down; the last one brings the score."""
    if position.phase is not _PARTITION:
        raise IllegalAction("PHASE")
    if seat == position.turn or position.declared[seat] is not None:
        raise IllegalAction("ALREADY_DECLARED")
    split = judge_split(position, seat, action)
    position.declared = put(position.declared, seat, split)
    events: list[Event] = [Declared(seat, split)]
    if position.declared.count(None) == 1:
        events.append(scoring.score(position))
    return events


def judge_split(position: Position, seat: Seat, action: Partition) -> Split:
    """The split that *action* makes of an opponent's hand.

    Raises:
        IllegalAction: R16, R19 or R20 forbids it.
    """
    closer, hand, dock_colour = position.the_closer(), position.hands[seat], position.dock_colour()
    if action.auto:
        attachments_win = position.options.cappotto_with_attachments
        fit = best_split(hand, dock_colour, closer.crew, closer.limit, attachments_win)
        return divide(seat, hand, dock_colour, *fit)
    check_cards(hand, action.crew + action.attach)
    check_crew(action.crew, dock_colour, position.options.crew_may_use_dock_colour)
    check_attached(action.attach, closer.crew)
    split = divide(seat, hand, dock_colour, action.crew, action.attach)
    check_maximal(split)
    return split


def silence(position: Position) -> Action:
    """The action that stands for silence: draw stock; the lightest discard, sailing if forced; the automatic split."""
    if position.phase is _PARTITION:
        return PARTITION_AUTO
    if position.phase is _DRAW:
        return DRAWS[0]
    hand = position.hands[position.turn]
    card = lightest_discard(hand, position.dock_colour(), position.allowed_discards())
    return PLAIN[card] if position.stock else SAIL_AUTO[card]
