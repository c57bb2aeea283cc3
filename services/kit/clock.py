"""Clocks: the store's, which entries and `wake_at` are written by, and the process's own, which they never are.

Both count milliseconds since 1970 (UTC). Two classes with two method names, so that a reader, and mypy, sees which one
a line asks.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

_LOOK_AGAIN_NS = 50_000_000
"""How long, in nanoseconds, the offset is believed before the file's stamp is looked at again."""


class StoreClock:
    """The machine's time plus the offset in a file that tests move.

    The file (setting TORTUGA_CLOCK) holds one decimal number, seconds, and may be changed at any time: it is read again
    when its stamp changes, noticed within 50 ms. A file that is missing, empty or half-written leaves the last
    offset in force (0 at first). Without a file a call costs one reading of the clock.
    """

    __slots__ = ("_file", "_looked_ns", "_offset_ms", "_stamp")

    def __init__(self, file: Path | None = None) -> None:
        self._file = file
        self._offset_ms = 0
        self._stamp: tuple[int, int, int] | None = None
        self._looked_ns = -_LOOK_AGAIN_NS

    def now_ms(self) -> int:
        """The store's time, in milliseconds since 1970."""
        if self._file is not None and time.monotonic_ns() - self._looked_ns >= _LOOK_AGAIN_NS:
            self._look(self._file)
        return time.time_ns() // 1_000_000 + self._offset_ms

    def _look(self, file: Path) -> None:
        self._looked_ns = time.monotonic_ns()
        try:
            found = os.stat(file)
            stamp = (found.st_mtime_ns, found.st_size, found.st_ino)
            if stamp != self._stamp:
                self._offset_ms = round(float(file.read_text(encoding="ascii")) * 1000)
                self._stamp = stamp
        except (OSError, ValueError, OverflowError):
            return


class OwnClock:
    """The process's own clock, falsified by the setting TORTUGA_CLOCK_SKEW.

    For patience, retries and display only: nothing in an entry and no `wake_at` may come from it.
    """

    __slots__ = ("_skew_ms",)

    def __init__(self, skew_seconds: float = 0.0) -> None:
        self._skew_ms = round(skew_seconds * 1000)

    def own_ms(self) -> int:
        """The process's idea of the time, in milliseconds since 1970."""
        return time.time_ns() // 1_000_000 + self._skew_ms
