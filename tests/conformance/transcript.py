"""Records of matches, and their folds: in this process, or in another that shares nothing with it but the entries.

As a program it reads {"game": name, "records": […]} and prints each record's digests: one a step, or what went wrong.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from services.kit.game import AnyGame
from services.kit.judge import Divergence
from services.kit.step import Step
from tests.conformance.games import game_named
from tests.conformance.ground import Line
from tests.conformance.match import Match
from tests.conformance.table import Table

_WAIT_SECONDS = 60


class Record(NamedTuple):
    """A match as the log keeps it: how it was set up, and every entry's bytes and head, in hex."""

    seats: int
    options: str
    seed: str
    entries: list[tuple[str, str]]


def recorded(line: Line) -> tuple[Record, list[Step]]:
    """Play a match to its end, or as far as the effort goes; its record and its steps."""
    steps = [*line.match.opening()[:-1], *line.play(rare=0.1)]
    entries = [(step.data.hex(), step.head.hex()) for step in steps]
    table = line.match.table
    return Record(table.seats, table.options.hex(), line.seed, entries), steps


def fold(game: AnyGame, record: Record) -> Iterator[tuple[Match, Step]]:
    """The steps that the entries make, judged anew.

    Raises:
        Divergence: an entry does not follow.
    """
    match = Match(Table(game, record.seats, bytes.fromhex(record.options), "a record"), record.seed)
    step = match.judge.before_first()
    for revision, (data, head) in enumerate(record.entries, 1):
        step = match.judge.replay(step, revision, bytes.fromhex(head), bytes.fromhex(data))
        yield match, step


def digest(match: Match, step: Step) -> str:
    """SHA-256 of all that is kept and told of a step: the position, and every viewer's messages."""
    whole = hashlib.sha256(step.data + step.head)
    state: Any = step.game
    if state is not None:
        whole.update(state.dump())
    for viewer in match.table.viewers:
        whole.update(b"".join(match.told(step, viewer) or ()) + match.whole(step, viewer))
    return whole.hexdigest()


def digests(game: AnyGame, record: Record) -> list[str]:
    """One digest a step; the last says what went wrong, if something did."""
    found = []
    try:
        for match, step in fold(game, record):
            found.append(digest(match, step))
    except Divergence as wrong:
        found.append(str(wrong))
    return found


def digests_elsewhere(name: str, records: Sequence[Record], environment: Mapping[str, str]) -> list[list[str]]:
    """The same from a new process with other *environment* variables.

    Raises:
        CalledProcessError: it ended badly.
    """
    ran = subprocess.run(
        [sys.executable, "-m", __spec__.name],
        input=json.dumps({"game": name, "records": records}),
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), **environment},
        capture_output=True,
        text=True,
        check=True,
        timeout=_WAIT_SECONDS,
    )
    answer: list[list[str]] = json.loads(ran.stdout)
    return answer


def main() -> None:
    """Answer one question on stdin."""
    asked = json.load(sys.stdin)
    game = game_named(asked["game"])
    json.dump([digests(game, Record(*record)) for record in asked["records"]], sys.stdout)


if __name__ == "__main__":
    main()
