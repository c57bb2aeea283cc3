"""Plunder's contract: its own part compiled from text, its service made from what every game's has to be."""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path
from typing import Any

from google.protobuf.descriptor import FileDescriptor, ServiceDescriptor
from google.protobuf.descriptor_pb2 import DescriptorProto, FieldDescriptorProto, FileDescriptorProto
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

from tests.contract.compiled import compiled
from tests.contract.rules import CALLS, CARRIES, OWN_FIELD
from tortuga.play.v1 import play_pb2

GAME = "plunder"
PACKAGE = f"tortuga.{GAME}.v1"
TEXT = Path(__file__).with_name("plunder.proto.txt").read_text()
"""The game's own part of the contract."""


@cache
def service_of(text: str = TEXT) -> ServiceDescriptor:
    """The typed service with the own part *text*, in a pool of its own."""
    pool = DescriptorPool()
    own = _own_part(text)
    _add(pool, play_pb2.DESCRIPTOR)
    pool.AddSerializedFile(own.SerializeToString())
    pool.AddSerializedFile(_service_file(own.name).SerializeToString())
    return pool.FindServiceByName(f"{PACKAGE}.PlunderService")


@cache
def kind(name: str) -> type[Message]:
    """The class of the game's message *name*."""
    return GetMessageClass(service_of().file.pool.FindMessageTypeByName(f"{PACKAGE}.{name}"))


def message(name: str, **fields: Any) -> Any:
    """A message of the game."""
    return kind(name)(**fields)


def _own_part(text: str) -> FileDescriptorProto:
    with tempfile.TemporaryDirectory() as scratch:
        place = Path(scratch) / f"tortuga/{GAME}/v1"
        place.mkdir(parents=True)
        (place / f"{GAME}.proto").write_text(text)
        return next(file for file in compiled(Path(scratch)).file if file.package == PACKAGE)


def _add(pool: DescriptorPool, file: FileDescriptor) -> None:
    for needed in file.dependencies:
        _add(pool, needed)
    pool.AddSerializedFile(file.serialized_pb)


def _service_file(own: str) -> FileDescriptorProto:
    """The four calls, and each one's messages: the platform's fields that they carry, and the game's."""
    imports = [needed.name for needed in (*play_pb2.DESCRIPTOR.dependencies, play_pb2.DESCRIPTOR)]
    name = own.replace(".proto", "_service.proto")
    file = FileDescriptorProto(name=name, package=PACKAGE, syntax="proto3", dependency=[*imports, own])
    for message_name, numbers in CARRIES.items():
        asks = message_name.endswith("Request")
        platform = DescriptorProto()
        (play_pb2.PlayRequest if asks else play_pb2.PlayResponse).DESCRIPTOR.CopyToProto(platform)
        made = file.message_type.add(name=message_name)
        made.field.extend(field for field in platform.field if field.number in numbers)
        if not asks or message_name in ("PlayRequest", "ActRequest"):
            part = "action" if asks else "update"
            made.field.add(
                name=part,
                number=OWN_FIELD,
                label=FieldDescriptorProto.LABEL_OPTIONAL,
                type=FieldDescriptorProto.TYPE_MESSAGE,
                type_name=f".{PACKAGE}.{part.capitalize()}",
            )
    service = file.service.add(name="PlunderService")
    for call, (client_streams, server_streams) in CALLS.items():
        service.method.add(
            name=call,
            input_type=f".{PACKAGE}.{call}Request",
            output_type=f".{PACKAGE}.{call}Response",
            client_streaming=client_streams,
            server_streaming=server_streams,
        )
    return file
