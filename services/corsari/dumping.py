"""A position as canonical bytes, and back.

Layout: the rules version; numbers and flags in a fixed head; the options in contract order; per seat the decisions,
hands, known and penalty cards; dock, discard pile, stock; then the splits. Lists carry their length in front.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Final, get_type_hints

from services.corsari.actions import Source
from services.corsari.options import NAMES, Options
from services.corsari.phases import Phase
from services.corsari.scoring import REASONS
from services.corsari.splits import Split
from services.kit.rules import Seat

if TYPE_CHECKING:
    from services.corsari.state import Position

_HEAD: Final = struct.Struct(">BBBBIBBBBBBBBB")
_NO_CARD: Final = 255
_TYPES: Final = [get_type_hints(Options)[name] for name in NAMES]


def dump(position: Position) -> bytes:
    """Equal positions give equal bytes."""
    options = position.options
    version = position.version.encode()
    head = _HEAD.pack(
        position.seats,
        position.phase,
        position.turn,
        position.dealer,
        position.hand_number,
        position.drew or 0,
        _NO_CARD if position.drawn is None else position.drawn,
        position.quiet_turns,
        position.void_streak,
        position.last_hand,
        position.extra_hand,
        _set_of(position.given_up),
        _set_of(position.cappotto),
        REASONS.index(position.reason),
    )
    parts = [bytes((len(version),)), version, head, bytes(int(getattr(options, name)) for name in NAMES)]
    parts += [number.to_bytes(4, "big") for number in position.decisions]
    for cards in (*position.hands, *position.known, *position.penalty, position.dock, position.discard, position.stock):
        parts += [bytes((len(cards),)), cards]
    for split in (position.closer, *position.declared):
        parts.append(b"\0" if split is None else _split_bytes(split))
    return b"".join(parts)


def load(data: bytes, new: type[Position]) -> Position:
    """Read what `dump` wrote.

    Raises:
        ValueError: *data* is no dump.
    """
    reader = _Reader(data)
    version = reader.listed().decode()
    (seats, phase, turn, dealer, hand_number, drew, drawn, quiet_turns, void_streak, *rest) = _HEAD.unpack(
        reader.take(_HEAD.size)
    )
    last_hand, extra_hand, given_up, cappotto, reason = rest
    values = [of(value) for of, value in zip(_TYPES, reader.take(len(NAMES)), strict=True)]
    position = new(Options(*values), seats, version)
    position.phase = Phase(phase)
    position.turn, position.dealer, position.hand_number = Seat(turn), Seat(dealer), hand_number
    position.drew = Source(drew) if drew else None
    position.drawn = None if drawn == _NO_CARD else drawn
    position.quiet_turns, position.void_streak = quiet_turns, void_streak
    position.last_hand, position.extra_hand = bool(last_hand), bool(extra_hand)
    position.given_up, position.cappotto, position.reason = _seats_of(given_up), _seats_of(cappotto), REASONS[reason]
    position.decisions = tuple(int.from_bytes(reader.take(4), "big") for _ in range(seats))
    position.hands = tuple(reader.listed() for _ in range(seats))
    position.known = tuple(reader.listed() for _ in range(seats))
    position.penalty = tuple(reader.listed() for _ in range(seats))
    position.dock, position.discard, position.stock = reader.listed(), reader.listed(), reader.listed()
    position.closer = reader.split()
    position.declared = tuple(reader.split() for _ in range(seats))
    reader.end()
    return position


class _Reader:
    """Takes a dump apart from its front."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def take(self, size: int) -> bytes:
        part = self._data[self._at : self._at + size]
        if len(part) != size:
            raise ValueError("a dump is cut off")
        self._at += size
        return part

    def listed(self) -> bytes:
        return self.take(self.take(1)[0])

    def split(self) -> Split | None:
        if self.take(1) == b"\0":
            return None
        seat, limit = self.take(2)
        crew, attached, stowaways, prisoners = (self.listed() for _ in range(4))
        return Split(Seat(seat), crew, attached, stowaways, prisoners, limit)

    def end(self) -> None:
        if self._at != len(self._data):
            raise ValueError("a dump has more bytes than its position")


def _split_bytes(split: Split) -> bytes:
    parts = [bytes((1, split.seat, split.limit))]
    for cards in (split.crew, split.attached, split.stowaways, split.prisoners):
        parts += [bytes((len(cards),)), cards]
    return b"".join(parts)


def _set_of(seats: tuple[Seat, ...]) -> int:
    return sum(1 << seat for seat in seats)


def _seats_of(bits: int) -> tuple[Seat, ...]:
    return tuple(Seat(seat) for seat in range(bits.bit_length()) if bits >> seat & 1)
