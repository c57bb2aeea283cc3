"""Checking a finished match offline, from an exported replay (docs/fairness.md, "Checking").

Checked: the commitment; the chain over all entries; and, as long as no entry is sealed, that each follows from the one
before: who may write it, legality, each shuffle and roll from the key, the state's fingerprint; in the end the outcome.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import NamedTuple

from services.kit import chain, due
from services.kit.entry import KIT_MARK, Entry, KitStep, parse_kit
from services.kit.errors import DomainError
from services.kit.export import Export, ExportedEntry
from services.kit.game import AnyGame
from services.kit.judge import Divergence, Judge
from services.kit.rules import InvalidAction, RuleError
from services.kit.step import GATHERING, Step
from services.kit.telling import outcome_message
from tortuga.play.v1 import play_pb2


class Verdict(NamedTuple):
    """What could be checked."""

    entries: int
    sealed: int
    replayed: int
    """Entries that were judged anew; those behind a sealed one cannot be."""
    draws: int
    """Shuffles and rolls recomputed."""

    @property
    def full(self) -> bool:
        """Whether nothing was sealed."""
        return self.sealed == 0


class Checked(NamedTuple):
    """One entry that fits."""

    revision: int
    entry: Entry | None
    """None if it is sealed."""
    step: Step | None
    """What it made of the match; None if it is sealed or stands behind a sealed one."""


class Tampered(Exception):
    """The export contradicts itself. *revision* names the entry, 0 the match itself; *what* is a code."""

    def __init__(self, revision: int, what: str) -> None:
        super().__init__(f"entry {revision}: {what}" if revision else what)
        self.revision = revision
        self.what = what


def verify(export: Export, game: AnyGame) -> Verdict:
    """Check *export* by *game*'s rules.

    Raises:
        Tampered: the first thing that does not fit.
    """
    sealed = replayed = draws = 0
    for found in walk(export, game):
        sealed += found.entry is None
        if found.step is not None:
            replayed += 1
            draws = len(found.step.spent)
    return Verdict(len(export.entries), sealed, replayed, draws)


def walk(export: Export, game: AnyGame) -> Iterator[Checked]:
    """Check *export* and bring its entries one by one; the match's end is checked behind the last one.

    Raises:
        Tampered: the first thing that does not fit. Commitment and chain are checked before the first entry comes.
    """
    _check_match(export, game)
    _check_chain(export)
    examiner = _Examiner(export, game)
    for revision, exported in enumerate(export.entries, 1):
        yield examiner.check(revision, exported)
    examiner.check_end()


def _check_match(export: Export, game: AnyGame) -> None:
    match = export.match
    if match.game != game.id:
        raise Tampered(0, "GAME_DIFFERS")
    if match.rules_version not in game.rules.versions:
        raise Tampered(0, "RULES_UNKNOWN")
    if chain.commitment(match.match_id, export.seed) != match.commitment:
        raise Tampered(0, "COMMITMENT_DIFFERS")
    if chain.root(match) != export.head:
        raise Tampered(0, "ROOT_DIFFERS")


def _check_chain(export: Export) -> None:
    """Every head follows from the one before and the entry's leaf."""
    head = export.head
    for revision, entry in enumerate(export.entries, 1):
        leaf = entry.leaf if entry.sealed else chain.leaf(entry.blind, entry.data)
        head = chain.next_head(head, leaf)
        if head != entry.head:
            raise Tampered(revision, "HEAD_DIFFERS")


class _OpenedJudge(Judge):
    """A judge without the blind key: each entry brought its own blind."""

    def __init__(self, game: AnyGame, export: Export) -> None:
        super().__init__(game, export.match, export.seed, b"")
        self._entries = export.entries

    def blinding(self, revision: int) -> bytes:
        """The blind that came with the entry."""
        return self._entries[revision - 1].blind


class _Examiner:
    """Goes through the entries in order: each is read, and judged anew up to the first sealed one."""

    def __init__(self, export: Export, game: AnyGame) -> None:
        self._export = export
        self._game = game
        self._judge = _OpenedJudge(game, export)
        self._last = self._judge.before_first()
        self._judging = True
        self._time_ms = export.match.created_ms
        self._action_ids: set[tuple[int | None, str]] = set()
        self._addresses: set[str] = set()

    def check(self, revision: int, exported: ExportedEntry) -> Checked:
        """Check the entry at *revision*.

        Raises:
            Tampered: it does not fit.
        """
        if exported.sealed:
            self._judging = False
            return Checked(revision, None, None)
        entry = self._read(revision, exported.data)
        kit = self._parse(entry)
        if not self._judging:
            return Checked(revision, entry, None)
        if (fault := _authorship_fault(self._last, entry, kit, self._judge)) is not None:
            raise Tampered(revision, fault)
        try:
            step = self._judge.replay(self._last, revision, exported.head, exported.data)
        except Divergence as error:
            raise Tampered(revision, _explained(error)) from None
        if (step.game.fingerprint() if step.game is not None else b"") != exported.fingerprint:
            raise Tampered(revision, "FINGERPRINT_DIFFERS")
        self._last = step
        return Checked(revision, entry, step)

    def check_end(self) -> None:
        """Check that the last entry ended the match as the export says; behind a sealed one nobody can.

        Raises:
            Tampered: it did not.
        """
        if not self._judging:
            return
        standing, revision = self._last.standing, self._last.revision
        if standing.state != self._export.state or not standing.over:
            raise Tampered(revision, "STATE_DIFFERS")
        outcome = None if standing.outcome is None else outcome_message(standing.outcome)
        if outcome != self._export.outcome:
            raise Tampered(revision, "OUTCOME_DIFFERS")

    def _read(self, revision: int, data: bytes) -> Entry:
        """The entry, if it is one of this match, in its place, later than the one before, and repeats nothing."""
        entry = _entry_of(data, len(self._export.match.seats))
        if entry is None:
            raise Tampered(revision, "ENTRY_UNREADABLE")
        if entry.match_id != self._export.match.match_id:
            raise Tampered(revision, "MATCH_DIFFERS")
        if entry.revision != revision:
            raise Tampered(revision, "REVISION_DIFFERS")
        if entry.time_ms < self._time_ms:
            raise Tampered(revision, "TIME_WENT_BACK")
        self._time_ms = entry.time_ms
        if (entry.seat, entry.action_id) in self._action_ids:
            raise Tampered(revision, "ACTION_ID_REUSED")
        self._action_ids.add((entry.seat, entry.action_id))
        fresh = set(entry.addresses)
        if len(fresh) != len(entry.addresses) or fresh & self._addresses:
            raise Tampered(revision, "ADDRESS_REUSED")
        self._addresses |= fresh
        return entry

    def _parse(self, entry: Entry) -> KitStep | None:
        """The kit action that the entry is; None for an action of the game, which has to read back too."""
        try:
            if entry.text.startswith(KIT_MARK):
                return parse_kit(entry.text, entry.seat)
            self._game.rules.parse(entry.text)
        except InvalidAction:
            raise Tampered(entry.revision, "ACTION_UNREADABLE") from None
        return None


def _entry_of(data: bytes, seats: int) -> Entry | None:
    """The entry in canonical bytes, or None if a field is missing or is not what it has to be."""
    try:
        match_id, revision, seat, text, action_id, addresses, time_ms = json.loads(data)
        texts = [match_id, text, action_id, *addresses]
    except (ValueError, TypeError, RecursionError):
        return None
    sound = (
        all(isinstance(each, str) for each in texts)
        and isinstance(addresses, list)
        and all(type(each) is int for each in (revision, time_ms))
        and (seat is None or (type(seat) is int and 0 <= seat < seats))
    )
    if not sound:
        return None
    entry = Entry(match_id, revision, seat, text, action_id, tuple(addresses), time_ms)
    try:
        return entry if entry.data() == data else None
    except UnicodeEncodeError:  # half a surrogate pair, which JSON can spell and UTF-8 cannot
        return None


def _authorship_fault(last: Step, entry: Entry, kit: KitStep | None, judge: Judge) -> str | None:
    """Why whom *entry* names cannot have written it after *last*, as a code; None if they can. Legality comes later."""
    if kit is None:
        return "RESIGNED" if entry.seat in last.standing.resigned else None
    if kit.seat is not None and not 0 <= kit.seat < judge.seats:
        return "SEAT_UNKNOWN"
    if kit.kind in _OF_SEATS:
        return "SEAT_MISSING" if entry.seat is None else None
    if kit.kind == play_pb2.KIT_KIND_ABORT and entry.seat is not None:
        return None
    if entry.seat is not None:
        return "SYSTEM_ONLY"
    return None if _is_due(last, entry, kit, judge) else "NOT_DUE"


_OF_SEATS = (play_pb2.KIT_KIND_CONTRIBUTE, play_pb2.KIT_KIND_RESIGN)


def _is_due(last: Step, entry: Entry, kit: KitStep, judge: Judge) -> bool:
    """Whether the system owed its step at the entry's time: the start, the start limit, a resigned seat's time-out."""
    standing, now_ms = last.standing, entry.time_ms
    if kit.kind == play_pb2.KIT_KIND_BEGIN:
        waited = standing.gathered_ms and now_ms >= standing.gathered_ms + due.CONTRIBUTION_WAIT_MS
        return standing.state != GATHERING or standing.everyone_contributed or bool(waited)
    if kit.kind == play_pb2.KIT_KIND_ABORT:
        limit = judge.match.settings.start_seconds
        return bool(limit) and now_ms >= judge.match.created_ms + limit * 1000
    return kit.kind != play_pb2.KIT_KIND_TIMEOUT or kit.seat in standing.resigned


def _explained(error: Divergence) -> str:
    """The divergence's code; if the rules or the kit refused the entry, their reason."""
    refusal = error.__context__
    return f"ENTRY_REFUSED {refusal.reason}" if isinstance(refusal, RuleError | DomainError) else error.what
