"""The rules that every contract holds, each a function from compiled contracts to the faults it found."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from google.protobuf.descriptor_pb2 import DescriptorProto, FieldDescriptorProto, FileDescriptorSet

from tests.contract.compiled import Game, all_enums, all_messages, games, named_things, ours

CALLS: Mapping[str, tuple[bool, bool]] = {
    "Play": (True, True),
    "Act": (False, False),
    "Watch": (False, True),
    "Replay": (False, True),
}
"""The four calls of every game, and no other: whether the client streams, whether the server does."""

CARRIES: Mapping[str, frozenset[int]] = {
    "PlayRequest": frozenset({1, 2, 3, 4, 5}),
    "PlayResponse": frozenset({1, 2, 3, 4, 5, 6, 7, 8}),
    "ActRequest": frozenset({1, 4, 5}),
    "ActResponse": frozenset({1, 2, 4, 8}),
    "WatchRequest": frozenset({1, 2}),
    "WatchResponse": frozenset({1, 2, 3, 5, 6, 7, 8}),
    "ReplayRequest": frozenset({1}),
    "ReplayResponse": frozenset({1, 2, 3, 8, 9}),
}
"""Which of the platform's fields each message has: all that can occur in that call, and nothing else.

`record` is Replay's alone; a refusal of a unary call is the RPC's status, and so is one of Watch, but for a view that
comes with HISTORY_REWOUND; only who acts is acknowledged.
"""

OWN_FIELD = 16
"""The game's only field in each message: `action` in requests that act, `update` in every response."""

FIRST_OWN_OF_VIEW = 32
"""In a game's View, fields below are public, from here on the seat's own."""

_REPEATED = FieldDescriptorProto.LABEL_REPEATED
_MESSAGE = FieldDescriptorProto.TYPE_MESSAGE
_ENUM = FieldDescriptorProto.TYPE_ENUM
_INTEGERS = {
    FieldDescriptorProto.TYPE_INT32,
    FieldDescriptorProto.TYPE_INT64,
    FieldDescriptorProto.TYPE_UINT32,
    FieldDescriptorProto.TYPE_UINT64,
    FieldDescriptorProto.TYPE_SINT32,
    FieldDescriptorProto.TYPE_SINT64,
    FieldDescriptorProto.TYPE_FIXED32,
    FieldDescriptorProto.TYPE_FIXED64,
    FieldDescriptorProto.TYPE_SFIXED32,
    FieldDescriptorProto.TYPE_SFIXED64,
}
_OPTION_TYPES = _INTEGERS | {FieldDescriptorProto.TYPE_BOOL, _ENUM}


def comment_faults(contracts: FileDescriptorSet) -> Iterator[str]:
    """Everything with a name has a comment, a sentence that ends in a full stop or a colon."""
    for file in ours(contracts):
        for thing in named_things(file):
            if not thing.comment:
                yield f"{thing.kind} {thing.name}: no comment"
            elif not thing.comment.endswith((".", ":")):
                yield f"{thing.kind} {thing.name}: the comment does not end in a full stop"


def enum_faults(contracts: FileDescriptorSet) -> Iterator[str]:
    """The zero value of an enum is `<ENUM>_UNSPECIFIED`, so that unset never means something."""
    for file in ours(contracts):
        for enum in all_enums(file):
            prefix = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", enum.name).upper()
            zero = next((value.name for value in enum.value if value.number == 0), "")
            if zero != f"{prefix}_UNSPECIFIED":
                yield f"enum {file.package}.{enum.name}: zero is {zero or 'missing'}, not {prefix}_UNSPECIFIED"


def file_faults(contracts: FileDescriptorSet) -> Iterator[str]:
    """One service a file, named after it: gRPC code is generated for `*_service.proto` only."""
    for file in ours(contracts):
        wanted = 1 if file.name.endswith("_service.proto") else 0
        if len(file.service) != wanted:
            yield f"{file.name}: {len(file.service)} services, not {wanted}"


def any_faults(contracts: FileDescriptorSet) -> Iterator[str]:
    """No `google.protobuf.Any`: what travels has a type."""
    for file in ours(contracts):
        for name, message in all_messages(file):
            for field in message.field:
                if field.type_name == ".google.protobuf.Any":
                    yield f"{name}.{field.name}: is an Any"


def game_faults(contracts: FileDescriptorSet) -> Iterator[str]:
    """What every game's contract holds: calls, platform fields, the game's own parts, options, cards."""
    platform = {
        name: message
        for file in contracts.file
        if file.package == "tortuga.play.v1"
        for name, message in all_messages(file)
    }
    for game in games(contracts):
        if not re.fullmatch(r"tortuga\.[a-z][a-z0-9_]*\.v1", game.package):
            yield f"{game.package}: a game's package is tortuga.<game>.v1"
        yield from _call_faults(game)
        for message in CARRIES:
            side = "PlayRequest" if message.endswith("Request") else "PlayResponse"
            yield from _platform_faults(game, message, platform[f"tortuga.play.v1.{side}"])
        yield from _shape_faults(game)
        yield from _option_faults(game)
        yield from _card_faults(game)


def own_fields(contracts: FileDescriptorSet) -> frozenset[str]:
    """Full names of the fields that never stand in public bytes.

    Those whose comment begins with the word "Own"; the same platform fields in every game's responses; and every game's
    View from FIRST_OWN_OF_VIEW on. (A field that is own in some events and public in others, such as a drawn card, is
    none of these: what hides it is the event's own half.)
    """
    marked = {
        thing.name
        for file in ours(contracts)
        for thing in named_things(file)
        if thing.kind == "field" and re.match(r"Own\b", thing.comment)
    }
    platform = {name.rpartition(".")[2] for name in marked if name.startswith("tortuga.play.v1.PlayResponse.")}
    for game in games(contracts):
        for message in (name for name in CARRIES if name.endswith("Response")):
            for field in game.messages[message].field if message in game.messages else ():
                if field.number < OWN_FIELD and field.name in platform:
                    marked.add(f"{game.package}.{message}.{field.name}")
        for field in game.messages["View"].field if "View" in game.messages else ():
            if field.number >= FIRST_OWN_OF_VIEW:
                marked.add(f"{game.package}.View.{field.name}")
    return frozenset(marked)


def _call_faults(game: Game) -> Iterator[str]:
    names = [method.name for method in game.methods]
    if sorted(names) != sorted(CALLS):
        yield f"{game.package}: the calls are {', '.join(names)}, not {', '.join(CALLS)}"
    for method in game.methods:
        if CALLS.get(method.name) not in (None, (method.client_streaming, method.server_streaming)):
            yield f"{game.package}.{method.name}: wrong side streams"
        wanted = f".{game.package}.{method.name}"
        if (method.input_type, method.output_type) != (f"{wanted}Request", f"{wanted}Response"):
            yield f"{game.package}.{method.name}: takes and gives other messages than its own"


def _platform_faults(game: Game, name: str, platform: DescriptorProto) -> Iterator[str]:
    where = f"{game.package}.{name}"
    if name not in game.messages:
        yield f"{where}: missing"
        return
    shared = {field.number: field for field in platform.field}
    fields = {field.number: field for field in game.messages[name].field}
    if (carried := {number for number in fields if number < OWN_FIELD}) != CARRIES[name]:
        yield f"{where}: has the platform's fields {sorted(carried)}, not {sorted(CARRIES[name])}"
    for number in carried & shared.keys():
        if _signature(fields[number]) != _signature(shared[number]):
            yield f"{where}.{fields[number].name}: differs from {platform.name}.{shared[number].name}"
    own = {"PlayRequest": "action", "ActRequest": "action"}.get(name, "update" if name.endswith("Response") else "")
    beyond = [field for number, field in fields.items() if number >= OWN_FIELD]
    wanted = [(own, OWN_FIELD, f".{game.package}.{own.capitalize()}")] if own else []
    if [(field.name, field.number, field.type_name) for field in beyond] != wanted:
        yield f"{where}: the game's own part is {wanted or 'nothing'}"
    if game.messages[name].oneof_decl:
        yield f"{where}: has a oneof; acknowledgement and update are one message"


def _signature(field: FieldDescriptorProto) -> tuple[str, int, int, str, bool]:
    return field.name, field.type, field.label, field.type_name, field.proto3_optional


def _shape_faults(game: Game) -> Iterator[str]:
    parts = {"View": (1, False), "Event": (2, True), "Action": (3, True)}
    wanted = {"view": ("View", 1), "events": ("Event", 2), "legal": ("Action", 3), "templates": ("Action", 4)}
    for missing in {"Update", "Options", *parts} - game.messages.keys():
        yield f"{game.package}.{missing}: missing"
    if "Update" in game.messages and len(game.messages["Update"].field) != len(wanted):
        yield f"{game.package}.Update: has other fields than {', '.join(wanted)}"
    for name, (kind, number) in wanted.items():
        field = game.field("Update", name)
        is_list = field is not None and field.label == _REPEATED
        if field is None or (field.number, field.type_name, is_list) != (number, f".{game.package}.{kind}", number > 1):
            yield f"{game.package}.Update.{name}: is not {'repeated ' if number > 1 else ''}{kind} {name} = {number}"
    of = game.field("Event", "of")
    if of is None or (of.number, of.type, of.label == _REPEATED) != (1, FieldDescriptorProto.TYPE_UINT32, False):
        yield f"{game.package}.Event.of: is not uint32 of = 1"
    for name in ("Event", "Action"):
        if name in game.messages and [oneof.name for oneof in game.messages[name].oneof_decl] != ["kind"]:
            yield f"{game.package}.{name}: is not a oneof `kind`"


def _option_faults(game: Game) -> Iterator[str]:
    for field in game.messages["Options"].field if "Options" in game.messages else ():
        where = f"{game.package}.Options.{field.name}"
        if field.label == _REPEATED or field.type not in _OPTION_TYPES:
            yield f"{where}: is not a flat integer, bool or enum"
        elif not field.proto3_optional:
            yield f"{where}: is not optional"


def _card_faults(game: Game) -> Iterator[str]:
    """No message for a card: cards and other small things travel as ids in packed fields.

    So no message is called after cards, and one that is a single integer may only be an alternative of a oneof (an
    action or an event with one parameter), never an element of a list or a part of something else.
    """
    lone = {
        f".{game.package}.{name}"
        for name, message in game.messages.items()
        if len(message.field) == 1 and message.field[0].type in _INTEGERS and message.field[0].label != _REPEATED
    }
    for name, message in game.messages.items():
        if "Card" in name:
            yield f"{game.package}.{name}: a message for a card"
        for field in message.field:
            in_oneof = field.HasField("oneof_index") and not field.proto3_optional
            if field.type == _MESSAGE and field.type_name in lone and not in_oneof:
                yield f"{game.package}.{name}.{field.name}: a message for one integer"
