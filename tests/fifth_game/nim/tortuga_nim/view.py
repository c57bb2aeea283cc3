"""What a viewer knows: in this game the same for everyone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from services.kit.rules import Seat, Viewer

from tortuga_nim.events import Begun, Event, Resigned, Taken

if TYPE_CHECKING:
    from tortuga_nim.state import Position


@dataclass(frozen=True, slots=True)
class View:
    """A viewer's knowledge. Field names are the contract's."""

    heaps: tuple[int, ...]
    turn: Seat
    taken: tuple[int, ...]
    resigned: tuple[Seat, ...]

    def __str__(self) -> str:
        resigned = f" resigned {list(self.resigned)}" if self.resigned else ""
        return f"heaps {list(self.heaps)} turn {self.turn} taken {list(self.taken)}{resigned}"


def view_of(position: Position, viewer: Viewer) -> View:
    """The view of *viewer*. A game with secrets adds here what a seat has earned to what a spectator sees."""
    return View(position.heaps, position.turn, position.taken, position.resigned_seats)


def follow(view: View, events: Sequence[Event], viewer: Viewer) -> View:
    """The view after *events* as *viewer* was shown them: what a client that keeps its own picture does."""
    for event in events:
        view = _after(view, event)
    return view


def _after(view: View, event: Event) -> View:
    match event:
        case Begun(heaps, first):
            return replace(view, heaps=heaps, turn=first)
        case Taken(seat, heap, count):
            heaps = put(view.heaps, heap, view.heaps[heap] - count)
            taken = put(view.taken, seat, view.taken[seat] + count)
            turn = Seat((seat + 1) % len(taken)) if any(heaps) else seat
            return replace(view, heaps=heaps, taken=taken, turn=turn)
        case Resigned(seat):
            return replace(view, resigned=tuple(sorted((*view.resigned, seat))))


def put(numbers: tuple[int, ...], place: int, number: int) -> tuple[int, ...]:
    """*numbers* with another *number* at *place*."""
    return (*numbers[:place], number, *numbers[place + 1 :])
