"""The log afterwards, read from the file alone: whether all that was acknowledged is in it, and whether it verifies."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from services.kit.entry import KIT_MARK
from services.kit.export import Export, ExportedEntry
from services.kit.game import AnyGame
from services.kit.judge import Judge
from services.kit.step import Step
from services.kit.store import schema
from services.kit.store.port import StoredEntry, StoredMatch
from services.kit.telling import outcome_message
from services.kit.verify import verify
from tortuga.play.v1 import match_pb2


class LoggedMatch(NamedTuple):
    """A match as the file has it."""

    stored: StoredMatch
    entries: Sequence[StoredEntry]

    def judge(self, game: AnyGame) -> Judge:
        """Its judge."""
        fixed = match_pb2.Match.FromString(self.stored.fixed)
        return Judge(game, fixed, self.stored.seed, self.stored.blind_key)

    def steps(self, judge: Judge) -> list[Step]:
        """All steps, from before the first entry. Raises Divergence if the log does not replay."""
        steps = [judge.before_first()]
        for entry in self.entries:
            steps.append(judge.replay(steps[-1], entry.revision, entry.head, entry.data))
        return steps


class Audit(NamedTuple):
    """What the log says to what clients were told."""

    acknowledged: int
    logged: int
    """Game actions in the log, of the same matches."""
    lost: int
    """Acknowledged ones that are not in it."""
    finished: int
    """Matches that ended; each was verified as players do it."""
    running: int
    """Others; each was replayed against its chain."""


def read_log(path: Path, match_ids: Sequence[str]) -> list[LoggedMatch]:
    """Matches of the log at *path*, which is only read; those that it does not have are left out."""
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
        found = [stored for each in match_ids if (stored := schema.read_match(connection, each)) is not None]
        return [
            LoggedMatch(
                stored, [StoredEntry(*row) for row in connection.execute(schema.SELECT_ENTRIES, (stored.row, 0))]
            )
            for stored in found
        ]


def audit(log: Sequence[LoggedMatch], game: AnyGame, acknowledged: Mapping[str, int]) -> Audit:
    """Compare *log* with how many actions of each match were *acknowledged*, and check every match.

    Raises:
        Divergence: a match does not replay.
        Tampered: a finished match does not verify.
    """
    logged: dict[str, int] = {}
    finished = 0
    for match in log:
        judge = match.judge(game)
        steps = match.steps(judge)
        logged[match.stored.match_id] = sum(not step.entry.text.startswith(KIT_MARK) for step in steps[1:])
        if steps[-1].standing.over:
            verify(_export(match, judge, steps), game)
            finished += 1
    lost = sum(max(0, count - logged.get(match_id, 0)) for match_id, count in acknowledged.items())
    return Audit(sum(acknowledged.values()), sum(logged.values()), lost, finished, len(log) - finished)


def _export(match: LoggedMatch, judge: Judge, steps: Sequence[Step]) -> Export:
    """The match with every entry opened."""
    outcome = steps[-1].standing.outcome
    return Export(
        match=judge.match,
        head=steps[0].head,
        state=match.stored.state,
        seed=match.stored.seed,
        outcome=None if outcome is None else outcome_message(outcome),
        entries=[
            ExportedEntry(
                head=step.head,
                data=step.data,
                blind=judge.blinding(step.revision),
                fingerprint=b"" if step.game is None else step.game.fingerprint(),
            )
            for step in steps[1:]
        ],
    )
