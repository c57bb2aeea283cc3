"""Progress of long commands, on stderr: a bar on a terminal, plain lines in a pipe."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TaskID, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bars

from services.cli import output

_LINE_SECONDS = 5.0


class Progress(Protocol):
    """How far a long piece of work is."""

    def advance(self, steps: int = 1) -> None:
        """*steps* more are done."""
        ...


@contextmanager
def progress(what: str, total: int) -> Iterator[Progress]:
    """Show progress through *total* steps of *what* while the block runs."""
    if sys.stderr.isatty():
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        with Bars(*columns, console=Console(stderr=True), transient=True) as bars:
            yield _Bar(bars, bars.add_task(what, total=total))
        return
    lines = _Lines(what, total)
    try:
        yield lines
    finally:
        lines.say()


class _Bar:
    def __init__(self, bars: Bars, task: TaskID) -> None:
        self._bars = bars
        self._task = task

    def advance(self, steps: int = 1) -> None:
        self._bars.advance(self._task, steps)


class _Lines:
    """A line every few seconds, and one at the end."""

    def __init__(self, what: str, total: int) -> None:
        self._what = what
        self._total = total
        self._done = 0
        self._next = time.monotonic() + _LINE_SECONDS

    def advance(self, steps: int = 1) -> None:
        self._done += steps
        if time.monotonic() >= self._next:
            self.say()

    def say(self) -> None:
        self._next = time.monotonic() + _LINE_SECONDS
        output.note(f"{self._what}: {self._done}/{self._total}")
