"""`addressed_chance`: the same key and the same actions give the same game, whatever else the process is doing."""

from __future__ import annotations

import random
import re
from collections import Counter

from tests.conformance.ground import Ground
from tests.conformance.transcript import Record, digests, digests_elsewhere, recorded
from tests.conformance.watch import watched

_ADDRESS = re.compile(r"[a-z_]+(/\d+)*")

_OTHERWHERE = (
    {"PYTHONHASHSEED": "1", "TZ": "Asia/Tokyo"},
    {"PYTHONHASHSEED": "2", "TZ": "America/Lima", "LC_ALL": "C"},
)
"""Processes whose sets and dictionaries of strings come in other orders, at another time of another day."""


def addressed_chance(ground: Ground) -> None:
    """Recorded matches, folded under a watch over clock and chance, and in processes with other hash seeds."""
    records: list[Record] = []
    wanted: list[list[str]] = []
    for line in ground.lines():
        record, steps = recorded(line)
        ground.findings.where = line.name
        _each_address_once(ground, [address for step in steps for address in step.entry.addresses])
        with watched() as watch:
            first = digests(ground.game, record)
        ground.findings.expect(not watch.clock, "CLOCK", dict(Counter(watch.clock)))
        ground.findings.expect(not watch.chance, "UNADDRESSED", dict(Counter(watch.chance)))
        random.seed(len(records))
        again = digests(ground.game, record)
        ground.findings.expect(first == again, "DIFFERS", _first_difference(first, again))
        ground.findings.expect(len(again) == len(steps), "DIFFERS", again[-1:])
        records.append(record)
        wanted.append(again)
    if ground.reference:
        for environment in _OTHERWHERE:
            ground.findings.where = f"another process with {environment}"
            for ours, theirs in zip(wanted, digests_elsewhere(ground.reference, records, environment), strict=True):
                ground.findings.expect(ours == theirs, "PROCESS", _first_difference(ours, theirs))


def _each_address_once(ground: Ground, addresses: list[str]) -> None:
    for address, count in Counter(addresses).items():
        ground.findings.expect(count == 1, "ADDRESS_TWICE", address)
        ground.findings.expect(_ADDRESS.fullmatch(address) is not None, "ADDRESS", repr(address))


def _first_difference(ours: list[str], theirs: list[str]) -> str:
    for step, (one, other) in enumerate(zip(ours, theirs, strict=False), 1):
        if one != other:
            return f"step {step}: {one} or {other}"
    return f"{len(ours)} or {len(theirs)} steps"
