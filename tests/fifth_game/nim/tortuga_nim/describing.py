"""The game as the platform describes it, and its options as bytes of the contract."""

from __future__ import annotations

from enum import IntEnum
from typing import Any, Final, get_type_hints

from google.protobuf.message import DecodeError
from google.protobuf.unknown_fields import UnknownFieldSet
from services.kit.rules import InvalidOptions
from tortuga.nim.v1 import nim_pb2 as pb
from tortuga.play.v1 import game_pb2 as play

from tortuga_nim.options import MAX_SEATS, MIN_SEATS, RANGES, STANDARD, VARIANTS, Options
from tortuga_nim.rules import VERSIONS

_TYPES: Final[dict[str, type[int]]] = get_type_hints(Options)


def options_from(data: bytes) -> Options:
    """Read the bytes of `Options`; fields that are unset, or set to an enum's zero, take the defaults.

    Raises:
        InvalidOptions: OPTION_MALFORMED; OPTION_UNKNOWN with the field's number; as `Options.check`.
    """
    try:
        sent = pb.Options.FromString(data)
    except DecodeError:
        raise InvalidOptions("OPTION_MALFORMED") from None
    unknown = UnknownFieldSet(sent)
    if len(unknown):
        raise InvalidOptions("OPTION_UNKNOWN", option=unknown[0].field_number)
    values: dict[str, Any] = {}
    for field, value in sent.ListFields():
        of = _TYPES[field.name]
        if issubclass(of, IntEnum) and not value:
            continue
        try:
            values[field.name] = of(value)
        except ValueError:
            raise InvalidOptions("OPTION_RANGE", option=field.name) from None
    options = Options(**values)
    options.check()
    return options


def describe() -> play.Game:
    """What `DescribeGame` answers."""
    return play.Game(
        game="nim",
        service=f"{pb.DESCRIPTOR.package}.NimService",
        rules_versions=VERSIONS,
        min_seats=MIN_SEATS,
        max_seats=MAX_SEATS,
        options=[_option(name, of) for name, of in _TYPES.items()],
        variants=[_variant(name, different) for name, different in VARIANTS.items()],
    )


def _option(name: str, of: type[int]) -> play.Option:
    number = pb.Options.DESCRIPTOR.fields_by_name[name].number
    option = play.Option(number=number, name=name, default_value=int(getattr(STANDARD, name)))
    if of is bool:
        option.type = play.OPTION_TYPE_BOOL
    elif issubclass(of, IntEnum):
        option.type = play.OPTION_TYPE_ENUM
        option.values.extend(play.OptionValue(number=value, name=value.name.lower()) for value in of)
    else:
        option.type = play.OPTION_TYPE_INT
        option.min, option.max = min(RANGES[name]), max(RANGES[name])
    return option


def _variant(name: str, different: dict[str, Any]) -> play.Variant:
    return play.Variant(variant=name, options=pb.Options(**different).SerializeToString(deterministic=True))
