"""One seat's side of a match, without I/O: bytes of requests out, parsed responses in. The same for every game.

The player is random and patient: it takes one of the first half of what is legal, where games list what goes on before
what ends a round, so that a match lasts for many actions and making matches hardly counts.
"""

from __future__ import annotations

import secrets
from random import Random
from typing import Any

from services.kit.encoding import bytes_field, number_field
from tortuga.play.v1 import match_pb2, play_pb2

GATHERING = match_pb2.MATCH_STATE_GATHERING
ENDED = match_pb2.MATCH_STATE_ENDED

_GAME_FIELD = 16


class NothingReady(RuntimeError):
    """The game asked and offered templates alone: whoever knows no game cannot fill them in."""


class Conversation:
    """Requests of one seat at one match. Action ids count, so that the log can be compared with what was sent."""

    __slots__ = ("_luck", "_match_field", "acted", "match_id")

    def __init__(self, match_id: str, luck: Random) -> None:
        self.match_id = match_id
        self.acted = 0
        """Game actions made so far."""
        self._luck = luck
        self._match_field = bytes_field(1, match_id.encode())

    def attach(self, *, spectate: bool = False) -> bytes:
        """The first request: everything from how the match stands now."""
        return self._request(attach=play_pb2.Attach(spectate=spectate))

    def contribution(self) -> bytes:
        """The seat's randomness, which the match waits for."""
        kit = play_pb2.KitAction(kind=play_pb2.KIT_KIND_CONTRIBUTE, contribution=secrets.token_bytes(32))
        return self._request("contribute", kit=kit)

    def resignation(self) -> bytes:
        """The seat gives up, which ends a match of two."""
        return self._request("resign", kit=play_pb2.KitAction(kind=play_pb2.KIT_KIND_RESIGN))

    def action(self, response: Any) -> bytes | None:
        """The action that answers the decision which *response* leaves open; None if it leaves none.

        Raises:
            NothingReady: there is no action that is ready to be sent.
        """
        decision = response.header.decision
        if not decision:
            return None
        legal = response.update.legal
        if not legal:
            raise NothingReady("the game asked and offered templates alone, which no benchmark can fill in")
        chosen = legal[int(self._luck.random() * ((len(legal) + 1) // 2))]
        self.acted += 1
        action_id = b"%d" % self.acted
        header = self._match_field + bytes_field(2, action_id) + number_field(3, decision)
        return bytes_field(1, header) + bytes_field(_GAME_FIELD, chosen.SerializeToString())

    def _request(self, action_id: str = "", **content: Any) -> bytes:
        header = play_pb2.RequestHeader(match_id=self.match_id, action_id=action_id)
        return play_pb2.PlayRequest(header=header, **content).SerializeToString()


def over(response: Any) -> bool:
    """Whether *response* says that the match has ended or was aborted."""
    return bool(response.HasField("status") and response.status.state >= ENDED)


def gathering(response: Any) -> bool:
    """Whether *response* answers an attach to a match that still waits for contributions."""
    return bool(response.HasField("attached") and response.status.state == GATHERING)
