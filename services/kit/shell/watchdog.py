"""The loop's watchdog: notices when the event loop stood still, counts it and says so."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from services.kit.shell import logs, metrics

_STEP_SECONDS = 0.02
_STALL_SECONDS = 0.05


class Watchdog:
    """Looks at the time every 20 ms; a look that comes 50 ms late or more is a stall (measured to within a step)."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._last = time.monotonic()
        self._next: asyncio.TimerHandle | None = None
        self.on_stall: Callable[[float], None] = lambda _: None
        """Called with the seconds of each stall."""

    def start(self) -> None:
        """Begin to look."""
        self._last = time.monotonic()
        self._next = self._loop.call_later(_STEP_SECONDS, self._look)

    def stop(self) -> None:
        """Look no more."""
        if self._next is not None:
            self._next.cancel()

    def still_seconds(self) -> float:
        """Seconds since the loop last turned, as far as is known: about 0.02 in good health.

        The first code that runs after the process slept sees here how long that was, before the watchdog's own turn.
        """
        return time.monotonic() - self._last

    def _look(self) -> None:
        stood = self.still_seconds() - _STEP_SECONDS
        if stood >= _STALL_SECONDS:
            metrics.LOOP_STALL_SECONDS.observe(stood)
            self.on_stall(stood)
            logs.logger().warning("loop_stall", milliseconds=round(stood * 1000))
        self.start()
