"""Addressed chance: every shuffle and roll is a function of the match's key and an address (docs/fairness.md).

The stream of an address is HMAC-SHA256(key, DOMAIN ‖ address ‖ 0x00 ‖ block), blocks counted from 0 in 8 bytes, read as
big-endian words of 32 bits; a number below *n* is a word below the largest multiple of *n*, modulo *n* (rejection
sampling); a shuffle is Fisher-Yates from the end. An address is used once in a match.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from itertools import chain, count

from services.kit.keyed import keyed

DOMAIN = b"tortuga/chance/v1\x00"
_WORDS = 1 << 32
_unpack = struct.Struct(">8I").unpack


class AddressReused(RuntimeError):
    """A rules module drew from the same address twice: a fault of the game, never of a player."""


class Chance:
    """Draws for one entry. `used` lists the addresses that were drawn from, in order."""

    __slots__ = ("_key", "_spent", "used")

    def __init__(self, key: bytes, spent: frozenset[str] | set[str] = frozenset()) -> None:
        self._key = key
        self._spent = spent
        self.used: list[str] = []

    def shuffle(self, purpose: str, *numbers: int, of: int) -> list[int]:
        """A uniformly random order of 0 .. *of* - 1, from the address `purpose/number/…`."""
        if of > _WORDS:
            raise ValueError(f"no order of {of}")
        words = self._words(purpose, numbers)
        order = list(range(of))
        for last in range(of - 1, 0, -1):
            # `_below(last + 1, words)`, written out: a shuffle is what a deal costs
            limit = _WORDS - _WORDS % (last + 1)
            word = next(words)
            while word >= limit:
                word = next(words)
            other = word % (last + 1)
            order[last], order[other] = order[other], order[last]
        return order

    def pick(self, purpose: str, *numbers: int, of: int) -> int:
        """A uniformly random number from 0 to *of* - 1."""
        return _below(of, self._words(purpose, numbers))

    def roll(self, purpose: str, *numbers: int, dice: int = 1, sides: int = 6) -> list[int]:
        """*dice* independent numbers from 1 to *sides*."""
        words = self._words(purpose, numbers)
        return [_below(sides, words) + 1 for _ in range(dice)]

    def _words(self, purpose: str, numbers: tuple[int, ...]) -> Iterator[int]:
        address = "/".join((purpose, *map(str, numbers)))
        if address in self._spent or address in self.used:
            raise AddressReused(address)
        self.used.append(address)
        return _stream(self._key, address)


class NoChance(Chance):
    """For steps that must not draw: any draw raises."""

    def __init__(self) -> None:
        super().__init__(b"")

    def _words(self, purpose: str, numbers: tuple[int, ...]) -> Iterator[int]:
        raise AddressReused(f"{purpose}: no chance is allowed here")


def _stream(key: bytes, address: str) -> Iterator[int]:
    digest = keyed(key, DOMAIN + address.encode() + b"\x00")
    return chain.from_iterable(_unpack(digest(block.to_bytes(8, "big"))) for block in count())


def _below(n: int, words: Iterator[int]) -> int:
    if not 0 < n <= _WORDS:
        raise ValueError(f"no number below {n}")
    limit = _WORDS - _WORDS % n
    for word in words:
        if word < limit:
            return word % n
    raise AssertionError("a stream never ends")
