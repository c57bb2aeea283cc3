"""Pieces of `Update` as bytes: actions, events, views. Hot ones are encoded once, when the module is loaded."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from services.corsari.actions import (
    DRAWS,
    PARTITION_AUTO,
    PARTITION_FREE,
    PLAIN,
    SAIL_AUTO,
    SAIL_FREE,
    SIMPLE,
    Action,
    Discard,
    Draw,
    Source,
)
from services.corsari.cards import COUNT, NONE, Cards
from services.corsari.encoding import bytes_tag, message, number, number_tag, packed, present
from services.corsari.events import (
    Dealt,
    Declared,
    Discarded,
    Drawn,
    Event,
    HandVoided,
    Resigned,
    Sailed,
    Scored,
)
from services.corsari.seats import SEATS
from services.corsari.splits import Split
from services.kit.rules import Seat

_N: Final = (b"", *map(number_tag, range(1, 64)))
_B: Final = (b"", *map(bytes_tag, range(1, 64)))
"""Tags by field number."""

UPDATE_VIEW: Final = _B[1]
UPDATE_EVENTS: Final = _B[2]
UPDATE_LEGAL: Final = _B[3]
UPDATE_TEMPLATES: Final = _B[4]


def action_bytes(action: Action) -> bytes:
    """The game's `Action`."""
    if isinstance(action, Draw):
        return message(_B[1], number(_N[1], action.source))
    if isinstance(action, Discard):
        content = number(_N[1], action.card)
        if action.sail is not None:
            content += message(_B[2], number(_N[1], action.sail.auto) + packed(_B[2], action.sail.crew))
        return message(_B[2], content)
    content = number(_N[1], action.auto) + packed(_B[2], action.crew) + packed(_B[3], action.attach)
    return message(_B[3], content)


ACTIONS: Final = {action: action_bytes(action) for action in SIMPLE}
"""The bytes of every action that lists no cards."""

READ: Final = {data: action for action, data in ACTIONS.items()}
"""Those bytes read back."""

LEGAL_DRAWS: Final = b"".join(message(UPDATE_LEGAL, ACTIONS[action]) for action in DRAWS)
LEGAL_PLAIN: Final = [message(UPDATE_LEGAL, ACTIONS[action]) for action in PLAIN]
LEGAL_AUTO: Final = [message(UPDATE_LEGAL, ACTIONS[action]) for action in SAIL_AUTO]
LEGAL_FREE: Final = [message(UPDATE_TEMPLATES, ACTIONS[action]) for action in SAIL_FREE]
LEGAL_SPLITS: Final = message(UPDATE_LEGAL, ACTIONS[PARTITION_AUTO]) + message(
    UPDATE_TEMPLATES, ACTIONS[PARTITION_FREE]
)


def split_bytes(split: Split) -> bytes:
    """The game's `Split`."""
    return (
        number(_N[1], split.seat)
        + packed(_B[2], split.crew)
        + packed(_B[3], split.attached)
        + packed(_B[4], split.stowaways)
        + packed(_B[5], split.prisoners)
        + number(_N[6], split.limit)
    )


def flat(tag: bytes, sizes_tag: bytes, lists: tuple[Cards, ...]) -> bytes:
    """A list per seat as one list and its sizes."""
    return packed(tag, NONE.join(lists)) + packed(sizes_tag, bytes(map(len, lists)))


def event_bytes(event: Event) -> bytes:
    """The game's `Event` without `of`: the public or own form that *event* is."""
    tag, content = _KINDS[type(event)]
    return message(tag, content(event))


def _drawn(event: Drawn) -> bytes:
    return number(_N[1], event.seat) + number(_N[2], event.source) + present(_N[3], event.card)


def _discarded(event: Discarded) -> bytes:
    return number(_N[1], event.seat) + number(_N[2], event.card)


def _declared(event: Declared) -> bytes:
    how = b"" if event.split is None else message(_B[2], split_bytes(event.split))
    return number(_N[1], event.seat) + how


def _sailed(event: Sailed) -> bytes:
    return split_bytes(event.split)


def _hand_voided(event: HandVoided) -> bytes:
    return number(_N[1], event.reason)


def _resigned(event: Resigned) -> bytes:
    return number(_N[1], event.seat)


def _dealt(event: Dealt) -> bytes:
    return (
        number(_N[1], event.hand_number)
        + number(_N[2], event.dealer)
        + packed(_B[3], event.dock)
        + number(_N[4], event.discard)
        + number(_N[5], event.stock_size)
        + number(_N[6], event.last_hand)
        + number(_N[7], event.extra_hand)
        + packed(_B[8], event.hand)
    )


def _scored(event: Scored) -> bytes:
    splits = b"".join([message(_B[1], split_bytes(split)) for split in event.splits])
    return (
        splits
        + packed(_B[2], bytes(event.sent_under))
        + flat(_B[3], _B[4], event.penalty)
        + packed(_B[5], bytes(event.cappotto))
    )


_KINDS: Final[dict[type, tuple[bytes, Callable[[Any], bytes]]]] = {
    Dealt: (_B[2], _dealt),
    Drawn: (_B[3], _drawn),
    Discarded: (_B[4], _discarded),
    Sailed: (_B[5], _sailed),
    Declared: (_B[6], _declared),
    Scored: (_B[7], _scored),
    HandVoided: (_B[8], _hand_voided),
    Resigned: (_B[9], _resigned),
}
"""Per kind of event the tag of its field, and its content."""


def _drawn_by(seat: Seat, source: Source) -> list[bytes]:
    return [message(UPDATE_EVENTS, event_bytes(Drawn(seat, source, card))) for card in range(COUNT)]


DRAWN: Final = [[[], *(_drawn_by(seat, source) for source in Source)] for seat in SEATS]
"""Update bytes of every open draw: by seat, source and card; sources count from 1."""

DRAWN_HIDDEN: Final = [message(UPDATE_EVENTS, event_bytes(Drawn(seat, Source.STOCK, None))) for seat in SEATS]
"""Update bytes of a draw from the stock as others see it: by seat."""

DISCARDED: Final = [
    [message(UPDATE_EVENTS, event_bytes(Discarded(seat, card))) for card in range(COUNT)] for seat in SEATS
]
"""Update bytes of every discard: by seat and card."""

DECLARED_HIDDEN: Final = [message(UPDATE_EVENTS, event_bytes(Declared(seat))) for seat in SEATS]
"""Update bytes of a declaration as others see it: by seat."""
