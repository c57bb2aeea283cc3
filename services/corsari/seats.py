"""Seats, and what each of them has: tuples in seat order whose parts are replaced, never changed."""

from __future__ import annotations

from typing import Final, TypeVar

from services.corsari.options import MAX_SEATS
from services.kit.rules import Seat

T = TypeVar("T")

SEATS: Final = tuple(Seat(seat) for seat in range(MAX_SEATS))
"""All seats that a match can have."""


def put(parts: tuple[T, ...], seat: Seat, part: T) -> tuple[T, ...]:
    """*parts* with *seat*'s replaced by *part*."""
    return (*parts[:seat], part, *parts[seat + 1 :])
