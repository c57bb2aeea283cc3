"""One question, thought through: from what a seat was sent to its bot's advice. Runs in a worker process."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random

from services.kit.bot import Advice, AnyBot, Sight
from services.kit.errors import Malformed, NotFound, Refusal
from services.kit.game import AnyGame, UnknownGame, installed_games, load_game
from services.kit.rules import InvalidOptions, Seat
from services.kit.shell import logs
from tortuga.bots.v1.bot_service_pb2 import Position, Suggestion, SuggestRequest, SuggestResponse


class Silent(Exception):
    """A bot has nothing to say though something is legal."""


class Shelf:
    """Games and their bots, each loaded once."""

    def __init__(self) -> None:
        self._loaded: dict[str, tuple[AnyGame, Mapping[str, AnyBot]]] = {}

    def fill(self) -> None:
        """Load all installed games, so that no question waits for it. The log says which do not load."""
        for game in installed_games():
            try:
                self.find(game)
            except Exception as error:  # whatever a package raises: the other games are served
                logs.logger().error("bots_do_not_load", game=game, exception=logs.describe(error))

    def put(self, game: AnyGame) -> None:
        """Add *game*, installed or not."""
        self._loaded[game.id] = game, game.bots()

    def find(self, game_id: str) -> tuple[AnyGame, Mapping[str, AnyBot]]:
        """The game and its bots by level.

        Raises:
            UnknownGame: no installed package offers it.
        """
        if game_id not in self._loaded:
            self.put(load_game(game_id))
        return self._loaded[game_id]


def suggestions(shelf: Shelf, request: SuggestRequest, left_ms: Callable[[], float]) -> SuggestResponse:
    """The advice of the bot that *request* names, best first. *request* is one that `Catalogue.question` let through.

    Whatever a bot raises is taken for the position's fault, as on a proper one none does (tests/conformance/bots.py).

    Raises:
        NotFound: GAME_UNKNOWN or BOT_UNKNOWN: a game promises what it does not load.
        Malformed: POSITION.
        InvalidOptions: the game's reason.
        Refusal: NOTHING_LEGAL.
    """
    position = request.position
    try:
        game, bots = shelf.find(position.game)
    except UnknownGame:
        raise NotFound("GAME_UNKNOWN") from None
    if position.bot not in bots:
        raise NotFound("BOT_UNKNOWN")
    try:
        seen = sight(game, position)
        if seen.legal:
            advice = bots[position.bot].advise(seen, Random(position.seed), left_ms)  # noqa: S311 - play, no secret
            if not advice:
                raise Silent
            return SuggestResponse(suggestions=[_suggestion(game, each) for each in advice[: request.limit]])
    except InvalidOptions:
        raise
    except (Exception, SystemExit) as error:
        # Types and places only: the exception's words may hold what one seat alone may see.
        logs.logger().warning("bot_failed", game=position.game, bot=position.bot, exception=logs.describe(error))
        raise Malformed("POSITION") from None
    raise Refusal("NOTHING_LEGAL")


def sight(game: AnyGame, position: Position) -> Sight[object, object, object]:
    """What the bot is shown: read from the bytes that the seat itself was sent.

    Raises:
        InvalidOptions: the game's reason.
        Exception: whatever a codec raises on bytes that no game service wrote.
    """
    update = game.message("Update").FromString(position.update)
    seat = Seat(position.seat)
    return Sight(
        seat=seat,
        options=game.wire.read_options(position.options),
        version=position.rules_version,
        view=game.wire.read_view(update, seat),
        legal=game.wire.read_legal(update),
    )


def _suggestion(game: AnyGame, advice: Advice[object]) -> Suggestion:
    return Suggestion(action=game.wire.write_action(advice.action), worth=advice.worth, reason=advice.reason)
