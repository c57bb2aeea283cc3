"""What happens in a match. Each event is whole; `public` and `own` are the halves that viewers are shown."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Final, Self, TypeAlias

from services.corsari.actions import Source
from services.corsari.cards import COUNT, NAMES, NONE, Cards, text
from services.corsari.seats import SEATS
from services.corsari.splits import Split
from services.kit.rules import Seat


class VoidReason(IntEnum):
    """Why a hand is void; numbers as in the contract."""

    DOCK = 1
    STALL = 2


class Open:
    """An event in which nothing is hidden."""

    __slots__ = ()

    def public(self) -> Self | None:
        """The event itself."""
        return self

    def own(self, seat: Seat) -> Self | None:
        """Nothing beyond the public form."""
        return None


@dataclass(frozen=True, slots=True)
class Dealt:
    """A hand begins (R3-R6). `hands` is set in the whole event only, `hand` in a seat's own form only."""

    hand_number: int
    dealer: Seat
    dock: Cards
    discard: int
    stock_size: int
    last_hand: bool
    extra_hand: bool
    hand: Cards = NONE
    hands: tuple[Cards, ...] = ()

    def public(self) -> Self | None:
        """All but the hands."""
        return replace(self, hand=NONE, hands=())

    def own(self, seat: Seat) -> Self | None:
        """With the seat's twelve cards."""
        return replace(self, hand=self.hands[seat], hands=()) if self.hands else None

    def __str__(self) -> str:
        last = " extra" if self.extra_hand else " last" if self.last_hand else ""
        hand = f" hand [{text(self.hand)}]" if self.hand else ""
        return (
            f"dealt hand {self.hand_number}{last} dealer {self.dealer} dock [{text(self.dock)}] "
            f"discard {NAMES[self.discard]} stock {self.stock_size}{hand}"
        )


@dataclass(frozen=True, slots=True)
class Drawn:
    """*seat* drew. `card` is None where it is hidden: drawn from the stock by another."""

    seat: Seat
    source: Source
    card: int | None

    def public(self) -> Self | None:
        """Without the card if it came from the stock."""
        return self if self.source is not Source.STOCK else DRAWN_HIDDEN[self.seat]  # type: ignore[return-value]  # Self is Drawn

    def own(self, seat: Seat) -> Self | None:
        """The drawer sees what the stock gave."""
        return self if seat == self.seat and self.source is Source.STOCK and self.card is not None else None

    def __str__(self) -> str:
        return f"{self.seat} drew {self.source.name.lower()} {'?' if self.card is None else NAMES[self.card]}"


@dataclass(frozen=True, slots=True)
class Discarded(Open):
    """*seat* put *card* on the discard pile."""

    seat: Seat
    card: int

    def __str__(self) -> str:
        return f"{self.seat} discarded {NAMES[self.card]}"


@dataclass(frozen=True, slots=True)
class Sailed(Open):
    """The closer laid down his twelve cards, split (R17)."""

    split: Split

    def __str__(self) -> str:
        return f"{self.split.seat} sailed: {self.split}"


@dataclass(frozen=True, slots=True)
class Declared:
    """An opponent has split his cards; how, only he sees until all are in (R21)."""

    seat: Seat
    split: Split | None = None

    def public(self) -> Self | None:
        """That he has."""
        return DECLARED_HIDDEN[self.seat]  # type: ignore[return-value]  # Self is Declared

    def own(self, seat: Seat) -> Self | None:
        """How, for himself."""
        return self if seat == self.seat and self.split is not None else None

    def __str__(self) -> str:
        return f"{self.seat} declared" + (f": {self.split}" if self.split else "")


@dataclass(frozen=True, slots=True)
class Scored(Open):
    """A hand is scored (R22, R23), or won by cappotto (R27). Unless a deal follows, the match is over.

    *splits* are the opponents' in seat order; none if the closer had no stowaways. *penalty* are the new penalty cards
    of each seat, ascending.
    """

    splits: tuple[Split, ...]
    sent_under: tuple[Seat, ...]
    penalty: tuple[Cards, ...]
    cappotto: tuple[Seat, ...]

    def __str__(self) -> str:
        lines = [f"  {split.seat}: {split}" for split in self.splits]
        new = ", ".join(f"{seat}: [{text(cards)}]" for seat, cards in enumerate(self.penalty) if cards)
        head = f"scored: sent under by {list(self.sent_under)}, penalty {{{new}}}, cappotto {list(self.cappotto)}"
        return "\n".join([head, *lines])


@dataclass(frozen=True, slots=True)
class HandVoided(Open):
    """A hand ends without a score (R12, DEC-3). Unless a deal follows, the match is over."""

    reason: VoidReason

    def __str__(self) -> str:
        return f"hand voided: {self.reason.name.lower()}"


@dataclass(frozen=True, slots=True)
class Resigned(Open):
    """*seat* has given up; if but one is left that has not, the match is over."""

    seat: Seat

    def __str__(self) -> str:
        return f"{self.seat} resigned"


Event: TypeAlias = Dealt | Drawn | Discarded | Sailed | Declared | Scored | HandVoided | Resigned
"""Any event of the game."""

DRAWN: Final = tuple(
    ((), *(tuple(Drawn(seat, source, card) for card in range(COUNT)) for source in Source)) for seat in SEATS
)
"""Every draw: by seat, source and card; sources count from 1."""
DRAWN_HIDDEN: Final = tuple(Drawn(seat, Source.STOCK, None) for seat in SEATS)
"""What others see of a draw from the stock, by seat."""
DISCARDED: Final = tuple(tuple(Discarded(seat, card) for card in range(COUNT)) for seat in SEATS)
"""Every discard: by seat and card."""
DECLARED_HIDDEN: Final = tuple(Declared(seat) for seat in SEATS)
"""What others see of a declaration, by seat."""
