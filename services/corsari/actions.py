"""What a seat can do (dossier section 3), and the text forms.

    draw stock | draw discard | draw dock
    discard rd5 | discard rd5 sail auto | discard rd5 sail crew=rd1,gn2
    partition auto | partition crew=rd1,gn2 attach=bl3

An empty list is written as nothing: `crew=`. Cards are written ascending; a card named twice stays twice, so that the
judge can refuse it (K2).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Final, TypeAlias

from services.corsari.cards import COUNT, NAMES, NONE, Cards, card_named, in_order, text
from services.kit.rules import InvalidAction

MOST_CARDS: Final = 13
"""More cards than this are in no hand: a longer list is no action of this game."""


class Source(IntEnum):
    """Where a card is drawn from; numbers as in the contract."""

    STOCK = 1
    DISCARD = 2
    DOCK = 3


@dataclass(frozen=True, slots=True)
class Draw:
    """Take the top of the stock or of the discard pile, or the end card of the dock."""

    source: Source

    def __str__(self) -> str:
        return f"draw {self.source.name.lower()}"


@dataclass(frozen=True, slots=True)
class Sail:
    """Lay down the twelve cards left: with the optimum of R26 if *auto*, else with this crew (R16)."""

    auto: bool
    crew: Cards = NONE

    def __str__(self) -> str:
        return "sail auto" if self.auto else f"sail crew={text(self.crew, ',')}"


@dataclass(frozen=True, slots=True)
class Discard:
    """Put *card* on the discard pile, and sail with the rest if *sail* says how (DEC-4: one atomic action)."""

    card: int
    sail: Sail | None = None

    def __str__(self) -> str:
        return f"discard {NAMES[self.card]} {self.sail}" if self.sail else f"discard {NAMES[self.card]}"


@dataclass(frozen=True, slots=True)
class Partition:
    """Split an opponent's twelve cards: by the optimum if *auto*, else into this crew and attachments (R18-R20)."""

    auto: bool
    crew: Cards = NONE
    attach: Cards = NONE

    def __str__(self) -> str:
        return (
            "partition auto" if self.auto else f"partition crew={text(self.crew, ',')} attach={text(self.attach, ',')}"
        )


Action: TypeAlias = Draw | Discard | Partition
"""Any action of the game. `str(action)` is its text form; card lists are ascending."""

AUTO_SAIL: Final = Sail(auto=True)
FREE_SAIL: Final = Sail(auto=False)

DRAWS: Final = tuple(Draw(source) for source in Source)
"""The three draws in the order of `Source`."""

PLAIN: Final = tuple(Discard(card) for card in range(COUNT))
"""Each card's plain discard."""

SAIL_AUTO: Final = tuple(Discard(card, AUTO_SAIL) for card in range(COUNT))
"""Each card's discard with the automatic crew."""

SAIL_FREE: Final = tuple(Discard(card, FREE_SAIL) for card in range(COUNT))
"""Each card's discard with a crew to be filled in; as it stands, with the empty crew."""

PARTITION_AUTO: Final = Partition(auto=True)
PARTITION_FREE: Final = Partition(auto=False)
"""The partition whose lists are to be filled in; as it stands, with none."""

SIMPLE: Final[tuple[Action, ...]] = (*DRAWS, *PLAIN, *SAIL_AUTO, *SAIL_FREE, PARTITION_AUTO, PARTITION_FREE)
"""Every action but those that list cards."""

_SIMPLE: Final = {str(action): action for action in SIMPLE}


def sail_with(card: int, crew: Cards) -> Discard:
    """The discard of *card* that sails with *crew*, given in any order."""
    return Discard(card, Sail(auto=False, crew=in_order(crew)))


def partition_into(crew: Cards, attach: Cards) -> Partition:
    """The partition into *crew* and *attach*, given in any order."""
    return Partition(auto=False, crew=in_order(crew), attach=in_order(attach))


def parse(form: str) -> Action:
    """Read an action's text form; card lists may be in any order.

    Raises:
        InvalidAction: UNREADABLE.
    """
    simple = _SIMPLE.get(form)
    if simple is not None:
        return simple
    match form.split(" "):
        case ["discard", card, "sail", crew] if card in _CARDS:
            return sail_with(card_named(card), _listed(crew, "crew="))
        case ["partition", crew, attach]:
            return partition_into(_listed(crew, "crew="), _listed(attach, "attach="))
    raise InvalidAction("UNREADABLE")


_CARDS: Final = frozenset(NAMES)


def _listed(form: str, key: str) -> Cards:
    """The cards of `key` followed by names with commas between them."""
    if not form.startswith(key):
        raise InvalidAction("UNREADABLE")
    names = form[len(key) :].split(",") if form != key else []
    if len(names) > MOST_CARDS or not _CARDS.issuperset(names):
        raise InvalidAction("UNREADABLE")
    return bytes(map(card_named, names))
