"""Entries of a match's log, and the text forms of kit actions."""

from __future__ import annotations

import json
from dataclasses import dataclass
from json.encoder import encode_basestring as _quote
from typing import NamedTuple

from services.kit.chain import CONTRIBUTION_BYTES
from services.kit.encoding import bytes_field
from services.kit.rules import InvalidAction, Seat
from tortuga.play.v1 import play_pb2

SYSTEM = None
"""The actor of entries that no seat made."""

KIT_MARK = "@"
"""First character of every kit action's text; no game's text form may begin with it."""


class Entry(NamedTuple):
    """One line of the log: the durable truth about one step of a match."""

    match_id: str
    revision: int
    """From 1, without gaps; never shown to clients."""
    seat: Seat | None
    """Who acted; None for the system."""
    text: str
    """Text form of the game's action, or of a kit action (it begins with KIT_MARK)."""
    action_id: str
    """The client's name for the action, or a derived one; unique per match and actor."""
    addresses: tuple[str, ...]
    """Chance addresses drawn from, in order."""
    time_ms: int
    """By the store's clock; never before the entry's parent."""

    def data(self) -> bytes:
        """The canonical bytes: a JSON array of the fields in this order, no spaces, UTF-8."""
        match_id, revision, seat, text, action_id, addresses, time_ms = self
        actor = "null" if seat is None else seat
        used = ",".join(map(_quote, addresses)) if addresses else ""
        # Written out: a JSON encoder for general use takes eight times as long, for every action of every match.
        return (
            f"[{_quote(match_id)},{revision},{actor},{_quote(text)},{_quote(action_id)},[{used}],{time_ms}]"
        ).encode()

    @classmethod
    def read(cls, data: bytes) -> Entry:
        """Read canonical bytes.

        Raises:
            ValueError: they are not an entry's.
        """
        match_id, revision, seat, text, action_id, addresses, time_ms = json.loads(data)
        return cls(match_id, revision, seat, text, action_id, tuple(addresses), time_ms)


@dataclass(frozen=True, slots=True)
class KitStep:
    """A kit action as the log keeps it. *seat* is the seat it concerns; None if the whole match."""

    kind: play_pb2.KitKind.ValueType
    seat: Seat | None = None
    contribution: bytes = b""
    reason: str = ""

    def __str__(self) -> str:
        """The text form, e.g. `@contribute 00…ff`, `@return 2`, `@abort START_LIMIT`, `@begin`."""
        word = KIT_MARK + _WORDS[self.kind]
        if self.kind == play_pb2.KIT_KIND_CONTRIBUTE:
            return f"{word} {self.contribution.hex()}".rstrip()
        if self.kind == play_pb2.KIT_KIND_ABORT:
            return f"{word} {self.reason}"
        return word if self.kind not in _NAMES_A_SEAT else f"{word} {self.seat}"

    def event(self) -> bytes:
        """Field `kit` of a response: what the viewers are shown."""
        action = play_pb2.KitAction(kind=self.kind, contribution=self.contribution, reason=self.reason)
        return bytes_field(8, play_pb2.KitEvent(seat=self.seat, action=action).SerializeToString())


_WORDS = {
    play_pb2.KIT_KIND_CONTRIBUTE: "contribute",
    play_pb2.KIT_KIND_RESIGN: "resign",
    play_pb2.KIT_KIND_ABORT: "abort",
    play_pb2.KIT_KIND_BEGIN: "begin",
    play_pb2.KIT_KIND_TIMEOUT: "timeout",
    play_pb2.KIT_KIND_RETURN: "return",
}
_KINDS = {word: kind for kind, word in _WORDS.items()}
_NAMES_A_SEAT = {play_pb2.KIT_KIND_TIMEOUT, play_pb2.KIT_KIND_RETURN}
"""Kit actions of the system that concern one seat; of the others the actor is the seat."""


def parse_kit(text: str, actor: Seat | None) -> KitStep:
    """Read a kit action's text form; *actor* is the entry's seat.

    Raises:
        InvalidAction: UNREADABLE.
    """
    word, _, rest = text.removeprefix(KIT_MARK).partition(" ")
    kind = _KINDS.get(word)
    if kind is None or not text.startswith(KIT_MARK):
        raise InvalidAction("UNREADABLE")
    try:
        if kind == play_pb2.KIT_KIND_CONTRIBUTE:
            return KitStep(kind, actor, contribution=bytes.fromhex(rest))
        if kind == play_pb2.KIT_KIND_ABORT:
            return KitStep(kind, actor, reason=rest)
        return KitStep(kind, Seat(int(rest)) if kind in _NAMES_A_SEAT else actor)
    except ValueError:
        raise InvalidAction("UNREADABLE") from None


def valid_contribution(contribution: bytes) -> bool:
    """Whether *contribution* is nothing or 32 bytes (design §4)."""
    return len(contribution) in (0, CONTRIBUTION_BYTES)
