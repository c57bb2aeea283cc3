"""The small game with bots that make trouble, each in its own way. Installed by `stage.installed`."""

from __future__ import annotations

import os
import re
import signal
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from random import Random
from typing import Any

from services.kit.bot import Advice, AnyBot
from services.kit.game import AnyGame
from tests.conformance.small_game import plunder
from tests.conformance.small_game.bots import Seen, Wild, bots
from tests.conformance.small_game.parts import Action
from tortuga.play.v1.game_pb2 import Game

_EVIL = re.compile("(a+)+$")


def spin(_: Callable[[], float]) -> None:
    """Think for ever."""
    while True:
        continue


def spin_alone(_: Callable[[], float]) -> None:
    """Think for ever, and let no other thread run: the regular expression engine holds the interpreter's lock."""
    _EVIL.match("a" * 64 + "b")


def use_up(left_ms: Callable[[], float]) -> None:
    """Think for as long as is allowed."""
    while left_ms() > 0:
        continue


def nap(_: Callable[[], float]) -> None:
    """Think for a little while."""
    until = time.monotonic() + 0.3
    while time.monotonic() < until:
        continue


def die(_: Callable[[], float]) -> None:
    """Take the process along."""
    os.kill(os.getpid(), signal.SIGKILL)


def leave(_: Callable[[], float]) -> None:
    """Ask the interpreter to end."""
    sys.exit(3)


def eat(_: Callable[[], float]) -> None:
    """Take more memory than there is."""
    bytearray(1 << 40)


def chat(_: Callable[[], float]) -> None:
    """Print to where answers go, and read from where questions come."""
    print("hello" * 1000, flush=True)
    os.write(1, b"\0\0\0\1A")
    assert sys.stdin.read() == ""


TROUBLE: Mapping[str, Callable[[Callable[[], float]], None]] = {
    each.__name__: each for each in (spin, spin_alone, use_up, nap, die, leave, eat, chat)
}


class Speechless(Wild):
    """Has nothing to say."""

    def advise(self, sight: Seen, luck: Random, left_ms: Callable[[], float]) -> Sequence[Advice[Action]]:
        return []


class Troubled(Wild):
    """Makes trouble, and then plays anything."""

    def __init__(self, trouble: Callable[[Callable[[], float]], None]) -> None:
        self._trouble = trouble

    def advise(self, sight: Seen, luck: Random, left_ms: Callable[[], float]) -> Sequence[Advice[Action]]:
        self._trouble(left_ms)
        return super().advise(sight, luck, left_ms)


SOUND = tuple(bots())
"""The levels without trouble."""


def troubled() -> Mapping[str, AnyBot]:
    """The trouble makers by level; the small game's own bots come last."""
    troubled_ones = {name: Troubled(trouble) for name, trouble in TROUBLE.items()}
    return {**troubled_ones, "speechless": Speechless(), **bots()}


def troubled_game() -> AnyGame:
    """The game."""
    game: Any = plunder(bots=troubled)
    described = Game()
    described.CopyFrom(game.description)
    described.bots[:] = list(troubled())
    made: AnyGame = replace(game, description=described)
    return made


GAME = troubled_game()
