"""The dossier's vectors, one test each; also those in the folder that TORTUGA_EXTRA_VECTORS names."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from services.corsari.cards import Cards
from services.corsari.scoring import CAPPOTTO, FINISHED, RESIGNED, VOID
from services.corsari.splits import Split
from services.corsari.state import Position
from tests.rules.corsari.toy import names, position_of, try_line

EXTRA = "TORTUGA_EXTRA_VECTORS"


def vector_files() -> Iterator[Path]:
    """The game's own file, then the extra ones by name."""
    yield Path(__file__).with_name("corsari_vectors.json")
    if folder := os.environ.get(EXTRA):
        yield from sorted(Path(folder).glob("*.json"))


def vectors() -> Iterator[Any]:
    """Every vector of every file as a test parameter; a file may hold a list, or an object that has one."""
    for path in vector_files():
        content = json.loads(path.read_text())
        listed = content if isinstance(content, list) else content.get("vectors", [])
        for place, vector in enumerate(listed):
            if {"given", "actions", "results"} <= vector.keys():
                yield pytest.param(vector, id=f"{path.stem}-{vector.get('id', place)}")


@pytest.mark.parametrize("vector", list(vectors()))
def test_vector(vector: dict[str, Any]) -> None:
    """From `given`, each action has its result, and `after` holds before the next deal (K6)."""
    position = position_of(vector["given"])
    results = [try_line(position, line) for line in vector["actions"]]
    assert results == vector["results"]
    for field, expected in vector.get("after", {}).items():
        assert ACTUAL[field](position, expected) == expected, field


def test_all_vectors_of_the_dossier_are_run() -> None:
    """C1 to C21 are all there."""
    own = json.loads(next(vector_files()).read_text())
    assert [vector["id"] for vector in own] == [f"C{number}" for number in range(1, 22)]


def as_listed(cards: Cards, expected: list[str] | str) -> list[str] | str:
    """*cards* in the order of *expected* if they are the same set, else as they are; in its notation."""
    listed = expected.split() if isinstance(expected, str) else expected
    found = names(cards)
    same = listed if sorted(listed) == sorted(found) else found
    return " ".join(same) if isinstance(expected, str) else same


def in_place(cards: Cards, expected: list[str] | str) -> list[str] | str:
    """*cards* in their order, in the notation of *expected*."""
    return " ".join(names(cards)) if isinstance(expected, str) else names(cards)


def hands(position: Position, expected: list[Any]) -> list[Any]:
    """Every hand as a set."""
    return [as_listed(hand, listed) for hand, listed in zip(position.hands, expected, strict=True)]


def penalties(position: Position, expected: list[Any]) -> list[Any]:
    """Counts of penalty cards, or the cards where a vector lists them."""
    return [
        len(pile) if isinstance(listed, int) else as_listed(pile, listed)
        for pile, listed in zip(position.penalty, expected, strict=True)
    ]


def opponents(position: Position, expected: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """The opponents' splits by seat, with the fields that the vector has."""
    found = {}
    for split in filter(None, position.declared):
        wanted = expected.get(str(split.seat), {})
        found[str(split.seat)] = {field: of_split(split, field, listed) for field, listed in wanted.items()}
    return found


def of_split(split: Split, field: str, expected: Any) -> Any:
    """One field of an opponent's split."""
    if field in ("limit", "L"):
        return split.limit
    cards = {
        "crew": split.crew,
        "attach": split.attached,
        "stow": split.stowaways,
        "prisoners": split.prisoners,
    }
    return as_listed(cards[field], expected)


def winners(position: Position, expected: list[int]) -> list[int]:
    """Seats of rank 1."""
    outcome = position.outcome()
    return [] if outcome is None else [place.seat for place in outcome.places if place.rank == 1]


def why(position: Position, expected: str) -> str:
    """Why the match is over, in the vectors' words; a void end is by count."""
    if position.reason == CAPPOTTO:
        by_closer = position.the_closer().seat in position.cappotto
        return "cappotto-closer" if by_closer else "cappotto-opponent"
    words = {FINISHED: "count", VOID: expected if "void" in expected else "count", RESIGNED: "resigned"}
    return words[position.reason]


ACTUAL: dict[str, Callable[[Position, Any], Any]] = {
    "phase": lambda position, _: position.phase.name,
    "turn": lambda position, _: position.turn,
    "dealer": lambda position, _: position.dealer,
    "dock": lambda position, expected: in_place(position.dock, expected),
    "discard": lambda position, expected: in_place(position.discard, expected),
    "stock": lambda position, expected: in_place(position.stock, expected),
    "hands": hands,
    "pen": penalties,
    "last": lambda position, _: position.last_hand,
    "L0": lambda position, _: position.the_closer().limit,
    "closer": lambda position, _: position.the_closer().seat,
    "closer_stow": lambda position, expected: as_listed(position.the_closer().stowaways, expected),
    "crew": lambda position, expected: as_listed(position.the_closer().crew, expected),
    "closer_crew": lambda position, expected: as_listed(position.the_closer().crew, expected),
    "opp": opponents,
    "winners": winners,
    "why": why,
    "must_sail": lambda position, _: position.must_sail(),
    "quiet_turns": lambda position, _: position.quiet_turns,
    "quiet": lambda position, _: position.quiet_turns,
    "void_streak": lambda position, _: position.void_streak,
}


def test_every_field_is_known() -> None:
    """No vector has a field that the runner would not compare."""
    for path in vector_files():
        content = json.loads(path.read_text())
        for vector in content if isinstance(content, list) else content.get("vectors", []):
            assert set(vector.get("after", {})) <= set(ACTUAL)
