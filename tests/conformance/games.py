"""Games by name: the id of an installed one, or `package.module:ATTRIBUTE` (a game, or what makes one)."""

from __future__ import annotations

import importlib
import os

from services.kit.game import AnyGame, Game, installed_games, load_game

NAMES = "TORTUGA_CONFORMANCE_GAMES"
"""Names of the games to be checked, with commas between; without it, all installed ones."""


def named_games() -> list[str]:
    """What is to be checked."""
    given = os.environ.get(NAMES, "")
    return [name.strip() for name in given.split(",") if name.strip()] or installed_games()


def game_named(name: str) -> AnyGame:
    """The game that *name* stands for.

    Raises:
        UnknownGame: none is installed under this id.
    """
    module, found, attribute = name.partition(":")
    if not found:
        return load_game(name)
    offered = getattr(importlib.import_module(module), attribute)
    game: AnyGame = offered if isinstance(offered, Game) else offered()
    return game
