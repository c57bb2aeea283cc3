"""Corsari as the platform loads it: rules, codec, description, service."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from services.corsari.actions import Action
from services.corsari.describing import describe
from services.corsari.events import Event
from services.corsari.options import Options
from services.corsari.rules import RULES
from services.corsari.state import Position
from services.corsari.view import View
from services.corsari.wire import WIRE
from services.kit.bot import AnyBot
from services.kit.game import Game
from tortuga.corsari.v1 import corsari_service_pb2 as service


def _bots() -> Mapping[str, AnyBot]:
    """The bots by level, loaded only by who plays them: a game service needs none of it."""
    from services.corsari.bot import BOTS  # noqa: PLC0415 - loaded on demand, as said

    return BOTS


GAME: Final[Game[Position, Action, Event, View, Options]] = Game(
    rules=RULES,
    wire=WIRE,
    description=describe(),
    service=service.DESCRIPTOR.services_by_name["CorsariService"],
    texts=Path(__file__).parent / "texts",
    bots=_bots,
)
"""The entry point `corsari` of `tortuga.games`."""
