"""Light values as protobuf bytes, by hand: cached and concatenated, never built as message objects (design §5).

A field is its tag and its content; card ids are below 128, so cards are the content of a packed field as they stand.
Tests hold the bytes equal to those of the generated classes.
"""

from __future__ import annotations

from typing import Final

from services.corsari.cards import Cards

_VARINT: Final = 0
_BYTES: Final = 2
_SMALL: Final = 128


def varint(number: int) -> bytes:
    """A number from 0 as a varint."""
    if number < _SMALL:
        return _SHORT[number]
    parts = bytearray()
    while number >= _SMALL:
        parts.append(number & (_SMALL - 1) | _SMALL)
        number >>= 7
    parts.append(number)
    return bytes(parts)


_SHORT: Final = [bytes((number,)) for number in range(_SMALL)]


def number_tag(field: int) -> bytes:
    """The tag of a scalar field."""
    return varint(field << 3 | _VARINT)


def bytes_tag(field: int) -> bytes:
    """The tag of a message or a packed field."""
    return varint(field << 3 | _BYTES)


def number(tag: bytes, value: int) -> bytes:
    """A scalar field without presence: nothing for 0."""
    return tag + varint(value) if value else b""


def present(tag: bytes, value: int | None) -> bytes:
    """A scalar field with presence: nothing for None."""
    return b"" if value is None else tag + varint(value)


def packed(tag: bytes, cards: Cards) -> bytes:
    """A repeated field of numbers below 128: nothing if there are none."""
    return tag + varint(len(cards)) + cards if cards else b""


def message(tag: bytes, content: bytes) -> bytes:
    """A message field."""
    return tag + varint(len(content)) + content
