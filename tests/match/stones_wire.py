"""The contract of Stones, built at run time, and the game as the kit loads it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from google.protobuf.descriptor_pb2 import DescriptorProto, FieldDescriptorProto, FileDescriptorProto
from google.protobuf.descriptor_pool import Default
from google.protobuf.message import DecodeError, Message
from google.protobuf.message_factory import GetMessageClass

from services.kit.game import Game
from services.kit.rules import InvalidAction, Legal, Seat, Viewer
from tests.match.stones import Happened, Move, Stones, StonesRules, View
from tortuga.play.v1 import play_pb2
from tortuga.play.v1.game_pb2 import Game as Description

_PACKAGE = "tests.stones.v1"
_OWN: dict[str, list[tuple[str, int, str, bool]]] = {
    "Action": [("text", 1, "", False)],
    "Event": [("text", 1, "", False), ("seat", 2, "uint32", False), ("secret", 3, "bool", False)],
    "View": [("heap", 1, "uint32", False), ("whispered", 2, "", True)],
    "Update": [("view", 1, "View", False), ("events", 2, "Event", True), ("legal", 3, "Action", True)],
}
_SCALARS = {
    "": FieldDescriptorProto.TYPE_STRING,
    "uint32": FieldDescriptorProto.TYPE_UINT32,
    "bool": FieldDescriptorProto.TYPE_BOOL,
}


def _add(message: DescriptorProto, name: str, number: int, kind: str, repeated: bool = False) -> None:
    label = FieldDescriptorProto.LABEL_REPEATED if repeated else FieldDescriptorProto.LABEL_OPTIONAL
    field = message.field.add(name=name, number=number, label=label)
    if kind in _SCALARS:
        field.type = _SCALARS[kind]
    else:
        field.type = FieldDescriptorProto.TYPE_MESSAGE
        field.type_name = kind


def _file() -> FileDescriptorProto:
    file = FileDescriptorProto(name="tests/stones/v1/stones.proto", package=_PACKAGE, syntax="proto3")
    file.dependency.append(play_pb2.DESCRIPTOR.name)
    file.dependency.append("tortuga/play/v1/match.proto")
    for name, fields in _OWN.items():
        message = file.message_type.add(name=name)
        for field, number, kind, repeated in fields:
            _add(message, field, number, kind if kind in _SCALARS else f".{_PACKAGE}.{kind}", repeated)
    for platform, field, kind in (
        (play_pb2.PlayRequest, "action", "Action"),
        (play_pb2.PlayResponse, "update", "Update"),
    ):
        message = file.message_type.add()
        platform.DESCRIPTOR.CopyToProto(message)
        message.ClearField("reserved_range")
        _add(message, field, 16, f".{_PACKAGE}.{kind}")
    service = file.service.add(name="StonesService")
    for call in ("Play", "Act", "Watch", "Replay"):
        service.method.add(
            name=call,
            input_type=f".{_PACKAGE}.PlayRequest",
            output_type=f".{_PACKAGE}.PlayResponse",
            client_streaming=call == "Play",
            server_streaming=call != "Act",
        )
    return file


_FILE = Default().AddSerializedFile(_file().SerializeToString())


def _class(name: str) -> Any:
    return GetMessageClass(_FILE.message_types_by_name[name])


_Action, _Event, _View, _Update = map(_class, ("Action", "Event", "View", "Update"))


class StonesWire:
    """The codec."""

    def public_events(self, events: Sequence[Happened]) -> bytes:
        """What everyone sees; the garbled cannot be written."""
        return self._events([event for event in events if event.public() is not None])

    def own_events(self, events: Sequence[Happened], seat: Seat) -> bytes:
        """What only *seat* sees."""
        return self._events([event for event in events if event.own(seat) is not None])

    def legal(self, state: Stones, seat: Seat) -> bytes:
        """Legal moves."""
        moves = state.legal(seat).actions
        return bytes(_Update(legal=[_Action(text=str(move)) for move in moves]).SerializeToString())

    def public_view(self, state: Stones) -> bytes:
        """The heap."""
        return bytes(_Update(view=_View(heap=state.heap)).SerializeToString())

    def own_view(self, state: Stones, seat: Seat) -> bytes:
        """The seat's whispers."""
        return bytes(_Update(view=_View(whispered=state.whispers[seat])).SerializeToString())

    def read_action(self, data: bytes) -> Move:
        """A move."""
        try:
            text = _Action.FromString(data).text
        except DecodeError:
            raise InvalidAction("MALFORMED") from None
        if text == "break the codec":
            raise RuntimeError("a fault of the codec")
        return StonesRules().parse(text)

    def write_action(self, action: Move) -> bytes:
        """The move's bytes."""
        return bytes(_Action(text=str(action)).SerializeToString())

    def read_options(self, data: bytes) -> None:
        """There are none."""

    def write_options(self, options: None) -> bytes:
        """There are none."""
        return b""

    def read_view(self, update: Message, viewer: Viewer) -> View:
        """The view in a received update."""
        view: Any = update
        return View(view.view.heap, tuple(view.view.whispered))

    def read_events(self, update: Message) -> Sequence[Happened]:
        """The events in a received update."""
        received: Any = update
        return [Happened(event.text, Seat(event.seat), event.secret) for event in received.events]

    def read_legal(self, update: Message) -> Legal[Move]:
        """The moves in a received update."""
        received: Any = update
        return Legal([StonesRules().parse(action.text) for action in received.legal])

    def _events(self, events: Sequence[Happened]) -> bytes:
        if any(event.text == "garble" for event in events):
            raise RuntimeError("a fault of the codec")
        written = [_Event(text=event.text, seat=event.seat, secret=event.secret) for event in events]
        return bytes(_Update(events=written).SerializeToString())


RULES = StonesRules()

GAME: Game[Stones, Move, Happened, View, None] = Game(
    rules=RULES,
    wire=StonesWire(),
    description=Description(game="stones", service=f"{_PACKAGE}.StonesService", min_seats=2, max_seats=4),
    service=_FILE.services_by_name["StonesService"],
    texts=Path(__file__).parent,
)
"""Stones, as the kit loads a game."""
