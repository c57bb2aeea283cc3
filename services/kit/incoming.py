"""What a client sent, as far as the platform reads it: parsed, bounded, and stripped of what is not served."""

from __future__ import annotations

from google.protobuf.message import DecodeError
from google.protobuf.unknown_fields import UnknownFieldSet

from services.kit.errors import Malformed, NotFound
from services.kit.shell.server import CLIENT_MESSAGE_BYTES
from tortuga.play.v1 import play_pb2

ID_BYTES = 64
"""Longest match id, action id and spectator key."""


def read_request(data: bytes) -> play_pb2.PlayRequest:
    """What the platform reads of a client's request.

    Raises:
        Malformed: MALFORMED, or TOO_LARGE with the limit in bytes.
    """
    if len(data) > CLIENT_MESSAGE_BYTES:
        raise Malformed("TOO_LARGE", limit=CLIENT_MESSAGE_BYTES)
    try:
        return play_pb2.PlayRequest.FromString(data)
    except DecodeError:
        raise Malformed("MALFORMED") from None


def match_id_of(request: play_pb2.PlayRequest) -> str:
    """The match that *request* is about. Raises NotFound: no match has such an id."""
    match_id = request.header.match_id
    if not match_id or not if_short(match_id):
        raise NotFound("MATCH_UNKNOWN")
    return match_id


def wish_of(attach: play_pb2.Attach) -> play_pb2.Attach:
    """What of an attach is passed on: the fields that are served, and nothing that the client could make long."""
    key = if_short(attach.spectator_key)
    return play_pb2.Attach(after_seq=attach.after_seq, spectate=attach.spectate, spectator_key=key)


def if_short(text: str) -> str:
    """*text* if it could be an id, else nothing."""
    return text if len(text.encode()) <= ID_BYTES else ""


def has_more_than(request: play_pb2.PlayRequest, part: str) -> bool:
    """Whether a request that holds *part* holds another part as well; the game's own is unknown here."""
    parts = [name for name in ("attach", "renew", "kit", "talk") if request.HasField(name)]
    return parts != [part] or len(UnknownFieldSet(request)) > 0
