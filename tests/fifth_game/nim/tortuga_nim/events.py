"""What happens in a match. Nothing is hidden: each event is its own public form, and no seat sees more of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self, TypeAlias

from services.kit.rules import Seat


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
class Begun(Open):
    """The heaps are laid out, and *first* begins."""

    heaps: tuple[int, ...]
    first: Seat

    def __str__(self) -> str:
        return f"heaps {list(self.heaps)}, {self.first} begins"


@dataclass(frozen=True, slots=True)
class Taken(Open):
    """*seat* took *count* stones from *heap*. If they were the last ones, the match is over."""

    seat: Seat
    heap: int
    count: int

    def __str__(self) -> str:
        return f"{self.seat} took {self.count} from {self.heap}"


@dataclass(frozen=True, slots=True)
class Resigned(Open):
    """*seat* has given up; if but one is left that has not, the match is over."""

    seat: Seat

    def __str__(self) -> str:
        return f"{self.seat} resigned"


Event: TypeAlias = Begun | Taken | Resigned
"""Any event of the game."""
