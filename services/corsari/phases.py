"""The phases of a hand (dossier section 3). Numbers as in the contract, where DEAL, which nobody sees, is unset."""

from __future__ import annotations

from enum import IntEnum


class Phase(IntEnum):
    """What the position waits for: the deal, a draw, a discard, the opponents' splits, or nothing any more."""

    DEAL = 0
    DRAW = 1
    DISCARD = 2
    PARTITION = 3
    GAME_OVER = 4
