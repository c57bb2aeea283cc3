"""JSON from strangers: every key, type, length and range is checked, and what is wrong is named by its place."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")


class BadJson(Exception):
    """The JSON is not what it has to be. *place* says where, e.g. `entries[3].blind`; *what* is a code."""

    def __init__(self, place: str, what: str) -> None:
        super().__init__(f"{place}: {what}" if place else what)
        self.place = place
        self.what = what


def parse(data: bytes) -> Value:
    """The value that *data* is, UTF-8 and without a key that stands twice in an object.

    Raises:
        BadJson: NOT_JSON.
    """
    try:
        return Value(json.loads(data.decode(), object_pairs_hook=_object), "")
    except (ValueError, RecursionError):  # UnicodeDecodeError and JSONDecodeError are ValueErrors
        raise BadJson("", "NOT_JSON") from None


class Value:
    """A value of the file, and where it stands."""

    def __init__(self, value: Any, place: str) -> None:
        self._value = value
        self._place = place

    def refuse(self, what: str) -> BadJson:
        """What to raise about it."""
        return BadJson(self._place, what)

    def keys(self) -> set[str]:
        """The keys of an object."""
        if not isinstance(self._value, dict):
            raise self.refuse("NOT_AN_OBJECT")
        return set(self._value)

    def require_keys(self, *wanted: str) -> None:
        """It is an object with exactly these keys."""
        found = self.keys()
        for key in wanted:
            if key not in found:
                raise self.at(key).refuse("MISSING")
        if len(found) > len(wanted):
            raise self.refuse("UNKNOWN_KEY")

    def at(self, key: str) -> Value:
        """The value under *key*."""
        return Value(self._value.get(key), f"{self._place}.{key}" if self._place else key)

    def each(self, make: Callable[[Value], T], most: int) -> list[T]:
        """What *make* makes of each element of a list that is no longer than *most*."""
        if not isinstance(self._value, list):
            raise self.refuse("NOT_A_LIST")
        if len(self._value) > most:
            raise self.refuse("TOO_MANY")
        return [make(Value(element, f"{self._place}[{index}]")) for index, element in enumerate(self._value)]

    @property
    def missing(self) -> bool:
        """Whether it is null, or not there at all."""
        return self._value is None

    def text(self) -> str:
        """A string that is Unicode text."""
        if not isinstance(self._value, str):
            raise self.refuse("NOT_A_STRING")
        try:
            self._value.encode()
        except UnicodeEncodeError:
            raise self.refuse("NOT_TEXT") from None
        return self._value

    def hex(self, *lengths: int) -> bytes:
        """Bytes as lower-case hexadecimal digits; of one of *lengths*, if any are given."""
        text = self.text()
        try:
            found = bytes.fromhex(text)
        except ValueError:
            raise self.refuse("NOT_HEX") from None
        if found.hex() != text:
            raise self.refuse("NOT_HEX")
        if lengths and len(found) not in lengths:
            raise self.refuse("LENGTH")
        return found

    def number(self, bits: int, *, signed: bool = False) -> int:
        """An integer that fits into *bits* bits."""
        if type(self._value) is not int:
            raise self.refuse("NOT_AN_INTEGER")
        least, most = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
        if not least <= self._value <= most:
            raise self.refuse("RANGE")
        return self._value


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key stands twice in an object")
    return found
