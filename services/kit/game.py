"""A game as the platform sees it: its rules, its wire codec, its service. Found by the entry points `tortuga.games`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, Generic, Protocol, TypeAlias, TypeVar

from google.protobuf.descriptor import ServiceDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

from services.kit.bot import AnyBot, no_bots
from services.kit.rules import A, E, Legal, O, Rules, S, Seat, State, V, Viewer
from tortuga.play.v1.game_pb2 import Game as GameDescription

S_contra = TypeVar("S_contra", contravariant=True, bound="State")  # type: ignore[type-arg]  # bound to any game's state
V_co = TypeVar("V_co", covariant=True)
O_co = TypeVar("O_co", covariant=True)


class Wire(Protocol[S_contra, A, E, V_co, O_co]):
    """Between light rule types and the bytes of the game's contract.

    Everything named "update bytes" is the content of the game's `Update` message without its tag and length; two such
    pieces concatenate: the public one first, the seat's own after it (play.proto says what may be where).
    """

    def public_events(self, events: Sequence[E]) -> bytes:
        """Update bytes of what everyone sees; empty if nothing may be shown."""
        ...

    def own_events(self, events: Sequence[E], seat: Seat) -> bytes:
        """Update bytes of what only *seat* sees, each event naming in `of` the public one it completes."""
        ...

    def legal(self, state: S_contra, seat: Seat) -> bytes:
        """Update bytes of `legal` and `templates`, own; empty if the seat may do nothing."""
        ...

    def public_view(self, state: S_contra) -> bytes:
        """Update bytes of the spectator's view."""
        ...

    def own_view(self, state: S_contra, seat: Seat) -> bytes:
        """Update bytes of what *seat*'s view adds."""
        ...

    def read_action(self, data: bytes) -> A:
        """Read the bytes of the game's `Action`.

        Raises:
            InvalidAction: MALFORMED, or the game's code for a value that exists in no position.
        """
        ...

    def write_action(self, action: A) -> bytes:
        """Bytes of the game's `Action`."""
        ...

    def read_options(self, data: bytes) -> O_co:
        """Read the bytes of the game's `Options`; unset fields take the defaults.

        Raises:
            InvalidOptions: OPTION_MALFORMED, OPTION_UNKNOWN or OPTION_RANGE with the option's name.
        """
        ...

    def read_view(self, update: Message, viewer: Viewer) -> V_co:
        """The light view in a received `Update` (for clients and tests)."""
        ...

    def read_events(self, update: Message) -> Sequence[E]:
        """The light events in a received `Update`, own forms in place of the public ones they complete."""
        ...

    def read_legal(self, update: Message) -> Legal[A]:
        """The light actions in a received `Update`."""
        ...


def opens_everything(text: str, actor: Seat | None, viewer: Viewer) -> bool:
    """The default of `Game.opens_after`: nothing stays sealed."""
    return True


@dataclass(frozen=True)
class Game(Generic[S, A, E, V, O]):
    """One game. *description* is what `DescribeGame` answers; *service* is its typed service's descriptor."""

    rules: Rules[S, A, E, V, O]
    wire: Wire[S, A, E, V, O]
    description: GameDescription
    service: ServiceDescriptor
    texts: Path
    opens_after: Callable[[str, Seat | None, Viewer], bool] = opens_everything
    """Whether an entry (its text, its actor) opens to a viewer once the match is over; docs/fairness.md."""
    bots: Callable[[], Mapping[str, AnyBot]] = no_bots
    """Loads the bots by level, the weakest first: the levels of `description.bots`. Called by the bots' workers."""

    @property
    def id(self) -> str:
        """The game's id."""
        return self.description.game

    def message(self, name: str) -> type[Message]:
        """The generated class of the game's message *name*, e.g. `PlayResponse`."""
        package = self.service.file.package
        return GetMessageClass(self.service.file.pool.FindMessageTypeByName(f"{package}.{name}"))


AnyGame: TypeAlias = Game[Any, Any, Any, Any, Any]


class UnknownGame(LookupError):
    """No installed package offers this game."""


def installed_games() -> list[str]:
    """Ids of all games that installed packages offer, in alphabetical order."""
    return sorted(entry.name for entry in entry_points(group="tortuga.games"))


def load_game(game: str) -> AnyGame:
    """Load the game that an installed package offers under this id.

    Raises:
        UnknownGame: there is none.
    """
    for entry in entry_points(group="tortuga.games", name=game):
        loaded: AnyGame = entry.load()
        return loaded
    raise UnknownGame(game)
