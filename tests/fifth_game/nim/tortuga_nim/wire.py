"""Between the light types and the bytes of tortuga.nim.v1 (services/kit/game.py, `Wire`).

Plain protobuf objects throughout: good enough until a benchmark says otherwise. Whatever comes from `public_…` and
`own_…` is concatenated, so nothing public may be repeated in an own part; here the own part is what is legal, alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from google.protobuf.message import DecodeError, Message
from services.kit.rules import InvalidAction, Legal, Seat, Viewer
from tortuga.nim.v1 import nim_pb2 as pb

from tortuga_nim import describing
from tortuga_nim.actions import Take, exists
from tortuga_nim.events import Begun, Event, Resigned, Taken
from tortuga_nim.options import Options
from tortuga_nim.state import Position
from tortuga_nim.view import View


class NimWire:
    """The codec. It holds nothing."""

    def public_events(self, events: Sequence[Event]) -> bytes:
        """Update bytes of what everyone sees: here, all that happened."""
        return pb.Update(events=map(_event, events)).SerializeToString()

    def own_events(self, events: Sequence[Event], seat: Seat) -> bytes:
        """Nothing: no seat sees more of an event than everyone does."""
        return b""

    def legal(self, state: Position, seat: Seat) -> bytes:
        """Update bytes of `legal`."""
        return pb.Update(legal=map(_action, state.legal(seat).actions)).SerializeToString()

    def public_view(self, state: Position) -> bytes:
        """Update bytes of the spectator's view: here, everyone's."""
        view = state.view(None)
        sent = pb.View(heaps=view.heaps, turn=view.turn, taken=view.taken, resigned=view.resigned)
        return pb.Update(view=sent).SerializeToString()

    def own_view(self, state: Position, seat: Seat) -> bytes:
        """Nothing: no seat knows more than everyone does."""
        return b""

    def read_action(self, data: bytes) -> Take:
        """Read the bytes of an `Action`.

        Raises:
            InvalidAction: MALFORMED.
        """
        try:
            return _take(pb.Action.FromString(data))
        except DecodeError:
            raise InvalidAction("MALFORMED") from None

    def write_action(self, action: Take) -> bytes:
        """Bytes of an `Action`."""
        return _action(action).SerializeToString()

    def read_options(self, data: bytes) -> Options:
        """Read the bytes of `Options`.

        Raises:
            InvalidOptions: OPTION_MALFORMED, OPTION_UNKNOWN or OPTION_RANGE with `option`; STONES_CROSSED.
        """
        return describing.options_from(data)

    def read_view(self, update: Message, viewer: Viewer) -> View:
        """The light view in a received `Update`."""
        sent = _update(update).view
        resigned = tuple(map(Seat, sent.resigned))
        return View(tuple(sent.heaps), Seat(sent.turn), tuple(sent.taken), resigned)

    def read_events(self, update: Message) -> Sequence[Event]:
        """The light events in a received `Update`."""
        return [_happened(sent) for sent in _update(update).events]

    def read_legal(self, update: Message) -> Legal[Take]:
        """The light actions in a received `Update`."""
        return Legal([_take(sent) for sent in _update(update).legal])


def _action(action: Take) -> pb.Action:
    return pb.Action(take=pb.Take(heap=action.heap, count=action.count))


def _take(sent: pb.Action) -> Take:
    if sent.WhichOneof("kind") != "take" or not exists(sent.take.heap, sent.take.count):
        raise InvalidAction("MALFORMED")
    return Take(sent.take.heap, sent.take.count)


def _event(event: Event) -> pb.Event:
    match event:
        case Begun(heaps, first):
            return pb.Event(begun=pb.Begun(heaps=heaps, first=first))
        case Taken(seat, heap, count):
            return pb.Event(taken=pb.Taken(seat=seat, heap=heap, count=count))
        case Resigned(seat):
            return pb.Event(resigned=pb.Resigned(seat=seat))


def _happened(sent: pb.Event) -> Event:
    match sent.WhichOneof("kind"):
        case "begun":
            return Begun(tuple(sent.begun.heaps), Seat(sent.begun.first))
        case "taken":
            return Taken(Seat(sent.taken.seat), sent.taken.heap, sent.taken.count)
        case "resigned":
            return Resigned(Seat(sent.resigned.seat))
    raise ValueError("an event of no kind that this client knows")


def _update(update: Message) -> pb.Update:
    """*update* as this process's own class: it may come from a client's descriptor pool."""
    return update if isinstance(update, pb.Update) else pb.Update.FromString(update.SerializeToString())


WIRE: Final = NimWire()
