"""The golden playthroughs are what the rules play today."""

from __future__ import annotations

import pytest

from services.kit.game import installed_games, load_game
from tests.playthroughs.regenerate import FOLDER, path_of, playthrough, seat_counts

CASES = [(name, seats) for name in installed_games() for seats in seat_counts(load_game(name))]


@pytest.mark.parametrize(("name", "seats"), CASES)
def test_playthrough(name: str, seats: int) -> None:
    """Every view, legal action and event is as written; after a wanted change, regenerate and read the difference."""
    game = load_game(name)
    assert playthrough(game, seats) == path_of(game, seats).read_text(), "python -m tests.playthroughs.regenerate"


def test_no_file_is_left_over() -> None:
    """Every file is compared by the test above."""
    expected = {path_of(load_game(name), seats) for name, seats in CASES}
    assert set(FOLDER.glob("*/*.txt")) == expected
