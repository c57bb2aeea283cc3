"""Options by descriptor (design §3): decode what a client sends, refuse what does not fit, fill in what it left out.

Pure functions over a `ServedGame`. What comes out is canonical: two wishes are for the same options if and only if the
bytes are equal. Rules across several options are the game's to check (`CreateMatch{validate_only}`).
"""

from __future__ import annotations

from google.protobuf.message import DecodeError, Message
from google.protobuf.message_factory import GetMessageClass
from google.protobuf.unknown_fields import UnknownFieldSet

from gateway.games import ServedGame, bounds, within
from services.kit.errors import Malformed, NotFound

MOST_BYTES = 4096
"""Longest options that are read. A flat message of sixty-four varints has less than a fifth of that."""


def resolve_variant(served: ServedGame, variant: str) -> str:
    """The variant's id: *variant* itself, or the standard game's if it is empty ("" if the game names no variants).

    Raises:
        NotFound: VARIANT_UNKNOWN with the game.
    """
    if not variant:
        return next(iter(served.variants), "")
    if variant not in served.variants:
        raise NotFound("VARIANT_UNKNOWN", game=served.id)
    return variant


def complete_options(served: ServedGame, variant: str, data: bytes) -> bytes:
    """Bytes of the options message with every option set: from *data*, else from the variant, else the default.

    *data* is what a client sent, *variant* an id that `resolve_variant` gave. Equal options give equal bytes.

    Raises:
        Malformed: OPTION_MALFORMED; OPTION_UNKNOWN with the name (or the number, if that is all there is); OPTION_RANGE
            with name, min and max.
    """
    wanted = read_options(served, data)
    message = type(wanted)()
    message.CopyFrom(served.complete[variant])
    message.MergeFrom(wanted)
    return message.SerializeToString(deterministic=True)


def read_options(served: ServedGame, data: bytes) -> Message:
    """The options message in *data*, only what is set in it, all of it described by the game and within its limits.

    Raises:
        Malformed: as `complete_options` does.
    """
    if len(data) > MOST_BYTES:
        raise Malformed("OPTION_MALFORMED")
    message = GetMessageClass(served.options)()
    try:
        message.MergeFromString(data)
    except DecodeError:
        raise Malformed("OPTION_MALFORMED") from None
    if len(unknown := UnknownFieldSet(message)):
        raise Malformed("OPTION_UNKNOWN", name=unknown[0].field_number)
    for field, value in message.ListFields():
        option = served.described.get(field.name)
        if option is None:  # the message has it, the game does not offer it: messages and lists are never offered
            raise Malformed("OPTION_UNKNOWN", name=field.name)
        if not within(option, int(value)):
            fewest, most = bounds(option)
            raise Malformed("OPTION_RANGE", name=field.name, min=fewest, max=most)
    return message
