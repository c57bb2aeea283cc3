"""Protobuf's wire encoding by hand, for the few messages of the hot path that are concatenated from cached pieces.

Only writing: whatever is read is read by a protobuf parser.
"""

from __future__ import annotations

_SMALL = [bytes([n]) for n in range(128)] + [bytes([n & 127 | 128, n >> 7]) for n in range(128, 1 << 14)]


def varint(number: int) -> bytes:
    """*number* (not negative) as a base-128 varint."""
    if number < 1 << 14:
        return _SMALL[number]
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    out.append(number)
    return bytes(out)


def tag(field: int, wire_type: int) -> bytes:
    """The key in front of a field: wire type 0 is a varint, 2 is length-delimited."""
    return varint(field << 3 | wire_type)


def number_field(field: int, value: int) -> bytes:
    """A varint field; nothing if *value* is 0 (proto3's implicit presence)."""
    return _SMALL[field << 3] + varint(value) if value else b""


def bytes_field(field: int, content: bytes) -> bytes:
    """A length-delimited field (string, bytes, message, packed list), also when *content* is empty."""
    return _SMALL[field << 3 | 2] + varint(len(content)) + content


UPDATE_TAG = tag(16, 2)
"""In front of the game's own part of every response."""


def update_field(update: bytes) -> bytes:
    """*update* (bytes of the game's Update) as field 16 of a response; nothing if it is empty."""
    return UPDATE_TAG + varint(len(update)) + update if update else b""
