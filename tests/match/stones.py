"""Stones, a game for the kit's tests: take 1 to 3, whoever takes the last one wins. With moves that no real game has.

take N     the turn's seat takes N stones; everyone sees it
whisper W  anyone, unasked: only the actor is shown it
hum        anyone, unasked: nobody is shown anything
crash      the turn's seat: the rules fail
garble     the turn's seat: the rules go well, and the codec fails
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import NamedTuple

from services.kit.chance import Chance
from services.kit.rules import Asked, IllegalAction, InvalidAction, Legal, Outcome, Place, Seat, State, Viewer

WORDS = ("hush", "psst")


class Move(NamedTuple):
    """One move: a word and what follows it."""

    kind: str
    what: str = ""

    def __str__(self) -> str:
        return f"{self.kind} {self.what}".strip()


@dataclass(frozen=True, slots=True)
class Happened:
    """What a move did; *secret* events are shown to their seat alone."""

    text: str
    seat: Seat
    secret: bool = False

    def public(self) -> Happened | None:
        """The event itself, unless it is secret."""
        return None if self.secret else self

    def own(self, seat: Seat) -> Happened | None:
        """What is secret to all but *seat*."""
        return self if self.secret and seat == self.seat else None


class View(NamedTuple):
    """What a viewer knows: the heap, and what it whispered itself."""

    heap: int
    whispered: tuple[str, ...] = ()


class Stones(State[Move, Happened, View]):
    """A heap, and whose turn it is."""

    __slots__ = ("decisions", "given_up", "heap", "seats", "turn", "whispers", "winner")

    def __init__(self, seats: int, heap: int) -> None:
        self.seats = seats
        self.heap = heap
        self.turn = Seat(0)
        self.decisions = (1,) + (0,) * (seats - 1)
        self.whispers: tuple[tuple[str, ...], ...] = ((),) * seats
        self.given_up: frozenset[Seat] = frozenset()
        self.winner: Seat | None = None

    def asked(self) -> Sequence[Asked]:
        """The seat whose turn it is."""
        return [] if self.winner is not None else [Asked(self.turn, self.decisions[self.turn])]

    def legal(self, seat: Seat) -> Legal[Move]:
        """Takes for the turn's seat, whispers for everyone."""
        if self.winner is not None:
            return Legal(())
        takes = [Move("take", str(n)) for n in (1, 2, 3) if n <= self.heap and seat == self.turn]
        return Legal(takes + [Move("whisper", word) for word in WORDS])

    def sample(self, seat: Seat, luck: Random) -> Move:
        """Any legal move."""
        return luck.choice(self.legal(seat).actions)

    def unasked(self, seat: Seat, action: Move) -> bool:
        """Whispers and hums answer nothing."""
        return action.kind in {"whisper", "hum"}

    def apply(self, seat: Seat, action: Move, chance: Chance) -> Sequence[Happened]:
        """Play a move."""
        if self.winner is not None:
            raise IllegalAction("GAME_OVER")
        if action.kind == "hum":
            return []
        if action.kind == "whisper":
            self._keep(seat, action.what)
            return [Happened(str(action), seat, secret=True)]
        if seat != self.turn:
            raise IllegalAction("NOT_YOUR_TURN")
        if action.kind == "crash":
            raise RuntimeError(f"the secret heap of {self.heap}")
        if action.kind == "take":
            if int(action.what) > self.heap:
                raise IllegalAction("TOO_MANY", limit=self.heap)
            self.heap -= int(action.what)
        self._pass_on(seat)
        return [Happened(str(action), seat)]

    def timeout(self, seat: Seat, chance: Chance) -> Sequence[Happened]:
        """Silence takes one stone."""
        return self.apply(seat, Move("take", "1"), chance)

    def resigned(self, seat: Seat, chance: Chance) -> Sequence[Happened]:
        """The last seat left wins."""
        self.given_up |= {seat}
        left = [Seat(other) for other in range(self.seats) if Seat(other) not in self.given_up]
        if len(left) == 1:
            self.winner = left[0]
        return [Happened("resigned", seat)]

    def view(self, viewer: Viewer) -> View:
        """The heap, and the viewer's own whispers."""
        return View(self.heap, () if viewer is None else self.whispers[viewer])

    def outcome(self) -> Outcome | None:
        """The winner is first, the others share the second place."""
        if self.winner is None:
            return None
        seats = map(Seat, range(self.seats))
        return Outcome("finished", tuple(Place(seat, 1 if seat == self.winner else 2, 0) for seat in seats))

    def copy(self) -> Stones:
        """An independent position."""
        twin = Stones(self.seats, self.heap)
        for name in ("turn", "decisions", "whispers", "given_up", "winner"):
            setattr(twin, name, getattr(self, name))
        return twin

    def dump(self) -> bytes:
        """Everything, as JSON."""
        fields = {name: getattr(self, name) for name in Stones.__slots__} | {"given_up": sorted(self.given_up)}
        return json.dumps(fields, sort_keys=True).encode()

    def _keep(self, seat: Seat, word: str) -> None:
        mine = (*self.whispers[seat], word)
        self.whispers = (*self.whispers[:seat], mine, *self.whispers[seat + 1 :])

    def _pass_on(self, seat: Seat) -> None:
        if not self.heap:
            self.winner = seat
            return
        self.turn = Seat((seat + 1) % self.seats)
        decisions = list(self.decisions)
        decisions[self.turn] += 1
        self.decisions = tuple(decisions)


class StonesRules:
    """The face of the rules. *broken_start* makes `start` fail."""

    versions = ("1",)

    def __init__(self) -> None:
        self.broken_start = False

    def check(self, options: None, seats: int) -> None:
        """Anything goes."""

    def start(self, options: None, seats: int, chance: Chance, version: str) -> tuple[Stones, Sequence[Happened]]:
        """A heap of 20 to 29."""
        if self.broken_start:
            raise RuntimeError("no stones")
        state = Stones(seats, 20 + chance.pick("heap", of=10))
        return state, [Happened(f"heap {state.heap}", Seat(0))]

    def load(self, data: bytes) -> Stones:
        """Read a dump."""
        fields = json.loads(data)
        state = Stones(fields["seats"], fields["heap"])
        for name in ("turn", "winner"):
            setattr(state, name, fields[name])
        state.decisions = tuple(fields["decisions"])
        state.whispers = tuple(map(tuple, fields["whispers"]))
        state.given_up = frozenset(fields["given_up"])
        return state

    def parse(self, text: str) -> Move:
        """Read a move."""
        kind, _, what = text.partition(" ")
        if kind == "take" and what in {"1", "2", "3"}:
            return Move(kind, what)
        if (kind == "whisper" and what in WORDS) or (kind in {"hum", "crash", "garble"} and not what):
            return Move(kind, what)
        raise InvalidAction("UNREADABLE")

    def redeal(self, state: Stones, viewer: Viewer, luck: Random) -> Stones:
        """Other whispers of the others."""
        twin = state.copy()
        for seat, words in enumerate(state.whispers):
            if seat != viewer:
                others = tuple(luck.choice(WORDS) for _ in words)
                twin.whispers = (*twin.whispers[:seat], others, *twin.whispers[seat + 1 :])
        return twin

    def follow(self, view: View, events: Sequence[Happened], viewer: Viewer) -> View:
        """The view after *events*."""
        for event in events:
            kind, _, what = event.text.partition(" ")
            if kind == "take":
                view = view._replace(heap=view.heap - int(what))
            elif kind == "whisper" and event.seat == viewer:
                view = View(view.heap, (*view.whispered, what))
        return view

    def violations(self, state: Stones) -> Sequence[str]:
        """None."""
        return []
