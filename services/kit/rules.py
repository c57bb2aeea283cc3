"""The rules contract: what a game's pure core offers (design §4). Standard library only: no I/O, clock or asyncio."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Generic, NamedTuple, NewType, Protocol, Self, TypeAlias, TypeVar

from services.kit.chance import Chance

Seat = NewType("Seat", int)
"""A place at the match, from 0."""

Viewer: TypeAlias = Seat | None
"""Who looks: a seat, or None for a spectator."""


class RuleError(Exception):
    """A refusal by the rules: a stable *reason* without prose, and parameters from the actor's own view only."""

    def __init__(self, reason: str, **params: object) -> None:
        super().__init__(reason)
        self.reason = reason
        self.params = {name: str(value) for name, value in params.items()}


class InvalidAction(RuleError):
    """The bytes or the text are no action of this game, in any position."""


class IllegalAction(RuleError):
    """The action exists, but the position does not allow it. Nothing changed."""


class InvalidOptions(RuleError):
    """The options contradict each other, or the number of seats does not fit."""


class Asked(NamedTuple):
    """A seat that owes a choice, and the number of that decision, counted per seat from 1."""

    seat: Seat
    decision: int


@dataclass(frozen=True, slots=True)
class Place:
    """One seat's result: *rank* 1 is best, ties share, 0 without a ranking; *points* in the game's own sense."""

    seat: Seat
    rank: int
    points: int


@dataclass(frozen=True, slots=True)
class Award:
    """Something that *seats* won besides their rank."""

    code: str
    seats: tuple[Seat, ...]


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a match ended: a code, every seat once in seat order, and awards."""

    reason: str
    places: tuple[Place, ...]
    awards: tuple[Award, ...] = ()


class Event(Protocol):
    """One thing that happened. The rules return it whole; the halves say who may see what of it."""

    def public(self) -> Self | None:
        """What everyone sees: `self` if nothing in it is hidden, None if nothing may be shown."""
        ...

    def own(self, seat: Seat) -> Self | None:
        """What *seat* sees beyond `public()`, as a complete event; None if it sees no more than everyone."""
        ...


A = TypeVar("A")  # the game's Action; str(a) is its text form, and the game's parse reads it back
E = TypeVar("E", bound=Event)
V = TypeVar("V")  # the game's View
O = TypeVar("O")  # noqa: E741 - the game's Options


class Legal(NamedTuple, Generic[A]):
    """What a seat may do: concrete actions, and templates (actions whose free parts are empty), each in fixed order."""

    actions: Sequence[A]
    templates: Sequence[A] = ()

    def __bool__(self) -> bool:
        return bool(self.actions or self.templates)


class State(ABC, Generic[A, E, V]):
    """A position of one match. Light and mutable; whoever judges works on `copy()`. There is no undo."""

    __slots__ = ()

    @abstractmethod
    def asked(self) -> Sequence[Asked]:
        """The seats that owe a choice now, ascending, each with its open decision."""

    def asked_publicly(self) -> Sequence[Seat]:
        """Seats that everyone may know to be asked; one that answered a hidden window stays until it closes."""
        return [seat for seat, _ in self.asked()]

    @abstractmethod
    def legal(self, seat: Seat) -> Legal[A]:
        """What *seat* may do now, asked or not."""

    @abstractmethod
    def sample(self, seat: Seat, luck: Random) -> A:
        """A random legal action: an entry of `legal` uniformly, its free part so that each legal filling may come."""

    def unasked(self, seat: Seat, action: A) -> bool:
        """Whether *action* answers no decision (it then quotes decision 0 and is never stale)."""
        return False

    @abstractmethod
    def apply(self, seat: Seat, action: A, chance: Chance) -> Sequence[E]:
        """Play *action* and return what happened.

        Raises:
            IllegalAction: the position does not allow it; the state may then be half-changed and is thrown away.
        """

    @abstractmethod
    def timeout(self, seat: Seat, chance: Chance) -> Sequence[E]:
        """Play what *seat*'s silence means. Only called while the seat is asked."""

    @abstractmethod
    def resigned(self, seat: Seat, chance: Chance) -> Sequence[E]:
        """Take note that *seat* has given up. With one seat left it wins; else the kit plays the time-out steps."""

    @abstractmethod
    def view(self, viewer: Viewer) -> V:
        """All that *viewer* knows with a perfect memory: the spectator's view plus what the seat has earned."""

    @abstractmethod
    def outcome(self) -> Outcome | None:
        """How the match ended, or None while it runs."""

    @abstractmethod
    def copy(self) -> Self:
        """An independent position, cheap: parts are shared and replaced, never changed in place."""

    @abstractmethod
    def dump(self) -> bytes:
        """Canonical bytes: equal positions give equal bytes, and the game's `load` reads them back."""

    def fingerprint(self) -> bytes:
        """SHA-256 of `dump()`, 32 bytes."""
        return hashlib.sha256(self.dump()).digest()


S = TypeVar("S", bound="State")  # type: ignore[type-arg]  # bound to any game's state
A_co = TypeVar("A_co", covariant=True)
O_contra = TypeVar("O_contra", contravariant=True)


class Rules(Protocol[S, A_co, E, V, O_contra]):
    """The face of a game's rules module. *version* is pinned per match; old versions are branches inside the game."""

    @property
    def versions(self) -> Sequence[str]:
        """Versions held, newest first; new matches take the first."""
        ...

    def check(self, options: O_contra, seats: int) -> None:
        """Refuse what no single option shows.

        Raises:
            InvalidOptions: the number of seats, or options that contradict each other.
        """
        ...

    def start(self, options: O_contra, seats: int, chance: Chance, version: str) -> tuple[S, Sequence[E]]:
        """Set up a match up to its first decision; return the position and what happened (the first deal)."""
        ...

    def load(self, data: bytes) -> S:
        """Read what `State.dump` wrote."""
        ...

    def parse(self, text: str) -> A_co:
        """Read an action's text form.

        Raises:
            InvalidAction: UNREADABLE.
        """
        ...

    def redeal(self, state: S, viewer: Viewer, luck: Random) -> S:
        """A state drawn from those that *viewer* cannot tell from *state*: every hidden field varies, no public one."""
        ...

    def follow(self, view: V, events: Sequence[E], viewer: Viewer) -> V:
        """The view after *events* as *viewer* was shown them (own forms in place of the public ones)."""
        ...

    def violations(self, state: S) -> Sequence[str]:
        """Codes of the dossier's invariants that *state* breaks; empty if it is sound."""
        ...


def shown(events: Sequence[E], viewer: Viewer) -> list[E]:
    """*events* as *viewer* sees them: own forms where there are any, else public ones; the rest left out."""
    seen: list[E] = []
    for event in events:
        own = None if viewer is None else event.own(viewer)
        form = own if own is not None else event.public()
        if form is not None:
            seen.append(form)
    return seen
