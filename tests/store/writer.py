"""A process of its own that writes entries to a store, for tests that kill it or let several compete.

    python -m tests.store.writer ADAPTER PLACE MATCH SEAT COUNT

It appends COUNT entries to the match as SEAT, each on the newest head, and prints the revision of each one when it has
been acknowledged. COUNT 0 goes on for ever.
"""

from __future__ import annotations

import asyncio
import sys
from itertools import count as count_from

from services.kit.store.port import StaleHead
from tests.store.adapters import ADAPTERS
from tests.store.logbook import Log


async def write(adapter: str, place: str, match_id: str, seat: int, count: int) -> None:
    """Append and print until done."""
    store = await ADAPTERS[adapter].open(place)
    for number in range(count) if count else count_from():
        while True:
            stored = await store.load(match_id)
            assert stored is not None
            log = Log(stored)
            entry = log.entry(f"{seat}:{number}", seat, wake_at=stored.revision + 1)
            try:
                await store.append(entry)
            except StaleHead:
                continue
            break
        print(entry.revision, flush=True)
    await store.close()


if __name__ == "__main__":
    asyncio.run(write(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5])))
