"""The bot contract: what a game offers for seats that nobody plays, and for people who ask for advice (design §2).

A bot sees what its seat sees and has no other input. Standard library only, like the rules.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, Generic, NamedTuple, Protocol, TypeAlias

from services.kit.rules import A, Legal, O, Seat, V


@dataclass(frozen=True, slots=True)
class Sight(Generic[A, V, O]):
    """All that a bot knows: its seat, the match's options and rules version, the seat's view and what is legal."""

    seat: Seat
    options: O
    version: str
    view: V
    legal: Legal[A]


class Advice(NamedTuple, Generic[A]):
    """One action with its *worth* on the bot's own scale (higher is better) and the code of its reason, or none."""

    action: A
    worth: float
    reason: str = ""


class Bot(Protocol[A, V, O]):
    """One level of play. Stateless: the same sight and the same luck give the same advice."""

    def advise(self, sight: Sight[A, V, O], luck: Random, left_ms: Callable[[], float]) -> Sequence[Advice[A]]:
        """Legal actions, best first; at least one if anything is legal. The first is what the bot would play.

        *luck* is all the chance it may use. *left_ms* says how many milliseconds are left to think; who is not done by
        then is stopped, and nobody plays its move.
        """
        ...


AnyBot: TypeAlias = Bot[Any, Any, Any]


def no_bots() -> Mapping[str, AnyBot]:
    """A game without bots."""
    return {}
