"""`redeal`: it varies all that is hidden, and nothing else; or `non_interference` would compare like with like.

What is hidden is found without knowing the game: the own fields of other seats' views; and parts of the position that
nobody sees, which are those lists in it that can be put into another order while every viewer receives the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from services.kit.game import AnyGame
from services.kit.rules import Viewer
from services.kit.step import RUNNING
from tests.conformance.ground import Ground, Line
from tests.contract.rules import FIRST_OWN_OF_VIEW

_ENOUGH = 20
"""Comparisons in which something hidden was there, after which it must have varied at least once."""

_ORDERS = 6
"""Orders of a list that are tried."""

_MORE = 3
"""So many times as many positions, and redeals of each, as `non_interference` compares."""


def redeal(ground: Ground) -> None:
    """At random positions, for every viewer."""
    tally = _Tally(ground.game)
    for line in ground.lines():
        for step in line.play():
            if step.standing.state != RUNNING or not line.look(step, _MORE):
                continue
            state: Any = step.game
            dump = state.dump()
            tally.look(line, state)
            for viewer in line.viewers():
                for _ in range(_MORE * ground.effort.redeals):
                    other = ground.game.rules.redeal(state, viewer, line.luck)
                    broken = ground.game.rules.violations(other)
                    ground.findings.expect(not broken, "UNSOUND", f"viewer {viewer}: {broken}")
                    ground.findings.expect(state.dump() == dump, "CHANGED", f"viewer {viewer}")
                    data = other.dump()
                    ground.findings.expect(ground.game.rules.load(data).dump() == data, "DUMP", f"viewer {viewer}")
                    tally.compare(line, state, other, viewer)
    ground.findings.where = "all matches"
    for what, varied in tally.hidden():
        ground.findings.expect(varied, "KEPT", what)


class _Tally:
    """Counts how often something hidden was there, and whether it ever varied."""

    def __init__(self, game: AnyGame) -> None:
        self._game = game
        self._held: Counter[str] = Counter()
        self._varied: set[str] = set()
        self._seen: set[str] = set()
        """Lists of the position whose order somebody saw change."""
        self._matters: set[str] = set()
        """Lists whose order is part of the position: it changes the dump."""

    def hidden(self) -> list[tuple[str, bool]]:
        """What was hidden often, and whether it ever varied."""
        often = [what for what, count in self._held.items() if count >= _ENOUGH]
        return [(what, what in self._varied) for what in often if what not in self._seen]

    def compare(self, line: Line, state: Any, other: Any, viewer: Viewer) -> None:
        """Compare own fields of other seats, and every list of the position."""
        kind = "a spectator" if viewer is None else "a seat"
        for seat in line.match.table.everyone:
            if seat != viewer:
                ours, theirs = (self._own_fields(each, seat) for each in (state, other))
                for name in ours.keys() | theirs.keys():
                    self._note(f"{name} of others, to {kind}", ours.get(name) != theirs.get(name))
        for name, value in _lists(state):
            if _part(name) in self._matters:
                self._note(_part(name), getattr(other, name) != value)

    def look(self, line: Line, state: Any) -> None:
        """Find out which lists of the position somebody sees."""
        before, dump = self._received(line, state), state.dump()
        for name, value in _lists(state):
            for _ in range(_ORDERS):
                order = list(value)
                line.luck.shuffle(order)
                changed = state.copy()
                try:
                    setattr(changed, name, type(value)(order))
                    if changed.dump() != dump:
                        self._matters.add(_part(name))
                    if self._received(line, changed) != before:
                        self._seen.add(_part(name))
                except Exception:  # an order that no position has: then the game itself tells it from this one
                    self._seen.add(_part(name))

    def _note(self, what: str, varied: bool) -> None:
        self._held[what] += 1
        if varied:
            self._varied.add(what)

    def _own_fields(self, state: Any, seat: Any) -> dict[str, str]:
        update: Any = self._game.message("Update").FromString(self._game.wire.own_view(state, seat))
        fields = update.view.ListFields()
        return {field.name: repr(value) for field, value in fields if field.number >= FIRST_OWN_OF_VIEW}

    def _received(self, line: Line, state: Any) -> list[Any]:
        """All that anybody receives of *state*; the rules' own invariants belong to it."""
        wire = self._game.wire
        everyone = line.match.table.everyone
        return [
            wire.public_view(state),
            *(wire.own_view(state, seat) + wire.legal(state, seat) for seat in everyone),
            list(state.asked()),
            list(state.asked_publicly()),
            state.outcome(),
            list(self._game.rules.violations(state)),
        ]


def _part(name: str) -> str:
    return f"the order of {name}, which nobody sees"


def _lists(state: Any) -> Iterator[tuple[str, Any]]:
    """The position's attributes that are lists of unequal things."""
    names = [name for kind in type(state).__mro__ for name in getattr(kind, "__slots__", ())]
    for name in (*names, *getattr(state, "__dict__", ())):
        value: Any = getattr(state, name, None)
        if type(value) in (tuple, list, bytes) and list(value) != [*value[:1]] * len(value):
            yield name, value
