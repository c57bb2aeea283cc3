"""The game as the platform describes it, and its options as bytes of the contract."""

from __future__ import annotations

from enum import IntEnum
from typing import Final, get_type_hints

from google.protobuf.message import DecodeError
from google.protobuf.unknown_fields import UnknownFieldSet

from services.corsari.options import (
    MAX_SEATS,
    MIN_SEATS,
    NAMES,
    RANGES,
    STANDARD,
    Options,
)
from services.corsari.rules import VERSIONS
from services.kit.rules import InvalidOptions
from tortuga.corsari.v1 import corsari_pb2 as pb
from tortuga.play.v1 import game_pb2 as play

GAME_ID: Final = "corsari"

BOT_LEVELS: Final = ("random", "prudent", "steady")
"""Levels of the game's bots, the weakest first."""

_TYPES: Final[dict[str, type[int]]] = get_type_hints(Options)
_NUMBERS: Final = {name: field.number for name, field in pb.Options.DESCRIPTOR.fields_by_name.items()}


def options_from(data: bytes) -> Options:
    """Read the bytes of `Options`; fields that are unset, or set to an enum's zero, take the defaults.

    Raises:
        InvalidOptions: OPTION_MALFORMED; OPTION_UNKNOWN with the field's number; OPTION_RANGE with the option's name.
    """
    try:
        sent = pb.Options.FromString(data)
    except DecodeError:
        raise InvalidOptions("OPTION_MALFORMED") from None
    unknown = UnknownFieldSet(sent)
    if len(unknown):
        raise InvalidOptions("OPTION_UNKNOWN", option=unknown[0].field_number)
    values = {}
    for field, value in sent.ListFields():
        of = _TYPES[field.name]
        if issubclass(of, IntEnum):
            if not value:
                continue
            if value not in set(of):
                raise InvalidOptions("OPTION_RANGE", option=field.name)
        values[field.name] = of(value)
    options = Options(**values)  # type: ignore[arg-type]  # each value has just been made by its field's own type
    options.check()
    return options


def options_bytes(options: Options) -> bytes:
    """*options* with every field set, in deterministic bytes."""
    values = {name: getattr(options, name) for name in NAMES}
    return pb.Options(**values).SerializeToString(deterministic=True)


def describe() -> play.Game:
    """What `DescribeGame` answers."""
    return play.Game(
        game=GAME_ID,
        service=f"{pb.DESCRIPTOR.package}.CorsariService",
        rules_versions=VERSIONS,
        min_seats=MIN_SEATS,
        max_seats=MAX_SEATS,
        options=[_option(name) for name in NAMES],
        variants=[play.Variant(variant="standard")],
        bots=BOT_LEVELS,
    )


def _option(name: str) -> play.Option:
    of, default = _TYPES[name], int(getattr(STANDARD, name))
    option = play.Option(number=_NUMBERS[name], name=name, default_value=default)
    if of is bool:
        option.type = play.OPTION_TYPE_BOOL
        option.max = 1
    elif issubclass(of, IntEnum):
        option.type = play.OPTION_TYPE_ENUM
        option.values.extend(play.OptionValue(number=value, name=value.name.lower()) for value in of)
    else:
        option.type = play.OPTION_TYPE_INT
        option.min, option.max = min(RANGES[name]), max(RANGES[name])
    return option
