"""Orders to a process under test, and its notes: files, so that both outlive the process they are about.

An order says what to do the next time a point is passed. It is taken once, by a rename, by whichever life of the
process comes to the point first.
"""

from __future__ import annotations

import json
import os
import time
from enum import StrEnum
from pathlib import Path
from typing import Any


class Point(StrEnum):
    """Where a game process can be hit."""

    BEFORE_APPEND = "before_append"
    """An entry has been judged; the store has not been asked."""
    AFTER_APPEND = "after_append"
    """The entry is durable; nobody has been told, its actor neither."""
    AFTER_ANSWER = "after_answer"
    """The entry is durable, and the answer has been on its way for a moment."""
    MID_FOLD = "mid_fold"
    """Half of a match's log has been folded."""
    LOCKED = "locked"
    """Inside a write transaction of its own: the file's lock is held."""


class Deed(StrEnum):
    """What is done there."""

    KILL = "kill"
    """SIGKILL."""
    STOP = "stop"
    """SIGSTOP; somebody else has to send SIGCONT."""
    LOSE = "lose"
    """The connection to the store breaks: OutcomeUnknown. Before the append it did not happen, after it it did."""


class Orders:
    """The orders to one process, as both sides see them."""

    def __init__(self, folder: Path, name: str) -> None:
        self.folder, self.name = folder, name
        self._paths = {point: str(folder / f"{name}.{point}") for point in Point}

    def give(self, point: Point, deed: Deed) -> None:
        """Have *deed* done the next time *point* is passed."""
        fresh = f"{self._paths[point]}.new"
        Path(fresh).write_text(deed)
        os.replace(fresh, self._paths[point])

    def take(self, point: Point) -> Deed | None:
        """The order for *point*, if there is one; there is none any more then."""
        taken = f"{self._paths[point]}.taken"
        try:
            os.rename(self._paths[point], taken)
        except FileNotFoundError:
            return None
        return Deed(Path(taken).read_text())

    def pending(self, point: Point) -> bool:
        """Whether an order for *point* waits."""
        return os.path.exists(self._paths[point])

    def withdraw(self, point: Point) -> bool:
        """Take an order back; False if it was taken meanwhile."""
        return self.take(point) is not None


class Notes:
    """What a process writes down about itself, line by line, before it dies of it. Times are `time.monotonic`."""

    def __init__(self, folder: Path, name: str) -> None:
        self._name = name
        self._path = folder / f"{name}.notes"
        self._file = os.open(self._path, os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600)

    def write(self, event: str, **facts: object) -> None:
        """Write a line; the system has it when this returns, whatever becomes of the process."""
        line = {"at": time.monotonic(), "name": self._name, "pid": os.getpid(), "event": event, **facts}
        os.write(self._file, json.dumps(line).encode() + b"\n")


def read_notes(folder: Path, event: str) -> list[dict[str, Any]]:
    """All lines about *event* of all processes, in the order of their times."""
    found = []
    for path in folder.glob("*.notes"):
        with path.open(encoding="utf-8") as file:
            found += [line for line in map(json.loads, file) if line["event"] == event]
    return sorted(found, key=lambda line: float(line["at"]))
