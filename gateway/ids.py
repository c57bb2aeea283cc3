"""Ids that the gateway makes: opaque, random, lower-case letters and digits, safe in file names and URLs."""

from __future__ import annotations

import base64
import secrets

_BYTES = 16
"""Random bytes in an id: 128 bits, so that none is guessed and none is made twice."""


def new_player_id() -> str:
    """A player's id: `p_` and 26 characters."""
    return "p_" + _random()


def new_ticket_id() -> str:
    """A ticket's id: `t_` and 26 characters."""
    return "t_" + _random()


def new_match_id() -> str:
    """A match's id: 26 characters."""
    return _random()


def _random() -> str:
    return base64.b32encode(secrets.token_bytes(_BYTES)).decode("ascii").rstrip("=").lower()
