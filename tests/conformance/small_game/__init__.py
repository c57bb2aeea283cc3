"""Plunder, a small game with hidden cards, whole and right: the suite passes it, and faults are planted in it.

Each is dealt some of 24 cards. Every round a chest is rolled and everybody lays a card, face down or open; the highest
takes the chest, and may bury up to two cards of his hand face down for new ones. Without cards the match is over.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from google.protobuf.descriptor import ServiceDescriptor

from services.kit.bot import AnyBot
from services.kit.game import AnyGame, Game
from tests.conformance.small_game import bots as bots_of
from tests.conformance.small_game.contract import message, service_of
from tests.conformance.small_game.rules import FEWEST, MOST, PlunderRules
from tests.conformance.small_game.wire import PlunderWire
from tortuga.play.v1 import game_pb2 as play

__all__ = ["GAME", "PlunderRules", "PlunderWire", "plunder"]


def plunder(
    rules: PlunderRules | None = None,
    wire: PlunderWire | None = None,
    service: ServiceDescriptor | None = None,
    bots: Callable[[], Mapping[str, AnyBot]] = bots_of.bots,
) -> AnyGame:
    """The game, with other rules, another codec, another contract or other bots if they are given."""
    blind = message("Options", open=False).SerializeToString()
    described = play.Game(
        game="plunder",
        service="tortuga.plunder.v1.PlunderService",
        rules_versions=PlunderRules.versions,
        min_seats=FEWEST,
        max_seats=MOST,
        options=[
            play.Option(number=1, name="hand", type=play.OPTION_TYPE_INT, default_value=4, min=2, max=5),
            play.Option(number=2, name="open", type=play.OPTION_TYPE_BOOL, default_value=1, max=1),
        ],
        variants=[play.Variant(variant="standard"), play.Variant(variant="blind", options=blind)],
        bots=list(bots_of.bots()),
    )
    made: Game[Any, Any, Any, Any, Any] = Game(
        rules or PlunderRules(),
        wire or PlunderWire(),
        described,
        service or service_of(),
        Path(__file__).parent,
        bots=bots,
    )
    return made


GAME = plunder()
