"""Nim for Tortuga, in a package of its own (README.md). `GAME` is made when asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tortuga_nim.game import GAME

__all__ = ["GAME"]


def __getattr__(name: str) -> object:
    """Import the game with its wire codec only for those who want it: the rules core stays plain."""
    if name == "GAME":
        from tortuga_nim.game import GAME  # noqa: PLC0415 - lazily, see above

        return GAME
    raise AttributeError(name)
