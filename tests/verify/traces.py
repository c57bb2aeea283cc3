"""Traces of secrets in bytes: 32 secret bytes in any usual spelling, hidden cards in any field.

Nothing here knows a contract: protobuf is taken apart by its wire format alone, as deep as it goes.
"""

from __future__ import annotations

import base64
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

_Path = tuple[int, ...]

WINDOW = 6
"""So many hidden cards in a row are no accident: 1 in 2·10⁹ for any six sorted ones of 110."""


def disguises(secret: bytes) -> Mapping[str, bytes]:
    """The spellings in which *secret* could stand in a log, an answer or a message."""
    spelled = {
        "raw": secret,
        "hex": secret.hex().encode(),
        "HEX": secret.hex().upper().encode(),
        "hex with colons": secret.hex(":").encode(),
        "python": repr(secret)[2:-1].encode(),
        "octal": b"".join(_octal(byte) for byte in secret),
        "decimals": ", ".join(map(str, secret)).encode(),
        "decimals, close": ",".join(map(str, secret)).encode(),
        "json latin": json.dumps(secret.decode("latin-1"))[1:-1].encode(),
        "utf-8 latin": secret.decode("latin-1").encode(),
        "number": str(int.from_bytes(secret, "big")).encode(),
        "number, little": str(int.from_bytes(secret, "little")).encode(),
        "reversed": secret[::-1],
    }
    for offset in range(3):  # where a group of three bytes begins is not known
        core = base64.b64encode(bytes(offset) + secret)[4 if offset else 0 : -4]
        spelled[f"base64 at {offset}"] = core
        spelled[f"base64url at {offset}"] = core.translate(bytes.maketrans(b"+/", b"-_"))
    return spelled


def found(secret: bytes, data: bytes) -> list[str]:
    """The spellings in which *data* has *secret*."""
    return [name for name, spelled in disguises(secret).items() if spelled in data]


def betrayed(hidden: Sequence[int], data: bytes) -> list[str]:
    """Where the message *data* has WINDOW of *hidden*, which is in order, in a row, forwards or backwards."""
    windows = {tuple(hidden[start : start + WINDOW]) for start in range(len(hidden) - WINDOW + 1)}
    windows |= {window[::-1] for window in windows}
    places = [f"raw {window}" for window in windows if max(window) < 256 and bytes(window) in data]
    for path, numbers in sequences(data).items():
        rows = {tuple(numbers[start : start + WINDOW]) for start in range(len(numbers) - WINDOW + 1)}
        places += [f"{path} {row}" for row in windows & rows]
    return places


def sequences(data: bytes) -> Mapping[_Path, Sequence[int]]:
    """All numbers of a message, in order, by the fields that lead to them; what may be a packed list counts as one."""
    numbers: dict[_Path, list[int]] = defaultdict(list)
    _gather(data, (), numbers)
    return numbers


def _gather(data: bytes, path: _Path, numbers: dict[_Path, list[int]]) -> None:
    for field, value in _fields(data) or ():
        here = (*path, field)
        if isinstance(value, int):
            numbers[here].append(value)
            continue
        numbers[(*here, 0)].extend(_varints(value) or ())
        _gather(value, here, numbers)


def _fields(data: bytes) -> list[tuple[int, int | bytes]] | None:
    """The fields of what might be a message, or None if it cannot be one."""
    fields: list[tuple[int, int | bytes]] = []
    place = 0
    while place < len(data):
        key, place = _varint(data, place)
        kind = key & 7
        value: int | bytes
        if key < 8 or place > len(data):
            return None
        if kind == 0:
            value, place = _varint(data, place)
        elif kind in (1, 5):
            size = 8 if kind == 1 else 4
            value, place = int.from_bytes(data[place : place + size], "little"), place + size
        elif kind == 2:
            size, place = _varint(data, place)
            value, place = data[place : place + size], place + size
        else:
            return None
        if place > len(data):
            return None
        fields.append((key >> 3, value))
    return fields


def _varints(data: bytes) -> list[int] | None:
    numbers, place = [], 0
    while place < len(data):
        number, place = _varint(data, place)
        numbers.append(number)
    return numbers if place == len(data) else None


def _varint(data: bytes, place: int) -> tuple[int, int]:
    """A varint and where it ends; a place beyond the data if it does not."""
    number = shift = 0
    while place < len(data) and shift < 70:
        byte = data[place]
        place += 1
        number |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return number, place
    return 0, len(data) + 1


def _octal(byte: int) -> bytes:
    """As protobuf's text format spells it."""
    named = {9: b"\\t", 10: b"\\n", 13: b"\\r", 34: b'\\"', 39: b"\\'", 92: b"\\\\"}
    return named.get(byte) or (bytes([byte]) if 32 <= byte < 127 else b"\\%03o" % byte)


def search(secrets: Mapping[str, bytes], places: Iterable[tuple[str, bytes]]) -> Iterator[str]:
    """Which of *secrets*, by name, are in which of *places*, and how they are spelled there."""
    spelled = [(name, how, form) for name, secret in secrets.items() for how, form in disguises(secret).items()]
    for place, data in places:
        for name, how, form in spelled:
            if form in data:
                yield f"{name} as {how} in {place}"
