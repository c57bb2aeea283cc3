"""One step of a match: what the log's entry made of the match, for the platform and for the game. Pure data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from services.kit.entry import Entry, KitStep
from services.kit.rules import Asked, Outcome, Seat
from tortuga.play.v1 import match_pb2, play_pb2

GATHERING = match_pb2.MATCH_STATE_GATHERING
RUNNING = match_pb2.MATCH_STATE_RUNNING
ENDED = match_pb2.MATCH_STATE_ENDED
ABORTED = match_pb2.MATCH_STATE_ABORTED


@dataclass(frozen=True, slots=True)
class Standing:
    """What the kit keeps of a match beside the game's own state; a function of the log alone."""

    state: match_pb2.MatchState.ValueType
    present: tuple[bool, ...]
    """Per seat: whether its player has come."""
    contributions: tuple[bytes | None, ...]
    """Per seat: its randomness, None until it contributed."""
    gathered_ms: int = 0
    """When the last player came; 0 until then."""
    key: bytes = b""
    """All chance comes from it; empty until `begin`."""
    resigned: frozenset[Seat] = frozenset()
    abort_reason: str = ""
    outcome: Outcome | None = None

    @property
    def over(self) -> bool:
        """Whether the match ended or was aborted."""
        return self.state >= ENDED

    @property
    def away(self) -> tuple[int, ...]:
        """Seats whose player has not come."""
        return tuple(seat for seat, here in enumerate(self.present) if not here)

    @property
    def everyone_contributed(self) -> bool:
        """Whether no contribution is missing."""
        return None not in self.contributions

    def come(self, seat: Seat, now_ms: int) -> Standing:
        """The standing once *seat*'s player has come."""
        present = (*self.present[:seat], True, *self.present[seat + 1 :])
        gathered = now_ms if all(present) and not self.gathered_ms else self.gathered_ms
        return replace(self, present=present, gathered_ms=gathered)


class StatusLine(NamedTuple):
    """What of `play.v1.Status` changes while a match is not over; equal lines need not be sent again."""

    state: match_pb2.MatchState.ValueType
    asked: tuple[int, ...]
    """Seats that everyone may know to owe a choice."""
    away: tuple[int, ...]


@dataclass(slots=True, eq=False)
class Step:
    """A match after one entry. Steps never change; the ring of the newest ones serves viewers who come back."""

    entry: Entry
    data: bytes
    """Canonical bytes of the entry."""
    head: bytes
    """head(r) of the chain after the entry."""
    standing: Standing
    game: Any | None
    """The game's state; None until `begin`."""
    asked: tuple[Asked, ...]
    events: Sequence[Any]
    """What happened in the game, whole."""
    kit: KitStep | None
    """The kit action, if the entry is one."""
    before: tuple[int, ...]
    """`seqs` of the step before."""
    seqs: tuple[int, ...]
    """Per viewer (spectators first, then the seats) how many updates it has been shown."""
    times: tuple[int, ...]
    """Per viewer, as `seqs`, when the newest update that it was shown was written."""
    spent: frozenset[str]
    """Chance addresses used so far."""
    status: StatusLine
    status_changed: bool
    public: bytes | None = None
    """Public bytes of the update, encoded when first told."""
    stamp: bytes | None = None
    """What every viewer's header of the update has in common: match id, time and head."""

    @property
    def revision(self) -> int:
        """Number of the entry; 0 for the position before the first."""
        return self.entry.revision

    def seq(self, seat: Seat | None) -> int:
        """How many updates *seat* (None: a spectator) has been shown up to this step."""
        return self.seqs[0 if seat is None else seat + 1]

    def shows(self, index: int) -> bool:
        """Whether the viewer at *index* of `seqs` is shown anything of this step."""
        return self.seqs[index] != self.before[index]

    def shown_at(self, seat: Seat | None) -> int:
        """Number of the update that shows *seat* this step; 0 if it shows it nothing."""
        index = 0 if seat is None else seat + 1
        return self.seqs[index] if self.seqs[index] != self.before[index] else 0

    def decision(self, seat: Seat | None) -> int:
        """The seat's open decision, 0 if it owes none."""
        for asked, decision in self.asked:
            if asked == seat:
                return decision
        return 0

    def shows_view(self) -> bool:
        """Whether the update of this step brings the whole view: the game has just been set up."""
        return self.kit is not None and self.game is not None and self.kit.kind == _BEGIN


_BEGIN = play_pb2.KIT_KIND_BEGIN
