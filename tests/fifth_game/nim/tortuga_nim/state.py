"""The position of a match, and what the seats can do to it (README.md, rules 1 to 4)."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Final

from services.kit.chance import Chance
from services.kit.rules import Asked, IllegalAction, Legal, Outcome, Place, Seat, State, Viewer

from tortuga_nim import dumping
from tortuga_nim.actions import Take
from tortuga_nim.events import Event, Resigned, Taken
from tortuga_nim.options import LastStone, Options
from tortuga_nim.view import View, put, view_of

FINISHED: Final = "finished"
RESIGNED: Final = "resigned"
REASONS: Final = ("", FINISHED, RESIGNED)
"""Outcome reasons by number; the first while the match runs."""


class Position(State[Take, Event, View]):
    """One match. Parts are immutable and replaced: `copy` shares them."""

    __slots__ = ("decisions", "heaps", "options", "reason", "resigned_seats", "taken", "turn", "version")

    def __init__(self, options: Options, heaps: tuple[int, ...], seats: int, first: Seat, version: str) -> None:
        self.options = options
        self.version = version
        self.heaps = heaps
        self.turn = first
        self.taken: tuple[int, ...] = (0,) * seats
        self.decisions: tuple[int, ...] = put((0,) * seats, first, 1)
        self.resigned_seats: tuple[Seat, ...] = ()
        self.reason = ""

    def copy(self) -> Position:
        """An independent position; the parts are shared."""
        new = object.__new__(Position)
        for name in self.__slots__:
            setattr(new, name, getattr(self, name))
        return new

    # What a position says of itself

    @property
    def seats(self) -> int:
        """How many seats."""
        return len(self.taken)

    def asked(self) -> Sequence[Asked]:
        """The seat in turn, until the match is over."""
        return [] if self.reason else [Asked(self.turn, self.decisions[self.turn])]

    def legal(self, seat: Seat) -> Legal[Take]:
        """Heap by heap, fewest stones first."""
        if self.reason or seat != self.turn:
            return Legal(())
        return Legal(
            [Take(heap, count) for heap in range(len(self.heaps)) for count in range(1, self.most_from(heap) + 1)]
        )

    def most_from(self, heap: int) -> int:
        """Most stones that one turn may take from *heap*."""
        return min(self.heaps[heap], self.options.most_taken or self.heaps[heap])

    def sample(self, seat: Seat, luck: Random) -> Take:
        """A random legal action of *seat*, which must have one."""
        return luck.choice(self.legal(seat).actions)

    def view(self, viewer: Viewer) -> View:
        """All that *viewer* knows."""
        return view_of(self, viewer)

    def outcome(self) -> Outcome | None:
        """The result, once the match is over; points are stones taken."""
        if not self.reason:
            return None
        standings = [self._standing(Seat(seat)) for seat in range(self.seats)]
        places = [
            Place(Seat(seat), 1 + sum(other < standing for other in standings), self.taken[seat])
            for seat, standing in enumerate(standings)
        ]
        return Outcome(self.reason, tuple(places))

    def dump(self) -> bytes:
        """Canonical bytes, read back by `dumping.load`."""
        return dumping.dump(self)

    # What happens to it

    def apply(self, seat: Seat, action: Take, chance: Chance) -> Sequence[Event]:
        """Play *action* (rule 2).

        Raises:
            IllegalAction: GAME_OVER; NOT_YOUR_TURN; NO_SUCH_HEAP or TOO_MANY, with the limit.
        """
        if self.reason:
            raise IllegalAction("GAME_OVER")
        if seat != self.turn:
            raise IllegalAction("NOT_YOUR_TURN")
        if action.heap >= len(self.heaps):
            raise IllegalAction("NO_SUCH_HEAP", heap=action.heap, limit=len(self.heaps) - 1)
        if action.count > (most := self.most_from(action.heap)):
            raise IllegalAction("TOO_MANY", count=action.count, limit=most)
        self.heaps = put(self.heaps, action.heap, self.heaps[action.heap] - action.count)
        self.taken = put(self.taken, seat, self.taken[seat] + action.count)
        if any(self.heaps):
            self.turn = Seat((seat + 1) % self.seats)
            self.decisions = put(self.decisions, self.turn, self.decisions[self.turn] + 1)
        else:
            self.reason = FINISHED
        return [Taken(seat, action.heap, action.count)]

    def timeout(self, seat: Seat, chance: Chance) -> Sequence[Event]:
        """Silence takes one stone from the first heap that has any (rule 4)."""
        first = next(heap for heap, stones in enumerate(self.heaps) if stones)
        return self.apply(seat, Take(first, 1), chance)

    def resigned(self, seat: Seat, chance: Chance) -> Sequence[Event]:
        """Take note that *seat* has given up (rule 4).

        Raises:
            IllegalAction: GAME_OVER, or ALREADY_RESIGNED.
        """
        if self.reason:
            raise IllegalAction("GAME_OVER")
        if seat in self.resigned_seats:
            raise IllegalAction("ALREADY_RESIGNED")
        self.resigned_seats = tuple(sorted((*self.resigned_seats, seat)))
        if len(self.resigned_seats) == self.seats - 1:
            self.reason = RESIGNED
        return [Resigned(seat)]

    def _standing(self, seat: Seat) -> int:
        """What ranks a seat, lowest best (rule 3): seats that gave up come last, whatever they took."""
        if seat in self.resigned_seats:
            return 2
        took_last = self.reason == FINISHED and seat == self.turn
        last_loses = self.options.last_stone is LastStone.LOSES
        return int(took_last is last_loses) if self.reason == FINISHED else 0
