"""What a viewer knows with a perfect memory: the spectator's view, and what a seat has earned besides."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from services.corsari.actions import Source
from services.corsari.cards import COLOUR, COLOURS, NAMES, NONE, Cards, text
from services.corsari.phases import Phase
from services.corsari.splits import Split
from services.kit.rules import Seat, Viewer

if TYPE_CHECKING:
    from services.corsari.state import Position

_SHOWN_LAST: Final = (Phase.DEAL, Phase.GAME_OVER)


@dataclass(frozen=True, slots=True)
class View:
    """A viewer's knowledge. Field names are the contract's; lists that it flattens are one per seat here.

    `known` are the cards in hands that everyone has seen: taken from the discard pile or the dock, or laid down.
    """

    hand_number: int
    phase: Phase
    turn: Seat
    dealer: Seat
    dock: Cards
    discard: Cards
    stock_size: int
    hand_sizes: tuple[int, ...]
    known: tuple[Cards, ...]
    penalty: tuple[Cards, ...]
    last_hand: bool
    must_sail: bool
    quiet_turns: int
    void_streak: int
    closer: Split | None
    declared: tuple[Seat, ...]
    drew: Source | None
    taken: int | None
    resigned: tuple[Seat, ...]
    extra_hand: bool
    hand: Cards = NONE
    drawn: int | None = None
    split: Split | None = None

    def __str__(self) -> str:
        return "\n".join([*_public_lines(self), *_own_lines(self)])


def view_of(position: Position, viewer: Viewer) -> View:
    """The view of *viewer*: the spectator's, with the seat's own hand, stock card and split added."""
    phase = position.phase
    open_splits = phase is Phase.PARTITION
    from_stock = position.drew is Source.STOCK
    hand, drawn, split = NONE, None, None
    if viewer is not None:
        hand = position.hands[viewer]
        drawn = position.drawn if from_stock and viewer == position.turn else None
        split = position.declared[viewer] if open_splits else None
    return View(
        hand_number=position.hand_number,
        phase=phase,
        turn=position.turn,
        dealer=position.dealer,
        dock=position.dock,
        discard=position.discard,
        stock_size=len(position.stock),
        hand_sizes=tuple(map(len, position.hands)),
        known=position.known,
        penalty=position.penalty,
        last_hand=position.last_hand,
        must_sail=position.must_sail(),
        quiet_turns=position.quiet_turns,
        void_streak=position.void_streak,
        closer=position.closer if open_splits else None,
        declared=tuple(s.seat for s in position.declared if s) if open_splits else (),
        drew=position.drew,
        taken=None if from_stock else position.drawn,
        resigned=position.given_up,
        extra_hand=position.extra_hand,
        hand=hand,
        drawn=drawn,
        split=split,
    )


def describe(position: Position) -> str:
    """The whole position in lines, hidden cards included: for playthroughs and tests, never for a viewer."""
    lines = _public_lines(view_of(position, None))
    lines.append(f"stock [{text(position.stock)}]")
    lines += [f"hand {seat} [{text(hand)}]" for seat, hand in enumerate(position.hands)]
    if position.drawn is not None:
        lines.append(f"drawn {NAMES[position.drawn]}")
    if position.phase not in _SHOWN_LAST:
        lines += [f"split {split.seat} {split}" for split in position.declared if split]
    return "\n".join(lines)


def _public_lines(view: View) -> list[str]:
    """The spectator's view in lines."""
    marks = [
        f"hand {view.hand_number} {view.phase.name}",
        f"turn {view.turn} dealer {view.dealer}",
        f"stock {view.stock_size}",
        *(["extra hand"] if view.extra_hand else ["last hand"] if view.last_hand else []),
        *(["must sail"] if view.must_sail else []),
        *([f"quiet {view.quiet_turns}"] if view.quiet_turns else []),
        *([f"void {view.void_streak}"] if view.void_streak else []),
        *([f"drew {view.drew.name.lower()}"] if view.drew else []),
        *([f"taken {NAMES[view.taken]}"] if view.taken is not None else []),
        *([f"declared {list(view.declared)}"] if view.declared else []),
        *([f"resigned {list(view.resigned)}"] if view.resigned else []),
    ]
    colour = f" colour {COLOURS[COLOUR[view.dock[-1]]]}" if view.dock else ""
    lines = [" ".join(marks), f"dock [{text(view.dock)}]{colour} discard [{text(view.discard)}]"]
    for seat, (size, known, penalty) in enumerate(zip(view.hand_sizes, view.known, view.penalty, strict=True)):
        seen = f" known [{text(known)}]" if known else ""
        lines.append(f"seat {seat} holds {size}{seen} penalty {len(penalty)} [{text(penalty)}]")
    if view.closer:
        lines.append(f"closer {view.closer.seat} {view.closer}")
    return lines


def _own_lines(view: View) -> list[str]:
    """What a seat's view adds, in lines."""
    lines = [f"own [{text(view.hand)}]"] if view.hand else []
    if view.drawn is not None:
        lines.append(f"own draw {NAMES[view.drawn]}")
    if view.split:
        lines.append(f"own split {view.split}")
    return lines
