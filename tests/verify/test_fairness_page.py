"""docs/fairness.md, the vectors beside it, an implementation made from the page alone, and ours: all four agree."""

from __future__ import annotations

import ast
import inspect
import json
import re
from pathlib import Path
from typing import Any

import pytest

from services.kit import chain, judge, verify
from services.kit.chance import Chance
from services.kit.entry import Entry
from services.kit.rules import Seat
from tests.verify import independent
from tortuga.play.v1 import match_pb2

PAGE = (Path(__file__).parents[2] / "docs" / "fairness.md").read_text(encoding="utf-8")
VECTORS: dict[str, list[Any]] = json.loads(
    (Path(__file__).parent / "fairness_vectors.json").read_text(encoding="utf-8")
)


def cases(kind: str) -> Any:
    return pytest.mark.parametrize("case", VECTORS[kind])


def drawn(case: Any) -> tuple[Chance, str, list[int]]:
    """Our chance, and an address taken apart."""
    purpose, *numbers = case["address"].split("/")
    return Chance(bytes.fromhex(case["key"])), purpose, list(map(int, numbers))


@cases("commitments")
def test_commitments(case: Any) -> None:
    """Match id and seed give the commitment."""
    seed = bytes.fromhex(case["seed"])
    assert independent.commitment(case["match_id"], seed).hex() == case["commitment"]
    assert chain.commitment(case["match_id"], seed).hex() == case["commitment"]


@cases("keys")
def test_keys(case: Any) -> None:
    """Seed and contributions give the key; an empty one counts by its place."""
    seed, contributions = bytes.fromhex(case["seed"]), list(map(bytes.fromhex, case["contributions"]))
    assert independent.match_key(seed, contributions).hex() == case["key"]
    assert chain.match_key(seed, contributions).hex() == case["key"]


@cases("streams")
def test_streams(case: Any) -> None:
    """An address has these blocks."""
    key = bytes.fromhex(case["key"])
    found = [independent.block(key, case["address"], number).hex() for number in range(len(case["blocks"]))]
    assert found == case["blocks"]


@cases("picks")
def test_picks(case: Any) -> None:
    """Words above the limit are passed over; of one there is but one."""
    chance, purpose, numbers = drawn(case)
    assert independent.pick(bytes.fromhex(case["key"]), case["address"], case["of"]) == case["value"]
    assert chance.pick(purpose, *numbers, of=case["of"]) == case["value"]


@cases("rolls")
def test_rolls(case: Any) -> None:
    """Dice follow one another in the same stream, beyond its first block too."""
    chance, purpose, numbers = drawn(case)
    dice, sides = case["dice"], case["sides"]
    assert independent.roll(bytes.fromhex(case["key"]), case["address"], dice, sides) == case["values"]
    assert chance.roll(purpose, *numbers, dice=dice, sides=sides) == case["values"]


@cases("shuffles")
def test_shuffles(case: Any) -> None:
    """Fisher-Yates from the end."""
    chance, purpose, numbers = drawn(case)
    assert independent.shuffle(bytes.fromhex(case["key"]), case["address"], case["of"]) == case["order"]
    assert chance.shuffle(purpose, *numbers, of=case["of"]) == case["order"]


@cases("chains")
def test_chains(case: Any) -> None:
    """Fixed part, entries with all that JSON escapes, blinds, leaves, heads."""
    blind_key = bytes.fromhex(case["blind_key"])
    head = independent.root(case["match"])
    assert head.hex() == chain.root(match_of(case["match"])).hex() == case["root"]
    for line in case["entries"]:
        match_id, revision, seat, text, action_id, addresses, time_ms = line["fields"]
        actor = None if seat is None else Seat(seat)
        entry = Entry(match_id, revision, actor, text, action_id, tuple(addresses), time_ms)
        data = independent.canonical(line["fields"])
        assert data.hex() == entry.data().hex() == line["bytes"]
        blind = independent.blind(blind_key, revision)
        assert blind.hex() == chain.blind(blind_key, revision).hex() == line["blind"]
        leaf = independent.leaf(blind, data)
        assert leaf.hex() == chain.leaf(blind, data).hex() == line["leaf"]
        assert independent.next_head(head, leaf) == chain.next_head(head, leaf)
        head = independent.next_head(head, leaf)
        assert head.hex() == line["head"]


def match_of(fixed: Any) -> match_pb2.Match:
    """The message that the file's fixed part stands for."""
    given = {key: fixed[key] for key in ("match_id", "game", "rules_version", "seats", "created_ms")}
    return match_pb2.Match(
        **given,
        options=bytes.fromhex(fixed["options"]),
        settings=match_pb2.MatchSettings.FromString(bytes.fromhex(fixed["settings"])),
        commitment=bytes.fromhex(fixed["commitment"]),
    )


def test_the_pages_numbers_are_those_of_the_vectors() -> None:
    """Every hash on the page is in the vectors; the worked shuffle, roll and pick are, with their words."""
    known = json.dumps(VECTORS)
    hashes = set(re.findall(r"\b[0-9a-f]{64}\b", PAGE))
    assert len(hashes) >= 8
    assert [each for each in hashes if each not in known] == []
    example = VECTORS["chains"][0]
    assert f"`{independent.canonical(example['entries'][0]['fields']).decode()}`" in PAGE
    fixed = re.search(r'^> `(\["example","pebbles".*\])`$', PAGE, re.MULTILINE)
    assert fixed is not None
    assert independent.sha256(b"tortuga/chain/v1" + fixed[1].encode()).hex() == example["root"]
    key = bytes.fromhex(VECTORS["keys"][0]["key"])
    for address, count in (("deal/1", 4), ("large/46", 3), ("roll/3/14", 2)):
        stream = independent.words(key, address)
        assert ", ".join(str(next(stream)) for _ in range(count)) in PAGE
    assert "**0 1 4 2 3**" in PAGE
    assert independent.shuffle(key, "deal/1", 5) == [0, 1, 4, 2, 3]
    assert independent.roll(key, "roll/3/14", 2, 6) == [1, 3]
    assert independent.pick(key, "large/46", 3221225472) == 1143105027


def test_the_page_lists_every_code_of_the_verifier() -> None:
    """What `verify` may refuse with stands in the page's table."""
    codes = {
        node.value
        for module in (verify, judge)
        for node in ast.walk(ast.parse(inspect.getsource(module)))
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and re.fullmatch(r"[A-Z]+(_[A-Z]+)+", node.value)
    }
    of_rules = {"ALREADY_BEGUN", "ALREADY_CONTRIBUTED", "ALREADY_PRESENT", "ALREADY_RESIGNED", "GAME_OVER"}
    of_rules |= {"NOT_STARTED", "NOT_ASKED", "NOT_SERVED"}  # follow ENTRY_REFUSED
    assert {code for code in codes - of_rules if code not in PAGE} == set()
    assert "TIME_WENT_BACK" in codes


def test_the_independent_implementation_uses_nothing_of_ours() -> None:
    """It imports the standard library alone."""
    tree = ast.parse(inspect.getsource(independent))
    imported = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    imported |= {name.name for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names}
    assert imported == {"__future__", "collections.abc", "hashlib", "hmac", "json", "typing"}
