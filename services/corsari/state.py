"""The position of a match, and what the seats can do to it (dossier sections 3 and 9)."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Final

from services.corsari import dumping, sampling, scoring, turns, view
from services.corsari.actions import (
    DRAWS,
    PARTITION_AUTO,
    PARTITION_FREE,
    PLAIN,
    SAIL_AUTO,
    SAIL_FREE,
    Action,
    Source,
)
from services.corsari.cards import COLOUR, NONE, Cards, without_card
from services.corsari.dealing import deal
from services.corsari.events import Event, Resigned
from services.corsari.options import Options, PartitionMode
from services.corsari.phases import Phase
from services.corsari.splits import Split
from services.corsari.view import View
from services.kit.chance import Chance
from services.kit.rules import Asked, IllegalAction, Legal, Outcome, Seat, State, Viewer

_DEAL: Final = Phase.DEAL
_DRAW: Final = Phase.DRAW
_DISCARD: Final = Phase.DISCARD
_PARTITION: Final = Phase.PARTITION
_GAME_OVER: Final = Phase.GAME_OVER
_PILE: Final = Source.DISCARD

_NOTHING: Final[Legal[Action]] = Legal(())
_LEGAL_DRAWS: Final[Legal[Action]] = Legal(DRAWS)
_LEGAL_SPLITS: Final[Legal[Action]] = Legal((PARTITION_AUTO,), (PARTITION_FREE,))

_new: Final = object.__new__


class Position(State[Action, Event, View]):
    """One match. Parts are immutable and replaced: `copy` shares them.

    Between the end of a hand and the deal that follows in the same step the phase is DEAL (K6); `apply` never stops
    there, `play` does. The splits of a scored hand stay until then.
    """

    __slots__ = (
        "cappotto",
        "closer",
        "dealer",
        "decisions",
        "declared",
        "discard",
        "dock",
        "drawn",
        "drew",
        "extra_hand",
        "given_up",
        "hand_number",
        "hands",
        "known",
        "last_hand",
        "options",
        "penalty",
        "phase",
        "quiet_turns",
        "reason",
        "seats",
        "stock",
        "turn",
        "version",
        "void_streak",
    )

    def __init__(self, options: Options, seats: int, version: str) -> None:
        self.options = options
        self.seats = seats
        self.version = version
        self.phase = Phase.DEAL
        self.turn = Seat(0)
        self.dealer = Seat(0)
        self.hand_number = 0
        self.hands: tuple[Cards, ...] = (NONE,) * seats
        self.known: tuple[Cards, ...] = (NONE,) * seats
        self.penalty: tuple[Cards, ...] = (NONE,) * seats
        self.stock: Cards = NONE
        self.dock: Cards = NONE
        self.discard: Cards = NONE
        self.drew: Source | None = None
        self.drawn: int | None = None
        self.quiet_turns = 0
        self.void_streak = 0
        self.last_hand = False
        self.extra_hand = False
        self.closer: Split | None = None
        self.declared: tuple[Split | None, ...] = (None,) * seats
        self.decisions: tuple[int, ...] = (0,) * seats
        self.given_up: tuple[Seat, ...] = ()
        self.cappotto: tuple[Seat, ...] = ()
        self.reason = ""

    def copy(self) -> Position:
        """An independent position; the parts are shared."""
        new = _new(Position)
        new.options = self.options
        new.seats = self.seats
        new.version = self.version
        new.phase = self.phase
        new.turn = self.turn
        new.dealer = self.dealer
        new.hand_number = self.hand_number
        new.hands = self.hands
        new.known = self.known
        new.penalty = self.penalty
        new.stock = self.stock
        new.dock = self.dock
        new.discard = self.discard
        new.drew = self.drew
        new.drawn = self.drawn
        new.quiet_turns = self.quiet_turns
        new.void_streak = self.void_streak
        new.last_hand = self.last_hand
        new.extra_hand = self.extra_hand
        new.closer = self.closer
        new.declared = self.declared
        new.decisions = self.decisions
        new.given_up = self.given_up
        new.cappotto = self.cappotto
        new.reason = self.reason
        return new

    # What a position says of itself

    def dock_colour(self) -> int:
        """Colour of the end card (R5, R14)."""
        return COLOUR[self.dock[-1]]

    def must_sail(self) -> bool:
        """Whether the seat in turn drew the last stock card (R11); the stock is never empty otherwise (R13)."""
        return self.phase is _DISCARD and not self.stock

    def the_closer(self) -> Split:
        """The closer's split; only once somebody has sailed."""
        assert self.closer is not None  # noqa: S101 - callers run after R17 only
        return self.closer

    def allowed_discards(self) -> Cards:
        """Cards that the seat in turn may discard: all thirteen (R9), but for `no_null_discard` (DEC-3)."""
        hand = self.hands[self.turn]
        if self.options.no_null_discard and self.drew is _PILE and self.drawn is not None:
            return without_card(hand, self.drawn)
        return hand

    def splits_are_chosen(self) -> bool:
        """Whether the players split their cards themselves (DEC-6)."""
        return self.options.partition is PartitionMode.CHOSEN

    def asked(self) -> Sequence[Asked]:
        """The seat in turn, or in PARTITION the opponents that have not declared."""
        if self.phase is _PARTITION:
            turn, declared, decisions = self.turn, self.declared, self.decisions
            return [
                Asked(Seat(seat), decisions[seat])
                for seat in range(self.seats)
                if seat != turn and declared[seat] is None
            ]
        if self.phase is _DRAW or self.phase is _DISCARD:
            return [Asked(self.turn, self.decisions[self.turn])]
        return []

    def asked_publicly(self) -> Sequence[Seat]:
        """As `asked`, but in PARTITION all opponents until the window closes."""
        if self.phase is _PARTITION:
            return [Seat(seat) for seat in range(self.seats) if seat != self.turn]
        return [self.turn] if self.phase is _DRAW or self.phase is _DISCARD else []

    def legal(self, seat: Seat) -> Legal[Action]:
        """Draws in the order of sources; or discards ascending, then those that sail; or the splits."""
        phase = self.phase
        if phase is _PARTITION:
            return _NOTHING if seat == self.turn or self.declared[seat] is not None else _LEGAL_SPLITS
        if seat != self.turn:
            return _NOTHING
        if phase is _DRAW:
            return _LEGAL_DRAWS
        if phase is not _DISCARD:
            return _NOTHING
        cards = self.allowed_discards()
        actions = [SAIL_AUTO[card] for card in cards]
        if self.stock:
            actions = [PLAIN[card] for card in cards] + actions
        return Legal(actions, [SAIL_FREE[card] for card in cards] if self.splits_are_chosen() else ())

    def sample(self, seat: Seat, luck: Random) -> Action:
        """A random legal action of *seat*, which must have one."""
        return sampling.sample(self, seat, luck)

    def view(self, viewer: Viewer) -> View:
        """All that *viewer* knows with a perfect memory."""
        return view.view_of(self, viewer)

    def outcome(self) -> Outcome | None:
        """The result, once the match is over."""
        return scoring.outcome(self)

    def dump(self) -> bytes:
        """Canonical bytes, read back by `dumping.load`."""
        return dumping.dump(self)

    def __str__(self) -> str:
        return view.describe(self)

    # What happens to it

    def apply(self, seat: Seat, action: Action, chance: Chance) -> Sequence[Event]:
        """Play *action*, and deal if it ended the hand.

        Raises:
            IllegalAction: the codes of section 3 in the order of K1.
        """
        events = turns.play(self, seat, action)
        if self.phase is _DEAL:
            events.append(deal(self, chance))
        return events

    def timeout(self, seat: Seat, chance: Chance) -> Sequence[Event]:
        """Play *seat*'s silence (DEC-16, R21)."""
        return self.apply(seat, turns.silence(self), chance)

    def resigned(self, seat: Seat, chance: Chance) -> Sequence[Event]:
        """Take note that *seat* has given up.

        Raises:
            IllegalAction: GAME_OVER, or ALREADY_RESIGNED.
        """
        if self.phase is _GAME_OVER:
            raise IllegalAction("GAME_OVER")
        if seat in self.given_up:
            raise IllegalAction("ALREADY_RESIGNED")
        scoring.resign(self, seat)
        return [Resigned(seat)]

    def ask(self, seat: Seat) -> None:
        """Open *seat*'s next decision."""
        decisions = list(self.decisions)
        decisions[seat] += 1
        self.decisions = tuple(decisions)
