"""Plunder's actions, events and views: light, each with its halves."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Self, TypeAlias

from services.kit.rules import InvalidAction, Seat

CARDS = 24
MOST_BURIED = 2

Cards: TypeAlias = tuple[int, ...]


class Phase(IntEnum):
    """Numbers as in the contract."""

    LAY = 1
    BURY = 2
    OVER = 3


@dataclass(frozen=True, slots=True)
class Options:
    """Cards dealt to each seat, and whether they may be laid open."""

    hand: int = 4
    open: bool = True


@dataclass(frozen=True, slots=True)
class Lay:
    """Put *card* on the table. Text: `lay 7`, `lay 7 open`."""

    card: int
    open: bool = False

    def __str__(self) -> str:
        return f"lay {self.card} open" if self.open else f"lay {self.card}"


@dataclass(frozen=True, slots=True)
class Bury:
    """Put *cards*, ascending, aside and draw as many. Text: `bury`, `bury 3,5`."""

    cards: Cards = ()

    def __str__(self) -> str:
        return f"bury {','.join(map(str, self.cards))}" if self.cards else "bury"


@dataclass(frozen=True, slots=True)
class Cheer:
    """Be heard, once a match. Text: `cheer`."""

    def __str__(self) -> str:
        return "cheer"


Action: TypeAlias = Lay | Bury | Cheer

CHEER = Cheer()
KEEP = Bury()
_NUMBERS = {str(card): card for card in range(CARDS)}


def parse(text: str) -> Action:
    """Read a text form."""
    match text.split(" "):
        case ["cheer"]:
            return CHEER
        case ["bury"]:
            return KEEP
        case ["bury", listed] if all(name in _NUMBERS for name in listed.split(",")):
            return bury([_NUMBERS[name] for name in listed.split(",")])
        case ["lay", card, *more] if card in _NUMBERS and more in ([], ["open"]):
            return Lay(_NUMBERS[card], bool(more))
    raise InvalidAction("UNREADABLE")


def bury(cards: list[int]) -> Bury:
    """The burial of *cards* in any order."""
    if len(cards) > MOST_BURIED or len(set(cards)) < len(cards) or any(card >= CARDS for card in cards):
        raise InvalidAction("MALFORMED")
    return Bury(tuple(sorted(cards)))


class Open:
    """An event in which nothing is hidden."""

    __slots__ = ()

    def public(self) -> Self | None:
        return self

    def own(self, seat: Seat) -> Self | None:
        return None


@dataclass(frozen=True, slots=True)
class Dealt:
    """A match begins; *hands* in the whole event, *hand* in a seat's own."""

    size: int
    stock: int
    hand: Cards = ()
    hands: tuple[Cards, ...] = ()

    def public(self) -> Dealt | None:
        return Dealt(self.size, self.stock)

    def own(self, seat: Seat) -> Dealt | None:
        return Dealt(self.size, self.stock, self.hands[seat])


@dataclass(frozen=True, slots=True)
class Opened(Open):
    """A round begins."""

    round: int
    chest: int


@dataclass(frozen=True, slots=True)
class Laid:
    """A card was laid; None where it is hidden."""

    seat: Seat
    open: bool
    card: int | None

    def public(self) -> Laid | None:
        return self if self.open else replace(self, card=None)

    def own(self, seat: Seat) -> Laid | None:
        return self if seat == self.seat and not self.open else None


@dataclass(frozen=True, slots=True)
class Revealed(Open):
    """All cards of a round, by seat."""

    cards: Cards
    winner: Seat
    may_bury: bool


@dataclass(frozen=True, slots=True)
class Buried:
    """Cards were put aside, and as many drawn; which, only the seat sees."""

    seat: Seat
    count: int
    cards: Cards = ()
    drawn: Cards = ()

    def public(self) -> Buried | None:
        return Buried(self.seat, self.count)

    def own(self, seat: Seat) -> Buried | None:
        return self if seat == self.seat and self.count else None


@dataclass(frozen=True, slots=True)
class Cheered(Open):
    """A seat was heard."""

    seat: Seat


@dataclass(frozen=True, slots=True)
class Resigned(Open):
    """A seat gave up."""

    seat: Seat


Event: TypeAlias = Dealt | Opened | Laid | Revealed | Buried | Cheered | Resigned


@dataclass(frozen=True, slots=True)
class View:
    """A viewer's knowledge, as in the contract; *faces* are open cards by seat, -1 for none."""

    round: int
    chest: int
    phase: Phase
    turn: Seat
    sizes: tuple[int, ...]
    stock: int
    laid: tuple[Seat, ...]
    faces: Cards
    played: Cards
    buried: tuple[int, ...]
    points: tuple[int, ...]
    cheered: tuple[Seat, ...]
    resigned: tuple[Seat, ...]
    hand: Cards = ()
    face: int | None = None
    grave: Cards = ()
