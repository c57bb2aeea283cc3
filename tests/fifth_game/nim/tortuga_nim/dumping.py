"""A position as canonical bytes, and back: a JSON list in a fixed order, without spaces."""

from __future__ import annotations

import json
from dataclasses import astuple
from typing import TYPE_CHECKING, Final, get_type_hints

from services.kit.rules import Seat

from tortuga_nim.options import Options

if TYPE_CHECKING:
    from tortuga_nim.state import Position

_TYPES: Final[list[type[int]]] = list(get_type_hints(Options).values())


def dump(position: Position) -> bytes:
    """Equal positions give equal bytes."""
    parts = [
        position.version,
        list(map(int, astuple(position.options))),
        position.heaps,
        position.turn,
        position.taken,
        position.decisions,
        position.resigned_seats,
        position.reason,
    ]
    return json.dumps(parts, separators=(",", ":")).encode()


def load(data: bytes, new: type[Position]) -> Position:
    """Read what `dump` wrote.

    Raises:
        ValueError: *data* is no dump.
    """
    try:
        version, options, heaps, turn, taken, decisions, resigned, reason = json.loads(data)
        values = [of(value) for of, value in zip(_TYPES, options, strict=True)]
        position = new(Options(*values), tuple(heaps), len(taken), Seat(turn), version)  # type: ignore[arg-type]  # each by its field's own type
    except TypeError:
        raise ValueError("these bytes are no dump") from None
    position.taken, position.decisions = tuple(taken), tuple(decisions)
    position.resigned_seats = tuple(map(Seat, resigned))
    position.reason = reason
    if dump(position) != data:
        raise ValueError("a dump has one spelling")
    return position
