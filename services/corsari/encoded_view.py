"""A view as bytes of the contract: the public part, and what a seat's own part adds."""

from __future__ import annotations

from typing import Final

from services.corsari.encoded import flat, split_bytes
from services.corsari.encoding import bytes_tag, message, number, number_tag, packed, present
from services.corsari.view import View

_N: Final = (b"", *map(number_tag, range(1, 64)))
_B: Final = (b"", *map(bytes_tag, range(1, 64)))
"""Tags by field number."""


def public_view_bytes(view: View) -> bytes:
    """Fields 1 to 31 of the game's `View`."""
    return (
        number(_N[1], view.hand_number)
        + number(_N[2], view.phase)
        + number(_N[3], view.turn)
        + number(_N[4], view.dealer)
        + packed(_B[5], view.dock)
        + packed(_B[6], view.discard)
        + number(_N[7], view.stock_size)
        + packed(_B[8], bytes(view.hand_sizes))
        + flat(_B[9], _B[10], view.known)
        + flat(_B[11], _B[12], view.penalty)
        + number(_N[13], view.last_hand)
        + number(_N[14], view.must_sail)
        + number(_N[15], view.quiet_turns)
        + number(_N[16], view.void_streak)
        + (b"" if view.closer is None else message(_B[17], split_bytes(view.closer)))
        + packed(_B[18], bytes(view.declared))
        + number(_N[19], view.drew or 0)
        + present(_N[20], view.taken)
        + packed(_B[21], bytes(view.resigned))
        + number(_N[22], view.extra_hand)
    )


def own_view_bytes(view: View) -> bytes:
    """Fields from 32 on."""
    return (
        packed(_B[32], view.hand)
        + present(_N[33], view.drawn)
        + (b"" if view.split is None else message(_B[34], split_bytes(view.split)))
    )
