"""What the gateway reads of any game's messages: the platform's fields, with the game's part kept as it came."""

from __future__ import annotations

import pytest
from google.protobuf.descriptor import Descriptor
from google.protobuf.descriptor_pb2 import DescriptorProto, FileDescriptorSet
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

from services.kit.encoding import UPDATE_TAG, bytes_field
from tests.contract.compiled import games, message_type
from tests.contract.concatenation import on_wire
from tests.contract.rules import CARRIES, OWN_FIELD
from tortuga.play.v1.play_pb2 import PlayRequest, PlayResponse, RequestHeader

OF_THE_GAME = b"\xff\x00 any bytes: nobody on the way looks at them"


@pytest.mark.parametrize("name", CARRIES)
def test_any_game_is_read_with_its_own_part_unknown(name: str, contracts: FileDescriptorSet) -> None:
    """Every message of every game parses as the platform's, and comes back byte for byte."""
    platform: type[Message] = PlayRequest if name.endswith("Request") else PlayResponse
    for game in games(contracts):
        descriptor = message_type(contracts, f"{game.package}.{name}")
        message = GetMessageClass(descriptor)()
        for field in descriptor.fields:
            if field.number < OWN_FIELD and field.message_type is not None:
                part = getattr(message, field.name)
                _fill(part.add() if field.is_repeated else part)
        data = message.SerializeToString()
        if OWN_FIELD in descriptor.fields_by_number:
            data += bytes_field(OWN_FIELD, OF_THE_GAME)
        read = platform.FromString(data)
        assert read.SerializeToString() == data
        assert on_wire(read.SerializeToString()).get(OWN_FIELD, [OF_THE_GAME]) == [OF_THE_GAME]
        assert {field.name for field, _ in read.ListFields()} == {field.name for field, _ in message.ListFields()}


def test_the_game_s_part_has_a_tag_that_no_platform_field_has() -> None:
    """Field 16 is the first with a tag of two bytes, and free in the platform's messages."""
    assert UPDATE_TAG == b"\x82\x01"
    for platform in (PlayRequest.DESCRIPTOR, PlayResponse.DESCRIPTOR):
        assert max(field.number for field in platform.fields) < OWN_FIELD
        assert _reserved(platform) == set(range(1, OWN_FIELD)) - {field.number for field in platform.fields}


def test_a_repeated_header_is_merged_like_everywhere() -> None:
    """Two headers in one request are one to every protobuf parser: nobody may scan for the first."""
    first = PlayRequest(header=RequestHeader(match_id="a", decision=4))
    second = PlayRequest(header=RequestHeader(match_id="b"))
    header = PlayRequest.FromString(first.SerializeToString() + second.SerializeToString()).header
    assert (header.match_id, header.decision) == ("b", 4)


def _reserved(descriptor: Descriptor) -> set[int]:
    made = DescriptorProto()
    descriptor.CopyToProto(made)
    return {number for span in made.reserved_range for number in range(span.start, span.end)}


def _fill(message: Message) -> None:
    """Set something in *message*, so that it shows on the wire."""
    for field in message.DESCRIPTOR.fields:
        if field.is_repeated or field.message_type is not None:
            continue
        values = {field.CPPTYPE_STRING: b"x" if field.type == field.TYPE_BYTES else "x", field.CPPTYPE_BOOL: True}
        setattr(message, field.name, values.get(field.cpp_type, 1))
