"""Nim as the platform loads it: rules, codec, description, service."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from services.kit.game import Game
from tortuga.nim.v1 import nim_service_pb2 as service

from tortuga_nim.actions import Take
from tortuga_nim.describing import describe
from tortuga_nim.events import Event
from tortuga_nim.options import Options
from tortuga_nim.rules import RULES
from tortuga_nim.state import Position
from tortuga_nim.view import View
from tortuga_nim.wire import WIRE

GAME: Final[Game[Position, Take, Event, View, Options]] = Game(
    rules=RULES,
    wire=WIRE,
    description=describe(),
    service=service.DESCRIPTOR.services_by_name["NimService"],
    texts=Path(__file__).parent / "texts",
)
"""The entry point `nim` of `tortuga.games`."""
