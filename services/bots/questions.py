"""Requests, checked as far as that goes without thinking: what comes out is a question that a worker can be given."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from services.kit.errors import Malformed, NotFound
from services.kit.game import installed_games, load_game
from services.kit.shell import logs
from tortuga.bots.v1.bot_service_pb2 import Position, SuggestRequest
from tortuga.play.v1.game_pb2 import Game

USUAL_BUDGET_MS = 500
MOST_BUDGET_MS = 5000
"""Milliseconds to think: what 0 stands for, and the most that may be asked for."""

USUAL_SUGGESTIONS = 3
MOST_SUGGESTIONS = 20
"""Suggestions: what 0 stands for, and the most that may be asked for."""

SEED_BYTES = 32


class Question(NamedTuple):
    """What a worker is asked."""

    game: str
    """Id of a game that there is."""
    level: str
    """A level that the game offers."""
    budget_ms: int
    """Most time until the answer."""
    request: bytes
    """A SuggestRequest with everything filled in."""


class Catalogue:
    """The games that this process knows, by what they say of themselves."""

    def __init__(self, games: Mapping[str, Game]) -> None:
        self._games = games

    @classmethod
    def installed(cls) -> Catalogue:
        """All installed games. One that cannot be loaded is left out, and the log says so."""
        found: dict[str, Game] = {}
        for game in installed_games():
            try:
                found[game] = load_game(game).description
            except Exception as error:  # whatever a package raises on import: the other games are served
                logs.logger().error("game_does_not_load", game=game, exception=logs.describe(error))
        return cls(found)

    def question(self, position: Position, limit: int) -> Question:
        """The question for the *limit* best actions in *position*; 0 for the usual number.

        Raises:
            NotFound: GAME_UNKNOWN, RULES_UNKNOWN or BOT_UNKNOWN.
            Malformed: SEED, BUDGET or SUGGESTIONS with what would do, or POSITION for a seat that there is not.
        """
        game = self._games.get(position.game)
        if game is None:
            raise NotFound("GAME_UNKNOWN")
        if position.rules_version not in game.rules_versions:
            raise NotFound("RULES_UNKNOWN")
        level = position.bot or next(reversed(game.bots), "")
        if level not in game.bots:
            raise NotFound("BOT_UNKNOWN")
        if len(position.seed) != SEED_BYTES:
            raise Malformed("SEED", bytes=SEED_BYTES)
        if position.budget_ms > MOST_BUDGET_MS:
            raise Malformed("BUDGET", most=MOST_BUDGET_MS)
        if limit > MOST_SUGGESTIONS:
            raise Malformed("SUGGESTIONS", most=MOST_SUGGESTIONS)
        if position.seat >= game.max_seats:
            raise Malformed("POSITION")
        request = SuggestRequest(position=position, limit=limit or USUAL_SUGGESTIONS)
        request.position.bot = level
        return Question(
            position.game, level, position.budget_ms or USUAL_BUDGET_MS, request.SerializeToString(deterministic=True)
        )
