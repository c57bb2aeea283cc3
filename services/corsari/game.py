"""Corsari as the platform loads it: rules, codec, description, service."""

from __future__ import annotations

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
from services.kit.game import Game
from tortuga.corsari.v1 import corsari_service_pb2 as service

GAME: Final[Game[Position, Action, Event, View, Options]] = Game(
    rules=RULES,
    wire=WIRE,
    description=describe(),
    service=service.DESCRIPTOR.services_by_name["CorsariService"],
    texts=Path(__file__).parent / "texts",
)
"""The entry point `corsari` of `tortuga.games`."""
