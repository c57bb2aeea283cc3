"""Between the light types and the bytes of tortuga.corsari.v1 (services/kit/game.py). Hot paths join cached bytes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from google.protobuf.message import Message

from services.corsari import describing, received
from services.corsari.actions import Action, Source
from services.corsari.encoded import (
    ACTIONS,
    DECLARED_HIDDEN,
    DISCARDED,
    DRAWN,
    DRAWN_HIDDEN,
    LEGAL_AUTO,
    LEGAL_DRAWS,
    LEGAL_FREE,
    LEGAL_PLAIN,
    LEGAL_SPLITS,
    READ,
    UPDATE_EVENTS,
    UPDATE_VIEW,
    action_bytes,
    event_bytes,
)
from services.corsari.encoded_view import own_view_bytes, public_view_bytes
from services.corsari.encoding import message, number, number_tag
from services.corsari.events import Declared, Discarded, Drawn, Event
from services.corsari.options import Options
from services.corsari.phases import Phase
from services.corsari.state import Position
from services.corsari.view import View
from services.kit.rules import Legal, Seat, Viewer
from tortuga.corsari.v1 import corsari_pb2 as pb

_DRAW: Final = Phase.DRAW
_DISCARD: Final = Phase.DISCARD
_PARTITION: Final = Phase.PARTITION
_STOCK: Final = Source.STOCK

_OF: Final = number_tag(1)


class CorsariWire:
    """The codec. It holds nothing."""

    def public_events(self, events: Sequence[Event]) -> bytes:
        """Update bytes of what everyone sees."""
        return b"".join([_public_event(event) for event in events])

    def own_events(self, events: Sequence[Event], seat: Seat) -> bytes:
        """Update bytes of what only *seat* sees, each with the place of the public event that it completes."""
        parts = []
        for place, event in enumerate(events, 1):  # every event of this game has a public form
            own = event.own(seat)
            if own is not None:
                parts.append(message(UPDATE_EVENTS, number(_OF, place) + event_bytes(own)))
        return b"".join(parts)

    def legal(self, state: Position, seat: Seat) -> bytes:
        """Update bytes of `legal` and `templates`."""
        phase = state.phase
        if phase is _PARTITION:
            return b"" if seat == state.turn or state.declared[seat] is not None else LEGAL_SPLITS
        if seat != state.turn:
            return b""
        if phase is _DRAW:
            return LEGAL_DRAWS
        if phase is not _DISCARD:
            return b""
        cards = state.allowed_discards()
        entries = [LEGAL_PLAIN[card] for card in cards] if state.stock else []
        entries += [LEGAL_AUTO[card] for card in cards]
        if state.splits_are_chosen():
            entries += [LEGAL_FREE[card] for card in cards]
        return b"".join(entries)

    def public_view(self, state: Position) -> bytes:
        """Update bytes of the spectator's view."""
        return message(UPDATE_VIEW, public_view_bytes(state.view(None)))

    def own_view(self, state: Position, seat: Seat) -> bytes:
        """Update bytes of what *seat*'s view adds."""
        return message(UPDATE_VIEW, own_view_bytes(state.view(seat)))

    def read_action(self, data: bytes) -> Action:
        """Read the bytes of an `Action`.

        Raises:
            InvalidAction: MALFORMED, or SOURCE for an unknown source (K5).
        """
        action = READ.get(data)
        return received.action_from(data) if action is None else action

    def write_action(self, action: Action) -> bytes:
        """Bytes of an `Action`."""
        data = ACTIONS.get(action)
        return action_bytes(action) if data is None else data

    def read_options(self, data: bytes) -> Options:
        """Read the bytes of `Options`.

        Raises:
            InvalidOptions: OPTION_MALFORMED, OPTION_UNKNOWN or OPTION_RANGE, with `option`.
        """
        return describing.options_from(data)

    def write_options(self, options: Options) -> bytes:
        """Bytes of `Options` with every field set."""
        return describing.options_bytes(options)

    def read_view(self, update: Message, viewer: Viewer) -> View:
        """The light view in a received `Update`."""
        return received.view_of(_update(update).view, viewer)

    def read_events(self, update: Message) -> Sequence[Event]:
        """The light events in a received `Update`, own forms in place of the public ones."""
        return received.events_of(_update(update))

    def read_legal(self, update: Message) -> Legal[Action]:
        """The light actions in a received `Update`."""
        sent = _update(update)
        return Legal(
            [received.action_of(action) for action in sent.legal],
            [received.action_of(action) for action in sent.templates],
        )


def _public_event(event: Event) -> bytes:
    """Update bytes of an event's public form."""
    if isinstance(event, Drawn):
        if event.source is _STOCK or event.card is None:
            return DRAWN_HIDDEN[event.seat]
        return DRAWN[event.seat][event.source][event.card]
    if isinstance(event, Discarded):
        return DISCARDED[event.seat][event.card]
    if isinstance(event, Declared):
        return DECLARED_HIDDEN[event.seat]
    public = event.public()
    return b"" if public is None else message(UPDATE_EVENTS, event_bytes(public))


def _update(update: Message) -> pb.Update:
    """*update* as this process's own class: it may come from a client's descriptor pool."""
    return update if isinstance(update, pb.Update) else pb.Update.FromString(update.SerializeToString())


WIRE: Final = CorsariWire()
