"""One match that a client's stream is attached to, whatever attachments that takes behind the scenes."""

from __future__ import annotations

import asyncio
from collections import deque

from tortuga.play.v1 import play_pb2


class Held:
    """What the stream knows of the match's present attachment, and what the client still waits for."""

    __slots__ = (
        "answer",
        "behind",
        "last_seq",
        "lost",
        "match_id",
        "newest",
        "number",
        "resuming",
        "unanswered",
        "waiting",
        "welcomed",
        "wish",
    )

    def __init__(self, match_id: str, wish: play_pb2.Attach | None) -> None:
        """*wish*: the client's attach; None for `Act`."""
        self.match_id = match_id
        self.wish = wish
        self.number = 0
        """The present attachment; 0 while there is none."""
        self.last_seq = wish.after_seq if wish is not None else 0
        self.waiting = 0
        """Updates that wait to be written."""
        self.behind = False
        """Detached because too many updates waited; attached again once they are written."""
        self.newest = b""
        """The newest update."""
        self.lost: tuple[float, str] | None = None
        """Since when there is no attachment that has answered, and why; None while all is well."""
        self.welcomed = False
        """The client's own attach has been answered."""
        self.resuming = False
        """The next delivery answers an attach that the client did not send."""
        self.unanswered: deque[tuple[float, bytes]] = deque()
        """When each request came that has no answer yet, and its bytes."""
        self.answer: asyncio.Future[bytes] | None = None
        """Of `Act`: the one thing it waits for."""
