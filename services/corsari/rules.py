"""Corsari's rules as the platform sees them (services/kit/rules.py). Dossier: corsari.md; section 9 governs."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Final

from services.corsari import actions, dumping, following, invariants, sampling
from services.corsari import redeal as redealing
from services.corsari.actions import Action
from services.corsari.dealing import deal
from services.corsari.events import Event
from services.corsari.options import MAX_SEATS, MIN_SEATS, Options
from services.corsari.state import Position
from services.corsari.view import View
from services.kit.chance import Chance
from services.kit.rules import InvalidOptions, Seat, Viewer

VERSIONS: Final = ("1",)
"""Rules versions held, newest first."""


class CorsariRules:
    """The face of the rules. It holds nothing."""

    @property
    def versions(self) -> Sequence[str]:
        """Versions held, newest first."""
        return VERSIONS

    def check(self, options: Options, seats: int) -> None:
        """Refuse a number of seats outside 2 to 4 (R2), or an option out of range.

        Raises:
            InvalidOptions: PLAYERS with the bounds (K5), or OPTION_RANGE with the option.
        """
        if not MIN_SEATS <= seats <= MAX_SEATS:
            raise InvalidOptions("PLAYERS", least=MIN_SEATS, most=MAX_SEATS)
        options.check()

    def start(self, options: Options, seats: int, chance: Chance, version: str) -> tuple[Position, Sequence[Event]]:
        """Choose the first dealer (R3) and deal.

        Raises:
            InvalidOptions: as `check`.
            ValueError: the version is not held.
        """
        self.check(options, seats)
        if version not in VERSIONS:
            raise ValueError(f"rules version {version} is not held")
        position = Position(options, seats, version)
        position.dealer = Seat(chance.pick("dealer", of=seats))
        return position, [deal(position, chance)]

    def load(self, data: bytes) -> Position:
        """Read what `Position.dump` wrote.

        Raises:
            ValueError: *data* is no dump.
        """
        return dumping.load(data, Position)

    def parse(self, text: str) -> Action:
        """Read an action's text form.

        Raises:
            InvalidAction: UNREADABLE.
        """
        return actions.parse(text)

    def redeal(self, state: Position, viewer: Viewer, luck: Random) -> Position:
        """A position that *viewer* cannot tell from *state*."""
        return redealing.redeal(state, viewer, luck)

    def follow(self, view: View, events: Sequence[Event], viewer: Viewer) -> View:
        """The view after *events* as *viewer* was shown them."""
        return following.follow(view, events, viewer)

    def fill(self, options: Options, view: View, template: Action, luck: Random) -> Action:
        """A random legal action made of *template*, for the seat whose *view* it is: what a client can do by itself."""
        return sampling.fill(options, view, template, luck)

    def violations(self, state: Position) -> Sequence[str]:
        """Codes of the invariants that *state* breaks."""
        return invariants.violations(state)


RULES: Final = CorsariRules()
