"""The search for secrets finds what is planted: else its silence would prove nothing."""

from __future__ import annotations

import base64
import json
from random import Random

import pytest
from google.protobuf import text_format
from google.protobuf.json_format import MessageToJson

from services.kit.encoding import bytes_field, number_field
from tests.verify.traces import betrayed, disguises, found, search
from tortuga.play.v1 import match_pb2

SECRET = Random(7).randbytes(32)
HAND = sorted(Random(7).sample(range(110), 12))
STATUS = match_pb2.Status(seed=SECRET)

PLANTS: list[tuple[str, bytes]] = [
    ("message", bytes_field(9, bytes_field(3, STATUS.SerializeToString()))),
    ("protobuf JSON", MessageToJson(STATUS).encode()),
    ("protobuf text", text_format.MessageToString(STATUS).encode()),
    ("repr", repr({"seed": SECRET}).encode()),
    ("hex", f"seed {SECRET.hex()}".encode()),
    ("base64 of a whole", base64.b64encode(b"x" + SECRET + b"y")),
    ("base64 of another whole", base64.urlsafe_b64encode(b"xy" + SECRET + b"yz")),
    ("list", json.dumps(list(SECRET)).encode()),
    ("JSON string", json.dumps({"seed": SECRET.decode("latin-1")}).encode()),
    ("number", str(int.from_bytes(SECRET, "big")).encode()),
]


@pytest.mark.parametrize(("name", "plant"), PLANTS, ids=[name for name, _ in PLANTS])
def test_a_planted_secret_is_found(name: str, plant: bytes) -> None:
    """In whatever a log line, an answer or a message may spell it."""
    assert found(SECRET, b"before" + plant + b"after")
    assert list(search({"seed": SECRET}, [("log", plant), ("clean", b"nothing")]))


def test_every_spelling_is_whole() -> None:
    """None is so short that chance could write it."""
    assert all(len(form) >= 28 for form in disguises(SECRET).values())
    assert found(SECRET, Random(8).randbytes(1 << 20)) == []


def cards(numbers: list[int], field: int = 4) -> bytes:
    """A card each in a message of its own, with its seat in front."""
    return b"".join(bytes_field(field, number_field(1, 3) + b"\x10" + bytes([card])) for card in numbers)


LEAKS: list[tuple[str, bytes]] = [
    ("packed", bytes_field(16, bytes_field(1, bytes_field(32, bytes(HAND))))),
    ("some of them", bytes_field(16, bytes_field(77, bytes(HAND[3:9])))),
    ("backwards", bytes_field(16, bytes_field(77, bytes(HAND[::-1])))),
    ("one by one", bytes_field(16, b"".join(number_field(5, card) for card in HAND if card))),
    ("a message each", bytes_field(16, bytes_field(2, cards(HAND)))),
    ("with others between", bytes_field(16, b"".join(cards([card]) + number_field(9, 300 + card) for card in HAND))),
    ("as text", bytes_field(5, bytes_field(1, b"hand") + bytes_field(2, bytes(HAND)))),
]


@pytest.mark.parametrize(("name", "message"), LEAKS, ids=[name for name, _ in LEAKS])
def test_planted_cards_are_found(name: str, message: bytes) -> None:
    """Six of a hand in a row, in any field of any message in the message."""
    assert betrayed(HAND, message)


def test_other_cards_are_no_trace() -> None:
    """Neither other hands, nor five of these, nor these between others."""
    other = [card for card in range(110) if card not in HAND]
    mixed = [card for pair in zip(HAND, other, strict=False) for card in pair]
    for innocent in (other, HAND[:5], mixed):
        assert betrayed(HAND, bytes_field(16, bytes_field(1, bytes(innocent)))) == []
