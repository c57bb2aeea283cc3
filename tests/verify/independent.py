"""All that docs/fairness.md defines, written from that page alone: `hashlib`, `hmac` and `json`, nothing of ours.

It stands in for whoever checks a match with a program of their own, and keeps the page true.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Iterator, Sequence
from typing import Any


def sha256(data: bytes) -> bytes:
    return hashlib.sha256(data).digest()


def mac(key: bytes, message: bytes) -> bytes:
    return hmac.new(key, message, hashlib.sha256).digest()


def u64(number: int) -> bytes:
    return number.to_bytes(8, "big")


def canonical(value: Any) -> bytes:
    """Canonical JSON, spelled out."""
    if value is None:
        return b"null"
    if isinstance(value, int):
        return b"%d" % value
    if isinstance(value, str):
        return b'"' + "".join(map(_letter, value)).encode() + b'"'
    return b"[" + b",".join(map(canonical, value)) + b"]"


def _letter(letter: str) -> str:
    named = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r"}
    if letter in named:
        return named[letter]
    return f"\\u00{ord(letter):02x}" if ord(letter) < 0x20 else letter


def commitment(match_id: str, seed: bytes) -> bytes:
    return sha256(b"tortuga/seed/v1" + match_id.encode() + seed)


def match_key(seed: bytes, contributions: Sequence[bytes]) -> bytes:
    return mac(seed, b"tortuga/key/v1" + b"".join(bytes([len(part)]) + part for part in contributions))


def block(key: bytes, address: str, number: int) -> bytes:
    return mac(key, b"tortuga/chance/v1\x00" + address.encode() + b"\x00" + u64(number))


def words(key: bytes, address: str) -> Iterator[int]:
    number = 0
    while True:
        found = block(key, address, number)
        for place in range(0, 32, 4):
            yield int.from_bytes(found[place : place + 4], "big")
        number += 1


def below(n: int, stream: Iterator[int]) -> int:
    while (word := next(stream)) >= 2**32 - 2**32 % n:
        pass
    return word % n


def pick(key: bytes, address: str, of: int) -> int:
    return below(of, words(key, address))


def roll(key: bytes, address: str, dice: int, sides: int) -> list[int]:
    stream = words(key, address)
    return [below(sides, stream) + 1 for _ in range(dice)]


def shuffle(key: bytes, address: str, of: int) -> list[int]:
    stream, order = words(key, address), list(range(of))
    for place in range(of - 1, 0, -1):
        other = below(place + 1, stream)
        order[place], order[other] = order[other], order[place]
    return order


def blind(blind_key: bytes, revision: int) -> bytes:
    return mac(blind_key, u64(revision))


def leaf(blinding: bytes, entry: bytes) -> bytes:
    return mac(blinding, entry)


def next_head(head: bytes, of_entry: bytes) -> bytes:
    return sha256(head + of_entry)


def root(match: Any) -> bytes:
    """head(0), from the file's `match`."""
    seats = [[seat["player_id"], seat["bot"], seat["role"]] for seat in match["seats"]]
    named = [match[key] for key in ("match_id", "game", "rules_version", "options")]
    fixed = [*named, seats, match["settings"], match["created_ms"], match["commitment"]]
    return sha256(b"tortuga/chain/v1" + canonical(fixed))


def check_file(text: str) -> tuple[bytes, list[Any]]:
    """Check what can be without the game's rules; returns the key (empty before `@begin`) and the opened entries."""
    file = json.loads(text)
    match, seed = file["match"], bytes.fromhex(file["seed"])
    assert file["format"] == "tortuga/replay/1"
    assert commitment(match["match_id"], seed).hex() == match["commitment"]
    head = root(match)
    assert head.hex() == file["head"]
    key, opened = b"", []
    contributions = [b""] * len(match["seats"])
    for revision, line in enumerate(file["entries"], 1):
        if "leaf" in line:
            head = next_head(head, bytes.fromhex(line["leaf"]))
        else:
            data = line["entry"].encode()
            head = next_head(head, leaf(bytes.fromhex(line["blind"]), data))
            entry = json.loads(data)
            assert canonical(entry) == data
            assert entry[:2] == [match["match_id"], revision]
            opened.append(entry)
            word, _, rest = entry[3].partition(" ")
            if word == "@contribute":
                contributions[entry[2]] = bytes.fromhex(rest)
            if word == "@begin":
                key = match_key(seed, contributions)
        assert head.hex() == line["head"]
    return key, opened
