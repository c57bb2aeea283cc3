"""How measured code runs: on which core, apart from the load where there are two, and undisturbed by the collector."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

_SIBLINGS = "/sys/devices/system/cpu/cpu{}/topology/thread_siblings_list"


class Cores(NamedTuple):
    """One core for all that is measured, one for the load. Both None where processes cannot be pinned."""

    server: int | None
    client: int | None

    @classmethod
    def of_machine(cls) -> Cores:
        """The first core that this process may use, and the first one that is no hyper-thread of it.

        With a single core everything runs on that one.
        """
        if not hasattr(os, "sched_getaffinity"):
            return cls(None, None)
        allowed = sorted(os.sched_getaffinity(0))
        server = allowed[0]
        siblings = _siblings(server)
        others = [core for core in allowed if core not in siblings] or allowed[1:] or [server]
        return cls(server, others[0])


@contextmanager
def placed(core: int | None) -> Iterator[None]:
    """Run the block's thread on *core* alone. Processes that the block starts stay there, with all their threads."""
    if core is None:
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {core})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def settle() -> None:
    """Take all that is there out of the garbage collector's rounds, as the platform's own processes do."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)


def _siblings(core: int) -> set[int]:
    """*core* and its hyper-threads; just *core* if the system does not say."""
    try:
        text = Path(_SIBLINGS.format(core)).read_text(encoding="ascii").strip()
    except OSError:
        return {core}
    found = {core}
    for part in text.split(","):
        first, _, last = part.partition("-")
        found.update(range(int(first), int(last or first) + 1))
    return found
