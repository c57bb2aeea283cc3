"""Contracts compiled with their comments, and a walk over everything in them that has a name."""

from __future__ import annotations

import importlib.resources
import tempfile
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from google.protobuf.descriptor import Descriptor
from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    EnumDescriptorProto,
    FieldDescriptorProto,
    FileDescriptorProto,
    FileDescriptorSet,
    MethodDescriptorProto,
)
from google.protobuf.descriptor_pool import DescriptorPool
from grpc_tools import protoc  # type: ignore[import-untyped]  # it comes without stubs

ROOT = Path(__file__).resolve().parents[2]
PROTO = ROOT / "proto"

# Numbers of the fields of descriptor.proto, of which a source location's path is made.
_PACKAGE, _MESSAGES, _ENUMS, _SERVICES, _SYNTAX = 2, 4, 5, 6, 12
_FIELDS, _NESTED, _NESTED_ENUMS, _ONEOFS = 2, 3, 4, 8
_VALUES, _METHODS = 2, 2


class Named(NamedTuple):
    """One thing of a contract: its kind ("field", "message", …), its full name, and the comment above it."""

    kind: str
    name: str
    comment: str


class Game(NamedTuple):
    """One game's contract: id, package, its calls, and its messages by their names within the package."""

    game: str
    package: str
    methods: Sequence[MethodDescriptorProto]
    messages: dict[str, DescriptorProto]

    def field(self, message: str, name: str) -> FieldDescriptorProto | None:
        """The field *name* of *message*, or None if either is missing."""
        fields = self.messages[message].field if message in self.messages else ()
        return next((field for field in fields if field.name == name), None)


def compiled(folder: Path) -> FileDescriptorSet:
    """All contracts below *folder*, with comments; what they import is found there and in `proto/`.

    Raises:
        ValueError: protoc refused a file; its own messages are on stderr.
    """
    with tempfile.TemporaryDirectory() as scratch:
        out = Path(scratch) / "set.binpb"
        code = protoc.main(
            [
                "protoc",
                f"--proto_path={folder}",
                f"--proto_path={PROTO}",
                f"--proto_path={importlib.resources.files('grpc_tools') / '_proto'}",
                "--include_imports",
                "--include_source_info",
                f"--descriptor_set_out={out}",
                *sorted(str(path.relative_to(folder)) for path in folder.rglob("*.proto")),
            ]
        )
        if code != 0:
            raise ValueError(f"protoc refuses the contracts below {folder}")
        return FileDescriptorSet.FromString(out.read_bytes())


@cache
def our_contracts() -> FileDescriptorSet:
    """All contracts of this repository."""
    return compiled(PROTO)


def ours(contracts: FileDescriptorSet) -> list[FileDescriptorProto]:
    """The files that are not protobuf's own."""
    return [file for file in contracts.file if not file.name.startswith("google/")]


def games(contracts: FileDescriptorSet) -> list[Game]:
    """Every game: a package `tortuga.<game>.v1` with a service that has `Play`."""
    found = []
    for file in ours(contracts):
        for service in file.service:
            if any(method.name == "Play" for method in service.method):
                parts = file.package.split(".")
                messages = {
                    name.removeprefix(f"{file.package}."): message
                    for other in contracts.file
                    if other.package == file.package
                    for name, message in all_messages(other)
                }
                found.append(Game(parts[-2] if len(parts) > 1 else "", file.package, service.method, messages))
    return found


def named_things(file: FileDescriptorProto) -> Iterator[Named]:
    """The file itself and every message, field, oneof, enum, value, service and call in it."""
    comments = {tuple(place.path): place.leading_comments.strip() for place in file.source_code_info.location}
    yield Named("file", file.name, comments.get((_PACKAGE,)) or comments.get((_SYNTAX,), ""))
    for index, message in enumerate(file.message_type):
        yield from _in_message(message, file.package, (_MESSAGES, index), comments)
    for index, enum in enumerate(file.enum_type):
        yield from _in_enum(enum, file.package, (_ENUMS, index), comments)
    for index, service in enumerate(file.service):
        name = f"{file.package}.{service.name}"
        yield Named("service", name, comments.get((_SERVICES, index), ""))
        for place, method in enumerate(service.method):
            yield Named("rpc", f"{name}.{method.name}", comments.get((_SERVICES, index, _METHODS, place), ""))


def _in_message(
    message: DescriptorProto, parent: str, path: tuple[int, ...], comments: dict[tuple[int, ...], str]
) -> Iterator[Named]:
    if message.options.map_entry:
        return  # made by protoc for a map field, which has the comment
    name = f"{parent}.{message.name}"
    yield Named("message", name, comments.get(path, ""))
    for index, field in enumerate(message.field):
        yield Named("field", f"{name}.{field.name}", comments.get((*path, _FIELDS, index), ""))
    synthetic = {field.oneof_index for field in message.field if field.proto3_optional}
    for index, oneof in enumerate(message.oneof_decl):
        if index not in synthetic:
            yield Named("oneof", f"{name}.{oneof.name}", comments.get((*path, _ONEOFS, index), ""))
    for index, nested in enumerate(message.nested_type):
        yield from _in_message(nested, name, (*path, _NESTED, index), comments)
    for index, enum in enumerate(message.enum_type):
        yield from _in_enum(enum, name, (*path, _NESTED_ENUMS, index), comments)


def _in_enum(
    enum: EnumDescriptorProto, parent: str, path: tuple[int, ...], comments: dict[tuple[int, ...], str]
) -> Iterator[Named]:
    name = f"{parent}.{enum.name}"
    yield Named("enum", name, comments.get(path, ""))
    for index, value in enumerate(enum.value):
        yield Named("enum value", f"{name}.{value.name}", comments.get((*path, _VALUES, index), ""))


def all_messages(file: FileDescriptorProto) -> Iterator[tuple[str, DescriptorProto]]:
    """Every message of *file* with its full name, nested ones too, without those that protoc makes for maps."""
    waiting = [(f"{file.package}.{message.name}", message) for message in file.message_type]
    while waiting:
        name, message = waiting.pop(0)
        if not message.options.map_entry:
            yield name, message
            waiting += [(f"{name}.{nested.name}", nested) for nested in message.nested_type]


def all_enums(file: FileDescriptorProto) -> Iterator[EnumDescriptorProto]:
    """Every enum of *file*, nested ones too."""
    yield from file.enum_type
    for _, message in all_messages(file):
        yield from message.enum_type


def message_type(contracts: FileDescriptorSet, name: str) -> Descriptor:
    """The descriptor of the message with the full *name*, in a pool of its own."""
    pool = DescriptorPool()
    for file in contracts.file:
        pool.AddSerializedFile(file.SerializeToString())
    return pool.FindMessageTypeByName(name)
