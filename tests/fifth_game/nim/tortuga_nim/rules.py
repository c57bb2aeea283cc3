"""Nim's rules as the platform sees them (services/kit/rules.py). They know no clock, no network and no protobuf."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Final

from services.kit.chance import Chance
from services.kit.rules import InvalidOptions, Seat, Viewer

from tortuga_nim import actions, dumping, view
from tortuga_nim import redeal as redealing
from tortuga_nim.actions import Take
from tortuga_nim.events import Begun, Event
from tortuga_nim.options import MAX_SEATS, MIN_SEATS, MOST_STONES, Options
from tortuga_nim.state import REASONS, Position
from tortuga_nim.view import View

VERSIONS: Final = ("1",)
"""Rules versions held, newest first."""


class NimRules:
    """The face of the rules. It holds nothing."""

    @property
    def versions(self) -> Sequence[str]:
        """Versions held, newest first."""
        return VERSIONS

    def check(self, options: Options, seats: int) -> None:
        """Refuse a number of seats outside 2 to 4, and options that do not fit.

        Raises:
            InvalidOptions: PLAYERS with the bounds; as `Options.check`.
        """
        if not MIN_SEATS <= seats <= MAX_SEATS:
            raise InvalidOptions("PLAYERS", least=MIN_SEATS, most=MAX_SEATS)
        options.check()

    def start(self, options: Options, seats: int, chance: Chance, version: str) -> tuple[Position, Sequence[Event]]:
        """Lay out the heaps, and draw who begins (rule 1). Every draw has an address of its own.

        Raises:
            InvalidOptions: as `check`.
            ValueError: the version is not held.
        """
        self.check(options, seats)
        if version not in VERSIONS:
            raise ValueError(f"rules version {version} is not held")
        sizes = options.most_stones - options.fewest_stones + 1
        heaps = tuple(options.fewest_stones + chance.pick("heap", heap, of=sizes) for heap in range(options.heaps))
        first = Seat(chance.pick("first", of=seats) if options.lot_for_first else 0)
        return Position(options, heaps, seats, first, version), [Begun(heaps, first)]

    def load(self, data: bytes) -> Position:
        """Read what `Position.dump` wrote.

        Raises:
            ValueError: *data* is no dump.
        """
        return dumping.load(data, Position)

    def parse(self, text: str) -> Take:
        """Read an action's text form.

        Raises:
            InvalidAction: UNREADABLE.
        """
        return actions.parse(text)

    def redeal(self, state: Position, viewer: Viewer, luck: Random) -> Position:
        """A position that *viewer* cannot tell from *state*."""
        return redealing.redeal(state, viewer, luck)

    def follow(self, known: View, events: Sequence[Event], viewer: Viewer) -> View:
        """The view after *events* as *viewer* was shown them."""
        return view.follow(known, events, viewer)

    def violations(self, state: Position) -> Sequence[str]:
        """Codes of the invariants that *state* breaks: HEAPS, TAKEN, TURN, REASON."""
        laid_out = sum(state.heaps) + sum(state.taken)
        most = state.options.heaps * state.options.most_stones
        sound = {
            "HEAPS": len(state.heaps) == state.options.heaps and all(0 <= n <= MOST_STONES for n in state.heaps),
            "TAKEN": state.options.heaps * state.options.fewest_stones <= laid_out <= most,
            "TURN": state.turn in range(state.seats),
            "REASON": state.reason in REASONS and (bool(state.reason) or any(state.heaps)),
        }
        return [code for code, holds in sound.items() if not holds]


RULES: Final = NimRules()
