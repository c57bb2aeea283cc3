"""What waits to be written to one client, and what the platform reads of it."""

from __future__ import annotations

from collections import deque
from typing import Any

from services.kit.errors import Relayed
from services.kit.held import Held
from tortuga.play.v1 import match_pb2, play_pb2

MOST_MESSAGES = 256
MOST_BYTES = 256 * 1024
"""Messages, and bytes in them, that wait before the client is not read any more: whole views are large."""


class Outgoing:
    """Messages in order; those that are updates come with the match that they belong to."""

    def __init__(self) -> None:
        self._messages: deque[tuple[Held | None, bytes]] = deque()
        self._bytes = 0

    def __len__(self) -> int:
        return len(self._messages)

    @property
    def is_much(self) -> bool:
        """Whether so much waits that nothing more is to be asked for."""
        return len(self._messages) >= MOST_MESSAGES or self._bytes >= MOST_BYTES

    def put(self, held: Held | None, data: bytes) -> None:
        """Add a message; *held* if it is an update of that match."""
        self._messages.append((held, data))
        self._bytes += len(data)

    def take(self) -> tuple[Held | None, bytes]:
        """Remove the oldest message. Raises IndexError: there is none."""
        held, data = self._messages.popleft()
        self._bytes -= len(data)
        return held, data


def says_over(data: bytes) -> bool:
    """Whether a response shows that its match has ended."""
    status = play_pb2.PlayResponse.FromString(data).status
    return status.state >= match_pb2.MATCH_STATE_ENDED


def raise_refusal(data: bytes) -> None:
    """Raise Relayed if a response is a refusal."""
    response: Any = play_pb2.PlayResponse.FromString(data)
    if response.HasField("refused"):
        found = response.refused
        raise Relayed(found.code, found.reason, dict(found.metadata))
