"""Positions that a viewer cannot tell from a given one: in a game without secrets there is but that one."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

from services.kit.rules import Viewer

if TYPE_CHECKING:
    from tortuga_nim.state import Position


def redeal(position: Position, viewer: Viewer, luck: Random) -> Position:
    """A copy. A game with secrets draws here anew whatever *viewer* may not know, and keeps all else."""
    return position.copy()
