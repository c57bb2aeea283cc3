"""What hostile clients send: requests just below the limit of 64 KiB, each wrong or void in its own way."""

from __future__ import annotations

from typing import Any

import grpc

from services.kit.game import load_game
from services.kit.shell.server import CLIENT_MESSAGE_BYTES
from tortuga.play.v1 import play_pb2

GAME = load_game("corsari")

MOST_BYTES = CLIENT_MESSAGE_BYTES - 64
"""Nearly the largest message that a server takes."""

LONG_ID = "m" * 60_000
"""A match id that no match has, of nearly a whole message."""


def method(channel: grpc.aio.Channel, name: str) -> Any:
    """A call of the game's typed service, as raw bytes both ways."""
    kind = {"Play": channel.stream_stream, "Act": channel.unary_unary, "Watch": channel.unary_stream}[name]
    return kind(f"/{GAME.service.full_name}/{name}")


def act_on_long_id() -> bytes:
    """An action in a match whose id is 60 kB long."""
    return _kit(LONG_ID, "a", play_pb2.KitAction(kind=play_pb2.KIT_KIND_RESIGN))


def stray(match_id: str = "n" * 30_000) -> bytes:
    """An action in a match that the stream is not attached to, under an action id of 30 kB."""
    return _kit(match_id, "q" * 30_000, play_pb2.KitAction(kind=play_pb2.KIT_KIND_RESIGN))


def attach(match_id: str, spectate: bool = True) -> bytes:
    """A plain attach."""
    return _request(match_id, attach=play_pb2.Attach(spectate=spectate)).SerializeToString()


def padded_attach(match_id: str) -> bytes:
    """A spectator's attach with a key that fills the message."""
    request = _request(match_id, attach=play_pb2.Attach(spectate=True))
    request.attach.spectator_key = "k" * (MOST_BYTES - request.ByteSize())
    return request.SerializeToString()


def padded_resignation(match_id: str, action_id: str = "resign") -> bytes:
    """A well-formed request with a reason that fills the message: from who has no seat it is refused."""
    return _padded(match_id, action_id, play_pb2.KitAction(kind=play_pb2.KIT_KIND_RESIGN))


def padded_contribution(match_id: str) -> bytes:
    """A seat's contribution that fills the message: valid the first time, and answered like it ever after."""
    return _padded(match_id, "contribute", play_pb2.KitAction(kind=play_pb2.KIT_KIND_CONTRIBUTE))


def _padded(match_id: str, action_id: str, kit: play_pb2.KitAction) -> bytes:
    kit.reason = "r" * (MOST_BYTES - len(_kit(match_id, action_id, kit)))
    return _kit(match_id, action_id, kit)


def _kit(match_id: str, action_id: str, kit: play_pb2.KitAction) -> bytes:
    request = _request(match_id, kit=kit)
    request.header.action_id = action_id
    return request.SerializeToString()


def _request(match_id: str, **part: Any) -> play_pb2.PlayRequest:
    return play_pb2.PlayRequest(header=play_pb2.RequestHeader(match_id=match_id), **part)
